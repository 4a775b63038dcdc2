"""Pairwise analysis: buckets where one system is better than another, and where the ranking flips."""

from collections.abc import Sequence

import msgspec
import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows
from isogloss.explain.model import Bucket, BucketedAttribute, Probability
from isogloss.metrics.estimate import ROUNDING
from isogloss.metrics.exchange import exchange
from isogloss.notebooks import short_repr
from isogloss.scoring.contrast import SystemContrast, contrast_fields

# Score from which an answer counts as right; for question answering, an exact match or all of its words.
RIGHT = 0.5


class BucketContrast(SystemContrast, frozen=True):
    """Two systems in one bucket; p is the false discovery rate over all buckets that are shown together.

    The ranking flips if the system that is behind in the cell is significantly ahead here, and significantly behind in
    the rest of the cell. `tests` has the p-value of this bucket by itself and, if the observed order is reversed, the
    p-value of the flip. Records of earlier versions have none, and p by Holm over the buckets of the cell.
    """

    bucket: Bucket
    flips: bool
    ids: list[str] = msgspec.field(default_factory=list)  # listed examples of the bucket
    tests: list[Probability] = msgspec.field(default_factory=list)


class AttributeContrasts(BucketedAttribute, frozen=True, kw_only=True):
    """Two systems bucket by bucket along an attribute, with flips of the ranking."""

    buckets: list[BucketContrast]

    __repr__ = short_repr

    @property
    def largest_gains(self) -> list[BucketContrast]:
        """Buckets with the largest lead of the first system, several if tied (blue in Table 6)."""
        return self._farthest(-1 if self.lower_is_better else 1)

    @property
    def largest_losses(self) -> list[BucketContrast]:
        """Buckets with the largest deficit of the first system, several if tied (red in Table 6)."""
        return self._farthest(1 if self.lower_is_better else -1)

    def _farthest(self, sign: int) -> list[BucketContrast]:
        farthest = max(sign * row.difference for row in self.buckets)
        return [
            row
            for row in self.buckets
            if sign * row.difference > 100 * ROUNDING and farthest - sign * row.difference < 100 * ROUNDING
        ]


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
    """Return the differences of two systems in every bucket of a cell, under the main metric.

    p-values are those of single buckets; `isogloss.explain.correction` corrects them and marks flips.
    """
    first, second = (table.by_source(table.metrics[system][table.main]) for system in pair)
    whole = first.score - second.score
    facets = []
    for bucketed in along:
        rows = []
        for index, bucket in enumerate(bucketed.buckets):
            inside = bucketed.rows(index)
            sides = first.select(inside), second.select(inside)
            gap = exchange(*sides)
            tests = [gap.p]
            if gap.value * whole < 0:
                rest = exchange(first.select(~inside), second.select(~inside))
                # The order is reversed if both differences exist, so the weaker test decides.
                tests.append(max(gap.p, rest.p) if rest.value * whole > 0 else 1.0)
            ids = collector.add(table, inside) if collector else []
            # Intervals are those of single buckets, too.
            fields = contrast_fields((sides[0].score, sides[1].score), gap, family=1)
            rows.append(BucketContrast(**fields, bucket=bucket, flips=False, ids=ids, tests=tests))
        facets.append(AttributeContrasts(**bucketed.heading(table, table.main), buckets=rows))
    return facets


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
