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
from isogloss.explain.model import Attribute, Bucket, BucketScore
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.intervals import ROUNDING, percentile_interval, wilson
from isogloss.metrics.resampling import joint_replicates, stream
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics

RESAMPLES = 1000
# Examples beyond this many are joined at random into this many groups, which are drawn instead of them. The spread
# of group means is that of example means; estimating it from 2,000 groups errs by 1 / sqrt(2 * 2000) = 1.6 %, less
# than the 2.2 % of a thousand resamples.
GROUPS = 2000

# (task, attribute) -> a cut that all languages share
Cuts = Mapping[tuple[str, str], Binning]


@dataclass(frozen=True)
class Slice:
    """A cell cut along one attribute: the buckets, and the bucket of every row."""

    attribute: Attribute
    buckets: list[Bucket]
    codes: IntArray

    def rows(self, bucket: int) -> npt.NDArray[np.bool_]:
        """The rows of a bucket."""
        inside: npt.NDArray[np.bool_] = self.codes == bucket
        return inside


@dataclass(frozen=True)
class Measurement:
    """The buckets of a slice under one metric: their statistics, and replicates (resamples, buckets)."""

    parts: list[Statistics]
    draws: FloatArray


def slices(sheet: CellTable, chosen: AttributeSelection, shared: Cuts | None = None) -> list[Slice]:
    """The cell along every chosen attribute; one that is the same everywhere tells nothing and is left out."""
    found = []
    for attribute in chosen.of(sheet.task.kind, sheet.examples):
        column = sheet.column(attribute)
        if column is None or not len(column):
            continue
        own = column if sheet.counted is None else column[sheet.counted]
        cut = (shared or {}).get((sheet.task.id, attribute.name)) or chosen.cut(attribute, own)
        buckets, codes = cut.apply(column, sheet.counted)
        if len(buckets) > 1:
            found.append(Slice(sheet.described(attribute), buckets, codes))
    return found


def measured(
    sheet: CellTable, statistics: Sequence[Statistics], along: Sequence[Slice], seed: int = 0
) -> list[list[Measurement]]:
    """For each of some statistics of a cell, and each slice: its buckets, all under the same draws."""
    units = _units(sheet, seed)[sheet.example]
    parts = [[_parts(each, cut, units) for cut in along] for each in statistics]
    # Where no unit is named, a row is an example and its unit is that of the example.
    named = [
        part if part.units is not None else replace(part, units=units[cut.rows(place)])
        for each in parts
        for cut, of_slice in zip(along, each, strict=True)
        for place, part in enumerate(of_slice)
    ]
    if not named:
        return [[] for _ in statistics]
    draws = joint_replicates(named, RESAMPLES, stream(seed, "explain", sheet.task.id, sheet.examples.language))
    columns = iter(np.split(draws, np.cumsum([len(cut.buckets) for _ in statistics for cut in along])[:-1], axis=1))
    return [[Measurement(of_slice, next(columns)) for of_slice in each] for each in parts]


def averaged(mean: Statistics, cut: Slice, *measures: Measurement) -> Measurement:
    """A slice under the mean of some metrics, of which each has one row an example, from its slices under them."""
    parts = [mean.select(cut.rows(bucket)) for bucket in range(len(cut.buckets))]
    return Measurement(parts, np.mean([each.draws for each in measures], axis=0))


def _parts(statistics: Statistics, cut: Slice, units: IntArray) -> list[Statistics]:
    """The statistics of every bucket; rows that are drawn together anyway are summed at once."""
    if statistics.units is None:
        return [statistics.select(cut.rows(bucket)) for bucket in range(len(cut.buckets))]
    size = int(units.max(initial=0)) + 1
    shape = (len(cut.buckets), size)
    place = cut.codes * size + units
    sums = [np.bincount(place, weights=column, minlength=shape[0] * size) for column in statistics.rows.T]
    table = np.stack(sums, axis=1).reshape(*shape, -1)
    held = np.bincount(place, minlength=shape[0] * size).reshape(shape) > 0
    return [
        Statistics(rows[there], statistics.value, np.flatnonzero(there))
        for rows, there in zip(table, held, strict=True)
    ]


def _units(sheet: CellTable, seed: int) -> IntArray:
    """What resampling draws, for each example: itself, or one of `GROUPS` groups of equal size."""
    n = len(sheet.examples)
    if n <= GROUPS:
        return np.arange(n)
    rng = np.random.default_rng(stream(seed, "groups", sheet.task.id, sheet.examples.language))
    return rng.permutation(n) % GROUPS


def scored(bucket: Bucket, part: Statistics, draws: FloatArray, ids: Sequence[str] = ()) -> BucketScore:
    """A bucket's score with its 95 % interval on the 0..100 scale, by the rules of every other score.

    Wilson's for a mean of 0/1 rows, and where no resample differs from the data; else the expanded percentiles.
    """
    value, units = part.score, part.unit_count
    if part.is_binary or np.ptp(draws) < ROUNDING:
        low, high = wilson(value, units)
    else:
        low, high = percentile_interval(draws, units=units, score=value)
    return BucketScore(bucket, 100 * value, 100 * low, 100 * high, list(ids))
