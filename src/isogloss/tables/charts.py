"""Charts independent of a drawing library: the page draws them as SVG, `vega.py` as pictures.

Colours are viridis (scores: dark is low; errors and distances: dark is high), blue and orange for signed differences,
and Okabe and Ito's palette with distinct shapes for systems. Colour-blind readers can distinguish all of them, and
greyscale print all except the signed ones.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import structs

from isogloss.figures import interval_text, rounded

Record = Mapping[str, Any]
Kind = Literal["heatmap", "dots", "strip", "bars", "columns", "points", "scatter", "lines", "boxes", "shares"]
# Field, title and format of a line in a tooltip: one decimal, three significant digits, a percentage or unchanged.
Hint = tuple[str, str, Literal["tenths", "digits", "percent", ""]]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
# Verdicts on two systems: the better one, or neither.
UNDECIDED = "not significant"
GREY = "#767676"
VERDICT_SHAPES = ["triangle-up", "triangle-down", "circle"]
TENTHS = frozenset({"score", "gap", "english", "others", "first", "second", "difference"})


class Axis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field along an axis.

    Attributes:
        order: its words in their order; None for numbers.
        zero: True to include zero in the scale.
        whole: True to place ticks at whole numbers only.
    """

    field: str
    title: str = ""
    order: list[str] | None = None
    scale: Literal["linear", "log", "sqrt"] = "linear"
    zero: bool = False
    whole: bool = False


class Series(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field with one colour per name, and one shape if `shapes` is set."""

    field: str
    names: list[str]
    colours: list[str]
    shapes: list[str] = []
    legend: bool = True


class ColourScale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Colours of a heat map: its scheme and the range of values; `reverse` makes high values dark."""

    low: float
    high: float
    field: str = "score"
    scheme: Literal["viridis", "difference"] = "viridis"
    reverse: bool = False
    title: str = ""


class Chart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chart, described once for the page and for files.

    Attributes:
        name: file name without a suffix.
        description: text for screen readers.
        hints: lines of the tooltip.
        text: field printed in the cells of a heat map, or next to points.
        digits: decimals of `text`, if it holds numbers.
        detail: field with one line per value.
        panel: field that splits the chart into small multiples.
        interval: fields of the lower and the upper bound, if any record has an interval.
        strong: number of row names set in bold, counted from the top.
        marks: name and value of reference lines.
        fit: True to draw a least-squares line.
        fitted: field that is true for fitted points; other points are diamonds.
        hollow: field that is true for points drawn as outlines, such as scores on pseudo test sets.
        footnotes: lines below the chart that explain its marks.
        follows_filter: True to hide records of languages that the page's filter excludes.
    """

    name: str
    kind: Kind
    title: str
    description: str
    records: list[dict[str, Any]]
    x: Axis
    y: Axis
    hints: list[Hint] = []
    series: Series | None = None
    scale: ColourScale | None = None
    text: str = ""
    digits: int | None = None
    panel: str = ""
    detail: str = ""
    interval: tuple[str, str] | None = None
    strong: int = 0
    marks: list[tuple[str, float]] = []
    fit: bool = False
    fitted: str = ""
    hollow: str = ""
    footnotes: list[str] = []
    follows_filter: bool = True


SCORE_SCALE = ColourScale(low=0, high=100)
ERROR_SCALE = ColourScale(low=0, high=100, reverse=True)


def difference_scale(limit: float) -> ColourScale:
    """Return the scale of differences by how far the first system is `ahead`: blue above zero, orange below."""
    return ColourScale(low=-limit, high=limit, field="ahead", scheme="difference")


def tenths(fields: Mapping[str, str]) -> list[Hint]:
    """Return tooltip lines from fields and titles; scores get one decimal."""
    return [(field, title, "tenths" if field in TENTHS else "") for field, title in fields.items()]


def with_footnotes(chart: Chart, notes: Sequence[str]) -> Chart:
    """Return the chart with lines below it that explain its marks."""
    return structs.replace(chart, footnotes=list(notes))


def without_filter(chart: Chart) -> Chart:
    """Return a chart of averages, which do not depend on the page's language filter."""
    return structs.replace(chart, follows_filter=False)


def system_colours(systems: Iterable[str]) -> dict[str, str]:
    """Return a colour for each system, by its position."""
    return {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(systems)}


def system_series(colours: Mapping[str, str], *, shapes: bool = False) -> Series:
    """Return systems as a series; a single one needs no legend."""
    drawn = [SHAPES[index % len(SHAPES)] for index in range(len(colours))] if shapes else []
    names, values = list(colours), list(colours.values())
    return Series(field="system", names=names, colours=values, shapes=drawn, legend=len(colours) > 1)


def interval_fields(low: float | None, high: float | None, text: str | None = None) -> dict[str, Any]:
    """Return the fields of a record's interval: its bounds for a rule, its text for a tooltip."""
    bounds: dict[str, float | None] = {"low": None, "high": None}
    if low is not None and high is not None:
        bounds = {"low": rounded(low), "high": rounded(high)}
    return {**bounds, "interval": interval_text(low, high) if text is None else text}


def bounds_of(records: Sequence[Record], low: str = "low", high: str = "high") -> tuple[str, str] | None:
    """Return the fields of the intervals, or None if no record has one."""
    return (low, high) if any(record.get(low) is not None for record in records) else None


def _chart(name: str, kind: Kind, title: str, records: Sequence[Record], **options: Any) -> Chart:
    """Return a chart of copied records with their intervals."""
    own = [dict(record) for record in records]
    interval = None if kind == "heatmap" else bounds_of(records)
    return Chart(name=name, kind=kind, title=title, records=own, interval=interval, **options)


def heat_map(
    name: str,
    title: str,
    records: Sequence[Record],
    *,
    x: tuple[str, Sequence[str]],
    y: tuple[str, Sequence[str]],
    hints: Sequence[Hint],
    scale: ColourScale = SCORE_SCALE,
    **options: Any,
) -> Chart:
    """Return cells coloured by score, one panel per system; x and y are a field with the order of its values."""
    several = len({record.get("system", "") for record in records}) > 1
    about = f"{title}: heat map of {len(records)} scores, {y[0]} by {x[0]}."
    axes = {"x": Axis(field=x[0], order=list(x[1])), "y": Axis(field=y[0], order=list(y[1]))}
    options = {"description": about, "text": "label", "panel": "system" if several else "", **options}
    return _chart(name, "heatmap", title, records, hints=list(hints), scale=scale, **axes, **options)


def average_dots(
    name: str, title: str, records: Sequence[Record], names: Sequence[str], *, strong: int, what: str
) -> Chart:
    """Return scores as dots on their 95 % intervals: `score`, `low` and `high` of each `name` by `system`.

    The first `strong` names are averages of the others and set in bold; `what` names the axis.
    """
    systems = list(dict.fromkeys(str(record["system"]) for record in records))
    fields = {"name": "name", "system": "system", "score": "score", "interval": "95 %", "n": "n"}
    options = {
        "description": f"{title}: scores with 95 % intervals of {', '.join(systems)}.",
        "x": Axis(field="score", title=what),
        "y": Axis(field="name", order=list(names)),
        "hints": tenths({**fields, "coverage": "coverage"}),
        "series": system_series(system_colours(systems), shapes=True),
    }
    return _chart(name, "dots", title, records, **options, strong=strong, follows_filter=False)


def difference_dots(
    name: str, title: str, records: Sequence[Record], systems: tuple[str, str], *, strong: int = 0
) -> Chart:
    """Return differences as dots on their 95 % intervals, coloured by the significantly better of two systems.

    Records have `name`, `first`, `second`, `difference`, `low`, `high`, `interval`, `p` and `better`: a system or "".
    """
    first, second = systems
    fields = {"name": "name", "first": first, "second": second, "difference": "difference", "p": "p"}
    verdicts = {f"{first} is better": PALETTE[0], f"{second} is better": PALETTE[1], UNDECIDED: GREY}
    own = [{**each, "verdict": f"{each['better']} is better" if each["better"] else UNDECIDED} for each in records]
    options = {
        "description": f"{title}: differences with paired 95 % intervals.",
        "x": Axis(field="difference", title="first − second, points", zero=True),
        "y": Axis(field="name", order=[str(each["name"]) for each in records]),
        "hints": tenths(fields | {"interval": "95 %"}),
        "series": Series(field="verdict", names=list(verdicts), colours=list(verdicts.values()), shapes=VERDICT_SHAPES),
    }
    return _chart(
        name, "dots", title, own, **options, strong=strong, marks=[("no difference", 0.0)], follows_filter=False
    )


def language_strip(name: str, title: str, records: Sequence[Record], tasks: Sequence[str]) -> Chart:
    """Return the score of every language as a point, one row per task; records with `pseudo` set are hollow."""
    systems = list(dict.fromkeys(str(record["system"]) for record in records))
    fields = {"name": "language", "task": "task", "system": "system", "score": "score", "test_set": "test set"}
    options = {
        "description": f"{title}: {len(records)} scores of {', '.join(systems)}; hollow points are pseudo test sets.",
        "x": Axis(field="score", title="score, 0–100"),
        "y": Axis(field="task", order=list(tasks)),
        "hints": tenths(fields),
        "series": system_series(system_colours(systems), shapes=True),
    }
    return _chart(name, "strip", title, records, **options, hollow="pseudo")


def gap_bars(name: str, title: str, records: Sequence[Record], tasks: Sequence[str]) -> Chart:
    """Return the transfer gap of each task with its 95 % interval, one bar per system."""
    systems = list(dict.fromkeys(str(record["system"]) for record in records))
    fields = {"task": "task", "system": "system", "english": "English", "others": "others", "gap": "gap"}
    options = {
        "description": f"{title}: {len(records)} gaps of {', '.join(systems)}, with 95 % intervals where known.",
        "x": Axis(field="gap", title="English minus the mean of the others, points", zero=True),
        "y": Axis(field="task", order=[task for task in tasks if any(record["task"] == task for record in records)]),
    }
    hints = tenths({**fields, "interval": "95 %", "coverage": "other languages"})
    series = system_series(system_colours(systems))
    return _chart(name, "bars", title, records, **options, hints=hints, series=series, follows_filter=False)


def bucket_columns(
    name: str, title: str, records: Sequence[Record], *, kind: Literal["columns", "points"], **options: Any
) -> Chart:
    """Return values per bucket with 95 % intervals, one panel per language."""
    x = Axis(field="bucket", order=list(dict.fromkeys(record["bucket"] for record in records)))
    return _chart(name, kind, title, records, x=x, panel="name", **options)


def bucket_bars(name: str, title: str, records: Sequence[Record], systems: Mapping[str, str]) -> Chart:
    """Return scores per bucket with 95 % intervals, one panel per language, one bar per system in its colour."""
    fields = {"bucket": "bucket", "edges": "edges", "system": "system", "score": "score"}
    options = {
        "description": f"{title}: scores with 95 % intervals in each bucket, by language.",
        "y": Axis(field="score", title="score", zero=True),
        "hints": tenths({**fields, "interval": "95 %", "n": "n"}),
    }
    return bucket_columns(name, title, records, kind="columns", series=system_series(systems), **options)


# Bytes of a file name; leaves room for a suffix and a number within the limit of file systems.
LONGEST_NAME = 180


def file_name(text: str, taken: set[str] | None = None) -> str:
    """Return a file name for any text that differs from those in `taken`, and add it to them."""
    plain = re.sub(r"[^\w.]+", "-", text).encode()[:LONGEST_NAME].decode(errors="ignore")
    name = plain.strip("-.") or "x"
    if taken is not None:
        while name.casefold() in taken:
            name += "-2"
        taken.add(name.casefold())
    return name
