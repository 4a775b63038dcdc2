"""What `isogloss.analyze` and `isogloss.select` give in Python: a short repr, small tables, data frames."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import isogloss
from analysis.checkpoint_files import runs_of, write_csv
from isogloss.analysis.finding import Column, Finding, TidyTable
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.errors import UnknownNameError


def analysed(_: Path) -> Finding:
    return isogloss.analyze("families", "published:mBERT", tasks=["xnli"])


def selected(folder: Path) -> Finding:
    rng = np.random.default_rng(0)
    places = [(code, split) for code in ("en", "de", "sw") for split in ("dev", "test")]
    runs = [{place: rng.uniform(40, 60, 8) for place in places} for _ in range(3)]
    return isogloss.select(write_csv(folder / "scores.csv", runs_of(*runs)))


@pytest.mark.parametrize(("make", "name"), [(analysed, "families"), (selected, "checkpoint-selection")])
def test_in_a_notebook(make: Callable[[Path], Finding], name: str, tmp_path: Path) -> None:
    found = make(tmp_path)
    assert repr(found).startswith(f"Finding({name}; {found.tables[0].name}: {len(found.tables[0].rows)} rows")
    assert len(repr(found)) < 300
    assert all(len(repr(table)) < 600 for table in found.tables)
    page = found._repr_html_()
    assert page.count("<table>") == len(found.tables)
    assert page.startswith("<p>")
    shown = sum(min(len(table.rows), table.shown) for table in found.tables)
    assert page.count("<tr>") == shown + len(found.tables)
    frame = found.to_pandas()
    first = found.tables[0]
    assert list(frame.columns) == [column.name for column in first.columns]
    assert len(frame) == len(first.rows)
    for table in found.tables:
        assert len(found.to_pandas(table.name)) == len(table.rows)


def test_text_is_escaped_and_long_tables_are_cut() -> None:
    rows = [["<img src=x>", place / 3] for place in range(50)]
    table = TidyTable("made", "Made & up", [Column("name"), Column("value", "number", "Value <b>")], rows)
    page = Finding("made", "Made up", "<script>", [table])._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "(10 more rows)" in page
    assert "0.3333" in page
    assert table._repr_html_() in page


def test_a_table_that_is_not_there() -> None:
    found = Finding("made", "Made up", "Nothing.", [TidyTable("gaps", "Gaps", [Column("a")], [])])
    assert found.to_pandas().empty
    with pytest.raises(UnknownNameError, match=r"unknown table of made 'gap'.*gaps"):
        found.to_pandas("gap")


def test_columns_by_their_names() -> None:
    assert text_columns("system", "task") == [Column("system"), Column("task")]
    found = interval_columns("gap", "difference", "lost")
    assert found == [
        Column("gap", "difference", "lost", "gap_low", "gap_high"),
        Column("gap_low", "difference"),
        Column("gap_high", "difference"),
    ]
    assert [column.name for column in interval_columns("gain", "score", low="low", high="high")] == [
        "gain",
        "low",
        "high",
    ]


@pytest.mark.parametrize("make", [analysed, selected])
def test_the_ends_of_an_interval_follow_its_value(make: Callable[[Path], Finding], tmp_path: Path) -> None:
    columns = [table.columns for table in make(tmp_path).tables]
    with_ends = [(of, place) for of in columns for place, column in enumerate(of) if column.low]
    assert with_ends
    for of, place in with_ends:
        value, low, high = of[place : place + 3]
        assert (low.name, high.name) == (value.low, value.high)
        assert low.holds == high.holds == value.holds
