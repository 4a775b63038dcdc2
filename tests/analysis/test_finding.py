"""Findings in Python: a short repr, small tables, data frames."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

import isogloss
from analysis.checkpoint_files import runs_of, write_csv
from isogloss.analysis.finding import Column, Finding, TidyTable, columns, difference_words, figure
from isogloss.errors import UnknownNameError


def analysed(_: Path) -> Finding:
    return isogloss.analyze("families", "published:mBERT", tasks=["xnli"])


def selected(folder: Path) -> Finding:
    rng = np.random.default_rng(0)
    places = [(code, split) for code in ("en", "de", "sw") for split in ("dev", "test")]
    runs = [{index: rng.uniform(40, 60, 8) for index in places} for _ in range(3)]
    return isogloss.select(write_csv(folder / "scores.csv", runs_of(*runs)))


@pytest.mark.parametrize(("make", "name"), [(analysed, "families"), (selected, "checkpoint-selection")])
def test_in_a_notebook(make: Callable[[Path], Finding], name: str, tmp_path: Path) -> None:
    finding = make(tmp_path)
    assert repr(finding).startswith(f"Finding({name}; {finding.tables[0].name}: {len(finding.tables[0].rows)} rows")
    assert len(repr(finding)) < 300
    assert all(len(repr(table)) < 600 for table in finding.tables)
    page = finding._repr_html_()
    displayed = [table for table in finding.tables if table.shown]
    assert page.count("<table") == len(displayed) > 0
    assert page.startswith("<p>")
    shown = sum(min(len(table.rows), table.shown) for table in finding.tables)
    assert page.count("<tr>") == shown + len(displayed)
    frame = finding.to_pandas()
    first = finding.tables[0]
    assert list(frame.columns) == [column.name for column in first.columns]
    assert len(frame) == len(first.rows)
    for table in finding.tables:
        assert len(finding.to_pandas(table.name)) == len(table.rows)


def test_text_is_escaped_and_long_tables_are_cut() -> None:
    rows = [["<img src=x>", index / 3] for index in range(50)]
    table = TidyTable("made", "Made & up", [Column("name"), Column("value", "number", "Value <b>")], rows)
    page = Finding(analysis="made", title="Made up", reading="<script>", tables=[table])._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "10 more rows" in page
    alone = table._repr_html_()
    assert page.endswith(alone)
    assert "<td>0.3333</td>" in alone
    assert table.to_latex().count("&lt;") == 0 < table.to_latex().count("Made")
    assert table.to_arrow().to_pylist() == table.records()


def test_unknown_table() -> None:
    finding = Finding(
        analysis="made", title="Made up", reading="Nothing.", tables=[TidyTable("gaps", "Gaps", [Column("a")], [])]
    )
    assert finding.to_pandas().empty
    with pytest.raises(UnknownNameError, match=r"unknown table of made 'gap'.*gaps"):
        finding.to_pandas("gap")


def test_columns_are_described_in_words() -> None:
    assert columns("system task") == [Column("system"), Column("task")]
    assert columns("n:count = n-grams; gap±:difference = lost, {unit}", unit="points; = %") == [
        Column("n", "count", "n-grams"),
        Column("gap", "difference", "lost, points; = %", "gap_low", "gap_high"),
        Column("gap_low", "difference"),
        Column("gap_high", "difference"),
    ]
    assert [column.name for column in columns("gain(low high):score; p q:p")] == ["gain", "low", "high", "p", "q"]
    for invalid in ("", "a-b", "gap:points", "n=count"):
        with pytest.raises((ValueError, msgspec.ValidationError), match=r"(?i)invalid"):
            columns(invalid)


def test_figures_name_their_columns() -> None:
    drawn = figure("bars", "gaps: gap, task, system", "Gaps", "One bar per gap.", fit=True)
    assert (drawn.table, drawn.x, drawn.y, drawn.colour, drawn.panel) == ("gaps", "gap", "task", "system", "")
    assert drawn.fit


@pytest.mark.parametrize("make", [analysed, selected])
def test_interval_bounds_follow_the_value(make: Callable[[Path], Finding], tmp_path: Path) -> None:
    columns = [table.columns for table in make(tmp_path).tables]
    with_ends = [(table, index) for table in columns for index, column in enumerate(table) if column.low]
    assert with_ends
    for table, index in with_ends:
        value, low, high = table[index : index + 3]
        assert (low.name, high.name) == (value.low, value.high)
        assert low.holds == high.holds == value.holds


def test_differences_in_sentences() -> None:
    assert difference_words(2.0, 0.5, 3.5) == "+2.0 (+0.5 to +3.5)"
    assert difference_words(-2.0, -4.0, 0.0) == "-2.0 (-4.0 to 0.0, not significant)"
    assert difference_words(2.0, None, None) == "+2.0 (not tested)"
    assert difference_words(None, None, None) == "unknown"
