"""Test heat maps of the board in a browser: fixed scales, hatching, family bands, phones and print."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, go, settle
from board.synthetic_board import packed, synthetic_board, write_site
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

_CELL = """([row, column]) => {
  const table = document.querySelector("table.heat");
  const at = [...table.tHead.lastElementChild.cells].findIndex((cell) => cell.textContent === column);
  const line = [...table.tBodies[0].rows].find((each) => each.cells[0].textContent.startsWith(row));
  const style = getComputedStyle(line.cells[at]);
  return [line.cells[at].textContent, style.backgroundColor, line.cells[at].className, style.backgroundImage];
}"""


def cell(tab: Any, row: str, column: str) -> list[str]:
    """Return the text, the colour, the class and the background image of a cell of the first heat map."""
    found: list[str] = tab.evaluate(_CELL, [row, column])
    return found


@pytest.fixture(scope="module")
def holes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems; the second has XNLI without Swahili, the third a much lower score in it."""
    board = synthetic_board(3)
    codes = next(each["languages"] for each in board["tasks"] if each["id"] == "xnli")
    cells = np.tile(np.linspace(70, 84, len(codes)), (3, 1))
    cells[1, codes.index("sw")] = np.nan
    cells[2, codes.index("sw")] = 31
    board["cells"]["xnli"] = packed(cells)
    return write_site(board, tmp_path_factory.mktemp("holes") / "site", detailed=3)


def test_a_score_has_one_colour_on_all_pages_and_selections(open_page: Open) -> None:
    tab = open_page("#/system/s0")
    own = cell(tab, "XNLI", "Swahili")
    assert own[1].startswith("rgb(")
    go(tab, "#/task/xnli")
    assert cell(tab, "System 0", "Swahili")[:2] == own[:2]
    for hash_ in ("?view=heat&task=xnli", "?view=heat&task=xnli&q=System+0", "?view=heat&task=xnli&order=name"):
        go(tab, f"#/languages{hash_}")
        assert cell(tab, "System 0", "Swahili")[:2] == own[:2], hash_
    # One row alone has the same scale as forty.
    assert tab.locator(".key").inner_text().split()[:2] == ["≤", "40"]


def test_untested_cells_are_hatched_and_absent_ones_empty(open_page: Open, holes: Path) -> None:
    tab = open_page("#/system/s1", index=holes)
    text, _, class_, image = cell(tab, "XNLI", "Swahili")
    assert (text, class_) == ("not tested", "untested")
    assert image.startswith("repeating-linear-gradient")
    assert cell(tab, "XNLI", "Finnish")[::2] == ["", "none"]
    assert "no score" in tab.locator("#cells .key").inner_text()
    assert tab.locator("#cells .key .untested").count() == 1
    go(tab, "#/task/xnli")
    assert cell(tab, "System 1", "Swahili")[2] == "untested"
    assert tab.locator("#cells .key").inner_text().endswith("not tested")


def test_rows_of_tasks_name_their_scales(open_page: Open, holes: Path) -> None:
    tab = open_page("#/system/s2", index=holes)
    heads = tab.locator("#cells tbody th").all_inner_texts()
    scales = {head.split()[0]: head.split()[-1] for head in heads}
    # XNLI has scores from 31 to 84; other tasks have their own scales.
    assert scales["XNLI"] == "30–90"
    assert all(re.fullmatch(r"\d+–\d+", scale) for scale in scales.values())
    assert len(set(scales.values())) > 1


def test_columns_are_names_under_family_bands(open_page: Open) -> None:
    tab = open_page("#/task/wikiann")
    bands, heads = tab.locator("#cells thead tr").all()
    sizes = [int(size) for size in bands.locator("th").evaluate_all("all => all.map((each) => each.colSpan)")]
    names = heads.locator("th").all_inner_texts()
    assert sum(sizes) == len(names) == 48
    # The largest family comes first, families of one language last.
    assert bands.locator("th").first.inner_text() == "Indo-European"
    assert bands.locator("th").last.inner_text() == "Other families"
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)
    assert {"English", "Swahili", "Quechua"} <= set(names)
    heads.get_by_role("link", name="German", exact=True).focus()
    assert tab.locator("#tip").inner_text().startswith("German · Deutsch")
    bands.get_by_role("link", name="Turkic").click()
    assert tab.locator("h1").inner_text() == "Turkic"


def test_other_orders_of_languages_have_no_bands(open_page: Open) -> None:
    tab = open_page("#/languages?view=heat&task=xnli&order=name")
    assert tab.locator("table.heat .bands").count() == 0
    names = tab.locator("table.heat thead th").all_inner_texts()
    assert names == sorted(names)


def test_means_over_tasks_are_relative_to_english(open_page: Open) -> None:
    tab = open_page("#/languages?view=heat&task=all")
    assert "Per cent of the best score in English on the same task" in tab.locator("main").inner_text()
    assert tab.locator(".key").inner_text().startswith("≤ 40")
    # Tatoeba has no English: it counts alone, not in the mean.
    tab.locator("table.heat td[tabindex='0']").focus()
    tip = tab.locator("#tip").inner_text()
    assert "% of the best score in English" in tip and "Tatoeba" not in tip


def test_a_phone_scrolls_inside_the_heat_map(open_page: Open) -> None:
    tab = open_page("#/system/s0", width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    scroller = tab.locator("#cells .scroll")
    assert scroller.evaluate("node => node.scrollWidth > node.clientWidth")
    scroller.evaluate("node => (node.scrollLeft = 400)")
    head, box = tab.locator("#cells tbody th").first.bounding_box(), scroller.bounding_box()
    assert head["x"] == pytest.approx(box["x"], abs=2)


def test_print_keeps_all_columns_and_colours(open_page: Open) -> None:
    tab = open_page("#/system/s0", width=718)
    tab.emulate_media(media="print")
    table = tab.locator("#cells table.heat")
    assert table.locator("thead tr").last.locator("th").count() == 50
    box = table.bounding_box()
    assert box["x"] + box["width"] <= 718
    assert table.evaluate("node => getComputedStyle(node).printColorAdjust") == "exact"


def test_cell_tips_show_interval_scorer_and_data(open_page: Open) -> None:
    tab = open_page("#/system/s0")
    tab.locator("table.heat").first.locator("td[tabindex='0']").focus()
    wait_until(tab, "document.querySelector('#tip').textContent.includes('95 % interval')")
    text = tab.locator("#tip").inner_text()
    assert "scorer Isogloss 1.0; data sum-xnli-" in text and "58.5–63.4" in text
    assert "2.0 % of predictions missing or unparseable" in text
    # XCOPA has no English.
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.locator("h1").inner_text().startswith("UD-POS in English")


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hatched_and_banded_heat_maps_have_no_axe_violations(open_page: Open, holes: Path, scheme: str) -> None:
    tab = open_page("#/system/s1", index=holes, color_scheme=scheme, bypass_csp=True)
    for hash_ in ("#/system/s1", "#/task/xnli", "#/languages?view=heat&task=all"):
        go(tab, hash_)
        settle(tab)
        assert barriers(tab) == [], hash_
