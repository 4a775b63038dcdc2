"""Analyses of single examples in a browser: the numbers of the page are those of isogloss explain, at any edges."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import isogloss
from board.answered_systems import CHECKLIST, SUITE, answered, write_suite
from board.opened_board import Open, go
from isogloss.board.site import build_board
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

TASKS = ("mini-xnli", "mini-wikiann", "mini-xquad")
TESTS = ("checklist-comparisons", "checklist-properties")
NAMES = {"alpha": 0.1, "beta": 0.25, "gamma": 0.3}


@pytest.fixture(scope="module")
def answered_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, the answers of three systems, and their board."""
    root = tmp_path_factory.mktemp("answered")
    suite = write_suite(root / "suite.toml", SUITE)
    folders = [answered(root / name, suite, TASKS, name, mistakes) for name, mistakes in NAMES.items()]
    build_board(folders, root / "site", suite=str(suite))
    return root


@pytest.fixture(scope="module")
def error_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on a suite of error rates, of which less is better."""
    root = tmp_path_factory.mktemp("errors")
    suite = write_suite(root / "suite.toml", CHECKLIST)
    folders = [answered(root / name, suite, TESTS, name, mistakes) for name, mistakes in (("bad", 0.5), ("good", 0.1))]
    build_board(folders, root / "site", suite=str(suite))
    return root


def explained(root: Path, *systems: str, **words: Any) -> Any:
    return isogloss.explain(*(root / name for name in systems), suite=str(root / "suite.toml"), **words)


def page(mode: str, *systems: str, **params: str) -> str:
    return f"#/analysis/{mode}?{urlencode([('system', name) for name in systems] + list(params.items()))}"


def shown(tab: Any) -> dict[str, list[tuple[int, float, float | None, float | None]]]:
    """By attribute what the charts of a page show, with all digits."""
    tab.wait_for_selector(".charts .bar")
    with tab.expect_download() as found:
        tab.click("text=JSON")
    rows = json.loads(found.value.path().read_text(encoding="utf-8"))["rows"]
    by_attribute: dict[str, list[tuple[int, float, float | None, float | None]]] = {}
    for row in rows:
        by_attribute.setdefault(row["attribute"], []).append((row["n"], row["value"], row["low"], row["high"]))
    return by_attribute


def same(found: list[Any], wanted: list[Any]) -> bool:
    """Numbers of the page and of Python, to more digits than are shown."""
    return [row[0] for row in found] == [row[0] for row in wanted] and all(
        (mine is None and theirs is None) or mine == pytest.approx(theirs, abs=1e-7)
        for ours, others in zip(found, wanted, strict=True)
        for mine, theirs in zip(ours[1:], others[1:], strict=True)
    )


def single_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.value, each.low, each.high) for each in facet.buckets]


def pair_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.difference, each.low, each.high) for each in facet.buckets]


# What a system's answers tell is no attribute of examples.
ANSWERS = {"errorType", "confidence", "rank"}


def test_scores_and_whiskers_are_those_of_explain(open_page: Open, answered_board: Path) -> None:
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
            tab.wait_for_timeout(50)
            found = shown(tab)
            assert facets.keys() == found.keys(), (task, language, metric)
            for attribute, facet in facets.items():
                assert same(found[attribute], single_rows(facet)), (name, task, language, metric, attribute)
                checked += any(row[2] is not None for row in found[attribute])
    assert checked > 20


def test_differences_and_whiskers_are_those_of_explain(open_page: Open, answered_board: Path) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"])
    pair = next(each for each in analysis.pairs if (each.first, each.second) == ("alpha", "gamma"))
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task in TASKS:
        go(tab, page("pairwise", "alpha", "gamma", task=task, language="sw"))
        tab.wait_for_timeout(50)
        found = shown(tab)
        facets = [facet for facet in pair.facets if facet.task == task]
        assert facets
        for facet in facets:
            assert same(found[facet.attribute], pair_rows(facet)), (task, facet.attribute)


@pytest.mark.parametrize(("cut", "words"), [("at~9,12", "9:12"), ("filled~4", "greedy")])
def test_other_edges_give_what_explain_gives_there(open_page: Open, answered_board: Path, cut: str, words: str) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"], attributes=[f"t1Len={words}", f"sLen={words}"])
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task, attribute in (("mini-xnli", "t1Len"), ("mini-wikiann", "sLen")):
        go(tab, page("single", "beta", task=task, language="sw", cut=f"{attribute}~{cut}"))
        tab.wait_for_timeout(50)
        (facet,) = (
            each for each in analysis.explanations[1].facets if (each.task, each.attribute) == (task, attribute)
        )
        assert same(shown(tab)[attribute], single_rows(facet)), task
