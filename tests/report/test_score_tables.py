"""Test tables of results for one system, which no column names, and for several."""

import msgspec

from isogloss.scoring.results import CellScore
from isogloss.tables.score_tables import (
    group_table,
    language_table,
    overview_table,
    pair_matrix_table,
    pair_table,
    score_tables,
)
from report.made_records import as_systems, cell, number, results

ONE = as_systems({"a": results("a")})
TWO = as_systems({"a": results("a"), "b": results("b", -10)})


def test_the_overview_has_tasks_then_categories_then_the_overall_score() -> None:
    table = overview_table(ONE)
    assert table.title == "a on xtreme-r, test"
    assert table.header == ("task", "metrics", "score", "95 %", "n", "languages")
    assert table.rows == [
        ("xnli", "accuracy 65.0", "65.0*", "63.0–67.0", "400", "4/5"),
        ("xquad", "f1 70.0  em 60.0", "65.0", "63.0–67.0", "200", "2/2"),
        ("classification", "", "65.0*", "63.0–67.0", "", "1/1 tasks"),
        ("qa", "", "65.0", "63.0–67.0", "", "1/1 tasks"),
        ("overall", "rule: category", "65.0*", "63.0–67.0", "", "2/3 tasks"),
    ]
    assert table.strong == {2, 3, 4}
    assert table.notes == ["* partial, missing: xnli/sw  mewslix", "partial gold, not averaged: xquad/th (n=100)"]


def test_several_systems_have_one_row_each() -> None:
    table = overview_table(TWO)
    assert table.title == "2 systems on xtreme-r, test"
    assert [row[:2] for row in table.rows] == [
        (name, system) for name in ("xnli", "xquad", "classification", "qa", "overall") for system in ("a", "b")
    ]
    assert [row[3] for row in table.rows[:2]] == ["65.0*", "55.0*"]
    assert {len(row) for row in table.rows} == {len(table.header)}


def test_notes_on_some_systems_name_them() -> None:
    noted = CellScore(
        task="xnli", language="en", split="test", metrics={"accuracy": number(80)}, signature="s", notes=["left out"]
    )
    more = msgspec.structs.replace(results("b"), cells=[*results("b").cells[1:], noted])
    notes = overview_table(as_systems({"a": results("a"), "b": more})).notes
    assert "* partial, missing: xnli/sw  mewslix" in notes
    assert notes[-1] == "b: xnli/en: left out"


def test_partial_gold_and_other_splits_are_marked() -> None:
    table = language_table(ONE)
    assert table.header == ("code", "language", "xnli", "xquad", "wikiann")
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == sorted(rows)
    assert rows["th"] == ("th", "Thai", "50.0", "7.0†", "·")
    assert table.notes == ["† partial gold, not averaged"]
    dev = msgspec.structs.replace(cell("xnli", "en", 80), split="dev")
    best = msgspec.structs.replace(results("a"), split="best", cells=[dev, cell("xnli", "ar", 70)])
    table = language_table(as_systems({"a": best}))
    assert [row[-1] for row in table.rows] == ["70.0", "80.0‡"]
    assert table.notes == ["‡ dev split, the others test"]


def test_languages_of_several_systems() -> None:
    table = language_table(TWO)
    assert table.header[:3] == ("code", "language", "system")
    assert [row[2:4] for row in table.rows if row[0] == "ar"] == [("a", "70.0"), ("b", "60.0")]


def test_unknown_languages_are_shown_by_their_code() -> None:
    table = language_table(as_systems({"a": msgspec.structs.replace(results("a"), cells=[cell("xnli", "qqq", 1)])}))
    assert table.rows == [("qqq", "qqq", "1.0")]


def test_families_show_the_number_of_languages_if_not_all() -> None:
    table = group_table(ONE, "family")
    assert table.header == ("family", "languages", "xnli", "xquad", "wikiann")
    # English and Urdu in XNLI, English and Hindi in XQuAD.
    assert table.rows[0] == ("Indo-European", "3", "70.0 (2)", "65.0 (2)", "·")
    assert ("Kra-Dai", "1", "50.0", "·", "·") in table.rows
    assert table.notes == ["brackets: number of languages averaged"]
    scripts = group_table(TWO, "script")
    assert scripts.header[:3] == ("script", "system", "languages")
    assert ("Arab", "b", "2", "55.0", "·", "·") in scripts.rows


def test_language_pairs() -> None:
    assert pair_table(ONE).rows == [("lareqa", "map@20", "44.0 [42.0–46.0]", "·", "·")]
    assert [row[:3] for row in pair_table(TWO).rows] == [
        ("lareqa", "a", "map@20"),
        ("lareqa", "b", "map@20"),
    ]
    matrix = pair_matrix_table("lareqa", {"a": results("a").pairs[0]})
    assert matrix.rows == [("ar", "Arabic", "·", "23.0"), ("en", "English", "22.0", "71.0")]


def test_one_cell_has_no_language_table() -> None:
    alone = msgspec.structs.replace(results("a"), cells=results("a").cells[:1], pairs=[])
    assert len(score_tables(as_systems({"a": alone}))) == 1
    assert len(score_tables(ONE)) == 4
