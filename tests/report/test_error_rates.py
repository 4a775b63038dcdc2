"""Test error rates: high is dark, low is ahead, and tables state the direction."""

from typing import Any

import pytest

from isogloss.metrics.registry import Metric
from isogloss.scoring import main_score
from isogloss.site.explain_section import pairwise_charts, pairwise_section
from isogloss.site.page_data import explain_data
from isogloss.site.page_parts import Section
from isogloss.site.sections import gap_section, group_section, language_section, overview_section
from isogloss.tables.score_tables import gap_table, overview_table
from report.made_records import HOSTILE, as_systems, explained, pair_made, results

SYSTEMS = as_systems({"a": results("a"), "b": results("b", -10)})


@pytest.fixture(autouse=True)
def xnli_counts_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat XNLI's metric as an error rate; XQuAD is unchanged."""
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))


def drawn(section: Section) -> dict[str, tuple[set[str], bool]]:
    """Return the tasks of each heat map, and True if high is dark."""
    maps = {}
    for chart in section.charts:
        assert chart.scale is not None
        maps[chart.name] = ({record["task"] for record in chart.records}, chart.scale.reverse)
    return maps


def test_error_rates_have_their_own_heat_map_and_high_is_dark() -> None:
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


def test_tables_name_the_tasks_with_error_rates() -> None:
    assert overview_table(SYSTEMS).notes[-1] == "lower is better: xnli"
    assert "lower is better: xnli; there, a gap below zero is a loss" in gap_table(SYSTEMS).notes
    assert gap_section(SYSTEMS).tables["gap"].notes == gap_table(SYSTEMS).notes


def axis(section: Section) -> Any:
    return section.charts[0].x.title


def test_the_axis_names_error_rates_if_all_tasks_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert axis(overview_section(SYSTEMS)) == "score, 0–100, with 95 % interval"
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=True))
    assert axis(overview_section(SYSTEMS)) == "error rate, 0–100, lower is better, with 95 % interval"


def test_lower_error_rates_are_ahead() -> None:
    pair = pair_made()
    cells = pairwise_section([pair]).charts[0].records
    assert {(cell["score"], cell["ahead"]) for cell in cells} == {(5.0, -5.0)}
    chart = next(pairwise_charts([pair], {"plain": "red", HOSTILE: "blue"}))
    told = [record["verdict"] for record in chart.records if record["language"] == "en"]
    assert told == [f"{HOSTILE} is better", "not significant", "not significant", "plain is better"]
    (pair,) = explain_data(explained())["pairs"]
    assert pair["facets"][0][2][6::7] == [1, 0, 2 + 4, 1 + 2 + 4]
