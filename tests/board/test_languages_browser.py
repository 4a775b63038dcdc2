"""The pages of languages and families in a browser: the isogloss map, its slider, lists and pages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, go, settle
from board.synthetic_board import packed, synthetic_board, write_site
from isogloss.board.site import build_board
from isogloss.tasks.registry import task
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


def _scores(board: dict[str, Any], name: str, by_language: dict[str, list[float]]) -> None:
    """Give a task the scores of each system in some languages, and none in the others."""
    codes = next(each["languages"] for each in board["tasks"] if each["id"] == name)
    none = [np.nan] * len(board["systems"])
    board["cells"][name] = packed(np.array([by_language.get(code, none) for code in codes]).T)


def _two_system_board() -> dict[str, Any]:
    """Two systems on XNLI and UD-POS: shares of the best score in English are known by hand."""
    board = synthetic_board(2)
    for each in board["tasks"]:
        _scores(board, each["id"], {})
    # Shares: German 90 and 95 %, Swahili 80 % (once above and once below its mean), Thai 50 %, Urdu 70 %.
    _scores(board, "xnli", {"en": [80, 60], "de": [72, 50], "sw": [30, 68], "th": [40, 10], "ur": [56, np.nan]})
    _scores(board, "udpos", {"en": [90, 100], "de": [95, 80], "te": [99, 99]})
    _scores(board, "xcopa", {"ht": [60, 55], "sw": [99, 99]})
    return board


@pytest.fixture(scope="module")
def two_systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(_two_system_board(), tmp_path_factory.mktemp("two") / "site", detailed=2)


def _slide(tab: Any, value: int) -> None:
    slider = tab.locator("[data-key=share]")
    slider.evaluate("(node, value) => { node.value = value; node.dispatchEvent(new Event('input')) }", str(value))


def test_the_map_opens_first_and_counts_who_is_served(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/languages", index=two_systems)
    count = tab.locator("[role=status]")
    # English, German (92.5 %), Swahili (85 %) and Telugu (99 %) are served; Thai (50 %) and Urdu (70 %) are not.
    assert count.inner_text().startswith("4 of 50 languages served\n")
    assert count.inner_text().endswith(" billion speakers · 2 not served · 43 untested · 1 not comparable")
    # The count, the slider and the whole map stand on the first screen.
    places = [tab.locator(part).bounding_box() for part in (".map-count", ".share-slider input", ".map svg")]
    assert all(place["y"] + place["height"] < 900 for place in places)
    assert places[2]["height"] > 450
    # Who counts as a speaker is said on the page.
    assert "first- and second-language speakers" in tab.locator(".map-notes").inner_text()
    assert tab.locator("#unserved").inner_text() == "Not served at 80 % (2)"
    rows = tab.locator(".unserved tbody tr")
    assert sorted(row.split("\t")[0].split()[0] for row in rows.all_inner_texts()) == ["Thai", "Urdu"]
    urdu = rows.filter(has=tab.get_by_role("rowheader", name="Urdu"))
    assert "70.0 %" in urdu.inner_text() and "XNLI 56.0 of 80.0 (70 %), System 0" in urdu.inner_text()
    assert "1 only" in urdu.inner_text()
    assert "Tested, but on no task with English to compare with: Haitian Creole." in tab.locator("main").inner_text()
    ringed = "nodes => nodes.map((node) => node.dataset.code).sort().join()"
    assert tab.locator(".map a.falls-short").evaluate_all(ringed) == "th,ur"
    line = tab.locator(".isogloss.on-land")
    before = line.get_attribute("d")
    _slide(tab, 90)
    assert tab.locator(".map a.falls-short").evaluate_all(ringed) == "sw,th,ur"
    assert tab.evaluate("location.hash") == "#/languages?share=90"
    assert count.inner_text().startswith("3 of 50 languages served\n")
    assert line.get_attribute("d") != before
    assert rows.count() == 3
    # The keyboard moves it, and keeps the focus; the start has a clean address.
    tab.locator("[data-key=share]").focus()
    for _ in range(10):
        tab.keyboard.press("ArrowLeft")
    assert tab.evaluate("location.hash") == "#/languages"
    assert tab.evaluate("document.activeElement.dataset.key") == "share"
    assert count.inner_text().startswith("4 of 50 languages served\n")


def test_the_line_is_between_served_and_unserved(open_page: Open, two_systems: Path) -> None:
    """The shaded part holds the places of unserved languages and not those of served ones."""
    tab = open_page("#/languages", index=two_systems)
    tab.wait_for_selector(".map svg")
    shaded = """name => {
      const dot = document.querySelector(`.map a[data-key=map-${name}] .dot`);
      const at = document.querySelector(".map svg").createSVGPoint();
      [at.x, at.y] = [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))];
      return document.querySelector(".below-share").isPointInFill(at);
    }"""
    assert {name: tab.evaluate(shaded, name) for name in ("en", "de", "sw", "te", "th", "ur")} == {
        "en": False,
        "de": False,
        "sw": False,
        "te": False,
        "th": True,
        "ur": True,
    }
    _slide(tab, 97)
    assert tab.evaluate(shaded, "de") and not tab.evaluate(shaded, "en")
    assert "it is not a dialect boundary" in tab.locator(".view-map").inner_text()


def test_circles_tell_what_they_rest_on(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/languages", index=two_systems)
    tab.wait_for_selector(".map a")
    assert tab.locator(".map a").count() == 50
    german = tab.locator(".map a[data-key=map-de]")
    german.focus()
    wait_until(tab, "document.querySelector('#tip').textContent.includes('German')")
    tip = tab.locator("#tip").inner_text().split("\n")
    assert tip[0] == "German · Deutsch: 92.5 % of English, mean of 2 tasks"
    assert "XNLI 72.0 of 80.0 (90 %), System 0" in tip and "UD-POS 95.0 of 100.0 (95 %), System 0" in tip
    # One task only: a white middle, and said; no task: hatched.
    assert german.locator(".one-task").count() == 0
    urdu = tab.locator(".map a[data-key=map-ur]")
    assert urdu.get_attribute("aria-label") == "Urdu: 70.0 %, one task"
    assert urdu.locator(".one-task").count() == 1
    french = tab.locator(".map a[data-key=map-fr]")
    assert french.get_attribute("aria-label") == "French: untested"
    assert french.locator(".dot").get_attribute("fill") == "url(#map-hatch)"
    # Wolof has no known number of speakers.
    assert tab.locator(".map a[data-key=map-wo] .dot.unknown").count() == 1
    sizes = tab.locator(".map a .target").evaluate_all("all => all.map((one) => 2 * one.getAttribute('r'))")
    assert min(sizes) >= 24
    german.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("h1").inner_text().startswith("German")


def test_a_system_and_a_task(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/languages", index=two_systems)
    tab.select_option("label:has-text('System') select", "s1")
    # Relative to the best score in English: Swahili 68 of 80 on XNLI, German 50 of 80 and 80 of 100.
    assert "compared with the best score in English" in tab.locator(".view-map").inner_text() or (
        "as a share of the best score in English" in tab.locator(".view-map").inner_text()
    )
    assert tab.locator(".map a[data-key=map-sw]").get_attribute("aria-label") == "Swahili: 85.0 %, one task"
    assert tab.locator(".map a[data-key=map-de]").get_attribute("aria-label") == "German: 71.3 %"
    assert tab.locator(".map a[data-key=map-ur]").get_attribute("aria-label") == "Urdu: untested"
    tab.select_option("label:has-text('Relative to') select", "own")
    assert "its own score in English" in tab.locator(".view-map .notes").first.inner_text()
    assert tab.locator(".map a[data-key=map-sw]").get_attribute("aria-label") == "Swahili: 113.3 %, one task"
    tab.select_option("label:has-text('Score') select", "xnli")
    assert tab.evaluate("location.hash") == "#/languages?system=s1&base=own&task=xnli"
    assert tab.locator(".map a").count() == 15
    assert tab.locator(".map a[data-key=map-sw]").get_attribute("aria-label") == "Swahili: 68.0"
    assert "Score" in tab.locator(".map-legend").inner_text()
    tab.go_back()
    tab.wait_for_selector(".map a[data-key=map-sw][aria-label='Swahili: 113.3 %, one task']")


def test_one_basis_on_all_views(open_page: Open) -> None:
    """Map, tree, list, unserved list, language page and family page show the same share of English."""
    tab = open_page("#/languages?share=100")
    row = tab.locator(".unserved tbody tr").first
    code = row.locator("th a").get_attribute("href").split("/")[-1]
    label = tab.locator(f".map a[data-key=map-{code}]").get_attribute("aria-label")
    share = label.split(": ")[1].split(",")[0]
    assert share.endswith(" %")
    assert share in row.inner_text()
    go(tab, "#/languages?view=tree")
    assert share in tab.locator(f".tree a[data-key=tree-{code}]").text_content()
    go(tab, "#/languages?view=list&sort=name&dir=desc")
    row = tab.locator("table.data tbody tr", has=tab.locator(f"th a[href='#/language/{code}']"))
    cells = row.locator("td.number").all_inner_texts()
    assert share in cells
    parts = row.locator(".part-lines > div")
    assert str(parts.count()) in cells
    go(tab, f"#/language/{code}")
    assert tab.locator(".headline").inner_text().startswith(f"{share} of the best score in English, ")
    tab.click(".crumbs a[href^='#/family']")
    assert share in tab.locator(f"figure[data-key=panel-{code}] figcaption").inner_text()


def test_unserved_languages_are_a_click_away(open_page: Open) -> None:
    tab = open_page("#/")
    tab.click("#menu a:has-text('Languages')")
    tab.click("[role=status] a")
    assert "show=unserved" in tab.evaluate("location.hash")
    wait_until(tab, "document.activeElement.id === 'unserved'")
    top = tab.evaluate("document.activeElement.getBoundingClientRect().top")
    assert 0 <= top < 900
    # A step of the slider does not scroll back.
    tab.evaluate("scrollTo(0, 0)")
    _slide(tab, 90)
    tab.wait_for_timeout(100)
    assert tab.evaluate("scrollY") == 0


def test_the_swarm(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/languages", index=two_systems)
    dots = tab.locator(".swarm a")
    assert dots.count() == 6
    assert dots.first.get_attribute("aria-label") == "Thai: 50.0 %"
    place = "node => Number(node.querySelector('circle').getAttribute('cx'))"
    line = "document.querySelector('.swarm .isogloss').getAttribute('x1')"
    middle = float(tab.evaluate(line))
    left = [at for at in range(6) if dots.nth(at).evaluate(place) < middle]
    assert left == [0, 1]
    _slide(tab, 50)
    assert float(tab.evaluate(line)) == dots.first.evaluate(place)


def test_language_page(open_page: Open) -> None:
    tab = open_page("#/language/ar")
    assert tab.locator("h1 bdi").get_attribute("dir") == "rtl"
    assert tab.locator(".facts").inner_text().startswith("Family")
    chart = tab.locator(".dot-rows").first
    wait_until(tab, "document.querySelectorAll('.dot-rows .interval line').length > 0")
    tasks = chart.locator("a").count()
    assert tasks == 9
    assert chart.locator(".interval circle").count() == tasks
    # Best scores in English on all tasks but Tatoeba and XCOPA; scores of people on those that have one.
    assert chart.locator("path.reference").count() == 8
    assert chart.locator("path.people-line").count() == 4
    assert chart.locator(".rug").count() == tasks
    chart.locator(".hit:has(line) .target").first.hover()
    assert "95 % interval 58.5–63.4" in tab.locator("#tip").inner_text()
    similar = tab.locator(".dot-rows").nth(1)
    assert similar.locator("text.label").count() == 3
    tab.click("button.sort:has-text('XQuAD')")
    assert tab.evaluate("location.hash") == "#/language/ar?sort=xquad"
    tab.click(".facts a:has-text('Afro-Asiatic')")
    assert tab.locator("h1").inner_text() == "Afro-Asiatic"
    assert "2/41" in tab.locator("th:has(button:text('Tatoeba'))").inner_text()
    assert tab.locator("figure .dot-rows").count() == 2
    assert "2 languages" in tab.locator(".headline").inner_text()


def test_family_panels_hatch_untested_tasks(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/family/Indo-European", index=two_systems)
    urdu = tab.locator("figure[data-key=panel-ur]")
    assert "70.0 %, 1 task" in urdu.locator("figcaption").inner_text()
    assert urdu.locator("rect[fill^=url]:not(defs rect, pattern rect)").count() == 1
    assert urdu.locator(".interval").count() == 1
    german = tab.locator("figure[data-key=panel-de]")
    assert german.locator(".interval").count() == 2
    assert "3 served at 80 %" not in tab.locator(".headline").inner_text()
    assert "2 served at 80 % of the best score in English, 1 not" in tab.locator(".headline").inner_text()


def test_languages_without_scores_are_listed(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(6)
    board["languages"] += [{**board["languages"][0], "code": "xx", "name": "Xish", "place": None}]
    board["tasks"][0]["languages"] += ["xx"]
    board["tasks"][0]["n"] += [100]
    cells = np.full((6, len(board["tasks"][0]["languages"])), 50.0)
    cells[:, -1] = np.nan
    board["cells"]["xnli"] = packed(cells)
    tab = open_page("#/languages", index=write_site(board, tmp_path / "site"))
    go(tab, "#/languages?view=heat")
    tab.wait_for_selector("text=No scores yet in Xish.")
    go(tab, "#/languages?view=tree")
    assert tab.locator(".tree a[data-key=tree-xx]").text_content().endswith("–")
    go(tab, "#/languages?view=list&sort=name&dir=desc")
    assert "no score to compare" in tab.locator("table.data tr", has_text="Xish").inner_text()
    go(tab, "#/language/xx")
    assert "No system has a score in this language yet." in tab.locator("main").inner_text()
    go(tab, "#/languages")
    tab.wait_for_selector("text=Not on the map: Xish.")
    assert "Xish" in tab.locator(".untested.names").inner_text()


def test_a_phone_names_the_language_that_others_are_compared_with(open_page: Open, two_systems: Path) -> None:
    tab = open_page("#/languages", index=two_systems, width=390)
    for hash_, reference in (("#/languages", "English"), ("#/languages?task=xcopa", "Swahili")):
        go(tab, hash_)
        share = tab.locator(".unserved tbody td.number").nth(1)
        after = share.evaluate("node => getComputedStyle(node, '::after').content")
        assert after.replace('"', "").split() == ["of", reference], hash_


def test_a_phone_scrolls_inside_the_map(open_page: Open) -> None:
    tab = open_page("#/languages", width=390)
    tab.wait_for_selector(".map svg")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    scroller = "document.querySelector('[data-key=map]')"
    assert tab.evaluate(f"{scroller}.scrollWidth > 700")
    wait_until(tab, f"{scroller}.scrollLeft > 100")
    tab.evaluate(f"{scroller}.scrollLeft = 30")
    _slide(tab, 90)
    assert tab.evaluate(f"{scroller}.scrollLeft") == 30
    # Tasks and systems fold into a button.
    assert not tab.locator("label:has-text('System') select").is_visible()
    tab.click("button:has-text('Tasks and system')")
    assert tab.locator("label:has-text('System') select").is_visible()


@needs_axe
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_axe_violations(open_page: Open, two_systems: Path, scheme: str, width: int) -> None:
    tab = open_page(index=two_systems, color_scheme=scheme, width=width, bypass_csp=True)
    by_page = {}
    for hash_ in (
        "#/languages",
        "#/languages?task=xnli",
        "#/languages?view=list",
        "#/language/sw",
        "#/family/Dravidian",
    ):
        go(tab, hash_)
        settle(tab)
        if violations := barriers(tab):
            by_page[hash_] = violations
    assert not by_page, by_page


@pytest.fixture(scope="module")
def two_hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on SIB-200: the first gets worse from language to language, the second lacks half of them."""
    folder = tmp_path_factory.mktemp("living")
    lines = ["system,task,language,metric,value"]
    for at, code in enumerate(task("sib200").languages):
        lines += [f"first,sib200,{code},accuracy,{95 - 0.3 * at if code != 'en' else 90:.1f}"]
        lines += [f"second,sib200,{code},accuracy,20.0"] if at % 2 else []
    (folder / "scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return build_board([folder / "scores.csv"], folder / "site", suite="living")


def test_two_hundred_languages(open_page: Open, two_hundred: Path) -> None:
    tab = open_page("#/languages", index=two_hundred, width=1440)
    tab.wait_for_selector(".map a")
    # 72.0 is 80 % of English: the languages before the 77th reach it.
    codes = task("sib200").languages
    reached = sum(1 for at, code in enumerate(codes) if code == "en" or round(95 - 0.3 * at, 1) >= 72)
    count = tab.locator("[role=status]").inner_text()
    suite_languages = tab.locator(".map a").count()
    assert count.startswith(f"{reached} of {suite_languages} languages served\n")
    assert tab.locator(".unserved tbody tr").count() == len(codes) - reached
    circles: list[list[float]] = tab.locator(".map a .dot").evaluate_all(
        "all => all.map((dot) => ['cx', 'cy', 'r'].map((name) => Number(dot.getAttribute(name))))"
    )
    assert len(circles) == suite_languages > 205
    x, y, r = np.array(circles).T
    gaps = np.hypot(x[:, None] - x, y[:, None] - y) - r[:, None] - r + 1e3 * np.eye(len(x))
    assert gaps.min() > 0
    boxes: list[list[float]] = tab.locator(".map g > text:not(.inside)").evaluate_all(
        """all => all.map((text) => text.getBBox())
          .map(({ x, y, width, height }) => [x, x + width, y + 3, y + height - 3])"""
    )
    left, right, top, bottom = np.array(boxes).T
    across = (left[:, None] < right - 1) & (left < right[:, None] - 1)
    along = (top[:, None] < bottom) & (top < bottom[:, None])
    assert len(boxes) > 60
    assert not np.triu(across & along, 1).any()
    # Each chart is one tab stop; the arrow keys move between its marks.
    tab.locator(".map a[tabindex='0']").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.ariaLabel") == tab.locator(".map a").nth(1).get_attribute("aria-label")
    assert tab.locator(".map a[tabindex='0']").count() == 1
    go(tab, "#/languages?view=tree")
    tab.wait_for_selector(".tree a")
    assert tab.locator(".tree a[data-key^=tree-]").count() == suite_languages
    assert tab.locator(".tree a:not([tabindex='-1'])").count() == 1
    # On a phone, families and branches are on lines of their own.
    tab.set_viewport_size({"width": 390, "height": 844})
    wait_until(tab, "() => document.querySelector('.tree svg').clientWidth < 390")
    lines = tab.locator(".tree .family, .tree .branch, .tree a text:first-of-type").evaluate_all(
        "all => [...new Set(all)].map((one) => Number(one.getAttribute('y')))"
    )
    assert min(np.diff(sorted(lines))) > 14
    tab.set_viewport_size({"width": 1440, "height": 900})
    # Two systems need no sideways scrolling: the heat map goes on below.
    go(tab, "#/languages?view=heat")
    frames = tab.locator(".heat-scroll").evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)")
    assert len(frames) > 3 and max(frames) <= 0
    assert tab.locator(".heat td").count() >= 2 * len(codes)
    go(tab, "#/languages?system=second")
    assert f" · {suite_languages - len(codes) // 2} untested" in tab.locator("[role=status]").inner_text()
    assert tab.locator(".untested.names a").count() == suite_languages - len(codes) // 2
    assert tab.evaluate("document.documentElement.scrollWidth") == 1440
