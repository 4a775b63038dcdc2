"""Tasks scored by how much goes wrong: high is dark, low is ahead, and every table says so."""

from typing import Any

import pytest

from isogloss.metrics.registry import Metric
from isogloss.report.page_data import explain_data
from isogloss.report.pairwise_section import pairwise_charts, pairwise_section
from isogloss.report.score_sections import gap_section, group_section, language_section, overview_section
from isogloss.report.score_tables import gap_table, overview_table
from isogloss.report.section import Section
from isogloss.scoring import main_score
from report.made_records import HOSTILE, explained, pair_made, results

SYSTEMS = {"a": results("a"), "b": results("b", -10)}


@pytest.fixture(autouse=True)
def xnli_counts_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if XNLI's metric were an error rate; XQuAD stays as it is."""
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))


def drawn(section: Section) -> dict[str, tuple[set[str], bool]]:
    """The heat maps: their tasks, and whether high is dark."""
    found = {}
    for chart in section.charts:
        panel = chart.spec["spec"]
        scale = panel["layer"][0]["encoding"]["color"]["scale"]
        tasks = {record["task"] for record in chart.spec["data"]["values"]}
        found[chart.name] = (tasks, scale.get("reverse", False))
    return found


def test_heat_maps_of_errors_stand_apart_and_high_is_dark() -> None:
    assert drawn(language_section(SYSTEMS)) == {
        "languages": ({"xquad", "wikiann"}, False),
        "languages-errors": ({"xnli"}, True),
    }
    assert {name: dark for name, (_, dark) in drawn(group_section(SYSTEMS)).items()} == {
        "families": False,
        "families-errors": True,
        "scripts": False,
        "scripts-errors": True,
    }


def test_tables_say_which_tasks_count_errors() -> None:
    assert overview_table(SYSTEMS).notes[-1] == "lower is better: xnli"
    assert "lower is better: xnli; there a gap below zero is what is lost" in gap_table(SYSTEMS).notes
    assert gap_section(SYSTEMS).tables["gap"].notes == gap_table(SYSTEMS).notes


def axis(section: Section) -> Any:
    return section.charts[0].spec["layer"][0]["encoding"]["x"]["title"]


def test_the_axis_says_so_where_all_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert axis(overview_section(SYSTEMS)) == "score, 0–100, with 95 % interval"
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=True))
    assert axis(overview_section(SYSTEMS)) == "error rate, 0–100, lower is better, with 95 % interval"


def test_fewer_errors_are_ahead() -> None:
    pair = pair_made()
    cells = pairwise_section([pair]).charts[0].spec["data"]["values"]
    assert {(cell["score"], cell["ahead"]) for cell in cells} == {(5.0, -5.0)}
    chart = next(pairwise_charts([pair], {"plain": "red", HOSTILE: "blue"}))
    told = [record["verdict"] for record in chart.spec["data"]["values"] if record["language"] == "en"]
    assert told == [f"{HOSTILE} is better", "cannot be told apart", "cannot be told apart", "plain is better"]
    (found,) = explain_data(explained())["pairs"]
    assert found["facets"][0][2][6::7] == [1, 0, 2 + 4, 1 + 2 + 4]
