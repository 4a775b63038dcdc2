"""Test per-example analyses in a browser against isogloss explain, at any edges."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

import isogloss
from board.answered_systems import CHECKLIST, SUITE, answered, write_suite
from board.opened_board import Open, column, go, ranks
from isogloss.board.site import build_board
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

TASKS = ("mini-xnli", "mini-wikiann", "mini-xquad")
TESTS = ("checklist-comparisons", "checklist-properties")
NAMES = {"alpha": 0.1, "beta": 0.25, "gamma": 0.3}


@pytest.fixture(scope="module")
def answered_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a suite, the predictions of three systems, and their board."""
    root = tmp_path_factory.mktemp("answered")
    suite = write_suite(root / "suite.toml", SUITE)
    folders = [answered(root / name, suite, TASKS, name, mistakes) for name, mistakes in NAMES.items()]
    build_board(folders, root / "site", suite=str(suite))
    return root


@pytest.fixture(scope="module")
def error_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the board of two systems on a suite of error rates."""
    root = tmp_path_factory.mktemp("errors")
    suite = write_suite(root / "suite.toml", CHECKLIST)
    folders = [answered(root / name, suite, TESTS, name, mistakes) for name, mistakes in (("bad", 0.5), ("good", 0.1))]
    build_board(folders, root / "site", suite=str(suite))
    return root


def explained(root: Path, *systems: str, **words: Any) -> Any:
    return isogloss.explain(*(root / name for name in systems), suite=str(root / "suite.toml"), **words)


def page(mode: str, *systems: str, **params: str) -> str:
    return f"#/analysis/{mode}?{urlencode([('system', name) for name in systems] + list(params.items()))}"


# Chromium drops some of many quick downloads: return the file that the button makes, without downloading it.
_EXPORTED = """() => new Promise((done) => {
  const make = URL.createObjectURL;
  URL.createObjectURL = (file) => {
    URL.createObjectURL = make;
    done(file.text());
    return "data:,";
  };
  [...document.querySelectorAll(".files button")].find((button) => button.textContent === "JSON").click();
})"""


def shown(tab: Any) -> dict[str, list[tuple[int, float, float | None, float | None]]]:
    """Return the exported values of the charts by attribute."""
    tab.wait_for_selector(".charts .bar")
    rows = json.loads(tab.evaluate(_EXPORTED))["rows"]
    by_attribute: dict[str, list[tuple[int, float, float | None, float | None]]] = {}
    for row in rows:
        by_attribute.setdefault(row["attribute"], []).append((row["n"], row["value"], row["low"], row["high"]))
    return by_attribute


def same(shown_rows: list[Any], wanted: list[Any]) -> bool:
    """Compare numbers of the page and of Python to 1e-7."""
    return [row[0] for row in shown_rows] == [row[0] for row in wanted] and all(
        (mine is None and theirs is None) or mine == pytest.approx(theirs, abs=1e-7)
        for ours, others in zip(shown_rows, wanted, strict=True)
        for mine, theirs in zip(ours[1:], others[1:], strict=True)
    )


def single_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.value, each.low, each.high) for each in facet.buckets]


def pair_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.difference, each.low, each.high) for each in facet.buckets]


# Attributes of predictions, not of examples.
ANSWERS = {"errorType", "confidence", "rank"}


def test_scores_and_intervals_match_explain(open_page: Open, answered_board: Path) -> None:
    analysis = explained(answered_board, *NAMES)
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    checked = 0
    for name, explanation in zip(NAMES, analysis.explanations, strict=True):
        cells: dict[tuple[str, str, str], dict[str, Any]] = {}
        for facet in explanation.facets:
            if facet.attribute not in ANSWERS:
                cells.setdefault((facet.task, facet.language, facet.metric), {})[facet.attribute] = facet
        for (task, language, metric), facets in cells.items():
            if name != "alpha" and language != "sw":
                continue
            go(tab, page("single", name, task=task, language=language, metric=metric))
            charts = shown(tab)
            assert facets.keys() == charts.keys(), (task, language, metric)
            for attribute, facet in facets.items():
                assert same(charts[attribute], single_rows(facet)), (name, task, language, metric, attribute)
                checked += any(row[2] is not None for row in charts[attribute])
    assert checked > 20


def test_differences_and_intervals_match_explain(open_page: Open, answered_board: Path) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"])
    pair = next(each for each in analysis.pairs if (each.first, each.second) == ("alpha", "gamma"))
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task in TASKS:
        go(tab, page("pairwise", "alpha", "gamma", task=task, language="sw"))
        charts = shown(tab)
        facets = [facet for facet in pair.facets if facet.task == task]
        assert facets
        for facet in facets:
            assert same(charts[facet.attribute], pair_rows(facet)), (task, facet.attribute)


@pytest.mark.parametrize(("cut", "words"), [("at~9,12", "9:12"), ("filled~4", "greedy")])
def test_other_edges_match_explain(open_page: Open, answered_board: Path, cut: str, words: str) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"], attributes=[f"t1Len={words}", f"sLen={words}"])
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task, attribute in (("mini-xnli", "t1Len"), ("mini-wikiann", "sLen")):
        go(tab, page("single", "beta", task=task, language="sw", cut=f"{attribute}~{cut}"))
        (facet,) = (
            each for each in analysis.explanations[1].facets if (each.task, each.attribute) == (task, attribute)
        )
        assert same(shown(tab)[attribute], single_rows(facet)), task


def brightness(tab: Any, cell: Any) -> float:
    """Return the brightness of a cell's background."""
    red, green, blue = tab.evaluate("node => getComputedStyle(node).backgroundColor.match(/\\d+/g).map(Number)", cell)
    return 0.3 * float(red) + 0.6 * float(green) + 0.1 * float(blue)


def test_many_bars_do_not_overlap(open_page: Open, answered_board: Path) -> None:
    for width in (360, 1200):
        tab = open_page(
            page("single", "alpha", task="mini-xquad", language="en", cut="aPos~equal~12"),
            index=answered_board / "site" / "index.html",
            width=width,
        )
        tab.wait_for_selector(".many .bar")
        boxes = tab.locator(".many .bar .value").evaluate_all(
            "texts => texts.map(text => [text.getBoundingClientRect().left, text.getBoundingClientRect().right])"
        )
        assert len(boxes) > 8
        assert all(right < left for (_, right), (left, _) in pairwise(boxes))
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_lower_is_better_throughout(open_page: Open, error_board: Path) -> None:
    tab = open_page(index=error_board / "site" / "index.html")
    assert "good (zero-shot) leads overall" in tab.locator(".headline").inner_text()
    assert "lower is better" in tab.locator(".headline").inner_text()
    assert [text.split()[0] for text in column(tab, "System")] == ["good", "bad"]
    assert ranks(tab) == ["1", "2"]
    first = tab.locator("table.data tbody tr").first
    assert first.locator(".best").count() == 4
    for ranking in ("flat", "worst", "family", "weights"):
        go(tab, f"#/?ranking={ranking}")
        assert [text.split()[0] for text in column(tab, "System")] == ["good", "bad"], ranking
    # With a filter the page computes the ranks.
    go(tab, "#/?language=sw")
    assert ranks(tab) == ["1", "2"]
    assert column(tab, "System")[0].startswith("good")
    tab.click("button.sort:has-text('comparisons')")
    assert column(tab, "System")[0].startswith("good")
    for hash_ in (
        "#/language/sw",
        "#/family/Niger-Congo",
        "#/task/checklist-comparisons",
        "#/task/checklist-properties/sw",
    ):
        go(tab, hash_)
        assert column(tab, "System")[0].startswith("good"), hash_
        assert ranks(tab)[0] == "1", hash_
    go(tab, "#/task/checklist-comparisons")
    rows = tab.locator("table.heat tbody tr")
    good, bad = (rows.nth(at).locator("td").first.element_handle() for at in (0, 1))
    assert brightness(tab, good) > brightness(tab, bad)
    go(tab, "#/languages?view=heat")
    rows = tab.locator("table.heat tbody tr")
    assert rows.first.inner_text().startswith("good")
    good, bad = (rows.nth(at).locator("td").first.element_handle() for at in (0, 1))
    assert brightness(tab, good) > brightness(tab, bad)
    go(tab, "#/system/good")
    assert "rank 1" in tab.locator(".cards").inner_text() and "rank 2" not in tab.locator(".cards").inner_text()


def test_analyses_of_error_rates(open_page: Open, error_board: Path) -> None:
    tab = open_page(page("pairwise", "bad", "good"), index=error_board / "site" / "index.html")
    tab.wait_for_selector(".charts .bar")
    assert "the first is better below zero" in tab.locator(".headline").inner_text()
    bars = tab.locator(".bar")
    assert bars.count() == tab.locator(".bar.below").count() > 1
    go(tab, page("single", "bad"))
    tab.wait_for_selector(".bar.top")
    best, worst = (float(tab.locator(f".bar.{kind} .value").first.text_content()) for kind in ("top", "low"))
    assert best < worst


def test_edges_are_moved_by_mouse_keyboard_and_typing(open_page: Open, answered_board: Path) -> None:
    tab = open_page(
        page("pairwise", "alpha", "beta", task="mini-xquad", language="en"),
        index=answered_board / "site" / "index.html",
    )
    figure = tab.locator("figure:has(figcaption:text-is('cLen: context length in tokens'))")
    figure.locator(".handle").first.wait_for()
    before = figure.locator(".bar").all_text_contents()
    handle = figure.locator(".handle").nth(1)
    assert handle.get_attribute("role") == "slider"
    assert handle.get_attribute("aria-label").startswith("Edge 2 of ")
    handle.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert "cut=cLen%7Eat%7E" in tab.evaluate("location.hash")
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "slider"
    assert figure.locator(".bar").all_text_contents() != before
    box = figure.locator(".handle").first.bounding_box()
    value = figure.locator(".handle").first.get_attribute("aria-valuenow")
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    tab.mouse.down()
    tab.mouse.move(box["x"] - 40, box["y"] + 10, steps=4)
    tab.mouse.up()
    assert float(figure.locator(".handle").first.get_attribute("aria-valuenow")) < float(value)
    typed = figure.locator("input[type=text]")
    typed.fill("20 30; 30, x 25")
    typed.press("Enter")
    assert tab.evaluate("location.hash").endswith("cut=cLen%7Eat%7E20%2C25%2C30")
    assert figure.locator(".handle").count() == 3
    figure.locator("select").select_option("equal")
    figure.locator("input[type=number]").fill("3")
    figure.locator("input[type=number]").press("Enter")
    assert tab.evaluate("location.hash").endswith("cut=cLen%7Eequal%7E3")
    assert figure.locator(".bar").count() == 3
    figure.locator("text=reset").click()
    assert figure.locator(".bar").all_text_contents() == before
    assert "cut" not in tab.evaluate("location.hash")


def test_a_bar_lists_its_examples(open_page: Open, answered_board: Path) -> None:
    tab = open_page(
        page("single", "gamma", task="mini-xnli", language="sw"), index=answered_board / "site" / "index.html"
    )
    bar = tab.locator(".bar").first
    bar.wait_for()
    bar.focus()
    tab.keyboard.press(" ")
    listed = tab.locator(".examples")
    assert "worst first" in listed.inner_text()
    assert listed.locator("li").count() == 10
    first = listed.locator("li").first.inner_text()
    assert "gold" in first and "gamma (0)" in first
    go(tab, page("bias", "gamma"))
    tab.wait_for_selector(".charts figure")
    assert tab.locator(".charts figure").count() == 3
    tab.locator(".charts .bar").first.click()
    assert "examples with texts first" in tab.locator(".examples").inner_text()


def test_disabled_buttons_have_accessible_reasons(open_page: Open, answered_board: Path) -> None:
    tab = open_page(index=answered_board / "site" / "index.html")
    for mode, ticked, reason in (
        ("compare", ("alpha",), "select another system"),
        ("single", ("alpha", "beta"), "select one system"),
        ("pairwise", ("alpha",), "select two systems"),
        ("pairwise", ("alpha", "beta", "gamma"), "select two systems"),
    ):
        go(tab, "#/?" + urlencode([("tick", name) for name in ticked]))
        button = tab.locator(f"[data-mode={mode}]")
        button.focus()
        assert tab.evaluate("document.activeElement.dataset.mode") == mode
        assert button.get_attribute("aria-disabled") == "true"
        assert tab.locator(f"#{button.get_attribute('aria-describedby')}").inner_text() == reason
        tab.keyboard.press("Enter")
        assert tab.evaluate("location.hash").startswith("#/?") or tab.evaluate("location.hash") == "#/"
    go(tab, "#/?tick=alpha&tick=beta")
    tab.wait_for_selector("[data-mode=pairwise]:not([aria-disabled])")
    assert tab.locator("#why-pairwise").count() == 0


def test_insights_of_explain_hold_until_edges_move(open_page: Open, answered_board: Path) -> None:
    analysis = explained(
        answered_board, *NAMES, tasks=["mini-xquad"], languages=["sw"], attributes=["cLen=20:22", "qLen"]
    )
    told = msgspec.json.decode(msgspec.json.encode(analysis))
    for facet in told["explanations"][0]["facets"]:
        facet["insight"] = "A sentence of explain."
    (answered_board / "explain.json").write_text(json.dumps(told), encoding="utf-8")
    site = answered_board / "explained"
    folders = [answered_board / name for name in NAMES]
    build_board(folders, site, suite=str(answered_board / "suite.toml"), explain=[answered_board / "explain.json"])
    tab = open_page(page("single", "alpha", task="mini-xquad", language="sw"), index=site / "index.html")
    figure = tab.locator("figure:has(figcaption:text-is('cLen: context length in tokens'))")
    figure.locator(".bar").first.wait_for()
    facet = next(each for each in analysis.explanations[0].facets if each.attribute == "cLen")
    assert same(shown(tab)["cLen"], single_rows(facet))
    assert figure.locator("input[type=text]").input_value() == "20, 22"
    assert "A sentence of explain." in figure.inner_text()
    figure.locator(".handle").first.focus()
    tab.keyboard.press("ArrowLeft")
    assert "A sentence of explain." not in figure.inner_text()


def test_invalid_cuts_are_ignored(open_page: Open, answered_board: Path) -> None:
    index = answered_board / "site" / "index.html"
    plain = shown(open_page(page("single", "alpha", task="mini-xquad", language="sw"), index=index))["qLen"]
    for cut in ("equal~99", "magic~4", "equal", "", "~~~"):
        tab = open_page(page("single", "alpha", task="mini-xquad", language="sw", cut=f"qLen~{cut}"), index=index)
        assert shown(tab)["qLen"] == plain, cut
    tab = open_page(page("single", "alpha", task="mini-xquad", language="sw", cut="qLen~at~x,1e99"), index=index)
    assert [row[0] for row in shown(tab)["qLen"]] == [60]
