"""The figures of an analysis as charts: scatter, strip, lines, bars and heat map, from the columns of a tidy table."""

from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.analysis.finding import MEAN_OF_OTHERS, MEAN_ROW, Column, Figure, Finding, TidyTable, Value
from isogloss.figures import MISSING, rounded
from isogloss.report.charts import (
    DIGIT,
    INK,
    PALETTE,
    TEXT,
    Chart,
    Spec,
    filtered_chart,
    tooltip_titles,
    without_filter,
)
from isogloss.report.finding_tables import interval_words
from isogloss.report.section import file_name

# Series that colours can tell apart; beyond that all points have one colour, and their tooltips names.
MOST_SERIES = 8
# Signs of reference lines: human performance, English, the mean.
_DASHES = ([6, 3], [2, 2], [1, 0], [8, 2, 2, 2])


def finding_charts(finding: Finding) -> list[Chart]:
    """Every figure of a finding as a chart; one that has nothing to show is left out."""
    taken: set[str] = set()
    charts = []
    for figure in finding.figures:
        table = finding.table(figure.table)
        records = _records(table, figure)
        if records:
            charts.append(_chart(figure, table, records, file_name(f"{finding.analysis}-{figure.table}", taken)))
    return charts


def _chart(figure: Figure, table: TidyTable, records: list[dict[str, Any]], name: str) -> Chart:
    columns = {column.name: column for column in table.columns}
    panel = _PANELS[figure.looks](figure, columns, records)
    body: Spec = panel
    if figure.panel:
        order = list(dict.fromkeys(record[figure.panel] for record in records))
        facet = {"field": figure.panel, "title": None, "sort": order, "type": "nominal"}
        own: Spec = {"axis": {"x": "independent"}}
        if figure.looks == "heatmap":  # a panel has the rows that it has something for
            own = {"axis": {"x": "independent", "y": "independent"}, "scale": {"y": "independent"}}
            # Vega takes no height by steps where every panel has its own rows.
            rows = [len({r[figure.y] for r in records if r[figure.panel] == name}) for name in order]
            panel["height"] = panel["height"]["step"] * max(rows)
        body = {"facet": facet, "columns": 2, "spec": panel, "resolve": own}
    chart = filtered_chart(name, figure.title, figure.description, records, body)
    return chart if "language" in columns else without_filter(chart)


def _records(table: TidyTable, figure: Figure) -> list[dict[str, Any]]:
    """The rows that can be drawn, with rounded numbers, and intervals and what is missing as text."""
    columns = {column.name: column for column in table.columns}
    bounds = {name for column in table.columns for name in (column.low, column.high) if name}
    needed = {figure.x, figure.y, figure.colour} - {""}
    found = []
    for row in table.records():
        if any(row[name] is None for name in needed):
            continue
        record = {key: _plain(value, columns[key]) for key, value in row.items()}
        record |= {key: MISSING for key, value in row.items() if value is None and key not in bounds}
        for column in table.columns:
            if column.low:
                record[_interval_field(column)] = interval_words(row[column.low], row[column.high], column.holds)
        found.append(record)
    return found


def _plain(value: Value, column: Column) -> Value:
    digits = {"score": 1, "difference": 1, "share": 3, "correlation": 3}
    return rounded(value, digits.get(column.holds, 4)) if isinstance(value, float) else value


def _has_intervals(column: Column, records: Sequence[Mapping[str, Any]]) -> bool:
    return bool(column.low) and any(record[column.low] is not None for record in records)


def _interval_field(column: Column) -> str:
    return f"{column.name} 95 %"


def _tooltip(columns: Mapping[str, Column]) -> list[Spec]:
    """Every column by its label, intervals as text."""
    bounds = {name for column in columns.values() for name in (column.low, column.high)}
    fields: dict[str, str] = {}
    for name, column in columns.items():
        if name not in bounds:
            fields[name] = column.label or name
            if column.low:
                fields[_interval_field(column)] = "95 %"
    return tooltip_titles(fields)


def _axis(name: str, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]], *, log: bool = False) -> Spec:
    """A column along an axis: its numbers, or its words in the order in which they come, means last."""
    column = columns[name]
    title = _with_unit(column)
    if column.holds != "text":
        scale: Spec = {"type": "log"} if log else {"zero": column.holds in ("difference", "count")}
        ticks = {"axis": {"tickMinStep": 1}} if column.holds == "count" else {}
        return {"field": name, "type": "quantitative", "title": title, "scale": scale, **ticks}
    order = sorted(dict.fromkeys(record[name] for record in records), key=(MEAN_ROW, MEAN_OF_OTHERS).__contains__)
    axis = {"labelAngle": -40} if any(len(str(word)) > 5 for word in order) else {}
    return {"field": name, "type": "nominal", "title": None, "sort": order, "axis": axis, "scale": {"type": "band"}}


def _with_unit(column: Column) -> str:
    """What a column is called, and in what it is measured, unless the name says so."""
    title = column.label or column.name
    unit = {"score": "score", "difference": "points"}.get(column.holds, "")
    return title if not unit or any(word in title for word in ("score", "points", "%")) else f"{title} ({unit})"


def _row_axis(name: str, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    """The same down the side, where words need not be turned."""
    found = _axis(name, columns, records)
    return found | {"axis": {}} if found["type"] == "nominal" else found


def _colour(figure: Figure, records: Sequence[Mapping[str, Any]]) -> Spec:
    """Series by colour, in the order in which they come."""
    if not figure.colour:
        return {"value": PALETTE[0]}
    series = list(dict.fromkeys(record[figure.colour] for record in records))
    if len(series) > MOST_SERIES:
        return {"value": PALETTE[0]}
    scale = {"domain": series, "range": list(PALETTE[: len(series)])}
    # Of what one colour stands for nothing else on the chart may tell.
    alone = figure.colour not in (figure.x, figure.y, figure.panel)
    return {
        "field": figure.colour,
        "type": "nominal",
        "title": None,
        "scale": scale,
        # Beside lines there are pale intervals, whose paleness the legend would take.
        "legend": {"orient": "top", "columns": 4, "symbolOpacity": 1} if len(series) > 1 or alone else None,
    }


def _marks(figure: Figure, axis: str) -> list[Spec]:
    """Reference lines, each with its name in the legend of dashes."""
    if not figure.marks:
        return []
    values = [{"mark": name, "value": rounded(value)} for name, value in figure.marks]
    names = [name for name, _ in figure.marks]
    dash = {
        "field": "mark",
        "type": "nominal",
        "title": None,
        "sort": names,
        "scale": {"domain": names, "range": [_DASHES[place % len(_DASHES)] for place in range(len(names))]},
        "legend": {"orient": "top"},
    }
    place = {"field": "value", "type": "quantitative"}
    rule = {"type": "rule", "color": INK, "strokeWidth": 1.5}
    hints = tooltip_titles({"mark": "mark", "value": "value"})
    return [{"data": {"values": values}, "mark": rule, "encoding": {axis: place, "strokeDash": dash, "tooltip": hints}}]


def _scatter(figure: Figure, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    x = _axis(figure.x, columns, records, log=figure.log_x)
    y = _axis(figure.y, columns, records)
    colour = _colour(figure, records)
    points = {
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.8},
        "encoding": {"x": x, "y": y, "color": colour, **_shape(figure), "tooltip": _tooltip(columns)},
    }
    layers: list[Spec] = [points]
    if figure.fit:
        groups = [figure.colour] if "field" in colour else []
        method = {"method": "log"} if figure.log_x else {}
        fit = {"regression": figure.y, "on": figure.x, "groupby": groups, **method}
        chosen = [{"filter": f"datum[{figure.fitted!r}]"}] if figure.fitted else []
        line = {"x": x, "y": y, **({"color": colour} if groups else {})}
        layers.append({"transform": [*chosen, fit], "mark": {"type": "line", "strokeWidth": 1.5}, "encoding": line})
    if figure.label:
        text = {"field": figure.label, "type": "nominal"}
        layers.append(
            {
                "mark": {"type": "text", "dx": 6, "align": "left", "fontSize": TEXT, "color": INK},
                "encoding": {"x": x, "y": y, "text": text},
            }
        )
    return {"width": 460, "height": 340, "layer": [*layers, *_marks(figure, "y")]}


def _shape(figure: Figure) -> Spec:
    """Diamonds for the points that are not fitted."""
    other = {"test": f"!datum[{figure.fitted!r}]", "value": "diamond"}
    return {"shape": {"condition": other, "value": "circle"}} if figure.fitted else {}


def _strip(figure: Figure, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    quantity = _axis(figure.x, columns, records)
    rows = _row_axis(figure.y, columns, records)
    if _offset(figure, records):
        rows["axis"] = {"grid": True, "tickBand": "extent"}
    tick = {
        "mark": {"type": "point", "filled": True, "size": 40, "opacity": 0.65},
        "encoding": {
            "x": quantity,
            "y": rows,
            "color": _colour(figure, records),
            **_offset(figure, records),
            "tooltip": _tooltip(columns),
        },
    }
    layers: list[Spec] = [tick]
    if figure.label:
        text = {"field": figure.label, "type": "nominal"}
        mark = {"type": "text", "dy": -9, "fontSize": TEXT, "color": INK}
        layers.append({"mark": mark, "encoding": {"x": quantity, "y": rows, **_offset(figure, records), "text": text}})
    # Names stand above the dots.
    step = (TEXT + 16 if figure.label else 22) * max(
        1, len(_series(figure, records)) if _offset(figure, records) else 1
    )
    return {
        "width": 460,
        "height": {"step": min(step, 88), "for": "position"},
        "layer": [*layers, *_marks(figure, "x")],
    }


def _series(figure: Figure, records: Sequence[Mapping[str, Any]]) -> list[Any]:
    return list(dict.fromkeys(record[figure.colour] for record in records)) if figure.colour else []


def _offset(figure: Figure, records: Sequence[Mapping[str, Any]]) -> Spec:
    """Series side by side, where colours tell them apart."""
    series = _series(figure, records)
    if figure.colour in ("", figure.y) or not 1 < len(series) <= MOST_SERIES:
        return {}
    return {"yOffset": {"field": figure.colour, "sort": series}}


def _lines(figure: Figure, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    x = _axis(figure.x, columns, records, log=figure.log_x)
    colour = _colour(figure, records)
    shared = {"x": x, "color": colour}
    if figure.colour and "field" not in colour:
        shared["detail"] = {"field": figure.colour, "type": "nominal"}
    line = {
        "mark": {"type": "line", "point": {"size": 25}},
        "encoding": {**shared, "y": _axis(figure.y, columns, records), "tooltip": _tooltip(columns)},
    }
    layers: list[Spec] = [line]
    column = columns[figure.y]
    if _has_intervals(column, records):
        ends = {"y": {"field": column.low, "type": "quantitative"}, "y2": {"field": column.high}}
        layers.insert(0, {"mark": {"type": "area", "opacity": 0.15}, "encoding": {**shared, **ends}})
    return {"width": 420, "height": 240, "layer": [*layers, *_marks(figure, "y")]}


def _bars(figure: Figure, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    """Bars lie: words stand best beside each other down the side."""
    quantity = _axis(figure.x, columns, records)
    quantity["scale"] = {"zero": True}
    place = {"y": _row_axis(figure.y, columns, records), **_offset(figure, records)}
    bars = {
        "mark": {"type": "bar", "opacity": 0.75},
        "encoding": {
            "x": quantity | {"stack": None},
            **place,
            "color": _colour(figure, records),
            "tooltip": _tooltip(columns),
        },
    }
    layers: list[Spec] = [bars]
    column = columns[figure.x]
    if _has_intervals(column, records):
        ends = {"x": {"field": column.low, "type": "quantitative"}, "x2": {"field": column.high}}
        whole = [{"filter": f"isValid(datum[{column.low!r}])"}]
        rule = {"type": "rule", "strokeWidth": 1.5, "color": INK}
        layers.append({"transform": whole, "mark": rule, "encoding": {**ends, **place}})
    step = max(18, 12 * len(_series(figure, records)) if _offset(figure, records) else 18)
    return {"width": 420, "height": {"step": step, "for": "position"}, "layer": [*layers, *_marks(figure, "x")]}


def _heatmap(figure: Figure, columns: Mapping[str, Column], records: Sequence[Mapping[str, Any]]) -> Spec:
    column = columns[figure.colour]
    is_score = column.holds == "score"
    signed = column.holds in ("difference", "correlation")
    values = [record[figure.colour] for record in records] or [0]
    low, high = (0, 100) if is_score else (min(values), max(values))
    scale: Spec = {"scheme": "viridis", "domain": [low, high]}
    # White is the better read on the dark end of the colours.
    dark = f"datum[{figure.colour!r}] < {low + 0.42 * (high - low):g}"
    if signed:
        largest = max(map(abs, values)) or 1
        scale = {"scheme": "blueorange", "domain": [-largest, largest], "reverse": True}
        dark = f"abs(datum[{figure.colour!r}]) > {0.75 * largest:g}"
    place = {"x": _axis(figure.x, columns, records), "y": _row_axis(figure.y, columns, records)}
    colour = {"field": figure.colour, "type": "quantitative", "title": column.label or column.name, "scale": scale}
    rectangle = {"mark": "rect", "encoding": {"color": colour, "tooltip": _tooltip(columns)}}
    form = ".0f" if is_score or column.holds in ("difference", "count") else ".2f"
    text = {
        "mark": {"type": "text", "fontSize": TEXT},
        "encoding": {
            "text": {"field": figure.colour, "type": "quantitative", "format": form},
            "color": {"condition": {"test": dark, "value": "white"}, "value": "black"},
        },
    }
    step = (4 if form == ".0f" else 5) * DIGIT + 5
    return {"width": {"step": step}, "height": {"step": TEXT + 8}, "encoding": place, "layer": [rectangle, text]}


_PANELS = {"scatter": _scatter, "strip": _strip, "lines": _lines, "bars": _bars, "heatmap": _heatmap}
