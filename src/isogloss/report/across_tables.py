"""Tables of what `isogloss explain` found, over the languages of a task: every bucket once, with how many have it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isogloss.explain.analysis import Analysis
from isogloss.explain.buckets import NAMES
from isogloss.explain.model import BucketedAttribute, Explanation
from isogloss.explain.pairwise import PairwiseExplanation
from isogloss.figures import difference_text, score_text
from isogloss.report.grouping import group_by
from isogloss.report.single_tables import under_main_metric
from isogloss.report.tables import Table

NOTES = [
    "mean: over the languages that have the bucket, each counted once; languages: how many have it, of how many",
    "the edges of a bucket are each language's own, unless they are shared (all=shared) or given",
]


@dataclass(frozen=True)
class LanguageBucket:
    """One bucket of one language: the score, or the difference of two systems, and whether the latter is sure."""

    facet: BucketedAttribute
    name: str
    value: float
    n: int
    significant: bool = False


def across_tables(analysis: Analysis) -> list[Table]:
    """One table a task, of every pair of systems if there are two or more, else of the one system."""
    if analysis.pairs:
        return [table for pair in analysis.pairs for table in _of_pair(pair)]
    return list(_of_system(analysis.explanations[0]))


def _of_system(explanation: Explanation) -> Iterator[Table]:
    found = [
        LanguageBucket(facet, score.bucket.name, score.value, score.bucket.n)
        for facet in under_main_metric(explanation.facets)
        for score in facet.buckets
    ]
    for task, inside in group_by(found, lambda row: row.facet.task).items():
        title = f"{explanation.system['name']} on {task}: {inside[0].facet.metric} by bucket"
        table = _table(title, ("mean", "lowest", "highest", "languages", "n"), inside)
        for rows, count in _rows(inside):
            low, high = (side(rows, key=lambda row: row.value) for side in (min, max))
            ends = (f"{score_text(row.value)} {row.facet.language}" for row in (low, high))
            _add(table, rows, score_text(_mean(rows)), *ends, f"{len(rows)}/{count}", str(sum(row.n for row in rows)))
        yield table


def _of_pair(pair: PairwiseExplanation) -> Iterator[Table]:
    found = [
        LanguageBucket(facet, row.bucket.name, row.difference, row.bucket.n, row.significant)
        for facet in pair.facets
        for row in facet.buckets
    ]
    for task, inside in group_by(found, lambda row: row.facet.task).items():
        title = f"{pair.first} minus {pair.second} on {task}: {inside[0].facet.metric} by bucket"
        table = _table(title, ("mean Δ", "lowest", "highest", "●", "languages", "n"), inside)
        for rows, count in _rows(inside):
            low, high = (side(rows, key=lambda row: row.value) for side in (min, max))
            ends = (f"{difference_text(row.value)} {row.facet.language}" for row in (low, high))
            sure = str(sum(row.significant for row in rows))
            counts = (sure, f"{len(rows)}/{count}", str(sum(row.n for row in rows)))
            _add(table, rows, difference_text(_mean(rows)), *ends, *counts)
        table.notes.append("●: languages in which the difference is significant (Holm over all buckets of a cell)")
        yield table


def _table(title: str, numbers: tuple[str, ...], inside: Sequence[LanguageBucket]) -> Table:
    count = len({row.facet.language for row in inside})
    whole = f"{title}, over {count} {'language' if count == 1 else 'languages'}"
    return Table(whole, ("attribute", "bucket", *numbers), words=2, notes=list(NOTES))


def _rows(inside: Sequence[LanguageBucket]) -> Iterator[tuple[list[LanguageBucket], int]]:
    """The languages of every bucket of every attribute, numbers in order and values by how many examples they hold."""
    count = len({row.facet.language for row in inside})
    for of_attribute in group_by(inside, lambda row: row.facet.attribute).values():
        buckets = group_by(of_attribute, lambda row: row.name)
        order = sorted(
            buckets,
            key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), -sum(row.n for row in buckets[name])),
        )
        yield from ((buckets[name], count) for name in order)


def _mean(rows: Sequence[LanguageBucket]) -> float:
    return sum(row.value for row in rows) / len(rows)


def _add(table: Table, rows: Sequence[LanguageBucket], *numbers: str) -> None:
    attribute = rows[0].facet.attribute
    shown = next((row[0] for row in reversed(table.rows) if row[0]), "")
    table.add("" if shown == attribute else attribute, rows[0].name, *numbers)
