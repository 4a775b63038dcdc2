"""The form in a browser: a submission from the file to the board, and one that is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from board.axe import barriers, needs_axe
from board.server.made_board import METADATA, answers, make_board, make_token, zip_of
from board.server.served import ServedBoard, served
from report.browser import BROWSER, launched

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: the form is not tried in a browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(playwright)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBoard]:
    board = make_board(tmp_path_factory.mktemp("page") / "board", title="<b>Board</b>", monthly_submissions=5)
    (board.folder / "token").write_text(make_token(board))
    with served(board.folder, workers=1) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: ServedBoard) -> Iterator[Any]:
    """The form, with the token typed; nothing may be refused by the page's policy or go wrong in its script."""
    context = browser.new_context(viewport={"width": 360, "height": 800})
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
    opened.goto(f"{server.address}/submit.html")
    opened.locator("#token").fill((server.folder / "token").read_text())
    opened.locator("[name=name]").wait_for()
    yield opened
    assert wrong == []
    context.close()


def fill(page: Any, archive: Path, **fields: Any) -> None:
    page.locator("#archive").set_input_files(archive)
    for name, value in (METADATA | fields).items():
        field = page.locator(f"[name={name}]")
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))


@needs_axe
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_form(browser: Any, server: ServedBoard, scheme: str, width: int) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True)
    opened = context.new_page()
    opened.goto(f"{server.address}/submit.html")
    opened.locator("#token").fill((server.folder / "token").read_text())
    opened.locator("[name=name]").wait_for()
    assert barriers(opened) == []
    context.close()


def test_from_the_file_to_the_board(page: Any, server: ServedBoard, tmp_path: Path) -> None:
    (tmp_path / "answers.zip").write_bytes(zip_of(answers(1)))
    hostile = "<img src=x onerror='window.hacked = 1'>"
    fill(page, tmp_path / "answers.zip", name=hostile)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.locator("#outcome-title", has_text="preview").wait_for(timeout=30_000)
    assert page.locator("#scores tbody tr").count() == 1
    assert "4 of 5 submissions left" in page.locator("#team").text_content()
    page.get_by_role("button", name="publish", exact=True).click()
    page.locator("#outcome-title", has_text="published").wait_for()
    page.locator("#submissions td", has_text="published").wait_for()
    assert page.evaluate("window.hacked") is None
    assert "<b>Board</b>" in page.locator("#board").text_content()
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
    systems = json.loads(page.request.get(f"{server.address}/api/v1/systems").text())["systems"]
    assert [system["name"] for system in systems] == [hostile]
    page.get_by_role("button", name="withdraw", exact=True).click()
    page.locator("#outcome-title", has_text="withdrawn").wait_for()


def test_what_is_refused_is_explained(page: Any, tmp_path: Path) -> None:
    files = answers(2)
    files["mini-xnli/xx.jsonl"] = b""
    files["mini-xnli/en.jsonl"] = b'{"id": 1}\n'
    (tmp_path / "bad.zip").write_bytes(zip_of(files))
    fill(page, tmp_path / "bad.zip", year="-3")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.locator("#problems li", has_text="metadata.year").wait_for()
    page.locator("[name=year]").fill("not disclosed")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.locator("#outcome-title", has_text="rejected").wait_for(timeout=30_000)
    assert page.locator("#problems li").count() >= 3
    page.locator("#token").fill("wrong")
    page.get_by_role("button", name="Show my submissions").click()
    page.locator("#outcome-title", has_text="unknown or revoked").wait_for()
