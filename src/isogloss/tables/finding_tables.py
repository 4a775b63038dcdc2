"""Tables of an analysis: formatted for readers, or as tidy CSV with unrounded numbers."""

import csv
import io
from collections.abc import Callable

from isogloss import figures
from isogloss.analysis.finding import Finding, Holds, TidyTable, Value
from isogloss.escaping import csv_text
from isogloss.figures import MISSING, NO_INTERVAL, score_text
from isogloss.tables.table import INTERVAL, Table

# Rows of a table on a page, which has more room than a terminal.
ROWS_ON_PAGE = 400


def finding_tables(finding: Finding, *, most: int | None = None) -> list[Table]:
    """Return every table of a finding, with its own number of rows or at least `most`."""
    return [_shown(table, rows) for table in finding.tables if (rows := max(table.shown, most or 0))]


def _shown(table: TidyTable, most: int) -> Table:
    bounds = {name for column in table.columns for name in (column.low, column.high) if name}
    records = table.records()
    # Columns without any value appear only in files.
    filled = {name for row in records for name, value in row.items() if value is not None}
    columns = [
        column for column in table.columns if column.name not in bounds and (column.name in filled or not records)
    ]
    header: list[str] = []
    for column in columns:
        header += [column.label or column.name, *([INTERVAL] if column.low in filled else [])]
    words = next((index for index, column in enumerate(columns) if column.holds != "text"), len(columns))
    shown = Table(table.title, header, words=max(1, words), notes=list(table.notes))
    for row in records[:most]:
        texts: list[str] = []
        for column in columns:
            texts.append(value_text(row[column.name], column.holds))
            if column.low in filled:
                texts.append(interval_words(row[column.low], row[column.high], column.holds))
        shown.add(*texts)
    if not table.rows:
        shown.notes.append("no rows")
    left = len(table.rows) - most
    if left > 0:
        shown.notes.append(f"{left:,} more row{'s' * (left > 1)}: use --csv or --json for all")
    return shown


def value_text(value: Value, holds: Holds) -> str:
    """Return a value formatted by its column; a dot if it is missing."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else _TEXTS[holds](value)


_TEXTS: dict[Holds, Callable[[float], str]] = {
    "score": score_text,
    "difference": figures.difference_text,
    "share": lambda value: score_text(value, 2),
    "correlation": lambda value: score_text(value, 2),
    "p": figures.p_text,
    "count": lambda value: f"{value:,.0f}",
}
# Numbers of other kinds of columns.
_TEXTS["number"] = _TEXTS["text"] = lambda value: f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def interval_words(low: Value, high: Value, holds: Holds) -> str:
    """Return an interval formatted by its column; a dash if it is missing."""
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return NO_INTERVAL
    if holds == "score":
        return figures.interval_text(low, high)
    if holds == "difference":
        return figures.difference_interval_text(low, high)
    # A dash between signed numbers is hard to read.
    return f"{value_text(low, holds)} to {value_text(high, holds)}"


def tidy_csv(table: TidyTable) -> str:
    """Return all rows of a table as CSV with unrounded numbers."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([csv_text(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows)
    return stream.getvalue()
