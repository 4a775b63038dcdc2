"""The submission form in a browser, from rejected uploads to rescoring."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from board.axe import AXE, barriers, needs_axe
from board.server.made_board import METADATA, answers, make_board, make_token, work_all, zip_of
from board.server.served import ServedBoard, served
from isogloss.board.server import scoring
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import writing
from report.browser import BROWSER, launched
from waiting import wait_until

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: the form is not tried in a browser"),
]
# Folder for screenshots of the form; none are taken if unset.
PICTURES = os.environ.get("ISOGLOSS_PICTURES", "")
HOSTILE = "<img src=x onerror='window.hacked = 1'>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(playwright)


@pytest.fixture
def board(tmp_path: Path) -> OpenBoard:
    return make_board(tmp_path / "board", title="<b>Board</b>", monthly_submissions=5)


@pytest.fixture
def server(board: OpenBoard) -> Iterator[ServedBoard]:
    """Server without workers; tests score submissions themselves."""
    (board.folder / "token").write_text(make_token(board))
    with served(board.folder) as running:
        work_all(board)
        yield running


@pytest.fixture(params=[("light", 1200), ("dark", 360)], ids=["light-wide", "dark-narrow"])
def look(request: pytest.FixtureRequest) -> tuple[str, int]:
    """Colour scheme and window width."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def page(browser: Any, server: ServedBoard, look: tuple[str, int]) -> Iterator[Any]:
    """The form with a token entered; fails on policy violations and script errors."""
    scheme, width = look
    # The page's policy would block the accessibility checker's script.
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=bool(AXE))
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda line: wrong.append(line.text) if "Content Security Policy" in line.text else None)
    opened.goto(f"{server.address}/submit.html")
    opened.locator("#token").fill((server.folder / "token").read_text())
    opened.locator("[name=name]").wait_for()
    yield opened
    assert wrong == []
    assert opened.evaluate("window.hacked") is None
    context.close()


def fill(page: Any, archive: Path, **fields: Any) -> None:
    page.locator("#archive").set_input_files(archive)
    for name, value in (METADATA | fields).items():
        field = page.locator(f"[name={name}]")
        text = json.dumps(value) if isinstance(value, bool) else str(value)
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(text)
        else:
            field.fill(text)


@needs_axe
def test_axe_finds_nothing_on_the_form(browser: Any, server: ServedBoard) -> None:
    for scheme in ("light", "dark"):
        for width in (1280, 360):
            viewport = {"width": width, "height": 800}
            context = browser.new_context(color_scheme=scheme, viewport=viewport, bypass_csp=True)
            opened = context.new_page()
            opened.goto(f"{server.address}/submit.html")
            opened.locator("#token").fill((server.folder / "token").read_text())
            opened.locator("[name=name]").wait_for()
            assert barriers(opened) == [], (scheme, width)
            context.close()


def error_of(page: Any, name: str) -> str:
    """Return the error below a field, which describes it."""
    field = page.locator(f"[name={name}], #{name}").first
    described = field.get_attribute("aria-describedby").split()
    error = page.locator(f"#wrong-{name}")
    assert error.get_attribute("id") in described
    return str(error.inner_text())


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def title(page: Any, words: str) -> None:
    page.locator("#outcome-title", has_text=words).wait_for(timeout=60_000)


def look_at(page: Any, name: str) -> None:
    """Check that the page fits its window and passes axe-core, if present; take a screenshot if requested."""
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/submit-{name}-{width}.png", full_page=True)
    if AXE:
        assert barriers(page) == []


class GatedWorker:
    """Worker in this process that pauses before each step."""

    def __init__(self, board: OpenBoard, patch: pytest.MonkeyPatch) -> None:
        self._gates = {name: threading.Event() for name in ("read_submission", "score_validated")}
        for name, gate in self._gates.items():
            patch.setattr(scoring, name, self._waiting(getattr(scoring, name), gate))
        self._thread = threading.Thread(target=work_all, args=(board,))
        self._thread.start()

    @staticmethod
    def _waiting(step: Any, gate: threading.Event) -> Any:
        def wait_first(*words: Any) -> Any:
            assert gate.wait(60)
            return step(*words)

        return wait_first

    def let_on(self, name: str) -> None:
        self._gates[name].set()

    def finish(self) -> None:
        for gate in self._gates.values():
            gate.set()
        self._thread.join()


def test_life_of_a_submission(
    page: Any, server: ServedBoard, board: OpenBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.zip").write_bytes(zip_of(answers(1)))
    files = answers(2) | {"mini-xnli/xx.jsonl": b"", "mini-xnli/en.jsonl": b'{"id": 1}\n', "mini-xquda/de.jsonl": b""}
    (tmp_path / "bad.zip").write_bytes(zip_of(files))
    refused_and_corrected(page, board, tmp_path / "bad.zip")
    followed_to_its_preview(page, server, board, tmp_path / "good.zip")
    press(page, "publish")
    title(page, "published")
    work_all(board)
    assert systems(page, server) == [HOSTILE]
    assert HOSTILE in shown_on_board(page, server)
    look_at(page, "5-published")
    scored_again(page, board, monkeypatch)
    press(page, "withdraw")
    title(page, "withdrawn")
    work_all(board)
    assert systems(page, server) == []
    assert HOSTILE not in shown_on_board(page, server)


def refused_and_corrected(page: Any, board: OpenBoard, archive: Path) -> None:
    """Invalid metadata: all problems are listed, also next to the fields; then an invalid archive."""
    fill(page, archive, name=HOSTILE, year="-3", parameters="270000000", regime="zero shot", authors="")
    press(page, "Submit")
    wrong = page.locator("[aria-invalid=true]").evaluate_all("found => found.map((each) => each.name).sort()")
    assert wrong == ["authors", "parameters", "regime", "year"]
    assert error_of(page, "parameters") == "This is in millions: write 270."
    assert page.locator("#errors li").count() == 4
    assert page.evaluate("document.activeElement.id") == "errors"
    look_at(page, "1-refused")
    # Each error leads to its field.
    page.locator("#errors a", has_text="Year").click()
    assert page.evaluate("document.activeElement.name") == "year"
    fill(page, archive, name=HOSTILE)
    press(page, "Submit")
    title(page, "received")
    assert page.locator("[aria-invalid=true]").count() == 0
    work_all(board)
    title(page, "rejected")
    listed = page.locator("#problems").text_content()
    assert all(cell in listed for cell in ("mini-xnli/xx", "mini-xnli/en", "mini-xquda"))
    look_at(page, "2-rejected")


def followed_to_its_preview(page: Any, server: ServedBoard, board: OpenBoard, archive: Path) -> None:
    """States, queue position and missing cells are shown to the team only."""
    page.locator("#archive").set_input_files(archive)
    press(page, "Submit")
    title(page, "received")
    page.locator("#outcome-text", has_text="Position 1 in the queue").wait_for()
    page.locator("#waiting td", has_text="received").wait_for()
    look_at(page, "3-queue")
    with pytest.MonkeyPatch.context() as patch:
        worker = GatedWorker(board, patch)
        try:
            title(page, "validating")
            page.locator("#queue", has_text="1 being scored").wait_for()
            worker.let_on("read_submission")
            title(page, "scoring")
            assert page.locator("#steps .done").all_text_contents() == ["received", "validating"]
            worker.let_on("score_validated")
            title(page, "preview")
        finally:
            worker.finish()
    rows = [row.split("\t") for row in page.locator("#scores tbody tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["Overall", "Classification", "mini XNLI"]
    assert rows[0][1] == "–"
    assert "mini XNLI in Afrikaans" in rows[1][2]
    assert rows[2][2].startswith("Afrikaans, ")
    assert "and 42 more" in rows[2][2]
    assert "4 of 5 submissions left" in page.locator("#team").text_content()
    assert systems(page, server) == []
    look_at(page, "4-preview")


def scored_again(page: Any, board: OpenBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another scorer version: old scores stay visible next to the new ones."""
    monkeypatch.setattr(scoring, "scorer_version", lambda: "isogloss 9.9.9")
    with writing(board.engine) as session:
        assert len(scoring.rescore(session, "admin")) == 1
    work_all(board)
    page.locator("#submissions tr", has_text="published").get_by_role("button", name="show").click()
    page.locator("#scores thead th", has_text="isogloss 9.9.9").wait_for()
    heads = page.locator("#scores thead th").all_text_contents()
    assert (heads[0], heads[2:]) == ("Average", ["isogloss 9.9.9", "Missing"])
    values = page.locator("#scores tbody tr").last.locator("td.number").all_text_contents()
    assert len(values) == 2
    assert values[0] == values[1] != "–"
    look_at(page, "6-scored-again")


def systems(page: Any, server: ServedBoard) -> list[str]:
    systems = json.loads(page.request.get(f"{server.address}/api/v1/systems").text())["systems"]
    return [system["name"] for system in systems]


def shown_on_board(page: Any, server: ServedBoard) -> str:
    """Check the leaderboard in another tab."""
    tab = page.context.new_page()
    tab.goto(f"{server.address}/index.html")
    tab.wait_for_selector("html[data-ready]")
    text = str(tab.locator("main").inner_text())
    # Both have the same header, also on narrow screens.
    assert tab.locator("#theme").inner_text() == page.locator("#theme").inner_text()
    tab.close()
    return text


@pytest.mark.parametrize("look", [("light", 1200)], ids=["light"])
def test_missing_fields_and_an_invalid_token_are_reported(page: Any, tmp_path: Path) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method == "POST" else None)
    press(page, "Submit")
    page.locator("#errors li", has_text="Archive").wait_for()
    assert page.locator("#errors li").count() >= 5
    assert page.locator("#archive").get_attribute("aria-invalid") == "true"
    # No field has a default type, and blank fields are reported; nothing is sent.
    assert error_of(page, "kind") == error_of(page, "regime") == "Fill this in, or write “not disclosed”."
    assert error_of(page, "name") == "Enter the name to show on the board."
    page.locator("#token").fill("")
    press(page, "Submit")
    page.locator("#errors li", has_text="Enter your team token.").wait_for()
    assert sent == []
    page.locator("#token").fill("wrong")
    press(page, "Show my submissions")
    page.locator("#wrong-token", has_text="unknown or revoked").wait_for()
    assert page.locator("#token").get_attribute("aria-invalid") == "true"
    assert "<b>Board</b>" in page.locator("#suite").text_content()
    (tmp_path / "good.zip").write_bytes(zip_of(answers(1)))
    fill(page, tmp_path / "good.zip")
    press(page, "Submit")
    page.locator("#errors a", has_text="unknown or revoked").click()
    assert page.evaluate("document.activeElement.id") == "token"
    assert sent == ["POST"]


@pytest.mark.parametrize("look", [("light", 1200)], ids=["light"])
def test_a_field_is_checked_when_it_is_left(page: Any) -> None:
    year = page.locator("[name=year]")
    year.fill("1800")
    assert page.locator("#wrong-year").is_hidden()
    year.press("Tab")
    assert "a year from 1950 to 2200" in error_of(page, "year")
    assert year.get_attribute("aria-invalid") == "true"
    # The error goes as soon as it is corrected.
    year.fill("2026")
    assert page.locator("#wrong-year").is_hidden()
    assert year.get_attribute("aria-invalid") == "false"
    for name, wrong, right in (
        ("parameters", "270M", "270"),
        ("regime", "zero shot", "zero-shot"),
        ("pretraining_tokens", "1.5", "not disclosed"),
        ("paper", " ", "A paper"),
    ):
        field = page.locator(f"[name={name}]")
        field.fill(wrong)
        field.press("Tab")
        assert field.get_attribute("aria-invalid") == "true", name
        field.fill(right)
        assert field.get_attribute("aria-invalid") == "false", name


@pytest.mark.parametrize("look", [("light", 1200)], ids=["light"])
def test_problems_that_only_the_server_finds_are_shown_at_their_fields(page: Any, tmp_path: Path) -> None:
    (tmp_path / "good.zip").write_bytes(zip_of(answers(1)))
    fill(page, tmp_path / "good.zip")
    page.locator("#more summary").click()
    page.locator("[name=notes]").fill("\n".join("note" for _ in range(21)))
    page.locator("#more summary").click()
    press(page, "Submit")
    page.locator("#errors a", has_text="Notes for readers").wait_for()
    assert page.locator("#outcome").is_hidden()
    page.locator("#errors a").click()
    assert page.evaluate("document.activeElement.name") == "notes"


@pytest.mark.parametrize("look", [("light", 1200)], ids=["light"])
def test_fields_have_human_labels_in_groups_and_required_ones_first(page: Any) -> None:
    labels = page.locator("#form .field > label").all_inner_texts()
    required = [label for label in labels if label.endswith("*")]
    assert labels[: len(required)] == required
    assert "Model size (millions of parameters) *" in required
    assert not [label for label in labels if "_" in label]
    assert page.locator("#fields legend").all_inner_texts() == ["System", "Size", "Training data"]
    assert page.get_by_label("Fine-tuning data").get_attribute("name") == "fine_tuning_data"
    unnamed = page.locator("#form [name]").evaluate_all("all => all.filter((each) => !each.labels.length).length")
    assert unnamed == 0


@pytest.mark.parametrize("look", [("light", 390)], ids=["phone"])
def test_the_header_is_that_of_the_board(page: Any, server: ServedBoard) -> None:
    texts = "links => links.map((link) => link.textContent)"
    own = page.locator("#menu a").evaluate_all(texts)
    page.locator("#menu-button").click()
    page.locator("#menu a", has_text="Analyses").click()
    page.wait_for_selector("h1:text-is('Analyses')")
    assert page.locator("#menu a").evaluate_all(texts) == own


@pytest.mark.parametrize("look", [("light", 1200)], ids=["light"])
def test_the_upload_shows_its_progress(page: Any, tmp_path: Path) -> None:
    (tmp_path / "large.zip").write_bytes(zip_of(answers(1)) + bytes(4_000_000))
    fill(page, tmp_path / "large.zip")
    page.evaluate("""() => {
        window.shares = [];
        new MutationObserver(() => {
            const bar = document.getElementById("upload");
            if (!bar.hidden) window.shares.push(bar.value);
        }).observe(document.getElementById("outcome"), { subtree: true, childList: true, attributes: true });
    }""")
    press(page, "Submit")
    wait_until(page, "window.shares.some((share) => share > 0)")
    shares = page.evaluate("window.shares")
    assert shares == sorted(shares)
    assert max(shares) <= 1
