"""The tables of an analysis, as people read them; files have the numbers as they are."""

import csv
import io
from collections.abc import Callable, Mapping

from isogloss.analysis.finding import Column, Finding, Holds, TidyTable, Value
from isogloss.escaping import csv_text
from isogloss.figures import (
    MISSING,
    NO_INTERVAL,
    difference_interval_text,
    difference_text,
    interval_text,
    p_text,
    score_text,
)
from isogloss.report.tables import INTERVAL, Table

# A page scrolls: it has room for more rows than a terminal.
ROWS_ON_PAGE = 400


def finding_tables(finding: Finding, *, most: int | None = None) -> list[Table]:
    """Every table of a finding, each with as many rows as it asks for, or with at least `most` of them."""
    return [_shown(table, rows) for table in finding.tables if (rows := max(table.shown, most or 0))]


def _shown(table: TidyTable, most: int) -> Table:
    bounds = {name for column in table.columns for name in (column.low, column.high) if name}
    records = table.records()
    # What nothing is told of in any row is in the files alone.
    told = {name for row in records for name, value in row.items() if value is not None}
    columns = [column for column in table.columns if column.name not in bounds and (column.name in told or not records)]
    header: list[str] = []
    for column in columns:
        header += [column.label or column.name, *([INTERVAL] if column.low in told else [])]
    words = next((place for place, column in enumerate(columns) if column.holds != "text"), len(columns))
    shown = Table(table.title, header, words=max(1, words), notes=list(table.notes))
    for row in records[:most]:
        shown.add(*(text for column in columns for text in _texts(column, row, column.low in told)))
    if not table.rows:
        shown.notes.append("there are none")
    left = len(table.rows) - most
    if left > 0:
        shown.notes.append(f"{left:,} more rows: --csv and --json have all")
    return shown


def _texts(column: Column, row: Mapping[str, Value], has_interval: bool) -> list[str]:
    texts = [value_text(row[column.name], column.holds)]
    if has_interval:
        texts.append(interval_words(row[column.low], row[column.high], column.holds))
    return texts


def value_text(value: Value, holds: Holds) -> str:
    """A value as its column says it is printed; a dot where there is none."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else _TEXTS.get(holds, _number_text)(value)


def _number_text(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


_TEXTS: dict[Holds, Callable[[float], str]] = {
    "score": score_text,
    "difference": difference_text,
    "share": lambda value: score_text(value, 2),
    "correlation": lambda value: score_text(value, 2),
    "p": p_text,
    "count": lambda value: f"{value:,.0f}",
}


def interval_words(low: Value, high: Value, holds: Holds) -> str:
    """An interval as its column says it is printed; a dash where there is none."""
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return NO_INTERVAL
    if holds == "score":
        return interval_text(low, high)
    if holds == "difference":
        return difference_interval_text(low, high)
    # Signs and dashes do not go together.
    return f"{value_text(low, holds)} to {value_text(high, holds)}"


def tidy_csv(table: TidyTable) -> str:
    """All rows of a table with the numbers as they are."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([csv_text(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows)
    return stream.getvalue()
