"""Test the look of pages in a browser: width, top bar, chart text, themes, and axe-core."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import isogloss
from board.axe import barriers, needs_axe
from isogloss.explain.analysis import Analysis
from isogloss.site.html import html_page
from isogloss.site.sections import report_sections
from isogloss.site.write import write_analysis, write_bias, write_finding
from report.browser import BROWSER, launched
from report.made_records import HOSTILE, bias, explanation, inputs, pair_made
from waiting import wait_until

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]
PAGES = ("report", "explain", "data", "finding")
PAPER, INK = "getComputedStyle(document.body).backgroundColor", "getComputedStyle(document.body).color"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(18, 22, 27)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one page of each kind."""
    made = tmp_path_factory.mktemp("pages")
    (made / "report.html").write_text(html_page(inputs(), report_sections(inputs()), "Report"), encoding="utf-8")
    pair = msgspec.structs.replace(pair_made(), cells=[])
    write_analysis(
        Analysis(explanations=[explanation("plain"), explanation(HOSTILE)], pairs=[pair], edges="shared"),
        made / "explain.html",
    )
    write_bias(bias(), made / "data.html")
    write_finding(isogloss.analyze("rankings", "published", tasks=["xnli", "xquad"]), made / "finding.html")
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(playwright)


def opened(browser: Any, folder: Path, name: str, width: int = 1280, **settings: Any) -> Any:
    context = browser.new_context(viewport={"width": width, "height": 800}, offline=True, **settings)
    tab = context.new_page()
    tab.goto((folder / f"{name}.html").as_uri())
    tab.wait_for_selector("html[data-drawn=all]")
    return tab


TEXT_SIZES = """[...document.querySelectorAll(".chart .plot svg")].flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.width.baseVal.value;
  return [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim())
    .map((one) => scale * parseFloat(getComputedStyle(one).fontSize));
}).concat([...document.querySelectorAll(".heat td, .heat th")]
  .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""


@pytest.mark.parametrize("width", [360, 1280, 1920])
@pytest.mark.parametrize("name", PAGES)
def test_pages_use_the_full_width_and_are_readable(browser: Any, folder: Path, name: str, width: int) -> None:
    tab = opened(browser, folder, name, width)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    # Tables and charts take the width except for a margin; lines of prose have a readable length.
    assert tab.locator(".parts").first.bounding_box()["width"] >= width - 40
    assert max(tab.locator("section > .intro").evaluate_all("all => all.map(e => e.clientWidth)")) <= 52 * 16
    sizes = tab.evaluate(TEXT_SIZES)
    assert len(sizes) > 20
    assert min(sizes) > 11.99
    tab.context.close()


def test_panels_are_side_by_side_on_wide_screens(browser: Any, folder: Path) -> None:
    heights = {}
    for width in (360, 1280):
        tab = opened(browser, folder, "report", width)
        heights[width] = tab.locator("[data-chart=languages] .panels").bounding_box()["height"]
        stretched = tab.locator("[data-chart=overview] svg[role=img]").bounding_box()
        room = tab.locator("figure.stretch .chart").first.bounding_box()
        assert room["width"] - 50 < stretched["width"] <= room["width"]
        tab.context.close()
    assert heights[360] > 1.8 * heights[1280]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_top_bar_is_opaque_and_hides_no_linked_heading(browser: Any, folder: Path, width: int) -> None:
    tab = opened(browser, folder, "report", width)
    bar = tab.locator("#top")
    for link in tab.locator("#menu a").all():
        target = link.get_attribute("href")[1:]
        link.click()
        wait_until(tab, "id => location.hash === '#' + id", arg=target)
        heading = tab.locator(f"#{target} h2").bounding_box()
        below = bar.bounding_box()
        assert below["y"] == 0
        assert below["y"] + below["height"] <= heading["y"] <= 800 - heading["height"], target
        # The page is neither visible through the bar nor above it.
        covering = tab.evaluate(
            "width => [8, width / 2, width - 8].map((x) => Boolean(document.elementFromPoint(x, 20).closest('#top')))",
            width,
        )
        assert covering == [True] * 3
    assert bar.evaluate("e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).opacity]") == [LIGHT, "1"]
    tab.context.close()


def test_headings_of_a_long_table_stay_and_are_opaque(browser: Any, folder: Path) -> None:
    tab = opened(browser, folder, "report")
    part = tab.locator("#overview .tables details:last-child .tall")
    part.evaluate("e => { e.style.maxHeight = '8rem'; e.scrollTop = 60 }")
    head = part.locator("thead th").first
    assert head.bounding_box()["y"] == pytest.approx(part.bounding_box()["y"], abs=1)
    assert "rgba" not in head.evaluate("e => getComputedStyle(e).backgroundColor")
    tab.context.close()


def test_the_theme_is_remembered_and_charts_follow(browser: Any, folder: Path) -> None:
    tab = opened(browser, folder, "report", color_scheme="dark")
    label = "getComputedStyle(document.querySelector('[data-chart=overview] .plot text.label')).fill"
    ground = "getComputedStyle(document.querySelector('[data-chart=overview] svg')).backgroundColor"
    assert tab.evaluate(PAPER) == DARK
    assert tab.evaluate(label) == tab.evaluate(INK)
    assert tab.evaluate(ground) == "rgba(0, 0, 0, 0)"
    tab.click("#theme")
    assert tab.locator("#theme").get_attribute("aria-label") == "Colours: light. Change"
    assert tab.evaluate(PAPER) == LIGHT
    assert tab.evaluate(label) == tab.evaluate(INK) == "rgb(29, 35, 43)"
    tab.reload()
    tab.wait_for_selector("html[data-drawn=all]")
    assert tab.evaluate(PAPER) == LIGHT
    tab.click("#theme")
    assert tab.evaluate(PAPER) == DARK
    # Paper is white in any theme.
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(PAPER) == LIGHT
    tab.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_chart_labels_have_contrast_in_both_themes(browser: Any, folder: Path, name: str) -> None:
    tab = opened(browser, folder, name, color_scheme="light")
    for scheme, paper in (("light", LIGHT), ("dark", DARK)):
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate(PAPER) == paper
        fills = tab.evaluate(
            "[...document.querySelectorAll('.chart svg text')].map((text) => getComputedStyle(text).fill)",
        )
        soft = tab.evaluate("getComputedStyle(document.querySelector('footer')).color")
        assert {*fills} <= {tab.evaluate(INK), soft}, scheme
    tab.context.close()


@needs_axe
@pytest.mark.parametrize("name", PAGES)
def test_no_axe_violations(browser: Any, folder: Path, name: str) -> None:
    tab = opened(browser, folder, name, color_scheme="light", bypass_csp=True)
    tab.evaluate("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
    for scheme, paper in (("light", LIGHT), ("dark", DARK)):
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate(PAPER) == paper
        assert not barriers(tab), scheme
    tab.context.close()
