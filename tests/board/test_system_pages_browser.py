"""Test the pages of systems and tasks in a browser: scores first, ranks as far as tested, profiles, gaps."""

import re
from itertools import combinations
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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems with known scores on XNLI; the last has Tatoeba only."""
    board = synthetic_board(3)
    languages = {each["id"]: each["languages"] for each in board["tasks"]}
    codes = languages["xnli"]
    cells = np.full((3, len(codes)), 80.0)
    cells[1] = 78.0
    cells[1, codes.index("sw")] = 61.0
    cells[1, codes.index("ur")] = 61.2
    cells[1, codes.index("el")] = 82.5
    board["cells"]["xnli"] = packed(cells)
    for name, own in languages.items():
        scores = np.full((3, len(own)), 60.0) if name not in {"xnli", "tatoeba"} else None
        if name == "xnli":
            scores = cells
        if name == "tatoeba":
            scores = np.tile([[90.0], [85.0], [70.0]], (1, len(own)))
        assert scores is not None
        if name != "tatoeba":
            scores[2] = np.nan
        board["cells"][name] = packed(scores)
        means = scores.mean(axis=1)
        board["averages"][name] = {
            "value": packed(means),
            "low": packed(means - np.array([0.9, 0.9, np.nan])),
            "high": packed(means + np.array([0.9, 0.9, np.nan])),
        }
    for name in ("overall", *(each["name"] for each in board["categories"])):
        for side in ("value", "low", "high"):
            board["averages"][name][side] = packed(np.array([77.0, 75.0, np.nan]))
    return write_site(board, tmp_path_factory.mktemp("made") / "site", detailed=3)


_ROWS = (
    """all => all.map((row) => [...row.querySelectorAll("text")].map((text) => text.textContent.trim()).join(" "))"""
)


def drawn_rows(tab: Any, place: str) -> list[str]:
    """Return the texts of each row of a chart."""
    found: list[str] = tab.locator(f"{place} .plot a").evaluate_all(_ROWS)
    return found


def cards(tab: Any) -> dict[str, str]:
    """Return the last line of each score card by its title."""
    lines = [text.split("\n") for text in tab.locator(".cards .figure").all_inner_texts()]
    return {each[0]: " ".join(each[1:]) for each in lines}


def test_a_system_opens_with_scores_and_ends_with_facts(open_page: Open) -> None:
    tab = open_page("#/system/s4")
    settle(tab)
    text = tab.locator("main").inner_text()
    order = [
        "other · zero-shot",
        "Overall",
        "WikiANN by language",
        "Gap to human",
        "About this system",
        "Not disclosed:",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    # What is not disclosed is said once.
    assert text.lower().count("not disclosed") == 1
    assert re.search(r"Not disclosed: parameters, active parameters, .*licence\.", text)


def test_ranks_are_those_that_the_test_leaves_open(open_page: Open, published: Path) -> None:
    tab = open_page("#/system/xlm-r-large", index=published)
    assert "ranks 1–2 of 3" in cards(tab)["Overall"]
    assert "ranks 1–2 of 3 complete systems, tested in similar languages" in tab.locator(".headline").inner_text()
    # mT5-XXL has no scores per language on some tasks, so that its place cannot be tested.
    go(tab, "#/system/mt5-xxl")
    assert cards(tab)["Overall"].endswith("ranks 1–3 of 3, not tested")
    assert tab.locator(".headline").inner_text().endswith("ranks 1–3 of 3 complete systems, not tested.")
    go(tab, "#/system/mt5-xxl-translate-train-all")
    assert cards(tab)["Question answering"].endswith("ranks 1–6 of 6, not tested")
    assert "Overall" not in cards(tab)
    # A system without a test never looks more certain than one with a test.
    go(tab, "#/?segment=full")
    assert tab.locator("td.rank b").all_inner_texts() == ["1–2", "1–3", "2–3"]
    assert tab.locator("td.rank .open-rank").all_inner_texts() == ["1–3"]
    assert "not tested: any rank is possible" in tab.locator(".signs").inner_text()
    go(tab, "#/task/xnli")
    assert tab.locator("td.rank b").all_inner_texts()[:3] == ["1–38", "1–8", "1–8"]


def test_tables_of_a_language_show_one_part_at_a_time(open_page: Open, published: Path) -> None:
    tab = open_page("#/language/sw", index=published, width=1440)
    tabs = [re.split(r"\s+(?=\d+$)", text) for text in tab.locator(".segments button").all_inner_texts()]
    assert tabs[:2] == [["All tasks", "2"], ["Classification", "19"]] and tabs[-1] == ["Tatoeba", "184"]
    rows = tab.locator("table.data tbody tr")
    assert rows.count() == 19 and tab.locator("td.untested").count() == 0
    # The order in one language is not tested: places, not ranks.
    assert tab.locator("th.rank").inner_text().startswith("Place")
    assert tab.locator("td.rank .open-rank").count() == 19
    # A table that fits does not fade.
    assert tab.locator(".scroll[data-more~=end]").count() == 0
    tab.click(".segments button:has-text('Tatoeba')")
    assert tab.evaluate("location.hash") == "#/language/sw?segment=retrieval"
    assert rows.first.locator("th a").inner_text() == "facebook/SONAR"


def test_a_system_with_one_task_has_one_card(open_page: Open, made: Path) -> None:
    tab = open_page("#/system/s2", index=made)
    headline = tab.locator(".headline").inner_text()
    assert headline == "Covers 1 of 10 tasks: Tatoeba; 41 of 202 cells have scores. No overall rank."
    assert list(cards(tab)) == ["Tatoeba"]
    assert cards(tab)["Tatoeba"].startswith("70.0")
    assert tab.locator("#profile h2").inner_text() == "Tatoeba by language"
    assert tab.locator("#humans").count() == 0
    assert "No scores on XNLI, XCOPA," in tab.locator("#cells").inner_text()


def test_the_only_system_has_no_rivals(open_page: Open, tmp_path: Path) -> None:
    tab = open_page("#/system/s0", index=write_site(synthetic_board(1), tmp_path / "site", detailed=1))
    settle(tab)
    assert all("the only system ranked" in text for text in cards(tab).values())
    assert tab.locator("#profile p").first.inner_text().startswith("No other system has these scores: highest in ")
    assert tab.locator("#profile .ring").count() == 0
    assert tab.get_by_label("Order of languages").count() == 0
    assert tab.get_by_role("link", name="Compare with another system").count() == 0


def test_a_profile_compares_a_system_with_the_best(open_page: Open, made: Path) -> None:
    tab = open_page("#/system/s1?task=xnli", index=made)
    settle(tab)
    profile = tab.locator("#profile")
    # 61 and 61.2 of 80, and 82.5 in Greek, where it is itself the best; elsewhere 78 of 80.
    assert profile.locator("p").first.inner_text() == (
        "Has the best score in 1 of 15 languages; farthest from it in Swahili (−19.0)."
    )
    assert sorted(profile.locator(".plot .noted").all_text_contents()) == ["−18.8", "−19.0", "−2.0"]
    assert profile.locator(".plot a .goal").count() == 15
    assert "best English 80.0" in profile.locator(".plot").inner_text()
    profile.get_by_label("Order of languages").select_option("gap")
    assert tab.evaluate("location.hash") == "#/system/s1?task=xnli&order=gap"
    names = [
        text.split()[0]
        for text in profile.locator(".plot a").evaluate_all("all => all.map((each) => each.getAttribute('aria-label'))")
    ]
    assert (names[:2], names[-1]) == (["Swahili", "Urdu"], "Greek")
    profile.get_by_label("Task").select_option("all")
    assert profile.locator("h2").inner_text() == "All tasks by language, relative to English"
    tab.go_back()
    tab.wait_for_selector("#profile h2:has-text('XNLI by language')")
    tab.go_back()
    tab.wait_for_selector("#profile .family")
    profile.locator(".plot a[aria-label^='Swahili']").focus()
    tip = tab.locator("#tip").inner_text()
    assert "Best score 80.0: System 0" in tip and "Swahili · Kiswahili" in tip and "Niger-Congo" in tip


def test_labels_of_neighbours_do_not_overlap(open_page: Open, made: Path) -> None:
    # Columns are narrower than their labels, and the two widest gaps stand side by side at nearly the same height.
    tab = open_page("#/system/s1?task=xnli&order=gap", index=made, width=720)
    tab.wait_for_selector("#profile .noted")
    boxes = [label.bounding_box() for label in tab.locator("#profile .plot .noted").all()]
    assert len(boxes) == 3
    for one, other in combinations(boxes, 2):
        is_beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert is_beside or abs(one["y"] - other["y"]) >= 13


_LENGTHS = """node => {
  const ticks = [...node.querySelectorAll("svg > g:first-child > text")].map((text) => Number(text.textContent));
  const grid = [...node.querySelectorAll(".grid")].map((line) => Number(line.getAttribute("x1")));
  const interval = node.querySelector(".interval line");
  const per = (grid[1] - grid[0]) / (ticks[1] - ticks[0]);
  const at = (name) => ticks[0] + (Number(interval.getAttribute(name)) - grid[0]) / per;
  return [at("x1"), at("x2")];
}"""


@pytest.mark.parametrize("width", [390, 1440])
def test_dots_lie_on_a_labelled_axis_with_their_intervals(open_page: Open, made: Path, width: int) -> None:
    tab = open_page("#/system/s1?task=xnli", index=made, width=width)
    settle(tab)
    tab.wait_for_selector("#profile .interval line", state="attached")
    low, high = tab.locator("#profile .plot").evaluate(_LENGTHS)
    assert (low, high) == (pytest.approx(60, abs=1.6), pytest.approx(63.4, abs=0.05))
    # Narrow screens have rows, wide ones columns, whose links say what they do not show.
    assert tab.locator("#profile .plot a[aria-label]").count() == (15 if width == 1440 else 0)


def test_gaps_to_people_and_of_transfer(open_page: Open, made: Path) -> None:
    tab = open_page("#/system/s0", index=made)
    settle(tab)
    rows = drawn_rows(tab, "#humans")
    # People reach 92.8, 97.6, 91.2, 91.2 and 90.1.
    assert rows == ["XNLI −12.8", "XCOPA −37.6", "XQuAD −31.2", "MLQA −31.2", "TyDiQA-GoldP −30.1"]
    assert (
        tab.locator("#humans p").first.inner_text()
        == "Below people on all 5 tasks, from XNLI (−12.8) to XCOPA (−37.6)."
    )
    assert tab.locator("#humans .interval line").count() == 5
    # Only XNLI's transfer gap has an interval in the system's file.
    assert drawn_rows(tab, "#transfer")[0] == "XNLI 0.0"
    assert tab.locator("#transfer .interval line").count() == 1


def test_footnotes_stand_at_their_claims(open_page: Open, published: Path) -> None:
    tab = open_page("#/system/mbert", index=published)
    assert "† XTREME-R Table 15 prints an average of 65.4" in tab.locator("#cells").inner_text()
    about = tab.locator("section", has=tab.get_by_role("heading", name="About this system"))
    assert "parameters of mBERT: 178M in print" in about.inner_text()
    assert "Table 15" not in about.inner_text()


def test_a_task_opens_with_its_verdict(open_page: Open, published: Path) -> None:
    tab = open_page("#/task/xnli", index=published)
    text = tab.locator("main > header").inner_text()
    assert "has the best score, 87.5, out of 38 systems" in text
    assert "1 system cannot be tested: it lacks scores per language" in text
    assert "The best scores reach 80 % of the best score in English in all 14 other languages." in text
    assert "Human performance is 92.8" in text
    chart = tab.locator("#languages .plot")
    labels = chart.locator(".label").all_text_contents()
    assert [label.split()[0] for label in labels] == ["best", "80", "people"]
    assert chart.locator("a").count() == 15
    assert "Swahili" in chart.inner_text()
    tab.get_by_label("Order of languages").select_option("score")
    assert chart.locator("a").first.get_attribute("aria-label").startswith("English")
    assert tab.evaluate("location.hash") == "#/task/xnli?order=score"
    chart.locator("a[aria-label^=Swahili]").click()
    assert tab.locator("h1").inner_text().startswith("XNLI in Swahili")


def test_a_task_in_a_language_draws_all_systems_on_one_axis(open_page: Open, made: Path) -> None:
    tab = open_page("#/task/xnli/sw", index=made)
    tab.wait_for_selector(".plot .interval line", state="attached")
    tab.wait_for_selector(".headline:has-text('paired tests')")
    assert tab.locator(".headline").inner_text() == (
        "System 0 (zero-shot) has the best score, 80.0, out of 2 systems on 5,010 test examples. The order is not "
        "tested: this board has no paired tests of them. Human performance on the task: 92.8."
    )
    rows = drawn_rows(tab, "main")
    assert rows == ["System 0 80.0", "System 1 61.0"]
    assert tab.locator(".plot .interval line").count() == 2


def test_tasks_show_their_metric_and_regimes(open_page: Open, published: Path) -> None:
    tab = open_page("#/task/xquad", index=published)
    # Papers report languages in F1, and the task average in both metrics.
    notes = tab.locator("table.data th.score .of").all_inner_texts()
    assert notes[0] == "F1 and exact match"
    assert set(notes[1:]) == {"F1"}
    assert [label.split()[0] for label in tab.locator("#languages .label").all_text_contents()] == ["best", "80"]
    go(tab, "#/task/xquad/th")
    tab.wait_for_selector(".plot svg a")
    names = tab.locator(".plot svg a > text:not(.value)").all_text_contents()
    assert len(names) == len(set(names)) > 5
    assert "Human" not in tab.locator(".headline").inner_text()


_OUTSIDE = """() => [...document.querySelectorAll("main svg")].flatMap((svg) => {
  const room = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const { left, right, top, bottom, width } = text.getBoundingClientRect();
    return width && (left < room.left - 1 || right > room.right + 1 || top < room.top - 1 || bottom > room.bottom + 1);
  }).map((text) => `${document.title}: ${text.textContent}`);
})"""


@pytest.mark.parametrize("width", [390, 1440])
def test_texts_of_charts_stay_in_them(open_page: Open, published: Path, width: int) -> None:
    tab = open_page("#/about", index=published, width=width)
    # A wide font, as some systems have.
    tab.evaluate("document.body.style.fontFamily = 'monospace'")
    tasks = ["task/xquad", "task/tydiqa", "task/udpos", "task/tatoeba/sw"]
    systems = ["system/xlm-r-large", "system/xlm-r-large?task=xquad"]
    languages = ["languages", "languages?view=tree", "language/sw", "family/Turkic"]
    for page in [*tasks, *systems, *languages, "progress", "progress?view=humans", "progress?view=size"]:
        go(tab, f"#/{page}")
        wait_until(tab, "() => document.querySelector('main svg text')")
        assert tab.evaluate(_OUTSIDE) == []


_NARROWED = """node => {
  node.style.width = "500px";
  const { width, height } = node.querySelector("svg").getBoundingClientRect();
  const whole = node.querySelector("svg").viewBox.baseVal;
  return [width, height / whole.height, width / whole.width];
}"""


def test_print_scales_drawings_to_the_page(open_page: Open, made: Path) -> None:
    # Printing lays a page out without telling it of the new width.
    tab = open_page("#/system/s1?task=xnli", index=made, width=1200)
    tab.wait_for_selector("#profile .plot svg")
    tab.emulate_media(media="print")
    plots = {"system/s1?task=xnli": "#profile .plot", "language/sw": ".dot-rows", "progress?view=size": ".size .plot"}
    for page, plot in plots.items():
        go(tab, f"#/{page}")
        tab.wait_for_selector(f"{plot} svg")
        width, down, across = tab.locator(plot).first.evaluate(_NARROWED)
        assert width == pytest.approx(500)
        assert down == pytest.approx(across, rel=0.01)


@needs_axe
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_axe_violations_on_profiles(open_page: Open, made: Path, scheme: str, width: int) -> None:
    tab = open_page("#/about", index=made, color_scheme=scheme, width=width, bypass_csp=True)
    for hash_ in ("#/system/s1?task=all&order=gap", "#/system/s2", "#/task/xnli?order=score", "#/task/xnli/sw"):
        go(tab, hash_)
        settle(tab)
        assert barriers(tab) == [], hash_
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, hash_
