"""Tables and charts of an analysis: formatted for readers, tidy CSV with unrounded numbers, figures as charts."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from isogloss import figures
from isogloss.analysis.finding import MEAN_OF_OTHERS, MEAN_ROW, Column, Figure, Finding, Holds, TidyTable, Value
from isogloss.escaping import csv_text
from isogloss.figures import MISSING, NO_INTERVAL, rounded, score_text
from isogloss.tables.charts import PALETTE, Axis, Chart, ColourScale, Hint, Series, bounds_of, file_name
from isogloss.tables.table import INTERVAL, Table

# Rows of a table on a page, which has more room than a terminal.
ROWS_ON_PAGE = 400
# Number of series that colours can distinguish; with more, all points have one colour and are named by their tooltips.
MOST_SERIES = 8
# Decimals of numbers by kind; others have four.
DIGITS = {"score": 1, "difference": 1, "share": 3, "correlation": 3}


def finding_tables(finding: Finding, *, most: int | None = None) -> list[Table]:
    """Return every table of a finding, with its own number of rows or at least `most`."""
    return [shown_rows(table, rows) for table in finding.tables if (rows := max(table.shown, most or 0))]


def shown_rows(table: TidyTable, most: int) -> Table:
    """Return the first rows of a table, formatted."""
    records = table.records()
    # Columns without any value appear only in files.
    filled = {name for row in records for name, value in row.items() if value is not None}
    columns = [column for column in _shown_columns(table) if column.name in filled or not records]
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
    left = len(table.rows) - most
    shown.notes += ["no rows"] * (not table.rows)
    shown.notes += [f"{left:,} more row{'s' * (left > 1)}: use --csv, --json or to_pandas for all"] * (left > 0)
    return shown


def _shown_columns(table: TidyTable) -> list[Column]:
    """Return the columns except the bounds of intervals."""
    bounds = {name for column in table.columns for name in (column.low, column.high)}
    return [column for column in table.columns if column.name not in bounds]


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


def finding_charts(finding: Finding) -> list[Chart]:
    """Return every figure of a finding that has records as a chart."""
    taken: set[str] = set()
    charts = []
    for figure in finding.figures:
        table = finding.table(figure.table)
        if records := _records(table, figure):
            charts.append(_chart(figure, table, records, file_name(f"{finding.analysis}-{figure.table}", taken)))
    return charts


def _chart(figure: Figure, table: TidyTable, records: list[dict[str, Any]], name: str) -> Chart:
    columns = {column.name: column for column in table.columns}
    options = {name: getattr(figure, name) for name in ("title", "description", "panel", "fitted", "marks")}
    if figure.looks == "heatmap":
        options |= _heat_options(columns[figure.colour], records)
    else:
        measured = columns[figure.y if figure.looks in ("lines", "scatter") else figure.x]
        drawn = figure.looks in ("lines", "bars") and measured.low
        options["interval"] = bounds_of(records, measured.low, measured.high) if drawn else None
        options |= {"series": _series(figure, records), "text": figure.label, "fit": figure.fit}
    return Chart(
        name=name,
        kind=figure.looks,
        records=records,
        x=_axis(columns[figure.x], records, log=figure.log_x, zero=figure.looks == "bars"),
        y=_axis(columns[figure.y], records),
        hints=list(_hints(table)),
        detail=figure.colour if figure.looks == "lines" else "",
        follows_filter="language" in columns,
        **options,
    )


def _records(table: TidyTable, figure: Figure) -> list[dict[str, Any]]:
    """Return the rows that can be drawn, with rounded numbers, and intervals and missing values as text."""
    digits = {column.name: DIGITS.get(column.holds, 4) for column in table.columns}
    needed = {figure.x, figure.y, figure.colour} - {""}
    records = []
    for row in table.records():
        if all(row[name] is not None for name in needed):
            record: dict[str, Any] = {
                key: rounded(value, digits[key]) if isinstance(value, float) else value for key, value in row.items()
            }
            for column in _shown_columns(table):
                if row[column.name] is None:
                    record[column.name] = MISSING
                if column.low:
                    record[f"{column.name} 95 %"] = interval_words(row[column.low], row[column.high], column.holds)
            records.append(record)
    return records


def _hints(table: TidyTable) -> Iterator[Hint]:
    """Yield every column by its label, intervals as text."""
    for column in _shown_columns(table):
        yield (column.name, column.label or column.name, "")
        if column.low:
            yield (f"{column.name} 95 %", "95 %", "")


def _axis(column: Column, records: Sequence[Mapping[str, Any]], *, log: bool = False, zero: bool = False) -> Axis:
    """Return a column along an axis: its numbers, or its words in order of appearance with means last."""
    name, holds = column.name, column.holds
    if holds == "text":
        words = dict.fromkeys(str(record[name]) for record in records)
        return Axis(field=name, order=sorted(words, key=(MEAN_ROW, MEAN_OF_OTHERS).__contains__))
    title, unit = column.label or name, {"score": "score", "difference": "points"}.get(holds, "")
    if unit and not any(word in title for word in ("score", "points", "%")):
        title = f"{title} ({unit})"
    zero, whole = zero or holds in ("difference", "count"), holds == "count"
    return Axis(field=name, title=title, scale="log" if log else "linear", zero=zero, whole=whole)


def _series(figure: Figure, records: Sequence[Mapping[str, Any]]) -> Series | None:
    """Return the series by colour, in order of appearance."""
    names = list(dict.fromkeys(str(record[figure.colour]) for record in records)) if figure.colour else []
    if not names or len(names) > MOST_SERIES:
        return None
    # A single colour needs a legend only if nothing else on the chart names it.
    named = figure.colour in (figure.x, figure.y, figure.panel)
    colours = list(PALETTE[: len(names)])
    return Series(field=figure.colour, names=names, colours=colours, legend=len(names) > 1 or not named)


def _heat_options(column: Column, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [record[column.name] for record in records] or [0]
    low, high = (min(0, *values), 100) if column.holds == "score" else (min(values), max(values))
    scale = ColourScale(low=low, high=high, field=column.name, title=column.label or column.name)
    if column.holds in ("difference", "correlation"):
        limit = max(map(abs, values)) or 1
        scale = ColourScale(low=-limit, high=limit, field=column.name, scheme="difference", title=scale.title)
    whole = column.holds in ("score", "difference", "count")
    return {"scale": scale, "text": column.name, "digits": 0 if whole else 2}
