"""The published figures: all of each table, typed, under known names."""

from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from isogloss.errors import UnknownNameError
from isogloss.languages import CODES, published

LOADERS = {
    "checklist_error_rates": (published.checklist, published.CheckListRow, 600),
    "diversity": (published.diversity, published.DiversityRow, 6),
    "keung": (published.selection, published.SelectionFigure, 440),
    "overall_xtreme": (lambda: published.overall("xtreme"), published.OverallRow, 11),
    "overall_xtreme-r": (lambda: published.overall("xtreme-r"), published.OverallRow, 7),
    "per_language": (published.per_language, published.Figure, 563),
    "printed_averages": (published.printed_averages, published.Average, 35),
    "retrieval_subsets": (published.retrieval_subsets, published.SubsetRow, 12),
    "systems": (published.systems, published.SystemRow, 10),
    "transfer_gap": (published.transfer_gap, published.GapRow, 4),
}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def test_every_file_has_a_loader():
    folder = Path(published.__file__).parent
    assert {path.stem for path in folder.glob("*.csv")} == set(LOADERS)


@pytest.mark.parametrize("table", LOADERS)
def test_headers_are_the_fields_and_no_row_is_lost(table):
    load, row_type, count = LOADERS[table]
    header = (Path(published.__file__).with_name(f"{table}.csv")).read_text(encoding="utf-8").splitlines()[0]
    named = [field.name for field in fields(row_type) if field.name != "metrics"]
    columns = header.split(",")
    assert columns[: len(named)] == named
    assert all(":" in column for column in columns[len(named) :])
    rows = load()
    assert len(rows) == count
    assert all(type(row) is row_type for row in rows)


def test_lists_are_the_callers_own():
    published.systems().clear()
    assert len(published.systems()) == 10


def test_overall_rows():
    first = published.overall("xtreme-r")[0]
    assert (first.system, first.regime, first.average) == ("mBERT", "zero-shot", 54.1)
    assert first.metrics["xquad"] == {"f1": 65.1, "em": 50.4}
    assert first.metrics["mewslix"] == {"map@20": 38.6}
    assert len(first.metrics) == 10
    human = published.overall("xtreme")[-1]
    assert (human.system, human.average) == ("Human", None)
    assert human.metrics["tydiqa"] == {"f1": 90.1}
    assert "wikiann" not in human.metrics


def test_unknown_suites_are_errors_with_near_names():
    with pytest.raises(UnknownNameError, match="xtreme-r"):
        published.overall("xtremer")


def test_per_language_filters():
    rows = published.per_language(task="xnli", system="mBERT", regime="zero-shot")
    assert [row.language for row in rows][:2] == ["en", "ar"]
    assert (len(rows), rows[0].value, rows[0].metric) == (15, 81.7, "accuracy")
    assert {row.task for row in published.per_language(system="mT5-XXL")} == {
        "xnli", "xcopa", "xquad", "mlqa", "tydiqa",
    }  # fmt: skip
    assert published.per_language(task="udpos", system="mT5-XXL") == []


@pytest.mark.parametrize(
    ("field", "name", "near"),
    [("task", "xnlii", "xnli"), ("system", "mBRT", "mBERT"), ("regime", "zeroshot", "zero-shot")],
)
def test_a_filter_that_can_match_nothing_is_an_error(field, name, near):
    with pytest.raises(UnknownNameError, match=near):
        published.per_language(**{field: name})


def test_languages_are_registered_ones():
    for rows in (published.per_language(), published.checklist(), published.selection()):
        assert {row.language for row in rows} <= set(CODES)


def test_numbers_of_languages_per_task():
    counts = Counter(row.task for row in published.per_language(system="mBERT", regime="zero-shot"))
    assert counts == {
        "xnli": 15, "xcopa": 11, "udpos": 38, "wikiann": 48, "xquad": 11, "mlqa": 7, "tydiqa": 9,
        "tatoeba": 41, "mewslix": 11, "lareqa": 11,
    }  # fmt: skip


def test_the_checklist_has_hausa_and_lacks_romanian():
    rows = published.checklist()
    assert set(CODES) - {row.language for row in rows} == {"ro"}
    assert set(Counter((row.system, row.language) for row in rows).values()) == {6}


def test_transfer_gap_averages_are_over_the_five_tasks_with_one_label_or_answer():
    for row in published.transfer_gap():
        gaps = [row.metrics[task] for task in ("xnli", "pawsx", "xquad", "mlqa", "tydiqa")]
        assert mean(gap for metric in gaps for gap in metric.values()) == pytest.approx(row.average, abs=0.06)


def test_systems_and_subsets():
    by_system = {row.system: row for row in published.systems()}
    assert by_system["mT5"].parameters_millions == 13000
    assert by_system["MMTE"].monolingual_data == ""
    subsets = {(row.task, row.system, row.subset): row.value for row in published.retrieval_subsets()}
    assert subsets["lareqa", "XLM-R Large", "different languages"] == 28.7


def test_spreads_of_the_selection_study_are_those_of_their_lines_but_for_two_misprints():
    columns: dict[tuple[str, ...], dict[str, float]] = {}
    for row in published.selection():
        cells = columns.setdefault((row.source_table, row.system, row.metric, row.language), {})
        assert row.row not in cells, "one line, one figure"
        cells[row.row] = row.value
    misprinted = {}
    for column, cells in columns.items():
        printed = cells.pop("Δ", None)
        spread = round(max(cells.values()) - min(cells.values()), 1)
        if printed is not None and spread != printed:
            misprinted[column] = (printed, spread)
    assert misprinted == {
        ("Keung et al. Table 6", "mBERT", "accuracy", "hi"): (0.4, 1.4),
        ("Keung et al. Table 6", "XLM-R Large", "accuracy", "th"): (1.2, 0.7),
    }


def test_only_english_was_scored_on_dev():
    assert {(row.language, row.source_table[-2:]) for row in published.selection() if row.split == "dev"} == {
        ("en", "2a"),
        ("en", "2b"),
    }
