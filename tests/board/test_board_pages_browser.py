"""Every page of the board in a real browser: it opens, fits a phone, is dark or light, and shows names as text."""

from pathlib import Path

import numpy as np
import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, column, go
from board.synthetic_board import packed, synthetic_board, write_site
from isogloss.board.site import build_board
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

PAGES = [
    "#/",
    "#/?view=plot",
    "#/?view=plot&x=date&y=qa",
    "#/?view=plot&x=cost",
    "#/?ranking=worst&family=Turkic",
    "#/?ranking=gini",
    "#/?metric=em",
    "#/?ranking=weights&w=xnli%3A3",
    "#/system/s0",
    "#/system/s3",
    "#/system/s47",
    "#/language/ar",
    "#/language/en",
    "#/family/Indo-European",
    "#/family/Turkic",
    "#/task/xquad",
    "#/task/wikiann",
    "#/task/xnli/sw",
    "#/compare",
    "#/compare?system=s0&system=s1",
    "#/compare?system=s0&system=s1&system=s3&system=s4",
    "#/languages",
    "#/languages?view=tree",
    "#/languages?view=map",
    "#/languages?view=map&task=xnli&system=s1",
    "#/languages?view=list&task=xnli",
    "#/analysis/single?system=s0",
    "#/analysis/pairwise?system=s0&system=s1",
    "#/analysis/bias",
    "#/analysis/bias?attribute=qType",
    "#/analysis/single?system=s2",
    "#/about",
]
EMPTY = [
    "#/system/none",
    "#/language/xx",
    "#/family/None",
    "#/task/none",
    "#/task/xnli/fi",
    "#/nowhere",
    "#/analysis/none",
]


def test_every_page_opens_without_a_word_on_the_console_and_fits_a_phone(open_page: Open) -> None:
    for width in (1200, 360):
        tab = open_page("#/about", width=width)
        for hash_ in PAGES:
            go(tab, hash_)
            tab.wait_for_timeout(60)
            assert tab.locator("main h1, main .headline").count(), hash_
            assert tab.locator("main h1").all_inner_texts() != ["Nothing here"], hash_
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (hash_, width)


def test_pages_of_nothing_say_so(open_page: Open) -> None:
    tab = open_page()
    for hash_ in EMPTY:
        go(tab, hash_)
        assert tab.locator("main h1").inner_text() == "Nothing here", hash_


def test_names_of_others_are_text(open_page: Open) -> None:
    tab = open_page("#/?q=img")
    assert "</script></title><img src=x onerror='window.hacked = 1'><!--" in column(tab, "System")[0]
    tab.click("table.data .system a")
    assert "<img src=x" in tab.locator("h1").inner_text()
    assert tab.locator("main img").count() == 0
    # Only addresses of the web become links.
    go(tab, "#/system/s0")
    assert tab.locator("a[href^=javascript]").count() == 0
    go(tab, "#/system/s1")
    assert tab.locator("a[href='https://example.org/paper']").get_attribute("rel") == "noopener noreferrer nofollow"


def test_the_three_buttons_say_why_they_are_not_to_be_pressed(open_page: Open) -> None:
    tab = open_page()
    why = {mode: tab.locator(f"#why-{mode}") for mode in ("compare", "bias", "single", "pairwise")}
    assert why["single"].inner_text() == "tick one system"
    tab.check("[data-id=s2]")
    assert "no answers to analyse" in why["single"].inner_text()
    tab.uncheck("[data-id=s2]")
    tab.check("[data-id=s0]")
    why["single"].wait_for(state="detached")
    assert why["pairwise"].inner_text() == "tick two systems"
    tab.click("[data-mode=single]")
    assert tab.locator("h1").inner_text() == "Single analysis"
    tab.locator(".bar").first.click()
    assert "2 of 300 examples" in tab.locator(".examples").inner_text()
    assert "<img src=x" in tab.locator(".examples").inner_text()
    go(tab, "#/?tick=s0&tick=s1")
    why["pairwise"].wait_for(state="detached")
    tab.click("[data-mode=pairwise]")
    tab.wait_for_selector(".bar.below")
    assert tab.locator(".headline").inner_text().startswith("System 0 minus System 1 · f1: above zero")
    tab.locator(".bar").first.focus()
    assert "95 % interval +1.0 to +3.0" in tab.locator("#tip").inner_text()


def test_dataset_bias(open_page: Open) -> None:
    tab = open_page()
    tab.click("[data-mode=bias]")
    box = tab.locator(".box-plot").first
    box.focus()
    assert "median 120" in tab.locator("#tip").inner_text()
    tab.select_option("label:has-text('Attribute') select", "qType")
    tab.wait_for_selector("table.heat")
    assert tab.locator("table.heat tbody tr").first.inner_text().split() == ["English", "25", "75"]


def test_compare_uses_shared_cells_only(open_page: Open) -> None:
    tab = open_page("#/compare?system=s0&system=s3")
    said = tab.locator(".headline").inner_text()
    shared = int(said.split()[0])
    assert shared == 202 - 48 and "of 202 are shared" in said
    assert "WikiANN" not in tab.locator("[aria-label=Tasks] tbody").inner_text()
    assert "XNLI" in tab.locator("[aria-label=Tasks] tbody").inner_text()
    go(tab, "#/compare?system=s0&system=s1")
    tab.wait_for_selector("text=not told apart")


def test_figures_that_print_alike_are_marked_alike(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(3)
    languages = next(each["languages"] for each in board["tasks"] if each["id"] == "xnli")
    board["cells"]["xnli"] = packed(np.repeat([[80.02], [79.98], [60]], len(languages), axis=1))
    tab = open_page("#/compare?system=s0&system=s1", index=write_site(board, tmp_path / "site"))
    rows = tab.locator("[aria-label=Tasks] tbody tr")
    alike = rows.filter(has_text="XNLI")
    assert alike.locator("td.score").all_inner_texts() == ["80.0", "80.0", "0.0"]
    # Neither is the best by what is seen; of two figures that differ one is.
    assert alike.locator(".best").count() == 0
    assert rows.locator(".best").count() == rows.count() - 1
    go(tab, "#/task/xnli/sw")
    assert tab.locator("tbody .best", has_text="80.0").count() == 2


def test_language_page(open_page: Open) -> None:
    tab = open_page("#/language/ar")
    assert tab.locator("h1 bdi").get_attribute("dir") == "rtl"
    assert tab.locator(".facts").inner_text().startswith("Family")
    assert tab.locator(".plot svg a").count() >= 8
    tab.click("button.sort:has-text('XQuAD')")
    assert tab.evaluate("location.hash") == "#/language/ar?sort=xquad"
    tab.click(".facts a:has-text('Afro-Asiatic')")
    assert tab.locator("h1").inner_text() == "Afro-Asiatic"
    assert "2/41" in tab.locator("th:has(button:text('Tatoeba'))").inner_text()


def test_the_map(open_page: Open) -> None:
    tab = open_page("#/languages?view=map")
    assert tab.locator(".map a").count() == 50
    tab.locator(".map a[aria-label^='Swahili']").focus()
    assert tab.locator("#tip").inner_text().startswith("Swahili · Kiswahili: ")
    before = tab.locator(".map a[aria-label^='Swahili']").get_attribute("aria-label")
    tab.select_option("label:has-text('System') select", "s40")
    tab.wait_for_selector(f".map a[aria-label='{before}']", state="detached")
    tab.select_option("label:has-text('Score') select", "xnli")
    assert tab.evaluate("location.hash") == "#/languages?view=map&system=s40&task=xnli"
    assert tab.locator(".map a").count() == 15
    said = tab.locator(".map a[aria-label^='Swahili']").get_attribute("aria-label")
    tab.click("summary:has-text('The same as a table')")
    row = tab.locator("table tr", has=tab.get_by_role("rowheader", name="Swahili", exact=True))
    assert row.locator("td.number").last.inner_text() == said.split(": ")[1]
    tab.locator(".map a[aria-label^='Swahili']").focus()
    tab.keyboard.press("Enter")
    assert tab.locator("h1").inner_text().startswith("Swahili")
    go(tab, "#/languages?view=map")
    assert tab.locator(".key").inner_text().startswith("≤ ")


def test_a_cell_says_its_interval_scorer_and_data(open_page: Open) -> None:
    tab = open_page("#/system/s0")
    cell = tab.locator("table.heat").first.locator("td[tabindex='0']")
    cell.focus()
    tab.wait_for_function("document.querySelector('#tip').textContent.includes('95 % interval')")
    said = tab.locator("#tip").inner_text()
    assert "scorer Isogloss 1.0; data sum-xnli-" in said and "58.5–63.4" in said
    assert "2.0 % of the answers missing or not readable" in said
    assert tab.locator(".bar .whisker").count() == 1
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert tab.locator("h1").inner_text().startswith("UD-POS in Arabic")


def test_languages_that_nobody_scored_are_named(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(6)
    board["languages"] += [{**board["languages"][0], "code": "xx", "name": "Xish", "place": None}]
    board["tasks"][0]["languages"] += ["xx"]
    board["tasks"][0]["n"] += [100]
    cells = np.full((6, len(board["tasks"][0]["languages"])), 50.0)
    cells[:, -1] = np.nan
    board["cells"]["xnli"] = packed(cells)
    tab = open_page("#/languages", index=write_site(board, tmp_path / "site"))
    for view in ("", "?view=map", "?view=tree", "?view=list"):
        go(tab, f"#/languages{view}")
        tab.wait_for_selector("text=No system has a score yet in Xish.")
    go(tab, "#/languages?view=map")
    tab.wait_for_selector("text=Not on the map: Xish.")


def test_dark_and_light(open_page: Open) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    assert light.evaluate(ground) == "rgb(255, 255, 255)"
    assert dark.evaluate(ground) == "rgb(18, 22, 27)"
    dark.click("#theme")
    assert dark.evaluate(ground) == "rgb(255, 255, 255)"
    dark.reload()
    dark.wait_for_selector("html[data-ready]")
    assert dark.evaluate(ground) == "rgb(255, 255, 255)"


@needs_axe
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, scheme: str, width: int) -> None:
    tab = open_page(color_scheme=scheme, width=width, bypass_csp=True)
    found = {}
    for hash_ in PAGES + EMPTY[:1]:
        go(tab, hash_)
        tab.wait_for_timeout(150)
        if violations := barriers(tab):
            found[hash_] = violations
    assert not found, "\n".join(f"{hash_}: {each}" for hash_, all_ in found.items() for each in all_)


@needs_axe
def test_axe_finds_nothing_where_lists_are_open_and_a_tip_is_shown(open_page: Open) -> None:
    tab = open_page(bypass_csp=True)
    tab.click("summary:has-text('More filters')")
    tab.click(".many:has-text('Language') > summary")
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    tab.click("summary:has-text('Columns')")
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    tab.locator("td[tabindex='0']").first.focus()
    tab.wait_for_selector("#tip:not([hidden])")
    assert barriers(tab) == []


def test_papers_figures_say_their_metric_and_systems_of_one_name_their_regime(open_page: Open, tmp_path: Path) -> None:
    index = build_board(["published:all"], tmp_path / "site")
    tab = open_page("#/task/xquad", index=index)
    # Papers print languages in F1, and the average of a task in both metrics: it is below them all.
    notes = tab.locator("table.data thead .of").all_inner_texts()
    assert notes[0] == "F1 and exact match"
    assert set(notes[1:]) == {"F1"}
    go(tab, "#/task/xquad/th")
    names = tab.locator(".plot svg a > text:first-child").all_text_contents()
    assert len(names) == len(set(names)) > 5
    assert "Humans" not in tab.locator(".headline").inner_text()
    go(tab, "#/compare?system=mbert&system=mbert-translate-train")
    said = tab.locator(".headline").inner_text()
    assert "mBERT (zero-shot) is best in" in said and "mBERT (translate-train) is best in" in said
