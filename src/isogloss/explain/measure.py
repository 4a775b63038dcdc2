"""Scores of buckets with their uncertainty: all buckets of a cell are drawn again together.

One set of weights of the examples serves every bucket of every attribute, so that any two of them, of one system or of
two, can be compared draw by draw, also where they share examples (entities of one sentence).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from isogloss.explain.buckets import Binning
from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Attribute, Bucket
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.resampling import joint_replicates, stream
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics

RESAMPLES = 1000
# Examples beyond this many are joined at random into this many groups, which are drawn instead of them. The spread
# of group means is that of example means; estimating it from 2,000 groups errs by 1 / sqrt(2 * 2000) = 1.6 %, less
# than the 2.2 % of a thousand resamples.
GROUPS = 2000

# (task, attribute) -> how the attribute is cut in all languages of the task
SharedBinnings = Mapping[tuple[str, str], Binning]


@dataclass(frozen=True)
class BucketedRows:
    """The rows of a cell cut along one attribute: the buckets, and the bucket of every row."""

    attribute: Attribute
    buckets: list[Bucket]
    codes: IntArray

    def rows(self, bucket: int) -> npt.NDArray[np.bool_]:
        """The rows of a bucket."""
        inside: npt.NDArray[np.bool_] = self.codes == bucket
        return inside

    def heading(self, table: CellTable, metric: str) -> tuple[str, str, str, str, str, bool]:
        """The fields of `BucketedAttribute`."""
        attribute = self.attribute
        return table.task.id, table.examples.language, metric, attribute.name, attribute.title, attribute.discrete


@dataclass(frozen=True)
class BucketDraws:
    """The buckets of an attribute under one metric: their statistics, and replicates (resamples, buckets)."""

    parts: list[Statistics]
    draws: FloatArray


def bucketed_rows(
    table: CellTable, selection: AttributeSelection, shared: SharedBinnings | None = None
) -> list[BucketedRows]:
    """The cell along every selected attribute; one that is the same everywhere tells nothing and is left out."""
    found = []
    for attribute in selection.of(table.task.kind, table.examples):
        column = table.column(attribute)
        if column is None or not len(column):
            continue
        counted = column if table.counted is None else column[table.counted]
        binning = (shared or {}).get((table.task.id, attribute.name)) or selection.binning(attribute, counted)
        buckets, codes = binning.apply(column, table.counted)
        if len(buckets) > 1:
            found.append(BucketedRows(table.described(attribute), buckets, codes))
    return found


def bucket_draws(
    table: CellTable, statistics: Sequence[Statistics], along: Sequence[BucketedRows], seed: int = 0
) -> list[list[BucketDraws]]:
    """For each of some statistics of a cell, and each attribute: its buckets, all under the same draws."""
    units = _units(table, seed)[table.row_example]
    parts = [[_parts(table, each, bucketed, units) for bucketed in along] for each in statistics]
    # Where rows are not summed, the unit of a row is that of its example.
    drawn = [
        part if table.entities is not None else replace(part, units=units[bucketed.rows(place)])
        for each in parts
        for bucketed, of_attribute in zip(along, each, strict=True)
        for place, part in enumerate(of_attribute)
    ]
    if not drawn:
        return [[] for _ in statistics]
    draws = joint_replicates(drawn, RESAMPLES, stream(seed, "explain", table.task.id, table.examples.language))
    sizes = [len(bucketed.buckets) for _ in statistics for bucketed in along]
    columns = iter(np.split(draws, np.cumsum(sizes)[:-1], axis=1))
    return [[BucketDraws(of_attribute, next(columns)) for of_attribute in each] for each in parts]


def mean_draws(mean: Statistics, bucketed: BucketedRows, *metrics: BucketDraws) -> BucketDraws:
    """The buckets under the mean of some metrics, of which each has one row an example, from those under each."""
    parts = [mean.select(bucketed.rows(bucket)) for bucket in range(len(bucketed.buckets))]
    return BucketDraws(parts, np.mean([each.draws for each in metrics], axis=0))


def _parts(table: CellTable, statistics: Statistics, bucketed: BucketedRows, units: IntArray) -> list[Statistics]:
    """The statistics of every bucket; entities that are drawn together anyway are summed at once."""
    if table.entities is None:
        return [statistics.select(bucketed.rows(bucket)) for bucket in range(len(bucketed.buckets))]
    size = int(units.max(initial=0)) + 1
    shape = (len(bucketed.buckets), size)
    place = bucketed.codes * size + units
    sums = [np.bincount(place, weights=column, minlength=shape[0] * size) for column in statistics.rows.T]
    summed = np.stack(sums, axis=1).reshape(*shape, -1)
    held = np.bincount(place, minlength=shape[0] * size).reshape(shape) > 0
    return [
        Statistics(rows[there], statistics.value, np.flatnonzero(there))
        for rows, there in zip(summed, held, strict=True)
    ]


def _units(table: CellTable, seed: int) -> IntArray:
    """What resampling draws, for each example: itself, or one of `GROUPS` groups of equal size."""
    n = len(table.examples)
    if n <= GROUPS:
        return np.arange(n)
    rng = np.random.default_rng(stream(seed, "groups", table.task.id, table.examples.language))
    return rng.permutation(n) % GROUPS
