"""Synthetic board, opened in a browser from disk and offline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from board.opened_board import Open
from board.synthetic_board import synthetic_board, write_site
from isogloss.board.site import build_board
from report.browser import launched


@pytest.fixture(scope="module")
def board_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(synthetic_board(48), tmp_path_factory.mktemp("board") / "site", detailed=48)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the board of all published systems, which tests only read."""
    return build_board(["published:all"], tmp_path_factory.mktemp("published") / "site")


@pytest.fixture(scope="module")
def board_browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
    yield from launched(playwright)


@pytest.fixture
def open_page(board_browser: Any, board_site: Path) -> Iterator[Open]:
    """Return a function that opens pages; console messages and network requests are failures."""
    troubles: list[str] = []
    contexts = []

    def opened(hash_: str = "#/", *, index: Path = board_site, width: int = 1200, **options: Any) -> Any:
        context = board_browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_offline(True)
        tab = context.new_page()
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on(
            "request",
            lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else troubles.append(asked.url),
        )
        tab.goto(index.as_uri() + hash_)
        tab.wait_for_selector("html[data-ready]")
        return tab

    yield opened
    for context in contexts:
        for tab in context.pages:
            assert tab.evaluate("window.hacked") is None
        context.close()
    assert troubles == []
