"""Pairwise analysis: buckets where one system is better than another, and where the ranking flips."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows, bucket_estimates
from isogloss.explain.model import Bucket, BucketedAttribute
from isogloss.metrics.estimate import ROUNDING, difference, estimate, swaps
from isogloss.metrics.significance import holm
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.notebooks import short_repr
from isogloss.scoring.contrast import SystemContrast, contrast_fields, corrected, tested

# Score from which an answer counts as right; for question answering, an exact match or all of its words.
RIGHT = 0.5


class BucketContrast(SystemContrast, frozen=True):
    """Two systems in one bucket; p is corrected (Holm) over all buckets of the cell.

    The ranking flips if it is opposite to the whole cell, and the difference of the differences is significant
    (corrected over all buckets of the cell).
    """

    bucket: Bucket
    flips: bool
    ids: list[str] = msgspec.field(default_factory=list)  # listed examples of the bucket


class AttributeContrasts(BucketedAttribute, frozen=True, kw_only=True):
    """Two systems bucket by bucket along an attribute, with flips of the ranking."""

    buckets: list[BucketContrast]

    __repr__ = short_repr

    @property
    def largest_gain(self) -> BucketContrast | None:
        """Bucket with the largest lead of the first system, or None (blue in Table 6)."""
        return self._farthest(-1 if self.lower_is_better else 1)

    @property
    def largest_loss(self) -> BucketContrast | None:
        """Bucket with the largest deficit of the first system, or None (red in Table 6)."""
        return self._farthest(1 if self.lower_is_better else -1)

    def _farthest(self, sign: int) -> BucketContrast | None:
        farthest = max(self.buckets, key=lambda row: sign * row.difference)
        return farthest if sign * farthest.difference > 100 * ROUNDING else None


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Examples of one cell that only one of two systems answers correctly, largest difference first.

    `difference` is the score difference in the whole cell (0..100); `n` is its number of examples.
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
    """Two systems compared bucket by bucket on common cells; differences are first minus second."""

    first: str
    second: str
    facets: list[AttributeContrasts]
    cells: list[Disagreement]

    __repr__ = short_repr


def attribute_contrasts(
    table: CellTable, along: Sequence[BucketedRows], pair: tuple[int, int], collector: ExampleCollector | None = None
) -> list[AttributeContrasts]:
    """Return the differences of two systems in every bucket of a cell, under the main metric."""
    sides = [table.by_source(table.metrics[system][table.main]) for system in pair]
    whole = difference(*(estimate(side, size=table.source_count) for side in sides), paired=True)
    family = sum(len(bucketed.buckets) for bucketed in along)
    differences: list[BucketContrast] = []
    interactions: list[float] = []
    for bucketed in along:
        first, second = (bucket_estimates(table, side, bucketed) for side in sides)
        for index, (bucket, a, b) in enumerate(zip(bucketed.buckets, first, second, strict=True)):
            gap = difference(a, b, paired=True)
            rows = bucketed.rows(index)
            p, _ = tested(swaps(sides[0].select(rows), sides[1].select(rows)))
            ids = collector.add(table, rows) if collector else []
            fields = contrast_fields((a.value, b.value), gap, p, family)
            differences.append(BucketContrast(**fields, bucket=bucket, flips=gap.value * whole.value < 0, ids=ids))
            # A bucket's difference against that of the whole cell.
            interaction = difference(gap, replace(whole, unseen=0.0)).t_test if gap.sources >= ENOUGH else 1.0
            interactions.append(interaction)
    contrasts = iter(
        msgspec.structs.replace(contrast, flips=contrast.flips and p < ALPHA)
        for contrast, p in zip(corrected(differences), holm(interactions).tolist(), strict=True)
    )
    return [
        AttributeContrasts(**bucketed.heading(table, table.main), buckets=[next(contrasts) for _ in bucketed.buckets])
        for bucketed in along
    ]


def disagreement(table: CellTable, pair: tuple[int, int], collector: ExampleCollector | None = None) -> Disagreement:
    """Return the examples of a cell that only one of two systems answers correctly."""
    first, second = (table.goodness[system] for system in pair)
    order = np.argsort(-np.abs(first - second), kind="stable")
    ours = order[((first >= RIGHT) & (second < RIGHT))[order]]
    theirs = order[((second >= RIGHT) & (first < RIGHT))[order]]
    ids = [collector.keep(table, rows[: collector.limit].tolist()) if collector else [] for rows in (ours, theirs)]
    whole = [table.metrics[system][table.main].score for system in pair]
    return Disagreement(
        task=table.task.id,
        language=table.examples.language,
        n=len(table.examples),
        difference=100 * (whole[0] - whole[1]),
        first_right=len(ours),
        second_right=len(theirs),
        first_right_ids=ids[0],
        second_right_ids=ids[1],
    )
