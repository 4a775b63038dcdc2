"""The report's section on pairs of systems: where they differ, how surely, and where their order turns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isogloss.explain.pairwise import AttributeContrasts, PairwiseExplanation
from isogloss.figures import difference_interval_text, difference_text, p_text, rounded
from isogloss.report import charts
from isogloss.report.charts import Chart, Record, Spec
from isogloss.report.grouping import group_by
from isogloss.report.pairwise_tables import disagreement_table, turned_table
from isogloss.report.section import Section, file_name
from isogloss.report.single_tables import bucket_edges
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name

UNDECIDED = "cannot be told apart"
GREY = "#767676"
INTRO = (
    "The first system minus the second, in points: blue where the first is ahead, orange where the second is. "
    "The tables lead to the buckets of a cell, and to the examples that only one of the two has right."
)


def pairwise_section(pairs: Sequence[PairwiseExplanation]) -> Section:
    """Every cell of every pair, and the buckets in which the order of the two turns."""
    turned = turned_table(pairs)
    tables = {"differences": disagreement_table(pairs), **({"turns": turned} if turned.rows else {})}
    return Section("differences", "Differences", INTRO, tables, [_difference_heat_map(pairs)])


def _difference_heat_map(pairs: Sequence[PairwiseExplanation]) -> Chart:
    records: list[dict[str, Any]] = [
        {
            "system": f"{pair.first} − {pair.second}",
            "task": cell.task,
            "language": cell.language,
            "name": language_name(cell.language),
            "score": rounded(cell.difference),
            "label": difference_text(cell.difference),
            "ahead": rounded(-cell.difference if lower_is_better(cell.task) else cell.difference),
            "n": cell.n,
            "only_first": cell.first_right,
            "only_second": cell.second_right,
        }
        for pair in pairs
        for cell in pair.cells
    ]
    tasks = list(dict.fromkeys(record["task"] for record in records))
    order = sorted({record["name"] for record in records})
    hints = {"name": "language", "task": "task", "system": "difference", "score": "points", "n": "examples"}
    right = {"only_first": "only the first right", "only_second": "only the second right"}
    scale = charts.difference_scale(max(5.0, *(abs(record["score"]) for record in records)))
    x, y = ("task", tasks), ("name", order)
    title = "Difference by task and language"
    return charts.heat_map("differences", title, records, x=x, y=y, hints={**hints, **right}, scale=scale)


def _verdicts(pair: PairwiseExplanation) -> dict[str, str]:
    """The verdict on a bucket, by the system that is better."""
    return {"first": f"{pair.first} is better", "second": f"{pair.second} is better", "": UNDECIDED}


def pairwise_charts(pairs: Sequence[PairwiseExplanation], colours: Mapping[str, str]) -> Iterator[Chart]:
    """One chart for each pair, task and attribute: a panel a language, a dot on its interval for each bucket."""
    taken: set[str] = set()
    for pair in pairs:
        for (task, attribute), facets in group_by(pair.facets, lambda facet: (facet.task, facet.attribute)).items():
            name = file_name(f"difference-{pair.first}-{pair.second}-{task}-{attribute}", taken)
            title = f"{task}: {pair.first} minus {pair.second} by {attribute}: {facets[0].title}"
            records = [record for facet in facets for record in _bucket_records(pair, facet)]
            yield pairwise_chart(name, title, records, pair, colours)


def _bucket_records(pair: PairwiseExplanation, facet: AttributeContrasts) -> Iterator[dict[str, Any]]:
    verdicts = _verdicts(pair)
    for row in facet.buckets:
        yield {
            "language": facet.language,
            "name": language_name(facet.language),
            "bucket": row.bucket.name,
            "edges": bucket_edges(row.bucket),
            "n": row.bucket.n,
            "first": rounded(row.first),
            "second": rounded(row.second),
            "difference": rounded(row.difference),
            **charts.interval_fields(row.low, row.high, difference_interval_text(row.low, row.high)),
            "p": p_text(row.p),
            "verdict": verdicts[row.favours(facet.lower_is_better)],
            "turns": "yes" if row.flips else "no",
            "extreme": "gain" if row is facet.largest_gain else "loss" if row is facet.largest_loss else "no",
        }


def pairwise_chart(
    name: str, title: str, records: Sequence[Record], pair: PairwiseExplanation, colours: Mapping[str, str]
) -> Chart:
    """Differences on their paired 95 % intervals; colour and shape say which of the two is better, if any."""
    description = f"{title}: differences with paired 95 % intervals in each bucket, by language."
    order = list(dict.fromkeys(record["bucket"] for record in records))
    domain = list(_verdicts(pair).values())
    legend = {"orient": "top", "columns": 3}
    verdict: Spec = {"field": "verdict", "type": "nominal", "title": None, "legend": legend}
    colour = {**verdict, "scale": {"domain": domain, "range": [colours[pair.first], colours[pair.second], GREY]}}
    shape = {**verdict, "scale": {"domain": domain, "range": ["triangle-up", "triangle-down", "circle"]}}
    names = f"{pair.first} − {pair.second}"
    # Of an axis' title Vega-Lite makes both what is drawn and, without escapes, a string in an expression.
    is_plain = len(names) < 25 and "\\" not in names
    value = {"type": "quantitative", "title": f"{names if is_plain else 'first − second'}, points"}
    fields = {"bucket": "bucket", "edges": "edges", "first": pair.first, "second": pair.second}
    more = {"difference": "difference", "interval": "95 %", "p": "p (Holm)", "n": "n"}
    zero = {
        "mark": {"type": "rule", "color": charts.INK, "strokeDash": [3, 3], "aria": False},
        "encoding": {"y": {"datum": 0}},
    }
    intervals = charts.interval_rule("y", value, 2)
    intervals["encoding"]["x"] = charts.bucket_axis(order)
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "cursor": "pointer"},
        "encoding": {
            "x": charts.bucket_axis(order),
            "y": {"field": "difference", **value},
            "shape": shape,
            "tooltip": charts.tooltip({**fields, **more, "turns": "order turns", "extreme": "largest"}),
        },
    }
    layers = [zero, *({**layer, "encoding": {**layer["encoding"], "color": colour}} for layer in (intervals, dots))]
    panel = {"width": {"step": 34}, "height": 130, "layer": layers}
    return charts.filtered_chart(name, title, description, records, charts.panel_per_language(panel))
