"""Test every page of the board in a browser: layout, themes, accessibility and escaping."""

from pathlib import Path

import numpy as np
import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, column, go, settle
from board.synthetic_board import packed, synthetic_board, write_site
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

PAGES = [
    "#/",
    "#/progress",
    "#/progress?view=humans",
    "#/progress?view=size",
    "#/progress?view=size&x=date&y=qa",
    "#/progress?view=size&x=cost",
    "#/?ranking=worst&family=Turkic",
    "#/?ranking=gini",
    "#/?metric=em",
    "#/?ranking=weights&w=xnli%3A3",
    "#/system/s0",
    "#/system/s3",
    "#/system/s8",
    "#/system/s0?task=all&order=gap",
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
    "#/languages?view=heat",
    "#/languages?task=xnli&system=s1&base=own&share=95",
    "#/languages?view=list&task=xnli",
    "#/analysis/single?system=s0",
    "#/analysis/pairwise?system=s0&system=s1",
    "#/analysis/bias",
    "#/analysis/bias?attribute=qType",
    "#/analysis/single?system=s2",
    "#/about",
]
# Pages with the elements and colours of another one: axe-core checks them with --every-page only.
ALIKE = {
    "#/progress?view=size&x=date&y=qa",
    "#/progress?view=size&x=cost",
    "#/?ranking=gini",
    "#/?metric=em",
    "#/language/en",
    "#/family/Turkic",
    "#/task/wikiann",
    "#/languages?task=xnli&system=s1&base=own&share=95",
    "#/analysis/single?system=s2",
}
EMPTY = [
    "#/system/none",
    "#/language/xx",
    "#/family/None",
    "#/task/none",
    "#/task/xnli/fi",
    "#/nowhere",
    "#/analysis/none",
    "#/analysis/constructor",
    "#/__proto__",
]


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with few rows, complete and incomplete, with plain and hostile names: axe-core checks every cell."""
    return write_site(synthetic_board(9), tmp_path_factory.mktemp("small") / "site", detailed=9)


_SIZES = """[...document.querySelectorAll("body *")]
  .filter((node) => node.getClientRects().length)
  .filter((node) => [...node.childNodes].some((own) => own.nodeType === 3 && own.data.trim()))
  .map((node) => getComputedStyle(node).fontSize)"""


def test_pages_open_without_console_messages_and_fit_a_phone(open_page: Open, small_site: Path) -> None:
    sizes: set[str] = set()
    for width in (1200, 360):
        tab = open_page("#/about", index=small_site, width=width)
        for hash_ in PAGES:
            go(tab, hash_)
            settle(tab)
            assert tab.locator("main h1, main .headline").count(), hash_
            assert tab.locator("main h1").all_inner_texts() != ["Not found"], hash_
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (hash_, width)
            sizes |= set(tab.evaluate(_SIZES))
    assert len(sizes) == 5, sizes


def test_missing_pages(open_page: Open) -> None:
    tab = open_page()
    for hash_ in EMPTY:
        go(tab, hash_)
        assert tab.locator("main h1").inner_text() == "Not found", hash_


def test_submitted_names_are_text(open_page: Open) -> None:
    tab = open_page("#/?q=img&partial=1")
    assert "</script></title><img src=x onerror='window.hacked = 1'><!--" in column(tab, "System")[0]
    tab.click("table.data .system a")
    assert "<img src=x" in tab.locator("h1").inner_text()
    assert tab.locator("main img").count() == 0
    # Only web addresses become links.
    go(tab, "#/system/s0")
    assert tab.locator("a[href^=javascript]").count() == 0
    go(tab, "#/system/s1")
    assert tab.locator("a[href='https://example.org/paper']").get_attribute("rel") == "noopener noreferrer nofollow"


def test_disabled_analysis_buttons_give_reasons(open_page: Open) -> None:
    tab = open_page()
    why = {mode: tab.locator(f"#why-{mode}") for mode in ("compare", "single", "pairwise")}
    assert tab.locator(".selection").count() == 0
    tab.check("[data-id=s2]")
    assert why["single"].inner_text() == "System 2 has only reported scores"
    tab.uncheck("[data-id=s2]")
    assert tab.locator(".selection").count() == 0
    tab.check("[data-id=s0]")
    why["single"].wait_for(state="detached")
    assert why["pairwise"].inner_text() == "select two systems"
    tab.click("[data-mode=single]")
    assert tab.locator("h1").inner_text() == "Single analysis"


def test_analyses_by_isogloss_explain(open_page: Open) -> None:
    tab = open_page("#/analysis/single?system=s2")
    # The page says why a system has no analyses.
    tab.wait_for_selector("text=has no analyses")
    go(tab, "#/analysis/single?system=s0")
    tab.wait_for_selector(".bar")
    assert tab.locator("h1").inner_text() == "Single analysis"
    tab.locator(".bar").first.hover()
    assert "Select to show 2 examples" in tab.locator("#tip").inner_text()
    tab.locator(".bar").first.click()
    assert "2 of 300 examples" in tab.locator(".examples").inner_text()
    assert "<img src=x" in tab.locator(".examples").inner_text()
    go(tab, "#/analysis/pairwise?system=s0&system=s1")
    tab.wait_for_selector(".bar.below")
    assert (
        tab.locator(".headline").inner_text().startswith("System 0 minus System 1 · f1: the first is better above zero")
    )
    tab.locator(".bar").first.focus()
    assert "95 % interval +1.0 to +3.0" in tab.locator("#tip").inner_text()


def test_dataset_bias(open_page: Open) -> None:
    tab = open_page("#/analysis/bias")
    # The shares of types are uneven, the lengths are the same in both languages.
    tab.wait_for_selector("table.heat")
    assert tab.locator("table.heat tbody tr").first.inner_text().split() == ["English", "25", "75"]
    assert "“what” makes up 75.0 %" in tab.locator(".headline").inner_text()
    tab.select_option("label:has-text('Attribute') select", "cLen")
    box = tab.locator(".box-plot").first
    box.focus()
    assert "median 120" in tab.locator("#tip").inner_text()


def test_equal_printed_scores_are_marked_alike(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(3)
    languages = next(each["languages"] for each in board["tasks"] if each["id"] == "xnli")
    board["cells"]["xnli"] = packed(np.repeat([[80.02], [79.98], [60]], len(languages), axis=1))
    tab = open_page("#/task/xnli/sw", index=write_site(board, tmp_path / "site"))
    assert tab.locator("tbody .best", has_text="80.0").count() == 2


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
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_no_axe_violations(
    open_page: Open, small_site: Path, scheme: str, width: int, pytestconfig: pytest.Config
) -> None:
    tab = open_page(index=small_site, color_scheme=scheme, width=width, bypass_csp=True)
    by_page = {}
    left_out = set() if pytestconfig.getoption("--every-page") else ALIKE
    for hash_ in [hash_.replace("s47", "s8") for hash_ in PAGES if hash_ not in left_out] + EMPTY[:1]:
        go(tab, hash_)
        settle(tab)
        if violations := barriers(tab):
            by_page[hash_] = violations
    assert not by_page, "\n".join(f"{hash_}: {each}" for hash_, all_ in by_page.items() for each in all_)


@needs_axe
def test_no_axe_violations_with_open_lists_and_tips(open_page: Open, small_site: Path) -> None:
    tab = open_page(index=small_site, bypass_csp=True)
    tab.click("summary:has-text('More filters')")
    tab.click(".many:has-text('Language') > summary")
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    tab.click("summary:has-text('Columns')")
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    tab.locator("td[tabindex='0']").first.scroll_into_view_if_needed()
    tab.locator("td[tabindex='0']").first.focus()
    tab.wait_for_selector("#tip:not([hidden])")
    assert barriers(tab) == []
