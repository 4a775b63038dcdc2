"""Test citations of a view, cards to embed, and saved charts, in a browser."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, go
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def site(published: Path) -> Path:
    return published


@pytest.fixture
def data_hash(site: Path) -> Iterator[str]:
    text = (site.parent / "data.js").read_text(encoding="utf-8")
    yield json.loads(text[text.index("{") :].removesuffix(";\n"))["data_hash"]


def field(tab: Any, label: str) -> str:
    return str(tab.locator(f"#cite-panel textarea[aria-label='{label}']").input_value())


def test_every_page_can_be_cited_in_one_click(open_page: Open, site: Path, data_hash: str) -> None:
    tab = open_page("#/", index=site)
    for hash_, title in (
        ("#/", "Leaderboard: Classification"),
        ("#/find?task=qa&language=sw", "Find a model: Question answering in Swahili"),
        ("#/languages", "Languages: Map"),
        ("#/progress?view=size", "Progress: Size and cost"),
        ("#/task/xnli/sw", "XNLI in Swahili"),
        ("#/compare", "Compare"),
        ("#/about", "About"),
        ("#/nowhere", "Not found"),
    ):
        go(tab, hash_)
        tab.click("#cite")
        assert field(tab, "Link") == site.as_uri() + hash_
        sentence = field(tab, "In a paper")
        assert sentence.startswith(f"“{title}”, ")
        assert f"data {data_hash[:12]}" in sentence and f"view {hash_}" in sentence and "235 systems" in sentence
        bibtex = field(tab, "BibTeX")
        assert f"data SHA-256 {data_hash}" in bibtex and "file:" not in bibtex
        assert bibtex.startswith("@misc{xtreme-r-2") and bibtex.count("{") == bibtex.count("}")
        tab.keyboard.press("Escape")
        assert tab.evaluate("document.activeElement.id") == "cite"
    assert data_hash[:12] in tab.locator("footer").inner_text()
    go(tab, "#/about")
    assert data_hash in tab.locator("main").inner_text()


def test_the_panel_keeps_the_focus_and_closes(open_page: Open, site: Path) -> None:
    tab = open_page("#/language/sw", index=site)
    tab.focus("#cite")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.querySelector('#cite-panel').contains(document.activeElement)")
    stops = set()
    for _ in range(14):
        tab.keyboard.press("Tab")
        stops.add(tab.evaluate("document.activeElement.getAttribute('aria-label')"))
    # Nothing behind the panel takes the focus.
    assert (
        {"Copy: Link", "Copy: BibTeX", "Embed this card", "Close"}
        <= stops
        <= {
            *("Close", "Link", "In a paper", "BibTeX", "Embed this card"),
            *("Copy: Link", "Copy: In a paper", "Copy: BibTeX", "Copy: Embed this card", None),
        }
    )
    tab.click("[aria-label=Close]")
    assert tab.locator("#cite-panel").is_hidden()
    tab.click("#cite")
    tab.mouse.click(3, 3)
    assert tab.locator("#cite-panel").is_hidden()


def test_texts_are_copied_or_selected(open_page: Open, site: Path) -> None:
    tab = open_page("#/system/xlm-r-large", index=site)
    tab.click("#cite")
    # Headless browsers differ in what they permit: without any access, the text is selected.
    tab.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))")
    tab.evaluate("void (document.execCommand = () => false)")
    tab.click("[aria-label='Copy: Link']")
    wait_until(tab, "() => document.querySelector('#cite-panel [role=status]').textContent.startsWith('Selected')")
    assert tab.evaluate("String(document.activeElement.value)") == field(tab, "Link")
    selected = (
        "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)"
    )
    assert tab.evaluate(selected) == field(tab, "Link")
    tab.evaluate(
        "window.taken = []; void (navigator.clipboard.writeText = async (text) => void window.taken.push(text))"
    )
    tab.click("[aria-label='Copy: BibTeX']")
    wait_until(tab, "() => window.taken.length === 1")
    assert tab.evaluate("window.taken[0]") == field(tab, "BibTeX")


@pytest.mark.parametrize("page", ["system/xlm-r-large", "language/sw"])
def test_pages_of_systems_and_languages_have_a_card(open_page: Open, site: Path, page: str) -> None:
    tab = open_page(f"#/{page}", index=site)
    tab.click("#cite")
    picture = tab.locator("#cite-panel img")
    wait_until(tab, "() => document.querySelector('#cite-panel img').naturalWidth === 460")
    assert picture.get_attribute("src") == f"cards/{page}.svg"
    assert (site.parent / f"cards/{page}.svg").is_file()
    assert f'<img src="cards/{page}.svg" width="460"' in field(tab, "Embed this card")
    tab.keyboard.press("Escape")
    go(tab, "#/about")
    tab.click("#cite")
    assert tab.locator("#cite-panel img").count() == 0


def card_texts(site: Path, page: str) -> list[str]:
    card = ET.parse(site.parent / f"cards/{page}.svg").getroot()  # noqa: S314 - our own file
    return [node.text or "" for node in card.iter(f"{SVG}text")]


def test_cards_say_what_pages_say(open_page: Open, site: Path) -> None:
    """The cards are made in Python and the pages in JavaScript: every language is served on both or on neither."""
    tab = open_page("#/", index=site)
    compared = 0
    for card in sorted((site.parent / "cards/language").glob("*.svg")):
        go(tab, f"#/language/{card.stem}")
        said = re.match(
            r"([\d.]+ %) of the best score in English.*: ((?:not )?served) at 80 %", tab.inner_text(".headline")
        )
        shown = " ".join(card_texts(site, f"language/{card.stem}"))
        assert ("served" in shown) == (said is not None), card.stem
        compared += said is not None
        assert said is None or f" {said[2]} at 80 % of English: {said[1]} over " in f" {shown}", card.stem
    assert compared == 48
    go(tab, "#/system/xlm-r-large")
    titles = tab.locator(".cards [data-key] > span").all_inner_texts()
    assert titles and set(titles) <= set(card_texts(site, "system/xlm-r-large"))


@pytest.mark.parametrize(
    "hash_", ["#/language/sw", "#/languages?view=map", "#/task/xnli/sw", "#/languages?view=heat&task=xnli", "#/compare"]
)
def test_a_chart_is_saved_as_svg_and_png(
    open_page: Open, site: Path, data_hash: str, tmp_path: Path, hash_: str
) -> None:
    tab = open_page(hash_, index=site, color_scheme="dark")
    tools = tab.locator(".save-tools").first
    tools.locator("button").first.focus()
    with tab.expect_download() as started:
        tab.keyboard.press("Enter")
    assert started.value.suggested_filename.endswith(".svg")
    started.value.save_as(tmp_path / "chart.svg")
    text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file
    ground = next(node for node in root if node.tag == f"{SVG}rect")
    assert ground.get("fill") == "rgb(255, 255, 255)"  # in light colours, whatever the page has
    words = [node.text or "" for node in root.iter(f"{SVG}text")]
    assert words[0] and any(data_hash[:12] in word for word in words)
    assert any("Isogloss" in word for word in words)
    # Colours and fonts are in the file: it has no classes, style sheet, links or buttons.
    assert " class=" not in text and "href" not in text and "SVG" not in words
    assert all(node.get("font-family") for node in root.iter(f"{SVG}text"))
    fills = {node.get("fill") for node in root.iter() if node.tag in (f"{SVG}circle", f"{SVG}rect", f"{SVG}path")}
    assert fills - {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)", "rgb(0, 0, 0)"}
    tab.keyboard.press("ArrowRight")
    with tab.expect_download() as started:
        tab.keyboard.press("Enter")
    started.value.save_as(tmp_path / "chart.png")
    content = (tmp_path / "chart.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width = float(root.get("width"))
    assert int.from_bytes(content[16:20], "big") == pytest.approx(2 * width, abs=2)
    # The page has its own colours again.
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
    assert tab.evaluate("document.documentElement.dataset.theme") is None


def test_a_saved_file_looks_like_the_chart(open_page: Open, site: Path, tmp_path: Path) -> None:
    tab = open_page("#/languages?view=map", index=site)
    tab.locator(".save-tools button").first.focus()
    with tab.expect_download() as started:
        tab.keyboard.press("Enter")
    started.value.save_as(tmp_path / "map.svg")
    dots = "[...document.querySelectorAll('.map circle, .map-key circle')].map((dot) => getComputedStyle(dot).fill)"
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    saved = re.findall(r"<circle[^>]* fill=\"([^\"]+)\"", text)
    assert [html.unescape(fill) for fill in saved] == tab.evaluate(dots)
    # The legend is in the picture.
    assert "isogloss, interpolated" in text


def test_buttons_stay_when_the_page_changes_and_are_not_printed(open_page: Open, site: Path) -> None:
    tab = open_page("#/languages?view=map", index=site)
    tools = tab.locator(".map > .save-tools")
    assert tools.count() == 1
    assert tools.evaluate("node => getComputedStyle(node).opacity") == "0"
    tab.locator(".map").hover()
    assert tools.evaluate("node => getComputedStyle(node).opacity") == "1"
    go(tab, "#/languages?view=map&task=xnli")
    wait_until(tab, "() => document.querySelectorAll('.map circle').length < 30")
    assert tools.count() == 1
    tab.set_viewport_size({"width": 800, "height": 900})
    wait_until(tab, "() => document.querySelector('.map svg').getAttribute('width') < 800")
    assert tools.count() == 1
    tab.emulate_media(media="print")
    assert tools.is_hidden()


def test_a_tap_shows_the_buttons(open_page: Open, site: Path) -> None:
    tab = open_page("#/task/xnli/sw", index=site, width=390, has_touch=True)
    tab.locator(".plot svg").first.dispatch_event("pointerdown", {"bubbles": True})
    assert tab.locator("[data-touched] > .save-tools").evaluate("node => getComputedStyle(node).opacity") == "1"
    tab.locator("h1").dispatch_event("pointerdown", {"bubbles": True})
    assert tab.locator("[data-touched]").count() == 0


@needs_axe
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_barriers(open_page: Open, site: Path, scheme: str, width: int) -> None:
    tab = open_page("#/language/sw", index=site, color_scheme=scheme, width=width, bypass_csp=True)
    tab.locator(".save-tools button").first.focus()
    assert barriers(tab) == []
    tab.click("#cite")
    assert barriers(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
