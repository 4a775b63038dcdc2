"""Pairs of systems in the report: where they differ, how surely, and where their order turns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.explain.single import bucket_text
from isogloss.report import charts
from isogloss.report.charts import Chart, Spec
from isogloss.report.explain_section import edges, slug
from isogloss.report.flat_rows import label
from isogloss.report.section import Section
from isogloss.report.tables import Table

UNDECIDED = "cannot be told apart"
GREY = "#767676"
INTRO = (
    "The first system minus the second, in points: blue where the first is ahead, orange where the second is. "
    "The tables lead to the buckets of a cell, and to the examples that only one of the two has right."
)


def versus_section(pairs: Sequence[PairwiseExplanation]) -> Section:
    """Every cell of every pair, and the buckets in which the order of the two turns."""
    records = [_cell_record(pair, place) for pair in pairs for place in range(len(pair.cells))]
    tasks = list(dict.fromkeys(record["task"] for record in records))
    order = sorted({record["name"] for record in records})
    hints = {"name": "language", "task": "task", "system": "difference", "score": "points", "n": "examples"}
    chart = charts.heat_map(
        "differences",
        "Difference by task and language",
        records,
        x=("task", tasks),
        y=("name", order),
        hints={**hints, "only_first": "only the first right", "only_second": "only the second right"},
        scale=charts.signed(max(5.0, *(abs(record["score"]) for record in records))),
    )
    turns = _turn_table(pairs)
    tables = {"differences": _cell_table(pairs), **({"turns": turns} if turns.rows else {})}
    return Section("differences", "Differences", INTRO, tables, [chart])


def _cell_record(pair: PairwiseExplanation, place: int) -> dict[str, Any]:
    cell = pair.cells[place]
    return {
        "system": f"{pair.first} − {pair.second}",
        "task": cell.task,
        "language": cell.language,
        "name": label(cell.language),
        "score": round(cell.difference, 2),
        "n": cell.n,
        "only_first": cell.first_right,
        "only_second": cell.second_right,
    }


def _cell_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    header = ("task", "code", "language", "first", "second", "Δ", "n", "only first", "only second", "turned")
    table = Table("Differences by cell", header, words=5)
    for pair in pairs:
        turned = _turned(pair)
        for cell in pair.cells:
            place = cell.task, cell.language, label(cell.language), pair.first, pair.second
            counts = (cell.n, cell.first_right, cell.second_right, turned.get((cell.task, cell.language), 0))
            n, *right, turns = map(str, counts)
            table.add(*place, f"{cell.difference:+.1f}", n, *right, turns)
    table.notes = [
        "only first, only second: examples that one system has right and the other wrong",
        "turned: buckets in which the system that is behind in the cell is significantly ahead (Holm, p < 0.05)",
    ]
    return table


def _turned(pair: PairwiseExplanation) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for facet in pair.facets:
        place = facet.task, facet.language
        found[place] = found.get(place, 0) + sum(row.flips and row.significant for row in facet.buckets)
    return found


def _turn_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    header = ("task", "code", "language", "attribute", "bucket", "first", "second", "n", "Δ", "95 %", "p")
    table = Table("Where the order turns", header, words=7)
    for pair in pairs:
        for facet in pair.facets:
            for row in facet.buckets:
                if row.flips and row.significant:
                    place = facet.task, facet.language, label(facet.language), facet.attribute, bucket_text(row.bucket)
                    table.add(*place, pair.first, pair.second, str(row.bucket.n), *_gap(row))
    table.notes = ["p is Holm-corrected over all buckets of a cell"]
    return table


def _gap(row: BucketContrast) -> tuple[str, str, str]:
    p = f"{row.p:.3f}" if row.p >= 0.001 else "<0.001"
    return f"{row.difference:+.1f}", f"{row.low:+.1f} to {row.high:+.1f}", p


def difference_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Every bucket of every attribute of every pair."""
    place = ("task", "code", "language", "attribute", "metric", "bucket", "edges", "first", "second")
    header = (*place, "n", "score of first", "score of second", "Δ", "95 %", "p", "")
    table = Table("Differences by bucket", header, words=len(place))
    for pair in pairs:
        for facet in pair.facets:
            where = facet.task, facet.language, label(facet.language), facet.attribute, facet.metric
            for row in facet.buckets:
                what = row.bucket.name, edges(row.bucket), pair.first, pair.second, str(row.bucket.n)
                marks = "●" * row.significant + "⇄" * row.flips
                table.add(*where, *what, f"{row.first:.1f}", f"{row.second:.1f}", *_gap(row), marks)
    table.notes = [
        "● p < 0.05, Holm-corrected over all buckets of a cell; ⇄ the order of the two is not that of the cell"
    ]
    return table


def verdicts(pair: PairwiseExplanation) -> tuple[str, str, str]:
    """What can be said of a bucket."""
    return f"{pair.first} is better", f"{pair.second} is better", UNDECIDED


def difference_charts(pairs: Sequence[PairwiseExplanation], shades: Mapping[str, str]) -> Iterator[Chart]:
    """One chart for each pair, task and attribute: a panel a language, a dot on its interval for each bucket."""
    taken: set[str] = set()
    for pair in pairs:
        groups: dict[tuple[str, str], list[AttributeContrasts]] = {}
        for facet in pair.facets:
            groups.setdefault((facet.task, facet.attribute), []).append(facet)
        for (task, attribute), facets in groups.items():
            name = slug(f"difference-{pair.first}-{pair.second}-{task}-{attribute}", taken)
            title = f"{task}: {pair.first} minus {pair.second} by {attribute}: {facets[0].title}"
            records = [record for facet in facets for record in _records(pair, facet)]
            yield difference_chart(name, title, records, pair, shades)


def _records(pair: PairwiseExplanation, facet: AttributeContrasts) -> Iterator[dict[str, Any]]:
    first, second, undecided = verdicts(pair)
    for row in facet.buckets:
        yield {
            "language": facet.language,
            "name": label(facet.language),
            "bucket": row.bucket.name,
            "edges": edges(row.bucket),
            "n": row.bucket.n,
            "first": round(row.first, 2),
            "second": round(row.second, 2),
            "difference": round(row.difference, 2),
            "low": round(row.low, 2),
            "high": round(row.high, 2),
            "p": round(row.p, 4),
            "verdict": undecided if not row.significant else first if row.difference > 0 else second,
            "turns": "yes" if row.flips else "no",
        }


def difference_chart(
    name: str, title: str, records: Sequence[Mapping[str, Any]], pair: PairwiseExplanation, shades: Mapping[str, str]
) -> Chart:
    """Differences on their paired 95 % intervals; colour and shape say which of the two is better, if any."""
    description = f"{title}: differences with paired 95 % intervals in each bucket, by language."
    order = list(dict.fromkeys(record["bucket"] for record in records))
    told = list(verdicts(pair))
    legend = {"orient": "top", "columns": 3}
    verdict: Spec = {"field": "verdict", "type": "nominal", "title": None, "legend": legend}
    colour = {**verdict, "scale": {"domain": told, "range": [shades[pair.first], shades[pair.second], GREY]}}
    shape = {**verdict, "scale": {"domain": told, "range": ["triangle-up", "triangle-down", "circle"]}}
    names = f"{pair.first} − {pair.second}"
    value = {"type": "quantitative", "title": f"{names if len(names) < 25 else 'first − second'}, points"}
    fields = {"bucket": "bucket", "edges": "edges", "first": pair.first, "second": pair.second}
    more = {"difference": "difference", "low": "low", "high": "high", "p": "p (Holm)", "n": "n"}
    zero = {"mark": {"type": "rule", "color": charts.INK, "strokeDash": [3, 3]}, "encoding": {"y": {"datum": 0}}}
    intervals: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": charts.bucket_axis(order), "y": {"field": "low", **value}, "y2": {"field": "high"}},
    }
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "cursor": "pointer"},
        "encoding": {
            "x": charts.bucket_axis(order),
            "y": {"field": "difference", **value},
            "shape": shape,
            "tooltip": charts.tooltip({**fields, **more, "turns": "order turns"}),
        },
    }
    layers = [zero, *({**layer, "encoding": {**layer["encoding"], "color": colour}} for layer in (intervals, dots))]
    panel = {"width": {"step": 34}, "height": 130, "layer": layers}
    return Chart(name, title, description, charts.whole(records, description, charts.by_language(panel)))
