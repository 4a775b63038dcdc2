"""Tips on touch screens: a tap opens one, which stays while it is read; the second tap follows the link."""

import json
from typing import Any

import pytest

from board.opened_board import Open, settle
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]
PHONE = 390


# Scrolling is reported in the next frame, and what follows is drawn in the one after it.
_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
# A tap ends with a click, unless the finger moves.
_CLICKED = """() => {
  const once = { once: true, capture: true };
  window.clicked = new Promise((done) => addEventListener("click", () => setTimeout(done), once));
}"""


def touched(open_page: Open, hash_: str) -> Any:
    tab = open_page(hash_, width=PHONE, has_touch=True, is_mobile=True)
    settle(tab)
    return tab


def tap(tab: Any, node: Any) -> dict[str, float]:
    """Tap the middle of a node with a finger; return its box."""
    node.scroll_into_view_if_needed()
    tab.evaluate(_DRAWN)
    box: dict[str, float] = node.bounding_box()
    tab.evaluate(_CLICKED)
    tab.touchscreen.tap(box["x"] + min(box["width"], PHONE - box["x"]) / 2, box["y"] + box["height"] / 2)
    tab.evaluate("() => window.clicked")
    tab.evaluate(_DRAWN)
    return box


def clear_of(tip: dict[str, float], box: dict[str, float]) -> bool:
    return tip["y"] + tip["height"] <= box["y"] or tip["y"] >= box["y"] + box["height"]


def test_a_tap_opens_a_tip_that_stays_and_the_next_follows_the_link(open_page: Open) -> None:
    tab = touched(open_page, "#/system/s3")
    cell = tab.locator("table.heat td a").first
    target = cell.get_attribute("href")
    before = tab.evaluate("location.hash")
    box = tap(tab, cell)
    tip = tab.locator("#tip")
    assert tip.is_visible()
    assert tab.evaluate("location.hash") == before
    # It stays while it is read: no time limit, and after a short scroll it is still at its cell.
    tab.wait_for_timeout(600)
    assert tip.is_visible()
    tab.evaluate("scrollBy(0, 20)")
    tab.evaluate(_DRAWN)
    assert tip.is_visible()
    assert clear_of(tip.bounding_box(), cell.bounding_box())
    assert box["width"] > 0
    tap(tab, cell)
    wait_until(tab, f"location.hash === {json.dumps(target)}")


def test_a_tap_elsewhere_or_escape_closes_a_tip(open_page: Open) -> None:
    tab = touched(open_page, "#/system/s3")
    cells = tab.locator("table.heat td a")
    tip = tab.locator("#tip")
    tap(tab, cells.nth(0))
    first = tip.inner_text()
    tap(tab, cells.nth(1))
    assert tip.is_visible()
    assert tip.inner_text() != first
    tap(tab, tab.locator("h2").first)
    assert tip.is_hidden()
    tap(tab, cells.nth(0))
    assert tip.is_visible()
    tab.keyboard.press("Escape")
    assert tip.is_hidden()
    # Tapping the tip itself keeps it open, so that its text can be selected.
    tap(tab, cells.nth(0))
    tap(tab, tip)
    assert tip.is_visible()


def test_tips_neither_cover_their_target_nor_leave_the_screen(open_page: Open) -> None:
    for hash_, selector in (
        ("#/system/s3", "table.heat td a"),
        ("#/", "table.data tbody td.score"),
    ):
        tab = touched(open_page, hash_)
        nodes = tab.locator(selector)
        shown = 0
        for at in range(0, min(nodes.count(), 40), 7):
            box = tap(tab, nodes.nth(at))
            tip = tab.locator("#tip")
            if not tip.is_visible():
                continue
            shown += 1
            where = tip.bounding_box()
            assert clear_of(where, box), (hash_, at)
            assert where["x"] >= 0 and where["x"] + where["width"] <= PHONE, (hash_, at)
            assert where["y"] >= 0 and where["y"] + where["height"] <= 900, (hash_, at)
            tab.keyboard.press("Escape")
        assert shown, hash_


def test_controls_act_on_the_first_tap(open_page: Open) -> None:
    tab = touched(open_page, "#/languages")
    tap(tab, tab.locator("#menu-button"))
    assert tab.locator("#menu-button").get_attribute("aria-expanded") == "true"
    tap(tab, tab.locator("#menu a", has_text="Analyses"))
    tab.wait_for_selector("h1:text-is('Analyses')")


def test_a_mouse_still_shows_tips_on_hover_only(open_page: Open) -> None:
    tab = open_page("#/system/s3")
    settle(tab)
    cell = tab.locator("table.heat td a").first
    cell.hover()
    assert tab.locator("#tip").is_visible()
    tab.mouse.move(2, 400)
    assert tab.locator("#tip").is_hidden()
    target = cell.get_attribute("href")
    cell.click()
    wait_until(tab, f"location.hash === {json.dumps(target)}")


def test_the_second_tap_on_a_row_shows_its_examples(open_page: Open) -> None:
    tab = touched(open_page, "#/analysis/single?system=s0")
    row = tab.locator(".charts .bar").first
    row.wait_for()
    tap(tab, row)
    assert "Select to show 2 examples" in tab.locator("#tip").inner_text()
    assert tab.locator(".examples li").count() == 0
    tap(tab, row)
    assert tab.locator(".examples li").count() == 2


def test_a_tip_stays_with_a_focused_cell_while_the_page_scrolls(open_page: Open) -> None:
    tab = open_page("#/system/s3")
    settle(tab)
    # Focusing scrolls to the cell, which must not close its tip.
    cell = tab.locator("table.heat td[tabindex='0']").first
    cell.focus()
    tab.evaluate(_DRAWN)
    tip = tab.locator("#tip")
    assert tip.is_visible()
    tab.evaluate("scrollBy(0, 30)")
    tab.evaluate(_DRAWN)
    assert tip.is_visible()
    assert clear_of(tip.bounding_box(), cell.bounding_box())
    tab.keyboard.press("Escape")
    assert tip.is_hidden()
