"""Charts as Vega-Lite specifications: one serves the page, SVG and PNG alike.

Colours are viridis (scores: dark is low; errors and distances: dark is high), blue–orange for signed differences, and
Okabe and Ito's palette with distinct shapes for systems: all can be told apart by colour-blind readers, and all but the
signed ones in grey.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

from isogloss.errors import IsoglossError
from isogloss.escaping import printable_values, tooltip_title
from isogloss.figures import interval_text, rounded

Record = Mapping[str, Any]
Spec = dict[str, Any]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
INK = "#222"
# Pixels of the smallest text on a chart, and about what a digit of it takes.
TEXT, DIGIT = 12, 7
# Characters of what the library says of a chart that it cannot draw.
LONGEST_REASON = 300
CONFIG = {
    "font": "sans-serif",
    "background": "white",
    "axis": {"labelColor": INK, "titleColor": INK, "labelLimit": 220, "labelFontSize": TEXT, "titleFontSize": TEXT},
    "header": {
        "labelColor": INK,
        "labelFontSize": TEXT + 1,
        "labelFontWeight": "bold",
        "labelAnchor": "start",
        "labelLimit": 260,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelLimit": 260,
        "symbolLimit": 60,
        "labelFontSize": TEXT,
        "titleFontSize": TEXT,
    },
    "view": {"stroke": "#ccc"},
}
# A chart whose rows or columns are languages follows the page's filter through this parameter.
KEPT = {"name": "kept", "value": None}
FILTER = [{"filter": "kept === null || indexof(kept, datum.language) >= 0"}]


@dataclass(frozen=True)
class Chart:
    """A chart with the name of its files; `description` is read aloud where it cannot be seen."""

    name: str
    title: str
    description: str
    spec: Spec

    @property
    def footnotes(self) -> list[str]:
        """Lines below it that say what its marks mean; files have them in the drawing."""
        found: list[str] = self.spec.get("title", {}).get("text", [])
        return found


@dataclass(frozen=True)
class ColourScale:
    """How a heat map shows its scores.

    Attributes:
        colour: the colours, and the numbers they go from and to.
        dark: where white is the better read on them.
        text: what is printed, if not the records' `label`.
        field: what is coloured, if not the score itself.
    """

    colour: Spec
    dark: str
    text: Spec | None = None
    field: str = "score"


SCORE_SCALE = ColourScale({"scheme": "viridis", "domain": [0, 100]}, "datum.score < 42")
ERROR_SCALE = ColourScale({"scheme": "viridis", "domain": [0, 100], "reverse": True}, "datum.score > 58")


def difference_scale(limit: float) -> ColourScale:
    """Differences by how far the first system is `ahead`: blue above zero, orange below, as the two are coloured."""
    colour = {"scheme": "blueorange", "domain": [-limit, limit], "reverse": True}
    return ColourScale(colour, f"abs(datum.score) > {0.75 * limit:g}", field="ahead")


def distance_scale(limit: float) -> ColourScale:
    """Distances up to a limit: dark is far."""
    colour = {"scheme": "viridis", "domain": [0, limit], "reverse": True}
    return ColourScale(colour, f"datum.score > {0.58 * limit:g}", {"field": "score", "format": ".2~r"})


def chart_library() -> Any:
    """The library that renders charts and holds the JavaScript of the page."""
    try:
        return import_module("vl_convert")
    except ImportError:
        what = "reports need vl-convert-python, which is not installed"
        raise IsoglossError(what, fix="pip install 'isogloss[charts]'") from None


def svg(chart: Chart) -> str:
    """The chart as a drawing.

    Raises:
        IsoglossError: it cannot be drawn.
    """
    try:
        drawing: str = chart_library().vegalite_to_svg(printable_values(chart.spec))
    except ValueError as error:
        what = f"the chart cannot be drawn: {str(error)[:LONGEST_REASON]}"
        raise IsoglossError(what, where=chart.name, fix="--no-pictures leaves charts out") from None
    return drawing


def png(drawing: str) -> bytes:
    """A drawing as a picture, at twice its size for sharp print."""
    picture: bytes = chart_library().svg_to_png(drawing, scale=2)
    return picture


def filtered_chart(name: str, title: str, description: str, records: Sequence[Record], body: Spec) -> Chart:
    """A chart with its data, which follows the page's filter of languages."""
    data = {"values": list(records)}
    head = {"description": description, "config": CONFIG, "params": [KEPT], "data": data, "transform": FILTER}
    return Chart(name, title, description, {**head, **body})


def without_filter(chart: Chart) -> Chart:
    """A chart of averages, which do not change with the languages a reader picks."""
    return replace(chart, spec={key: value for key, value in chart.spec.items() if key != "transform"})


def _systems_in(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(str(record.get("system", "")) for record in records))


def system_colours(systems: Sequence[str]) -> dict[str, str]:
    """A colour for each system, by its place."""
    return dict(zip(systems, _cycled(PALETTE, len(systems)), strict=True))


def _system_colour(of: Mapping[str, str]) -> Spec:
    scale = {"domain": list(of), "range": list(of.values())}
    columns = 4 if sum(map(len, of)) < 60 else 2
    legend = {"orient": "top", "columns": columns} if len(of) > 1 else None
    return {"field": "system", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _system_shape(systems: Sequence[str]) -> Spec:
    shapes = _cycled(SHAPES, len(systems))
    return {**_system_colour(system_colours(systems)), "scale": {"domain": list(systems), "range": shapes}}


def _cycled(values: Sequence[str], count: int) -> list[str]:
    return [values[place % len(values)] for place in range(count)]


def tooltip_titles(fields: Mapping[str, str]) -> list[Spec]:
    """Fields with their titles, as they are."""
    return [{"field": field, "title": tooltip_title(title)} for field, title in fields.items()]


def tooltip(fields: Mapping[str, str]) -> list[Spec]:
    """Fields with their titles; scores get one decimal."""
    numbers = {"score", "gap", "english", "others", "first", "second", "difference"}
    return [
        {"field": field, "title": tooltip_title(title), **({"format": ".1f"} if field in numbers else {})}
        for field, title in fields.items()
    ]


def interval_fields(low: float | None, high: float | None, text: str | None = None) -> dict[str, Any]:
    """The fields of a record that has an interval, or none: its bounds for a rule, its text for a tooltip."""
    bounds = (
        {"low": None, "high": None} if low is None or high is None else {"low": rounded(low), "high": rounded(high)}
    )
    return bounds | {"interval": interval_text(low, high) if text is None else text}


def interval_rule(axis: Literal["x", "y"], quantity: Spec, width: float = 1.5, **mark: str) -> Spec:
    """A layer with a rule from `low` to `high`; a record without an interval has none."""
    return {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": width, **mark},
        "encoding": {axis: {"field": "low", **quantity}, f"{axis}2": {"field": "high"}},
    }


def _interval_layers(records: Sequence[Record], quantity: Spec, width: float, **mark: str) -> list[Spec]:
    """The rules of all intervals, if there are any: of none at all Vega makes an endless axis."""
    has_any = any(record["low"] is not None for record in records)
    return [interval_rule("x", quantity, width, **mark)] if has_any else []


def partial_stars(field: str, quantity: Spec) -> Spec:
    """A layer with a star beside every figure that is over a part of what it is named after."""
    return {
        "mark": {"type": "text", "dx": 8, "dy": -2, "fontSize": 16, "fontWeight": "bold", "color": INK},
        "encoding": {
            "x": {"field": field, **quantity},
            "text": {"condition": {"test": "datum.partial", "value": "*"}, "value": ""},
        },
    }


def with_footnotes(chart: Chart, notes: Sequence[str]) -> Chart:
    """A chart with lines below it that say what its marks mean."""
    style = {
        "orient": "bottom",
        "anchor": "start",
        "fontSize": TEXT,
        "fontWeight": "normal",
        "color": INK,
        "limit": 640,
    }
    return replace(chart, spec={**chart.spec, "title": {"text": list(notes), **style}}) if notes else chart


def heat_map(
    name: str,
    title: str,
    records: Sequence[Record],
    *,
    x: tuple[str, Sequence[str]],
    y: tuple[str, Sequence[str]],
    hints: Mapping[str, str],
    scale: ColourScale = SCORE_SCALE,
    columns: int = 2,
) -> Chart:
    """Cells coloured and printed by `score`, one panel a system; x and y are a field with the order of its values."""
    description = f"{title}: heat map of {len(records)} scores, {y[0]} by {x[0]}."
    text = {
        "mark": {"type": "text", "fontSize": TEXT},
        "encoding": {
            "text": scale.text or {"field": "label"},
            "color": {"condition": {"test": scale.dark, "value": "white"}, "value": "black"},
        },
    }
    rectangle = {
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "color": {"field": scale.field, "type": "quantitative", "title": None, "scale": scale.colour},
            "tooltip": tooltip(hints),
        },
    }
    axes = {
        "x": {
            "field": x[0],
            "type": "nominal",
            "sort": list(x[1]),
            "title": None,
            "axis": {"orient": "top", "labelAngle": -45, "labelAlign": "left"},
        },
        "y": {"field": y[0], "type": "nominal", "sort": list(y[1]), "title": None},
    }
    digits = max((len(str(record.get("label", ""))) for record in records), default=0) or 5
    step = max(24, digits * DIGIT + 5)
    panel = {"width": {"step": step}, "height": {"step": TEXT + 8}, "encoding": axes, "layer": [rectangle, text]}
    return filtered_chart(name, title, description, records, _panel_per_system(records, panel, columns))


def _panel_per_system(records: Sequence[Record], panel: Spec, columns: int) -> Spec:
    """One panel a system, in the order they were given."""
    systems = _systems_in(records)
    if len(systems) < 2:
        return panel
    facet = {"field": "system", "title": None, "sort": systems}
    # Every panel has its own axis, so that the system's name stands above it and not between axis and cells.
    return {"facet": facet, "columns": columns, "spec": panel, "resolve": {"axis": {"x": "independent"}}}


def average_dots(
    name: str, title: str, records: Sequence[Record], names: Sequence[str], *, strong: int, what: str
) -> Chart:
    """Scores as dots on their 95 % intervals: `score`, `low`, `high` of each `name` by `system`.

    The first `strong` of the names are averages of the others and stand in bold; `what` names the axis.
    """
    systems = _systems_in(records)
    description = f"{title}: scores with 95 % intervals of {', '.join(systems)}."
    # An axis counts its labels from 0 to 1.
    weight = {
        "condition": {"test": f"datum.index * {max(1, len(names) - 1)} < {strong - 0.5}", "value": "bold"},
        "value": "normal",
    }
    place = {
        "y": {
            "field": "name",
            "type": "nominal",
            "sort": list(names),
            "title": None,
            "scale": {"type": "band"},
            "axis": {"grid": True, "tickBand": "extent", "labelFontWeight": weight},
        },
        "yOffset": {"field": "system", "sort": systems},
        "color": _system_colour(system_colours(systems)),
    }
    quantity = {"type": "quantitative", "title": what, "scale": {"zero": False}}
    fields = {"name": "name", "system": "system", "score": "score", "interval": "95 %", "n": "n"}
    hints = tooltip({**fields, "coverage": "coverage"})
    dot = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {"x": {"field": "score", **quantity}, "shape": _system_shape(systems), "tooltip": hints},
    }
    height = {"step": max(TEXT + 10, 12 * len(systems)), "for": "position"}
    layers = [*_interval_layers(records, quantity, 2), dot, partial_stars("score", quantity)]
    body = {"width": 420, "height": height, "encoding": place, "layer": layers}
    return without_filter(filtered_chart(name, title, description, records, body))


def gap_bars(name: str, title: str, records: Sequence[Record], tasks: Sequence[str]) -> Chart:
    """The transfer gap of each task with its 95 % interval, a bar a system."""
    systems = _systems_in(records)
    description = f"{title}: {len(records)} gaps of {', '.join(systems)}, with 95 % intervals where there are any."
    fields = {"task": "task", "system": "system", "english": "English", "others": "others", "gap": "gap"}
    place = {
        "y": {"field": "task", "type": "nominal", "sort": list(tasks), "title": None, "scale": {"type": "band"}},
        "yOffset": {"field": "system", "sort": systems},
    }
    quantity = {"type": "quantitative", "title": "English minus the mean of the others, points", "stack": None}
    bars = {
        "mark": {"type": "bar", "opacity": 0.75},
        "encoding": {
            "x": {"field": "gap", **quantity},
            "color": _system_colour(system_colours(systems)),
            "tooltip": tooltip({**fields, "interval": "95 %", "coverage": "other languages"}),
        },
    }
    height = {"step": max(TEXT + 10, 12 * len(systems)), "for": "position"}
    layers = [bars, *_interval_layers(records, quantity, 1.5, color=INK), partial_stars("gap", quantity)]
    body = {"width": 420, "height": height, "encoding": place, "layer": layers}
    return without_filter(filtered_chart(name, title, description, records, body))


def bucket_axis(order: Sequence[str]) -> Spec:
    """Buckets side by side, in their order; long names are turned."""
    return {
        "field": "bucket",
        "type": "nominal",
        "sort": list(order) or None,
        "title": None,
        "scale": {"type": "band"},
        "axis": {"labelAngle": -40 if any(len(name) > 5 for name in order) else 0, "labelLimit": 90},
    }


def panel_per_language(panel: Spec) -> Spec:
    """One panel a language, each with its own buckets' names below it."""
    return {
        "facet": {"field": "name", "title": None, "sort": None},
        "columns": 4,
        "spec": panel,
        "resolve": {"axis": {"x": "independent"}},
    }


def bucket_bars(name: str, title: str, records: Sequence[Record], systems: Mapping[str, str]) -> Chart:
    """Scores per bucket with 95 % intervals, one panel a language, a bar a system in its colour."""
    description = f"{title}: scores with 95 % intervals in each bucket, by language."
    order = list(dict.fromkeys(record["bucket"] for record in records))
    place = {"x": bucket_axis(order), "xOffset": {"field": "system", "sort": list(systems)}}
    fields = {"bucket": "bucket", "edges": "edges", "system": "system", "score": "score"}
    value = {"type": "quantitative", "title": "score", "scale": {"domain": [0, 100]}, "stack": None}
    bars = {
        "mark": {"type": "bar", "cursor": "pointer", "opacity": 0.75},
        "encoding": {
            "y": {"field": "score", **value},
            "color": _system_colour(systems),
            "tooltip": tooltip({**fields, "interval": "95 %", "n": "n"}),
        },
    }
    intervals = interval_rule("y", value, color=INK)
    step = max(30, 16 * len(systems))
    panel = {"width": {"step": step, "for": "position"}, "height": 130, "encoding": place, "layer": [bars, intervals]}
    return filtered_chart(name, title, description, records, panel_per_language(panel))
