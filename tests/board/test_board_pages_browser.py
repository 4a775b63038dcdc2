"""Every page of the board in a real browser: it opens, fits a phone, is dark or light, and shows names as text."""

import os
from pathlib import Path

import pytest

from board.opened_board import Open, column, go
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
AXE = os.environ.get("ISOGLOSS_AXE", "")


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


@pytest.mark.skipif(not AXE, reason="axe-core is not here: npm install axe-core, and ISOGLOSS_AXE=…/axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, scheme: str) -> None:
    tab = open_page(color_scheme=scheme, bypass_csp=True)
    tab.evaluate(Path(AXE).read_text(encoding="utf-8"))
    run = """axe.run(document, { preload: false, resultTypes: ["violations"] }).then((made) =>
      made.violations.map(({ id, nodes }) =>
        `${id} × ${nodes.length}: ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary}`))"""
    found = {}
    for hash_ in PAGES:
        go(tab, hash_)
        tab.wait_for_timeout(150)
        if violations := tab.evaluate(run):
            found[hash_] = violations
    assert not found, "\n".join(f"{hash_}: {each}" for hash_, all_ in found.items() for each in all_)
