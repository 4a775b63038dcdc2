"""Pairwise analysis: in which buckets one system is better than another, and where the order of the two turns."""

from collections.abc import Sequence

import msgspec
import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketDraws, BucketedRows
from isogloss.explain.model import Bucket, BucketedAttribute
from isogloss.scoring.contrast import SystemContrast, corrected, tested

# An answer is right from here on; for question answering that is an exact match, or all of its words.
RIGHT = 0.5


class BucketContrast(SystemContrast, frozen=True):
    """Two systems in one bucket; p is corrected (Holm) over all buckets of the cell.

    Attributes:
        bucket: the bucket.
        flips: whether the order of the two is not that of the whole cell.
        ids: the examples of the bucket that are listed.
    """

    bucket: Bucket
    flips: bool
    ids: list[str] = msgspec.field(default_factory=list)


class AttributeContrasts(BucketedAttribute, frozen=True):
    """Two systems bucket by bucket along an attribute, and where the order of the cell turns."""

    buckets: list[BucketContrast]


class Disagreement(msgspec.Struct, frozen=True):
    """The examples of one cell that one system has right and the other wrong, largest difference first.

    `difference` is that of the whole cell, on the 0..100 scale; `n` its number of examples.
    """

    task: str
    language: str
    n: int
    difference: float
    first_right: int
    second_right: int
    first_right_ids: list[str]
    second_right_ids: list[str]


class PairwiseExplanation(msgspec.Struct, frozen=True):
    """Two systems compared bucket by bucket on the cells that both have; differences are the first minus the second."""

    first: str
    second: str
    facets: list[AttributeContrasts]
    cells: list[Disagreement]


def attribute_contrasts(
    table: CellTable,
    along: Sequence[BucketedRows],
    drawn: Sequence[Sequence[BucketDraws]],
    pair: tuple[int, int],
    collector: ExampleCollector | None = None,
) -> list[AttributeContrasts]:
    """Every attribute of a cell with the differences of two systems of the table under the main metric.

    `drawn` has for each system of the table its buckets, drawn together (`bucket_draws`).
    """
    overall = table.metrics[pair[0]][table.main].score - table.metrics[pair[1]][table.main].score
    family = sum(len(bucketed.buckets) for bucketed in along)
    found: list[BucketContrast] = []
    for bucketed, first, second in zip(along, drawn[pair[0]], drawn[pair[1]], strict=True):
        for place, (bucket, a, b) in enumerate(zip(bucketed.buckets, first.parts, second.parts, strict=True)):
            numbers, _ = tested(a, b, (first.draws[:, place], second.draws[:, place]), family)
            ids = collector.add(table, bucketed.rows(place)) if collector else []
            found.append(BucketContrast(*numbers, bucket, (a.score - b.score) * overall < 0, ids))
    rows = iter(corrected(found))
    return [
        AttributeContrasts(*bucketed.heading(table, table.main), [next(rows) for _ in bucketed.buckets])
        for bucketed in along
    ]


def disagreement(table: CellTable, pair: tuple[int, int], collector: ExampleCollector | None = None) -> Disagreement:
    """The examples of a cell that one of two systems has right and the other wrong."""
    first, second = (table.goodness[system] for system in pair)
    order = np.argsort(-np.abs(first - second), kind="stable")
    ours = order[((first >= RIGHT) & (second < RIGHT))[order]]
    theirs = order[((second >= RIGHT) & (first < RIGHT))[order]]
    ids = [collector.keep(table, rows[: collector.limit].tolist()) if collector else [] for rows in (ours, theirs)]
    whole = [table.metrics[system][table.main].score for system in pair]
    cell = (table.task.id, table.examples.language, len(table.examples))
    return Disagreement(*cell, 100 * (whole[0] - whole[1]), len(ours), len(theirs), *ids)
