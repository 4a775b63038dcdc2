"""Test that partial figures are marked in tables, charts and notes, for each system."""

from typing import Any

import msgspec
import pytest

from isogloss.scoring.results import AverageScore, Overall, Results
from isogloss.site.page_parts import Section
from isogloss.site.sections import gap_section, group_section, language_section, overview_section
from isogloss.tables.score_tables import gap_table, group_table, overview_table
from isogloss.tables.vega import svg
from report.made_records import as_systems, cell, number, results


def only(name: str, *cells: tuple[str, str]) -> Results:
    """Return a system with only some cells of xtreme-r."""
    made = [cell(task, code, 50) for task, code in cells]
    tasks = {
        task: AverageScore(
            name=task,
            score=number(50),
            metrics={},
            members=[code for one, code in cells if one == task],
            missing=["sw"],
        )
        for task, _ in cells
    }
    categories = [
        AverageScore(name=f"category of {task}", score=number(50), metrics={}, members=[task], missing=[f"{task}/sw"])
        for task in tasks
    ]
    overall = Overall("category", number(50), [*(f"{task}/sw" for task in tasks), "udpos"])
    return Results(
        suite="xtreme-r",
        system={"name": name},
        split="test",
        cells=made,
        tasks=list(tasks.values()),
        categories=categories,
        overall=overall,
        pairs=[],
        isogloss="0",
    )


APART = {
    "a": only("a", ("xnli", "en"), ("xnli", "de"), ("xquad", "en")),
    "b": only("b", ("xquad", "en"), ("xquad", "de")),
}


def values(section: Section, place: int = 0) -> list[dict[str, Any]]:
    return section.charts[place].records


def footnotes(section: Section, place: int = 0) -> list[str]:
    return section.charts[place].footnotes


def test_each_system_has_its_own_coverage_and_note() -> None:
    table = overview_table(as_systems(APART))
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["overall", "a"][3::3] == ("50.0*", "2/3 tasks")
    assert rows["overall", "b"][3::3] == ("50.0*", "1/2 tasks")
    assert rows["xquad", "a"][3::3] == ("50.0*", "1/2")
    assert "a: * partial, missing: xnli/sw  xquad/sw  udpos" in table.notes
    assert "b: * partial, missing: xquad/sw  udpos" in table.notes


def test_charts_mark_partial_figures_and_explain_the_mark() -> None:
    section = overview_section(as_systems(APART))
    # The first chart shows the shared cell; none of its figures is partial.
    assert [(record["name"], record["score"], record["partial"]) for record in values(section)] == [
        ("mean over tasks", 50.0, False),
        ("xquad", 50.0, False),
    ] * 2
    assert footnotes(section) == []
    assert all(record["partial"] for record in values(section, 1))
    assert {record["coverage"] for record in values(section, 1) if record["name"].startswith("overall")} == {
        "2/3 tasks",
        "1/2 tasks",
    }
    assert footnotes(section, 1) == [
        "* a: partial: 1 task and 2 other cells missing",
        "* b: partial: 1 task and 1 other cell missing",
    ]
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    assert svg(section.charts[1]).count(">*</text>") == len(values(section, 1))
    whole = msgspec.structs.replace(results("c"), overall=Overall("category", number(65), []))
    assert footnotes(overview_section(as_systems({"c": whole}))) == []
    assert (
        svg(overview_section(as_systems({"c": whole})).charts[0]).count(">*</text>") == 2
    )  # XNLI and its category lack a language


def test_the_transfer_gap_covers_available_languages() -> None:
    table = gap_table(as_systems(APART))
    assert [row[:2] + row[3:5] + row[6:] for row in table.rows] == [
        ("xnli", "a", "50.0*", "0.0*", "1/2"),
        ("xquad", "b", "50.0*", "0.0*", "1/2"),
    ]
    assert "a: * partial, missing: xnli/sw  xquad/sw  udpos" in table.notes
    section = gap_section(as_systems(APART))
    assert [record["coverage"] for record in values(section)] == ["1/2", "1/2"]
    assert len(footnotes(section)) == 2


def test_family_means_are_marked_if_the_suite_has_more_languages() -> None:
    made = {"a": only("a", ("xnli", "en"), ("xnli", "de"), ("xnli", "ar"))}
    missing_german = msgspec.structs.replace(made["a"].tasks[0], members=["en", "ar"], missing=["de"])
    lacking = {"a": msgspec.structs.replace(made["a"], cells=made["a"].cells[::2], tasks=[missing_german])}
    rows = {row[0]: row[-1] for row in group_table(as_systems(lacking), "family").rows}
    assert rows == {"Indo-European": "50.0*", "Afro-Asiatic": "50.0"}
    labels = {record["group"]: record["label"] for record in values(group_section(as_systems(lacking)))}
    assert labels == {"Indo-European": "50*", "Afro-Asiatic": "50"}
    assert footnotes(group_section(as_systems(lacking))) != []


def test_cells_with_partial_gold_are_marked_in_chart_and_table() -> None:
    section = language_section(as_systems({"a": results("a")}))
    labels = {(record["task"], record["language"]): record["label"] for record in values(section)}
    assert labels["xquad", "th"] == "7†"
    assert labels["xnli", "en"] == "80"
    assert footnotes(section) == ["† partial gold, not averaged"]


def test_one_cell_gives_no_overall_score() -> None:
    alone = only("a", ("xquad", "en"))
    table = overview_table(as_systems({"a": alone}))
    assert [row[0] for row in table.rows] == ["xquad"]
    assert table.notes[0] == "no overall score: only one cell of xtreme-r was scored"
    assert [record["name"] for record in values(overview_section(as_systems({"a": alone})))] == ["xquad"]
    # A suite of one cell has an overall score.
    asked = msgspec.structs.replace(
        alone,
        tasks=[msgspec.structs.replace(alone.tasks[0], missing=[])],
        categories=[msgspec.structs.replace(alone.categories[0], missing=[])],
        overall=Overall("category", number(50), []),
    )
    assert [row[0] for row in overview_table(as_systems({"a": asked})).rows] == [
        "xquad",
        "category of xquad",
        "overall",
    ]


@pytest.mark.parametrize("section", [overview_section, gap_section, group_section, language_section])
def test_charts_and_tables_show_the_same_scores(section: Any) -> None:
    made = only("a", ("xquad", "en"), ("xquad", "de"))
    shifted = {"f1": number(37.3), "em": number(20.2)}
    cells = [msgspec.structs.replace(each, metrics=shifted) for each in made.cells]
    average = [msgspec.structs.replace(made.tasks[0], score=number(28.749999999999996))]
    record = msgspec.structs.replace(made, cells=cells, tasks=average)
    for place in range(len(section(as_systems({"a": record})).charts)):
        shown = [
            entry.get("score", entry.get("english")) for entry in values(section(as_systems({"a": record})), place)
        ]
        assert set(shown) <= {28.8, 50.0}
