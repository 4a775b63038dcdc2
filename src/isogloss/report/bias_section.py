"""The report's section on what the data are like: distributions of attributes and distances between languages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import floor, log10
from typing import Any

from isogloss.explain.bias import DatasetBias, Distribution
from isogloss.explain.distances import Distances
from isogloss.report import charts
from isogloss.report.bias_tables import bias_tables, distance_table, distribution_table
from isogloss.report.charts import Chart, Spec
from isogloss.report.grouping import group_by
from isogloss.report.section import Section, file_name
from isogloss.scoring.names import language_name

# Values of a discrete attribute that are too many to have a colour of their own.
OTHERS = "all others"
COLOURS = len(charts.PALETTE)
GREY = "#999999"
AXIS = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
# Where the largest value is so many times the largest upper quartile, a scale of square roots keeps the middle legible.
LONG_TAIL = 4
ROOTS: Spec = {"title": "scale of square roots", "scale": {"type": "sqrt"}}
BIAS_INTRO = (
    "What the examples are like before any system has seen them: a line from the smallest to the largest value, a bar "
    "over the middle half, a stroke at the median, a dot at the mean; or the share of each value. Below, how far the "
    "languages are apart: dark is far."
)


def bias_section(bias: DatasetBias) -> Section:
    """The panel; what it can be summed up to, every number and every chart are files."""
    summary = {f"survey-{place}": table for place, table in enumerate(bias_tables(bias), 1)}
    tables = {"distributions": distribution_table(bias), "distances": distance_table(bias), **summary}
    return Section(
        "survey", "Data", BIAS_INTRO, tables, list(_bias_charts(bias)), panel="survey", only_files=tuple(tables)
    )


def _coloured_values(bias: DatasetBias) -> dict[tuple[str, str], list[str]]:
    """For each discrete attribute of a task the values with a colour, in the order of their mean share."""
    shares: dict[tuple[str, str], Counter[str]] = {}
    for each in bias.distributions:
        if each.discrete:
            shares.setdefault((each.task, each.attribute), Counter()).update(each.shares)
    return {
        place: [value for value, _ in counts.most_common(None if len(counts) <= COLOURS else COLOURS - 1)]
        for place, counts in shares.items()
    }


def _compact_distribution(distribution: Distribution, values: Sequence[str]) -> list[float]:
    """A distribution as short numbers: n, then mean and quartiles, or the shares of the values with a colour."""
    shares = [distribution.shares.get(value, 0) for value in values]
    numbers = shares if distribution.discrete else [distribution.mean, *distribution.quartiles]
    return [distribution.n, *(_three_digits(number) for number in numbers if number is not None)]


def _three_digits(number: float) -> float:
    return float(f"{number:.3g}")


def bias_data(bias: DatasetBias) -> dict[str, Any]:
    """What the page needs to draw any attribute of any task, and the distances of its languages."""
    values, named = _coloured_values(bias), dict[str, dict[str, list[str]]]()
    for (task, attribute), shown in values.items():
        named.setdefault(attribute, {})[task] = shown
    tasks: dict[str, dict[str, dict[str, list[float]]]] = {}
    for each in bias.distributions:
        cells = tasks.setdefault(each.task, {}).setdefault(each.attribute, {})
        cells[each.language] = _compact_distribution(each, values.get((each.task, each.attribute), ()))
    distances: dict[str, dict[str, list[Any]]] = {}
    for table in bias.distances:
        distances.setdefault(table.task, {})[table.attribute] = _compact_distances(table)
    return {
        "titles": {each.attribute: each.title for each in bias.distributions},
        "names": {code: language_name(code) for code in dict.fromkeys(each.language for each in bias.distributions)},
        "values": named,
        "others": [OTHERS, GREY],
        "palette": charts.PALETTE,
        "tasks": tasks,
        "distances": distances,
        "tail": [LONG_TAIL, ROOTS],
        "boxes": _quartile_chart("survey", "", []).spec,
        "shares": _share_chart("survey", "", [], ()).spec,
        "apart": _distance_heat_map("survey", "", [], 1.0).spec,
    }


def _compact_distances(distances: Distances) -> list[Any]:
    """Measure, languages, a unit, what stands above the diagonal in whole units, and how many pairs chance explains.

    The unit is such that the largest has three digits.
    """
    largest = max(max(row) for row in distances.table)
    unit = float(f"1e{floor(log10(largest)) - 2}") if largest > 0 else 1.0
    above = [[round(far / unit) for far in row[place + 1 :]] for place, row in enumerate(distances.table[:-1])]
    return [distances.measure, distances.languages, unit, above, _within_noise(distances)]


def _within_noise(distances: Distances) -> int:
    """How many pairs of languages are no further apart than chance makes where all are alike."""
    pairs = combinations(range(len(distances.languages)), 2)
    return sum(distances.table[a][b] <= distances.noise[a][b] for a, b in pairs) if distances.noise else 0


def _bias_charts(bias: DatasetBias) -> Iterator[Chart]:
    """For each task and attribute the distributions, and the distances where there are several languages."""
    values = _coloured_values(bias)
    taken: set[str] = set()
    by_attribute = group_by(bias.distributions, lambda each: (each.task, each.attribute))
    for (task, attribute), distributions in by_attribute.items():
        name, title = file_name(f"data-{task}-{attribute}", taken), f"{task}: {distributions[0].title}"
        if (task, attribute) in values:
            shown = values[task, attribute]
            records = [record for each in distributions for record in _share_records(each, shown)]
            yield _share_chart(name, title, records, shown)
        else:
            yield _quartile_chart(name, title, [_box_record(each) for each in distributions if each.mean is not None])
    for table in bias.distances:
        records = list(_distance_records(table))
        title = f"{table.task}: distance of languages in {table.attribute} ({table.measure})"
        limit = max(record["score"] for record in records)
        yield _distance_heat_map(file_name(f"distance-{table.task}-{table.attribute}", taken), title, records, limit)


def _record(distribution: Distribution) -> dict[str, Any]:
    language = distribution.language
    return {"task": distribution.task, "language": language, "name": language_name(language), "n": distribution.n}


def _box_record(distribution: Distribution) -> dict[str, Any]:
    keys = ("mean", "least", "lower", "median", "upper", "most")
    return {**_record(distribution), **dict(zip(keys, (distribution.mean, *distribution.quartiles), strict=True))}


def _share_records(distribution: Distribution, values: Sequence[str]) -> Iterator[dict[str, Any]]:
    shares = {value: distribution.shares.get(value, 0) for value in values}
    for value, share in {**shares, OTHERS: max(0.0, 1 - sum(shares.values()))}.items():
        if share > 0.0005:
            yield {**_record(distribution), "value": value or "(none)", "share": share}


def _distance_records(table: Distances) -> Iterator[dict[str, Any]]:
    for code, row in zip(table.languages, table.table, strict=True):
        for other, distance in zip(table.languages, row, strict=True):
            if other != code:
                place = {"language": code, "name": language_name(code), "other": language_name(other)}
                yield {**place, "score": distance}


def _panel_per_task(name: str, title: str, records: Sequence[Mapping[str, Any]], panel: Spec) -> Chart:
    """One panel a task; a language stands at the same height in all of them."""
    description = f"{title}: distribution by language."
    body = {
        "facet": {"field": "task", "title": None, "sort": None},
        "columns": 4,
        "spec": {"width": 420, "height": {"step": charts.TEXT + 6}, **panel},
        "resolve": {"axis": {"x": "independent"}},
    }
    return charts.filtered_chart(name, title, description, records, body)


_LANGUAGE = {"field": "name", "type": "nominal", "sort": "ascending", "title": None}


def _quartile_chart(name: str, title: str, records: Sequence[Mapping[str, Any]]) -> Chart:
    """Mean, median, the middle half and the whole range of an attribute in each language."""
    number: Spec = {"type": "quantitative", "title": None, "scale": {"type": "linear"}}
    if records and max(record["most"] for record in records) > LONG_TAIL * max(record["upper"] for record in records):
        number |= ROOTS
    quartiles = {"least": "minimum", "lower": "25 %", "median": "median", "upper": "75 %", "most": "maximum"}
    hints = {"name": "language", "task": "task", "n": "n", "mean": "mean", **quartiles}
    tooltip = [
        {"field": field, "title": text, **({} if field in ("name", "task", "n") else {"format": ".3~r"})}
        for field, text in hints.items()
    ]
    whole = {
        "mark": {"type": "rule", "color": "#8a94a0"},
        "encoding": {"x": {"field": "least", **number}, "x2": {"field": "most"}},
    }
    half = {
        "mark": {"type": "bar", "height": 9, "color": charts.PALETTE[5]},
        "encoding": {"x": {"field": "lower", **number}, "x2": {"field": "upper"}, "tooltip": tooltip},
    }
    marks: dict[str, Spec] = {
        "median": {"type": "tick", "thickness": 2, "size": 12, "color": charts.INK},
        "mean": {"type": "point", "filled": True, "size": 28, "opacity": 1, "color": charts.PALETTE[1]},
    }
    points = [
        {"mark": mark, "encoding": {"x": {"field": field, **number}, "tooltip": tooltip}}
        for field, mark in marks.items()
    ]
    return _panel_per_task(name, title, records, {"encoding": {"y": _LANGUAGE}, "layer": [whole, half, *points]})


def _share_chart(name: str, title: str, records: Sequence[Mapping[str, Any]], values: Sequence[str]) -> Chart:
    """The share of each value in each language."""
    order = [value or "(none)" for value in values]
    domain = [*order, OTHERS] if any(record["value"] == OTHERS for record in records) else order
    colour: Spec = {
        "field": "value",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "range": [*charts.PALETTE[: len(order)], GREY][: len(domain)]},
        "legend": {"orient": "top", "columns": 4},
    }
    tooltip = [
        *charts.tooltip({"name": "language", "task": "task", "value": "value", "n": "n"}),
        {"field": "share", "title": "share", "format": ".1%"},
    ]
    share: Spec = {"field": "share", "type": "quantitative", "title": None, "axis": AXIS, "stack": "zero"}
    panel = {
        "mark": {"type": "bar", "height": 12},
        "encoding": {
            "y": _LANGUAGE,
            "x": {**share, "scale": {"domain": [0, 1]}},
            "color": colour,
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": tooltip,
        },
    }
    placed = [
        {**record, "place": order.index(record["value"]) if record["value"] in order else len(order)}
        for record in records
    ]
    return _panel_per_task(name, title, placed, panel)


def _distance_heat_map(name: str, title: str, records: Sequence[Mapping[str, Any]], limit: float) -> Chart:
    """How far every two languages are apart."""
    names = sorted({record["name"] for record in records})
    hints = {"name": "language", "other": "other"}
    chart = charts.heat_map(
        name, title, records, x=("other", names), y=("name", names), hints=hints, scale=charts.distance_scale(limit)
    )
    exact = {"field": "score", "title": "distance", "format": ".3~r"}
    chart.spec["layer"][0]["encoding"]["tooltip"].append(exact)
    return chart
