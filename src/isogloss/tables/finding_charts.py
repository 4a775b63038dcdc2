"""The figures of an analysis as charts: scatter, strip, lines, bars and heat map, from the columns of a tidy table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isogloss.analysis.finding import MEAN_OF_OTHERS, MEAN_ROW, Column, Figure, Finding, TidyTable
from isogloss.figures import MISSING, rounded
from isogloss.tables.charts import PALETTE, Axis, Chart, ColourScale, Hint, Series, bounds_of, file_name
from isogloss.tables.finding_tables import interval_words

# Number of series that colours can distinguish; with more, all points have one colour and are named by their tooltips.
MOST_SERIES = 8
# Decimals of numbers by kind; others have four.
DIGITS = {"score": 1, "difference": 1, "share": 3, "correlation": 3}


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
        hints=list(_hints(columns)),
        detail=figure.colour if figure.looks == "lines" else "",
        follows_filter="language" in columns,
        **options,
    )


def _records(table: TidyTable, figure: Figure) -> list[dict[str, Any]]:
    """Return the rows that can be drawn, with rounded numbers, and intervals and missing values as text."""
    columns = {column.name: column for column in table.columns}
    bounds = {name for column in table.columns for name in (column.low, column.high) if name}
    needed = {figure.x, figure.y, figure.colour} - {""}
    records = []
    for row in table.records():
        if any(row[name] is None for name in needed):
            continue
        record: dict[str, Any] = {
            key: rounded(value, DIGITS.get(columns[key].holds, 4)) if isinstance(value, float) else value
            for key, value in row.items()
        }
        record |= {key: MISSING for key, value in row.items() if value is None and key not in bounds}
        for column in table.columns:
            if column.low:
                record[f"{column.name} 95 %"] = interval_words(row[column.low], row[column.high], column.holds)
        records.append(record)
    return records


def _hints(columns: Mapping[str, Column]) -> Iterator[Hint]:
    """Yield every column by its label, intervals as text."""
    bounds = {name for column in columns.values() for name in (column.low, column.high)}
    for name, column in columns.items():
        if name not in bounds:
            yield (name, column.label or name, "")
            if column.low:
                yield (f"{name} 95 %", "95 %", "")


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
    low, high = (0, 100) if column.holds == "score" else (min(values), max(values))
    scale = ColourScale(low=low, high=high, field=column.name, title=column.label or column.name)
    if column.holds in ("difference", "correlation"):
        limit = max(map(abs, values)) or 1
        scale = ColourScale(low=-limit, high=limit, field=column.name, scheme="difference", title=scale.title)
    whole = column.holds in ("score", "difference", "count")
    return {"scale": scale, "text": column.name, "digits": 0 if whole else 2}
