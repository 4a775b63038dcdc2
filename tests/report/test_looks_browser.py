"""How pages look in a real browser: width, the bar at the top, the text of charts, day and night; and axe-core."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import isogloss
from isogloss.explain.analysis import Analysis
from isogloss.report.html import html_page
from isogloss.report.sections import report_sections
from isogloss.report.write import write_analysis, write_bias, write_finding
from report.browser import BROWSER, launched
from report.made_records import HOSTILE, bias, explanation, inputs, pair_made

pytest.importorskip("vl_convert", reason="reports need vl-convert-python")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]
AXE = os.environ.get("ISOGLOSS_AXE", "")
PAGES = ("report", "explain", "data", "finding")
PAPER, INK = "getComputedStyle(document.body).backgroundColor", "getComputedStyle(document.body).color"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(18, 22, 27)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page of each kind."""
    made = tmp_path_factory.mktemp("pages")
    (made / "report.html").write_text(html_page(inputs(), report_sections(inputs()), "Report"), encoding="utf-8")
    pair = msgspec.structs.replace(pair_made(), cells=[])
    write_analysis(Analysis([explanation("plain"), explanation(HOSTILE)], [pair], "shared"), made / "explain.html")
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


@pytest.mark.parametrize("name", PAGES)
def test_pages_take_the_width_and_scroll_only_down(browser: Any, folder: Path, name: str) -> None:
    for width in (360, 1280, 1920):
        tab = opened(browser, folder, name, width)
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        # All but a margin is for tables and charts; prose has lines of a length that can be read.
        assert tab.locator(".parts").first.bounding_box()["width"] >= width - 40
        assert max(tab.locator("section > .intro").evaluate_all("all => all.map(e => e.clientWidth)")) <= 52 * 16
        tab.context.close()


def test_panels_stand_beside_each_other_where_there_is_room(browser: Any, folder: Path) -> None:
    heights = {}
    for width in (360, 1280):
        tab = opened(browser, folder, "report", width)
        heights[width] = tab.locator("[data-chart=languages] svg.marks").bounding_box()["height"]
        stretched = tab.locator("[data-chart=overview] svg.marks").bounding_box()
        room = tab.locator("figure.stretch .scroll").first.bounding_box()
        assert room["width"] - 50 < stretched["width"] <= room["width"]
        tab.context.close()
    assert heights[360] > 1.8 * heights[1280]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_no_text_of_a_chart_is_smaller_than_twelve_pixels(browser: Any, folder: Path, name: str, width: int) -> None:
    tab = opened(browser, folder, name, width)
    sizes = tab.evaluate("""[...document.querySelectorAll(".chart svg.marks")].flatMap((svg) => {
      const scale = svg.getBoundingClientRect().width / svg.width.baseVal.value;
      return [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim())
        .map((one) => scale * parseFloat(getComputedStyle(one).fontSize));
    })""")
    assert len(sizes) > 20
    assert min(sizes) > 11.99
    tab.context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_bar_is_opaque_and_no_link_leads_to_a_heading_below_it(browser: Any, folder: Path, width: int) -> None:
    tab = opened(browser, folder, "report", width)
    bar = tab.locator("#top")
    for link in tab.locator("#menu a").all():
        target = link.get_attribute("href")[1:]
        link.click()
        tab.wait_for_function("id => location.hash === '#' + id", arg=target)
        heading = tab.locator(f"#{target} h2").bounding_box()
        below = bar.bounding_box()
        assert below["y"] == 0
        assert below["y"] + below["height"] <= heading["y"] <= 800 - heading["height"], target
        # Nothing of the page shines through, nor lies above.
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


def test_day_and_night_are_chosen_and_remembered_and_charts_follow(browser: Any, folder: Path) -> None:
    tab = opened(browser, folder, "report", color_scheme="dark")
    label = "getComputedStyle(document.querySelector('[data-chart=overview] .role-axis-label text')).fill"
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
    # Paper is white, whatever was chosen.
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(PAPER) == LIGHT
    tab.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_words_around_charts_can_be_read_by_day_and_night(browser: Any, folder: Path, name: str, scheme: str) -> None:
    tab = opened(browser, folder, name, color_scheme=scheme)
    words = ".role-axis-label, .role-axis-title, .role-legend-label, .role-legend-title, .role-title-text"
    found = tab.evaluate(
        "words => [...document.querySelectorAll('.chart svg')].flatMap((svg) => [...svg.querySelectorAll(words)])"
        ".flatMap((part) => [...part.querySelectorAll('text')]).map((text) => getComputedStyle(text).fill)",
        words,
    )
    assert {*found} == {tab.evaluate(INK)}
    tab.context.close()


@pytest.mark.skipif(not AXE, reason="axe-core is not here: npm install axe-core, and ISOGLOSS_AXE=…/axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Any, folder: Path, name: str, scheme: str) -> None:
    tab = opened(browser, folder, name, color_scheme=scheme, bypass_csp=True)
    tab.evaluate(
        "document.querySelectorAll('main details:not(.vega-embed details)').forEach((d) => { d.open = true; })"
    )
    tab.evaluate(Path(AXE).read_text(encoding="utf-8"))
    violations = tab.evaluate("""axe.run(document, { preload: false, resultTypes: ["violations"] }).then((made) =>
      made.violations.map(({ id, nodes }) =>
        `${id} × ${nodes.length}: ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary}`))""")
    assert not violations, "\\n".join(violations)
    tab.context.close()
