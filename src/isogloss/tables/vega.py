"""Pictures of charts: a `Chart` as a Vega-Lite specification, rendered to SVG and PNG by vl-convert."""

from importlib import import_module
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.escaping import printable_values, tooltip_title
from isogloss.figures import rounded
from isogloss.tables.charts import SCORE_SCALE, Axis, Chart

Spec = dict[str, Any]

INK = "#222"
# Pixels of the smallest text on a chart, and roughly the width of a digit.
TEXT, DIGIT = 12, 7
# Limit on the characters quoted from an error of the drawing library.
LONGEST_REASON = 300
_LABELS: Spec = {"labelColor": INK, "labelLimit": 260}
CONFIG: Spec = {
    "font": "sans-serif",
    "background": "white",
    "axis": {"labelColor": INK, "titleColor": INK, "labelLimit": 220, "labelFontSize": TEXT, "titleFontSize": TEXT},
    "header": {"labelFontSize": TEXT + 1, "labelFontWeight": "bold", "labelAnchor": "start", **_LABELS},
    "legend": {"titleColor": INK, "symbolLimit": 60, "labelFontSize": TEXT, "titleFontSize": TEXT, **_LABELS},
    "view": {"stroke": "#ccc"},
}
FOOTNOTE = {"orient": "bottom", "anchor": "start", "limit": 640, "fontWeight": "normal", "fontSize": TEXT, "color": INK}
BAR: Spec = {"type": "bar", "opacity": 0.75}
POINT: Spec = {"type": "point", "filled": True}
FORMATS = {"tenths": ".1f", "digits": ".3~r", "percent": ".1%"}
# Dash patterns of reference lines: human performance, English, the mean.
DASHES = ([6, 3], [2, 2], [1, 0], [8, 2, 2, 2])


def chart_library() -> Any:
    """Return the library that renders charts."""
    try:
        return import_module("vl_convert")
    except ImportError:
        from isogloss.installation import install_command

        what = "pictures need vl-convert-python, which is not installed"
        raise IsoglossError(what, fix=f"Run {install_command('charts')}, or pass --no-pictures") from None


def svg(chart: Chart) -> str:
    """Return the chart as an SVG drawing.

    Raises:
        IsoglossError: the chart cannot be drawn.
    """
    try:
        drawing: str = chart_library().vegalite_to_svg(printable_values(vega_spec(chart)))
    except ValueError as error:
        what = f"cannot draw the chart: {str(error)[:LONGEST_REASON]}"
        raise IsoglossError(what, where=chart.name, fix="Pass --no-pictures to skip charts") from None
    return drawing


def png(drawing: str) -> bytes:
    """Return an SVG drawing as a PNG at twice its size for sharp print."""
    picture: bytes = chart_library().svg_to_png(drawing, scale=2)
    return picture


def vega_spec(chart: Chart) -> Spec:
    """Return the chart as a Vega-Lite specification."""
    panel = _PANELS[chart.kind](chart)
    body: Spec = panel
    if chart.panel:
        order = list(dict.fromkeys(record[chart.panel] for record in chart.records))
        facet = _nominal(chart.panel, sort=order)
        resolve: Spec = {"axis": {"x": "independent"}}
        if chart.kind == "heatmap" and chart.panel != "system":  # each panel has only its own rows
            resolve = {"axis": {"x": "independent", "y": "independent"}, "scale": {"y": "independent"}}
            # Vega-Lite rejects a step height if every panel has its own rows.
            rows = [len({r[chart.y.field] for r in chart.records if r[chart.panel] == name}) for name in order]
            panel["height"] = panel["height"]["step"] * max(rows)
        columns = 2 if chart.kind in ("scatter", "strip", "lines", "bars", "dots") else 4
        if chart.kind == "heatmap":
            columns = 2 if len(chart.x.order or ()) <= 12 else 1
        body = {"facet": facet, "columns": columns, "spec": panel, "resolve": resolve}
    head: Spec = {"description": chart.description, "config": CONFIG, "data": {"values": chart.records}}
    notes = {"title": {"text": list(chart.footnotes), **FOOTNOTE}} if chart.footnotes else {}
    return {**head, **notes, **body}


def _nominal(field: str, **look: Any) -> Spec:
    return {"field": field, "type": "nominal", "title": None, **look}


def _tooltip(chart: Chart) -> list[Spec]:
    return [
        {"field": field, "title": tooltip_title(title), **({"format": FORMATS[form]} if form else {})}
        for field, title, form in chart.hints
    ]


def _quantity(axis: Axis) -> Spec:
    scale: Spec = {"zero": axis.zero} if axis.scale == "linear" else {"type": axis.scale}
    ticks = {"axis": {"tickMinStep": 1}} if axis.whole else {}
    return {"field": axis.field, "type": "quantitative", "title": axis.title or None, "scale": scale, **ticks}


def _words(axis: Axis, **look: Any) -> Spec:
    return _nominal(axis.field, sort=axis.order or None, scale={"type": "band"}, axis=look)


def _turned(axis: Axis) -> Spec:
    """Return an axis of words below a chart; long words are rotated."""
    long = any(len(str(word)) > 5 for word in axis.order or ())
    return _words(axis, labelAngle=-40 if long else 0, labelLimit=90)


def _colour(chart: Chart) -> Spec:
    series = chart.series
    if series is None:
        return {"value": "#0072B2"}
    columns = 4 if sum(map(len, series.names)) < 60 else 2
    # Lines come with pale intervals, and the legend would copy their opacity.
    legend = {"orient": "top", "columns": columns, "symbolOpacity": 1} if series.legend else None
    return _nominal(series.field, scale={"domain": series.names, "range": series.colours}, legend=legend)


def _shape(chart: Chart) -> Spec:
    """Return a shape per series, or diamonds for points that are not fitted."""
    if chart.fitted:
        other = {"test": f"!datum[{chart.fitted!r}]", "value": "diamond"}
        return {"shape": {"condition": other, "value": "circle"}}
    if chart.series is None or not chart.series.shapes:
        return {}
    return {"shape": {**_colour(chart), "scale": {"domain": chart.series.names, "range": chart.series.shapes}}}


def _offset(chart: Chart, channel: str = "yOffset") -> Spec:
    """Return the series side by side within a row or a column, if any has several."""
    series, field = chart.series, (chart.y if channel == "yOffset" else chart.x).field
    if series is None or series.field == chart.y.field or len(series.names) < 2:
        return {}
    places = {(record.get(chart.panel), record.get(field)) for record in chart.records}
    if len(places) == len(chart.records):
        return {}
    return {channel: {"field": series.field, "sort": series.names}}


def _rule(chart: Chart, axis: str, **mark: Any) -> list[Spec]:
    """Return a layer with a rule from the lower to the upper bound of each interval."""
    if chart.interval is None:
        return []
    low, high = chart.interval
    encoding = {axis: {"field": low, "type": "quantitative"}, f"{axis}2": {"field": high}}
    whole = [{"filter": f"isValid(datum[{low!r}])"}]
    return [{"transform": whole, "mark": {"type": "rule", "strokeWidth": 1.5, **mark}, "encoding": encoding}]


def _marks(chart: Chart, axis: str) -> list[Spec]:
    """Return reference lines, each with its name in the legend of dashes."""
    if not chart.marks:
        return []
    names = [name for name, _ in chart.marks]
    values = [{"mark": name, "value": rounded(value)} for name, value in chart.marks]
    dashes = [DASHES[index % len(DASHES)] for index in range(len(names))]
    dash = _nominal("mark", sort=names, scale={"domain": names, "range": dashes}, legend={"orient": "top"})
    encoding = {axis: {"field": "value", "type": "quantitative"}, "strokeDash": dash}
    return [{"data": {"values": values}, "mark": {"type": "rule", "color": INK}, "encoding": encoding}]


def _labels(chart: Chart, **mark: Any) -> list[Spec]:
    if not chart.text:
        return []
    text = {"field": chart.text, "type": "nominal"}
    return [{"mark": {"type": "text", "fontSize": TEXT, "color": INK, **mark}, "encoding": {"text": text}}]


def _rows(chart: Chart) -> Spec:
    """Return dots, bars or a strip of points, one row per word."""
    quantity = _quantity(chart.x)
    offset = _offset(chart)
    names = chart.y.order or []
    # An axis counts its labels from 0 to 1.
    bold = {"test": f"datum.index * {max(1, len(names) - 1)} < {chart.strong - 0.5}", "value": "bold"}
    weight = {"labelFontWeight": {"condition": bold, "value": "normal"}} if chart.strong else {}
    lines = {"grid": True, "tickBand": "extent"} if chart.kind != "bars" and (offset or chart.kind == "dots") else {}
    place = {"y": _words(chart.y, **lines, **weight), **offset}
    hints = {"tooltip": _tooltip(chart)}
    if chart.kind == "bars":
        bars = {"x": quantity | {"stack": None}, "color": _colour(chart), **hints}
        layers = [{"mark": BAR, "encoding": bars}, *_rule(chart, "x", color=INK)]
    else:
        point = {**POINT, "size": 50, "opacity": 1 if chart.kind == "dots" else 0.65}
        hollow: Spec = {}
        if chart.hollow:  # an outline in the colour of the series
            point |= {"strokeWidth": 1.5}
            hollow = {"fillOpacity": {"condition": {"test": f"datum.{chart.hollow}", "value": 0}, "value": 0.65}}
            hollow["stroke"] = _colour(chart) | {"legend": None}
        dots = {"mark": point, "encoding": {"x": quantity, **_shape(chart), **hints, **hollow}}
        place["color"] = _colour(chart)
        layers = [*_rule(chart, "x", strokeWidth=2), dots]
        for layer in _labels(chart, dy=-9):
            layers.append({**layer, "encoding": {**layer["encoding"], "x": quantity, "color": {"value": INK}}})
    each = TEXT + 16 if chart.text else 12
    step = min(88, max(22, each * (len(chart.series.names) if chart.series and offset else 1)))
    if any(record.get("partial") for record in chart.records):
        star = {"condition": {"test": "datum.partial", "value": "*"}, "value": ""}
        mark = {"type": "text", "dx": 8, "dy": -2, "fontSize": 16, "fontWeight": "bold", "color": INK}
        layers.append({"mark": mark, "encoding": {"x": quantity, "text": star}})
    layers += _marks(chart, "x")
    placed = [layer if "data" in layer else {**layer, "encoding": {**place, **layer["encoding"]}} for layer in layers]
    return {"width": 440, "height": {"step": step, "for": "position"}, "layer": placed}


def _bucket_columns(chart: Chart) -> Spec:
    """Return bars side by side in each bucket."""
    is_negative = any((record.get(chart.y.field) or 0) < 0 for record in chart.records)  # as correlations may be
    value = {**_quantity(chart.y), "scale": {"domain": [-100 if is_negative else 0, 100]}, "stack": None}
    bars = {"mark": BAR, "encoding": {"y": value, "color": _colour(chart), "tooltip": _tooltip(chart)}}
    place = {"x": _turned(chart.x), **_offset(chart, "xOffset")}
    step = max(30, 16 * len(chart.series.names if chart.series else ()))
    layers = [bars, *_rule(chart, "y", color=INK)]
    return {"width": {"step": step, "for": "position"}, "height": 130, "encoding": place, "layer": layers}


def _bucket_points(chart: Chart) -> Spec:
    """Return differences on their intervals, around a line at zero."""
    place = {"x": _turned(chart.x), "color": _colour(chart)}
    values = {"y": _quantity(chart.y), **_shape(chart), "tooltip": _tooltip(chart)}
    dots = {"mark": {**POINT, "size": 70, "opacity": 1}, "encoding": values}
    layers = [{**part, "encoding": {**part["encoding"], **place}} for part in (*_rule(chart, "y"), dots)]
    zero = {
        "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3], "aria": False},
        "encoding": {"y": {"datum": 0}},
    }
    return {"width": {"step": 34}, "height": 130, "layer": [zero, *layers]}


def _plane_axis(axis: Axis) -> Spec:
    return _quantity(axis) if axis.order is None else _turned(axis)


def _scatter(chart: Chart) -> Spec:
    place = {"x": _plane_axis(chart.x), "y": _plane_axis(chart.y)}
    colour = _colour(chart)
    encoding = {**place, "color": colour, **_shape(chart), "tooltip": _tooltip(chart)}
    layers: list[Spec] = [{"mark": {**POINT, "size": 45, "opacity": 0.8}, "encoding": encoding}]
    if chart.fit:
        groups = [chart.series.field] if chart.series else []
        method = {"method": "log"} if chart.x.scale == "log" else {}
        fit = {"regression": chart.y.field, "on": chart.x.field, "groupby": groups, **method}
        chosen = [{"filter": f"datum[{chart.fitted!r}]"}] if chart.fitted else []
        line = {**place, **({"color": colour} if groups else {})}
        layers.append({"transform": [*chosen, fit], "mark": {"type": "line", "strokeWidth": 1.5}, "encoding": line})
    for layer in _labels(chart, dx=6, align="left"):
        layers.append({**layer, "encoding": {**place, **layer["encoding"]}})
    return {"width": 460, "height": 340, "layer": [*layers, *_marks(chart, "y")]}


def _lines(chart: Chart) -> Spec:
    shared: Spec = {"x": _plane_axis(chart.x), "color": _colour(chart)}
    if chart.detail and chart.series is None:
        shared["detail"] = {"field": chart.detail, "type": "nominal"}
    encoding = {**shared, "y": _quantity(chart.y), "tooltip": _tooltip(chart)}
    layers: list[Spec] = [{"mark": {"type": "line", "point": {"size": 25}}, "encoding": encoding}]
    if chart.interval:
        low, high = chart.interval
        ends = {"y": {"field": low, "type": "quantitative"}, "y2": {"field": high}}
        layers.insert(0, {"mark": {"type": "area", "opacity": 0.15}, "encoding": {**shared, **ends}})
    return {"width": 420, "height": 240, "layer": [*layers, *_marks(chart, "y")]}


def _heatmap(chart: Chart) -> Spec:
    scale = chart.scale or SCORE_SCALE
    value, spread = f"datum[{scale.field!r}]", scale.high - scale.low
    # White text is easier to read on the dark end of the colours.
    dark, scheme, reverse = f"{value} < {scale.low + 0.42 * spread:g}", "viridis", scale.reverse
    if scale.reverse:
        dark = f"{value} > {scale.low + 0.58 * spread:g}"
    if scale.scheme == "difference":
        dark, scheme, reverse = f"abs({value}) > {0.75 * scale.high:g}", "blueorange", True
    colours = {"scheme": scheme, "domain": [scale.low, scale.high], "reverse": reverse}
    field = {"field": scale.field, "type": "quantitative", "title": scale.title or None, "scale": colours}
    printed: Spec = {"field": chart.text}
    if chart.digits is not None:
        printed = {"field": chart.text, "type": "quantitative", "format": f".{chart.digits}f"}
    words = [str(record.get(chart.text, "")) for record in chart.records]
    digits = (4 if chart.digits == 0 else 5) if chart.digits is not None else max(map(len, words), default=5)
    ink = {"condition": {"test": dark, "value": "white"}, "value": "black"}
    text = {"mark": {"type": "text", "fontSize": TEXT}, "encoding": {"text": printed, "color": ink}}
    rectangle = {"mark": "rect", "encoding": {"color": field, "tooltip": _tooltip(chart)}}
    place = {"x": _words(chart.x, orient="top", labelAngle=-45, labelAlign="left"), "y": _words(chart.y)}
    size = {"width": {"step": max(24, digits * DIGIT + 5)}, "height": {"step": TEXT + 8}}
    return {**size, "encoding": place, "layer": [rectangle, text]}


def _boxes(chart: Chart) -> Spec:
    """Return the mean, the median, the middle half and the whole range in each row."""
    number = {key: value for key, value in _quantity(chart.x).items() if key != "field"}
    hints = _tooltip(chart)
    span = {"x": {"field": "least", **number}, "x2": {"field": "most"}}
    half = {"x": {"field": "lower", **number}, "x2": {"field": "upper"}, "tooltip": hints}
    ticks: dict[str, Spec] = {name: {"x": {"field": name, **number}, "tooltip": hints} for name in ("median", "mean")}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "color": "#8a94a0"}, "encoding": span},
        {"mark": {"type": "bar", "height": 9, "color": "#56B4E9"}, "encoding": half},
        {"mark": {"type": "tick", "thickness": 2, "size": 12, "color": INK}, "encoding": ticks["median"]},
        {"mark": {**POINT, "size": 28, "opacity": 1, "color": "#D55E00"}, "encoding": ticks["mean"]},
    ]
    return {"width": 420, "height": {"step": TEXT + 6}, "encoding": {"y": _words(chart.y)}, "layer": layers}


def _shares(chart: Chart) -> Spec:
    axis = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    share = {**_quantity(chart.x), "scale": {"domain": [0, 1]}, "axis": axis, "stack": "zero"}
    order = {"field": "position", "type": "quantitative"}
    place = {"y": _words(chart.y), "x": share, "color": _colour(chart), "order": order, "tooltip": _tooltip(chart)}
    return {"width": 420, "height": {"step": TEXT + 6}, "mark": {"type": "bar", "height": 12}, "encoding": place}


_PANELS = {
    **dict.fromkeys(("dots", "strip", "bars"), _rows),
    "heatmap": _heatmap,
    "columns": _bucket_columns,
    "points": _bucket_points,
    "scatter": _scatter,
    "lines": _lines,
    "boxes": _boxes,
    "shares": _shares,
}
