"""Pairwise analysis: in which buckets one system is better than another, and where the order of the two turns."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows, bucket_estimates
from isogloss.explain.model import Bucket, BucketedAttribute
from isogloss.metrics.estimate import ROUNDING, Estimate, difference, estimate, swaps
from isogloss.metrics.significance import holm
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.scoring.contrast import SystemContrast, contrast_fields, corrected, tested

# An answer is right from here on; for question answering that is an exact match, or all of its words.
RIGHT = 0.5


class BucketContrast(SystemContrast, frozen=True):
    """Two systems in one bucket; p is corrected (Holm) over all buckets of the cell.

    Attributes:
        bucket: the bucket.
        flips: whether the order of the two is surely not that of the whole cell: it is the other way round here, and
            the difference of the differences is significant (corrected over all buckets of the cell).
        ids: the examples of the bucket that are listed.
    """

    bucket: Bucket
    flips: bool
    ids: list[str] = msgspec.field(default_factory=list)


class AttributeContrasts(BucketedAttribute, frozen=True):
    """Two systems bucket by bucket along an attribute, and where the order of the cell turns."""

    buckets: list[BucketContrast]

    @property
    def largest_gain(self) -> BucketContrast | None:
        """The bucket in which the first system is ahead by most, None where it is ahead in none (Table 6's blue)."""
        return self._farthest(-1 if self.lower_is_better else 1)

    @property
    def largest_loss(self) -> BucketContrast | None:
        """The bucket in which the first system is behind by most, None where it is behind in none (Table 6's red)."""
        return self._farthest(1 if self.lower_is_better else -1)

    def _farthest(self, sign: int) -> BucketContrast | None:
        farthest = max(self.buckets, key=lambda row: sign * row.difference)
        return farthest if sign * farthest.difference > 100 * ROUNDING else None


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
    table: CellTable, along: Sequence[BucketedRows], pair: tuple[int, int], collector: ExampleCollector | None = None
) -> list[AttributeContrasts]:
    """Every attribute of a cell with the differences of two systems of the table under the main metric."""
    sides = [table.by_source(table.metrics[system][table.main]) for system in pair]
    whole = difference(*(estimate(each, size=table.source_count) for each in sides), paired=True)
    family = sum(len(bucketed.buckets) for bucketed in along)
    found: list[BucketContrast] = []
    interactions: list[float] = []
    for bucketed in along:
        first, second = (bucket_estimates(table, each, bucketed) for each in sides)
        for place, (bucket, a, b) in enumerate(zip(bucketed.buckets, first, second, strict=True)):
            apart = difference(a, b, paired=True)
            rows = bucketed.rows(place)
            p, _ = tested(swaps(sides[0].select(rows), sides[1].select(rows)))
            ids = collector.add(table, rows) if collector else []
            fields = contrast_fields((a.value, b.value), apart, p, family)
            turned = apart.value * whole.value < 0
            found.append(BucketContrast(**fields, bucket=bucket, flips=turned, ids=ids))
            interactions.append(_interaction_p(apart, whole))
    contrasts = iter(
        msgspec.structs.replace(contrast, flips=contrast.flips and p < ALPHA)
        for contrast, p in zip(corrected(found), holm(interactions).tolist(), strict=True)
    )
    return [
        AttributeContrasts(*bucketed.heading(table, table.main), [next(contrasts) for _ in bucketed.buckets])
        for bucketed in along
    ]


def _interaction_p(inside: Estimate, whole: Estimate) -> float:
    """The p-value of a bucket's difference being that of the whole cell; 1 from too few sources."""
    return difference(inside, replace(whole, unseen=0.0)).t_test if inside.sources >= ENOUGH else 1.0


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
