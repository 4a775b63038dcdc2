"""Test the page in a browser, from disk: filter, drill-down, links, keyboard and hostile names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import isogloss
from isogloss.site.html import html_page
from isogloss.site.sections import report_sections
from isogloss.site.write import write_finding
from report.browser import BROWSER, launched
from report.made_records import HOSTILE, inputs
from waiting import wait_until

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = inputs()
    target = tmp_path_factory.mktemp("report") / "index.html"
    target.write_text(html_page(made, report_sections(made), "Report"), encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(playwright)


@pytest.fixture
def tab(browser: Any, file: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    # Violations of the page's policy appear on the console.
    opened.on("console", lambda message: troubles.append(message.text))
    opened.context.set_offline(True)
    opened.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else troubles.append(request.url)
    )
    opened.goto(file.as_uri())
    opened.wait_for_selector("html[data-drawn=all]")
    yield opened
    assert opened.evaluate("window.hacked") is None
    assert troubles == []
    opened.close()


def test_every_chart_is_drawn(tab: Any) -> None:
    places = tab.locator("[data-chart]").count()
    assert places == 11
    assert tab.locator("[data-chart]:has(.plot svg, table.heat)").count() == places
    for name, count in (("explain", 2), ("versus", 1), ("bias", 1), ("distance", 1)):
        assert tab.locator(f"#{name}-chart").locator(".plot svg, table.heat").count() == count
    assert tab.locator("[data-chart=overview]").get_by_text(HOSTILE[:20]).count() >= 1


@pytest.mark.parametrize("name", ["overview", "languages"])
def test_a_chart_is_saved_as_shown(tab: Any, tmp_path: Path, name: str) -> None:
    chart = tab.locator(f"[data-chart={name}]")
    with tab.expect_download() as started:
        chart.locator("+ button.save").click()
    assert started.value.suggested_filename == f"{name}.svg"
    started.value.save_as(tmp_path / "chart.svg")
    picture = ET.parse(tmp_path / "chart.svg").getroot()  # noqa: S314 - our own file
    # Every text is there, and no colour needs the page's style sheet.
    texts = "".join("".join(picture.itertext()).split())
    for_screen_readers = " ".join(chart.locator("caption").all_inner_texts()).split()
    words = set(chart.inner_text().split()) - set(for_screen_readers)
    assert [word for word in words if word not in texts] == []
    assert "var(" not in ET.tostring(picture, encoding="unicode")
    shape = chart.bounding_box()
    assert abs(float(picture.get("width", 0)) - shape["width"]) < 0.2 * shape["width"]


def test_filter(tab: Any) -> None:
    languages = tab.locator("#languages .tables details")
    languages.locator("summary").click()
    rows = languages.locator("tbody tr:visible")
    assert rows.count() == 14
    height = tab.locator("[data-chart=languages] table").first.bounding_box()["height"]
    tab.fill("#filter", "he, Sino-Tibetan, ไทย")
    assert rows.count() == 6
    assert tab.locator("#filter-says").inner_text() == "3 of 7"
    wait_until(
        tab,
        "before => document.querySelector('[data-chart=languages] table').getBoundingClientRect().height < before",
        arg=height,
    )
    tab.fill("#filter", "xx")
    assert tab.locator("#filter-says").inner_text() == "no match"
    assert rows.count() == 14


def test_drill_down(tab: Any) -> None:
    tab.select_option("#choose-task", "xquad")
    tab.select_option("#choose-language", "ar")
    tab.select_option("#choose-attribute", "aLen/qLen")
    assert tab.locator("#bucket-rows tr").count() == 8
    tab.locator("#bucket-rows button").nth(3).focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#examples li").all_inner_texts() == ["ar-9", "ar-10", "ar-11"]
    assert "aLen/qLen XL (9, 11]" in tab.locator("#examples h2").inner_text()
    tab.select_option("#choose-language", "")
    assert tab.locator("#bucket-rows tr").count() == 16
    assert tab.locator("#examples li").count() == 0


def test_examples_are_shown_with_their_predictions(tab: Any) -> None:
    tab.select_option("#choose-language", "ar")
    tab.locator("#bucket-rows button").first.click()
    texts = tab.locator("#examples li").first.locator("dt, dd").all_inner_texts()
    assert texts == ["premise", "جملة <b>", "gold", "neutral", f"{HOSTILE} (0)", "entailment"]
    assert tab.locator("#examples dd").first.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert tab.locator("#examples p").inner_text() == "n = 25; 3 examples are listed. ↑ Back to the bucket"


def test_a_bar_can_be_clicked(tab: Any) -> None:
    bar = tab.locator("#explain-chart svg .bar").first
    bar.scroll_into_view_if_needed()
    bar.click()
    assert tab.locator("#examples li").count() == 3
    tab.select_option("#choose-language", "ar")
    assert tab.locator("#examples li").count() == 0
    bar.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#examples li").count() == 3


def test_two_systems_are_compared_bucket_by_bucket(tab: Any) -> None:
    rows = tab.locator("#contrast-rows tr")
    assert tab.locator("#choose-pair").is_hidden()
    assert [text.split("\t")[-2] for text in rows.all_inner_texts()] == ["●", "", "⇄", "●⇄"]
    assert rows.last.inner_text().split("\t")[3:7] == ["31.0", "40.0", "−9.0", "−12.0 to −6.0"]
    heads = tab.locator("#versus thead th").all_inner_texts()
    assert heads[3].startswith("plain")
    assert heads[4].startswith(HOSTILE[:9])
    assert tab.locator("#versus-chart svg .bar").count() == 4
    assert tab.locator("#versus-chart svg .bar.below").count() == 2
    tab.locator("#contrast-rows button").last.click()
    assert tab.locator("#examples li").count() == 3
    # XQuAD is explained for both, but was not compared.
    tab.select_option("#choose-task", "xquad")
    wait_until(tab, "!document.querySelector('#versus-chart svg')")
    assert rows.count() == 0
    assert tab.locator("#versus-says").inner_text() == "This pair has no such cell."


def test_examples_only_one_system_gets_right(tab: Any) -> None:
    ours, theirs = tab.locator("#versus-says button").all()
    assert ours.inner_text().startswith("plain right, ")
    assert ours.inner_text().endswith("wrong: 12")
    theirs.focus()
    tab.keyboard.press("Enter")
    assert theirs.get_attribute("aria-expanded") == "true"
    assert tab.locator("#examples h2").inner_text().endswith("right, plain wrong")
    texts = tab.locator("#examples li").first.locator("dt, dd").all_inner_texts()
    assert texts == ["premise", "so", "gold", "entailment", "plain (0)", "neutral", f"{HOSTILE} (100)", "entailment"]
    tab.select_option("#choose-language", "ar")
    assert tab.locator("#versus-says button").last.is_disabled()


def test_ranking_flips_are_linked(tab: Any) -> None:
    tab.select_option("#choose-language", "th")
    tab.locator("#turns summary").click()
    turned = tab.locator("#turns li")
    assert turned.count() == 1
    assert turned.inner_text().endswith("xnli, English: qLen XL −9.0")
    turned.locator("a").click()
    wait_until(tab, "document.getElementById('choose-language').value === 'en'")
    tab.locator("#differences .tables summary").first.click()
    tab.locator("#differences a[href='#explain/xnli/ar']").first.click()
    wait_until(tab, "document.getElementById('choose-language').value === 'ar'")


def test_dataset_bias_by_task_and_attribute(tab: Any) -> None:
    rows = tab.locator("#bias-rows tr")
    assert [tab.input_value(f"#choose-bias-{key}") for key in ("task", "attribute")] == ["xnli", "t1Len"]
    assert rows.last.inner_text().split("\t") == ["xnli", "Thai", "100", "40", "1", "36", "39", "44", "400"]
    text = "Farthest apart: English and Thai (30). Pairs within chance: 1 of 3."
    assert tab.locator("#distance-says").inner_text() == text
    assert tab.locator("#distance-chart").get_by_text("28", exact=True).count() == 2
    tab.select_option("#choose-bias-attribute", "label")
    assert tab.locator("#distance-says").inner_text() == "All languages are alike."
    assert rows.first.inner_text().split("\t")[2:] == ["100", "50.0 %", "30.0 %", "20.0 %"]
    tab.fill("#filter", "ar")
    assert tab.locator("#bias-rows tr:visible").count() == 1
    tab.fill("#filter", "")
    tab.select_option("#choose-bias-task", "")
    assert tab.locator("#choose-bias-attribute option").all_inner_texts()[1] == "label: gold label"
    assert rows.count() == 4
    wait_until(tab, "!document.querySelector('#distance-chart table')")
    tab.evaluate("location.hash = 'bias/xcopa/t1Len'")
    wait_until(tab, "document.getElementById('choose-bias-task').value === 'xcopa'")
    assert tab.locator("#distance-says").inner_text() == "A single language has no distances."


def test_links_open_an_explanation(tab: Any) -> None:
    tab.locator("#languages .tables summary").click()
    tab.locator("#languages a[href='#explain/xnli/ar']").first.click()
    # The page follows a changed address after the click.
    wait_until(tab, "document.getElementById('choose-language').value === 'ar'")
    assert [tab.input_value(f"#choose-{key}") for key in ("task", "language")] == ["xnli", "ar"]
    assert tab.locator("#explain").evaluate("e => e.getBoundingClientRect().top") < 200
    tab.locator("#findings summary").click()
    tab.locator("#findings a").first.click()
    wait_until(tab, "document.getElementById('choose-language').value === 'th'")
    assert "XL is 40.0 points below XS." in tab.locator("#insights").inner_text()
    tab.go_back()
    wait_until(tab, "document.getElementById('choose-language').value === 'ar'")


def test_a_malformed_address_opens_the_page(tab: Any) -> None:
    tab.evaluate("location.hash = 'explain/%E0%A4%A'")
    tab.reload()
    tab.wait_for_selector("html[data-drawn=all]")
    assert tab.locator("#explain .bar").count() > 0


def test_tables_are_sorted_by_keyboard(tab: Any) -> None:
    head = tab.locator("#overview .tables details:last-child thead th").nth(3)
    scores = tab.locator("#overview .tables details:last-child tbody td:nth-child(4)")
    before = scores.all_inner_texts()
    head.locator("button").focus()
    for order, turned in (("descending", True), ("ascending", False)):
        tab.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == order
        numbers = [float(text.rstrip("*")) for text in scores.all_inner_texts()]
        assert numbers == sorted(numbers, reverse=turned)
    assert sorted(before) == sorted(scores.all_inner_texts())


def test_the_first_tab_stop_skips_to_the_content(tab: Any) -> None:
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "content"


def test_right_to_left_names_keep_their_order(tab: Any) -> None:
    tab.locator("#languages .tables summary").click()
    name = tab.locator("#languages bdi[lang=ar]").first
    assert name.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert tab.locator("#languages bdi[lang=hi]").first.evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_the_security_policy_blocks_code_in_text(browser: Any, file: Path) -> None:
    """Neither compiled strings nor injected scripts run."""
    opened = browser.new_page()
    opened.goto(file.as_uri())
    # Later, since the policy does not apply to code run by a debugger.
    opened.evaluate(
        "setTimeout(() => { try { new Function('window.hacked = 1')(); } catch (e) { window.refused = e.name; } })"
    )
    opened.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=data: onerror=\"window.hacked = 1\">')")
    opened.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}))"
    )
    opened.wait_for_timeout(200)
    assert opened.evaluate("[window.hacked, window.refused]") == [None, "EvalError"]
    opened.close()


def test_narrow_screens_scroll_only_vertically(browser: Any, file: Path) -> None:
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto(file.as_uri())
    opened.wait_for_selector("html[data-drawn=all]")
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    opened.close()


@pytest.mark.parametrize(("analysis", "has_languages"), [("saturation", True), ("rankings", False)])
def test_analysis_pages_have_a_filter_if_rows_are_languages(
    browser: Any, tmp_path: Path, analysis: str, has_languages: bool
) -> None:
    write_finding(isogloss.analyze(analysis, "published", tasks=["xnli"]), tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-drawn=all]")
    assert page.locator("#filter").is_visible() is has_languages
    if has_languages:
        page.fill("#filter", "Turkic")
        assert "of 15" in page.locator("#filter-says").inner_text()
        kept = page.locator("tr[data-language]:not([hidden])").evaluate_all("rows => rows.map(r => r.dataset.language)")
        assert {*kept} == {"tr"}
    page.close()
