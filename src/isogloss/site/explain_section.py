"""The report's sections on where systems fail and differ: scores by bucket, for single systems and pairs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from isogloss.explain.buckets import bucket_edges
from isogloss.explain.correction import Correction
from isogloss.explain.model import AttributeScores, Bucket, Explanation
from isogloss.explain.pairwise import AttributeContrasts, PairwiseExplanation
from isogloss.figures import difference_interval_text, difference_text, p_text, rounded
from isogloss.grouping import group_by
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.site.page_parts import Section
from isogloss.tables import charts
from isogloss.tables.charts import GREY, UNDECIDED, VERDICT_SHAPES, Axis, Chart, Record, Series, file_name, tenths
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tables.explain_tables import (
    BINNING,
    correction_notes,
    disagreement_table,
    pairwise_bucket_table,
    turned_table,
)
from isogloss.tables.single_tables import ON_PAGE, bucket_table, calibration_tables

INTRO = (
    "The first system minus the second, in points: blue where the first is ahead, orange where the second is. "
    "The tables link to the buckets of a cell, and to the examples that only one system gets right."
)


def explain_section(explained: ExplainRecords, systems: Iterable[str]) -> Section:
    """Return the panel; all buckets and charts are files, calibration is on the page."""
    pictures = list(explain_charts(explained.explanations, systems))
    tables = {"explain": bucket_table(explained.explanations)}
    if explained.pairs:
        pictures += pairwise_charts(explained.pairs, explained_colours(explained.explanations, systems))
        tables["differences-by-bucket"] = pairwise_bucket_table(explained.pairs)
    about = explain_intro(explained.edges, explained.correction)
    tables |= calibration_tables(explained.explanations)
    in_files = tuple(name for name in tables if name != ON_PAGE)
    return Section(
        id="explain", title="Explain", intro=about, tables=tables, charts=pictures, panel="explain", only_files=in_files
    )


def explain_intro(edges: str, correction: Correction | None) -> str:
    """Return the introduction of the panel, with the rule of the bucket edges and what findings are corrected over."""
    return (
        "Scores by properties of the examples, with 95 % intervals. Choose a bucket to list its examples. "
        f"{'. '.join(f'{note[0].upper()}{note[1:]}' for note in (BINNING[edges], *correction_notes(correction)))}."
    )


def explained_colours(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> dict[str, str]:
    """Return the colour of each explained system, the same as in the rest of the report."""
    everywhere = charts.system_colours(list(dict.fromkeys([*systems, *explanations])))
    return {name: everywhere[name] for name in explanations}


def explain_charts(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> Iterator[Chart]:
    """Yield one chart per task, metric and attribute: one panel per language, one bar per system."""
    colours = explained_colours(explanations, systems)
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    titles: dict[str, str] = {}
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            titles[facet.attribute] = facet.title
            groups[facet.task, facet.metric, facet.attribute] += (
                {
                    "system": name,
                    **_bucket_record(facet, score.bucket),
                    "score": rounded(score.value),
                    **charts.interval_fields(score.low, score.high),
                }
                for score in facet.buckets
            )
    taken: set[str] = set()
    for (task, metric, attribute), records in groups.items():
        name = file_name(f"explain-{task}-{metric}-{attribute}", taken)
        title = f"{task}, {metric} by {attribute}: {titles[attribute]}"
        yield charts.bucket_bars(name, title, records, colours)


def _bucket_record(facet: AttributeScores | AttributeContrasts, bucket: Bucket) -> dict[str, Any]:
    where = {"language": facet.language, "name": language_name(facet.language)}
    return {**where, "bucket": bucket.name, "edges": bucket_edges(bucket), "n": bucket.n}


def pairwise_section(pairs: Sequence[PairwiseExplanation]) -> Section:
    """Return every cell of every pair, and the buckets in which the ranking flips."""
    turned = turned_table(pairs)
    tables = {"differences": disagreement_table(pairs), **({"turns": turned} if turned.rows else {})}
    return Section(
        id="differences", title="Differences", intro=INTRO, tables=tables, charts=[_difference_heat_map(pairs)]
    )


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
    return charts.heat_map("differences", title, records, x=x, y=y, hints=tenths({**hints, **right}), scale=scale)


def _verdicts(pair: PairwiseExplanation) -> dict[str, str]:
    return {"first": f"{pair.first} is better", "second": f"{pair.second} is better", "": UNDECIDED}


def pairwise_charts(pairs: Sequence[PairwiseExplanation], colours: Mapping[str, str]) -> Iterator[Chart]:
    """Yield one chart per pair, task and attribute: one panel per language, one dot per bucket."""
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
            **_bucket_record(facet, row.bucket),
            **{key: rounded(getattr(row, key)) for key in ("first", "second", "difference")},
            **charts.interval_fields(row.low, row.high, difference_interval_text(row.low, row.high)),
            "q": p_text(row.p),
            "verdict": verdicts[row.favours(facet.lower_is_better)],
            "turns": "yes" if row.flips else "no",
            "extreme": "gain" if row in facet.largest_gains else "loss" if row in facet.largest_losses else "no",
        }


def pairwise_chart(
    name: str, title: str, records: Sequence[Record], pair: PairwiseExplanation, colours: Mapping[str, str]
) -> Chart:
    """Return differences on their paired 95 % intervals; colour and shape show which system is better, if any."""
    names = f"{pair.first} − {pair.second}"
    # Vega-Lite turns an axis title into a drawn text and, without escapes, into a string in an expression.
    is_plain = len(names) < 25 and "\\" not in names
    fields = {"bucket": "bucket", "edges": "edges", "first": pair.first, "second": pair.second}
    more = {"difference": "difference", "interval": "95 %", "q": "q", "n": "n"}
    return charts.bucket_columns(
        name,
        title,
        records,
        kind="points",
        description=f"{title}: differences with paired 95 % intervals in each bucket, by language.",
        y=Axis(field="difference", title=f"{names if is_plain else 'first − second'}, points", zero=True),
        hints=tenths({**fields, **more, "turns": "ranking flips", "extreme": "largest"}),
        series=Series(
            field="verdict",
            names=list(_verdicts(pair).values()),
            colours=[colours[pair.first], colours[pair.second], GREY],
            shapes=VERDICT_SHAPES,
        ),
    )
