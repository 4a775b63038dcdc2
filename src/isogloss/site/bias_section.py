"""The report's section on dataset bias: distributions of attributes and distances between languages."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import floor, log10
from typing import Any

from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.grouping import group_by
from isogloss.scoring.names import language_name
from isogloss.site.page_parts import Section
from isogloss.tables import charts
from isogloss.tables.charts import Axis, Chart, ColourScale, Hint, Series, file_name
from isogloss.tables.explain_tables import bias_tables, distance_table, distribution_table

# Name of all values without their own colour.
OTHERS = "all others"
COLOURS = len(charts.PALETTE)
GREY = "#999999"
# Ratio of the largest value to the largest upper quartile from which a square-root scale keeps the middle legible.
LONG_TAIL = 4
BIAS_INTRO = (
    "Properties of the examples, independent of any system: a line over the whole range, a bar over the middle half, a "
    "stroke at the median, a dot at the mean; or the share of each value. Below, distances between languages: darker "
    "means farther."
)


def bias_section(bias: DatasetBias) -> Section:
    """Return the panel; summaries, all numbers and all charts are files."""
    summary = {f"bias-{number}": table for number, table in enumerate(bias_tables(bias), 1)}
    tables = {"distributions": distribution_table(bias), "distances": distance_table(bias), **summary}
    return Section(
        id="bias",
        title="Dataset bias",
        intro=BIAS_INTRO,
        tables=tables,
        charts=list(_bias_charts(bias)),
        panel="bias",
        only_files=tuple(tables),
    )


def _coloured_values(bias: DatasetBias) -> dict[tuple[str, str], list[str]]:
    """Return the coloured values of each discrete attribute of a task, by their mean share."""
    shares: dict[tuple[str, str], Counter[str]] = {}
    for each in bias.distributions:
        if each.discrete:
            shares.setdefault((each.task, each.attribute), Counter()).update(each.shares)
    return {
        key: [value for value, _ in counts.most_common(None if len(counts) <= COLOURS else COLOURS - 1)]
        for key, counts in shares.items()
    }


def bias_data(bias: DatasetBias) -> dict[str, Any]:
    """Return the page's data of every attribute of every task, and the distances between languages."""
    values, named = _coloured_values(bias), dict[str, dict[str, list[str]]]()
    for (task, attribute), shown in values.items():
        named.setdefault(attribute, {})[task] = shown
    tasks: dict[str, dict[str, dict[str, list[float]]]] = {}
    for each in bias.distributions:
        # Short numbers: n, then mean and quartiles, or the shares of coloured values.
        shares = [each.shares.get(value, 0) for value in values.get((each.task, each.attribute), ())]
        numbers = shares if each.discrete else [each.mean, *each.quartiles]
        cells = tasks.setdefault(each.task, {}).setdefault(each.attribute, {})
        cells[each.language] = [each.n, *(float(f"{number:.3g}") for number in numbers if number is not None)]
    distances: dict[str, dict[str, list[Any]]] = {}
    for table in bias.distances:
        distances.setdefault(table.task, {})[table.attribute] = _compact_distances(table)
    return {
        "titles": {each.attribute: each.title for each in bias.distributions},
        "names": {code: language_name(code) for code in dict.fromkeys(each.language for each in bias.distributions)},
        "values": named,
        "others": OTHERS,
        "tasks": tasks,
        "distances": distances,
    }


def _compact_distances(distances: Distances) -> list[Any]:
    """Return measure, languages, unit (the largest has three digits), units above the diagonal, pairs within chance."""
    largest = max(max(row) for row in distances.table)
    unit = float(f"1e{floor(log10(largest)) - 2}") if largest > 0 else 1.0
    above = [[round(far / unit) for far in row[index + 1 :]] for index, row in enumerate(distances.table[:-1])]
    pairs = combinations(range(len(distances.languages)), 2)
    near = sum(distances.table[a][b] <= distances.noise[a][b] for a, b in pairs) if distances.noise else 0
    return [distances.measure, distances.languages, unit, above, near]


def _bias_charts(bias: DatasetBias) -> Iterator[Chart]:
    values = _coloured_values(bias)
    taken: set[str] = set()
    by_attribute = group_by(bias.distributions, lambda distribution: (distribution.task, distribution.attribute))
    for (task, attribute), distributions in by_attribute.items():
        draw = _share_chart if (task, attribute) in values else _quartile_chart
        chart = draw(distributions, values.get((task, attribute), ()))
        names = sorted({record["name"] for record in chart["records"]})
        title = f"{task}: {distributions[0].title}"
        yield Chart(
            name=file_name(f"bias-{task}-{attribute}", taken),
            title=title,
            description=f"{title}: distribution by language.",
            y=Axis(field="name", order=names),
            **chart,
        )
    for table in bias.distances:
        records: list[dict[str, Any]] = [
            {
                "language": code,
                "name": language_name(code),
                "other": language_name(other),
                "score": distance,
                "label": f"{distance:.2g}",
            }
            for code, row in zip(table.languages, table.table, strict=True)
            for other, distance in zip(table.languages, row, strict=True)
            if other != code
        ]
        names = sorted({record["name"] for record in records})
        yield charts.heat_map(
            file_name(f"distance-{table.task}-{table.attribute}", taken),
            f"{table.task}: distance of languages in {table.attribute} ({table.measure})",
            records,
            x=("other", names),
            y=("name", names),
            hints=[("name", "language", ""), ("other", "other", ""), ("score", "distance", "digits")],
            scale=ColourScale(low=0, high=max(record["score"] for record in records), reverse=True),
        )


def _record(distribution: Distribution, **fields: Any) -> dict[str, Any]:
    code = distribution.language
    return {"task": distribution.task, "language": code, "name": language_name(code), "n": distribution.n, **fields}


def _quartile_chart(distributions: Sequence[Distribution], _: Sequence[str]) -> dict[str, Any]:
    """Return the mean, the median, the middle half and the whole range of an attribute in each language."""
    keys = ("mean", "least", "lower", "median", "upper", "most")
    boxes = [each for each in distributions if each.mean is not None]
    records = [_record(each, **dict(zip(keys, (each.mean, *each.quartiles), strict=True))) for each in boxes]
    axis = Axis(field="median")
    if records and max(record["most"] for record in records) > LONG_TAIL * max(record["upper"] for record in records):
        axis = Axis(field="median", title="square-root scale", scale="sqrt")
    fields = {"least": "minimum", "lower": "25 %", "median": "median", "upper": "75 %", "most": "maximum"}
    hints: list[Hint] = [("name", "language", ""), ("task", "task", ""), ("n", "n", ""), ("mean", "mean", "digits")]
    hints += [(field, text, "digits") for field, text in fields.items()]
    return {"kind": "boxes", "records": records, "x": axis, "hints": hints}


def _share_chart(distributions: Sequence[Distribution], values: Sequence[str]) -> dict[str, Any]:
    records = []
    for each in distributions:
        shares = {value: each.shares.get(value, 0) for value in values}
        for position, (value, share) in enumerate({**shares, OTHERS: max(0.0, 1 - sum(shares.values()))}.items()):
            if share > 0.0005:
                records.append(_record(each, value=value or "(none)", share=share, position=position))
    names = [value or "(none)" for value in values]
    names += [OTHERS] * any(record["value"] == OTHERS for record in records)
    hints = [("name", "language", ""), ("task", "task", ""), ("value", "value", ""), ("n", "n", "")]
    colours = [*charts.PALETTE[: len(values)], GREY][: len(names)]
    return {
        "kind": "shares",
        "records": records,
        "x": Axis(field="share"),
        "hints": [*hints, ("share", "share", "percent")],
        "series": Series(field="value", names=names, colours=colours),
    }
