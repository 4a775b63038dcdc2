"""The contract of every metric: a score is a function of sums over per-example rows.

A metric turns gold and predictions into `Statistics`: an array of shape (n, k), one row per example, and a `Value`,
which turns column sums into the score. Corpus scores, intervals, paired tests, buckets and merging shards follow
from that with no further metric code.
"""

from collections.abc import Callable, Sequence, Sized
from dataclasses import KW_ONLY, dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from isogloss.notebooks import short_repr

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def distinct(values: IntArray) -> IntArray:
    """Return the distinct values, ascending. `np.unique` would import `numpy.ma`, which takes 10 ms."""
    unique: IntArray = np.unique(values, return_counts=True)[0]
    return unique


def sizes(parts: Sequence[Sized]) -> IntArray:
    """Return the length of every part: of sentences in tokens, of texts in characters."""
    return np.fromiter(map(len, parts), np.int64, len(parts))


@dataclass(frozen=True)
class Value:
    """A named function from column sums (..., k) and row counts (...) to scores (...).

    It works on one set of sums and on thousands alike. Empty denominators give 0, as in the reference scorers.

    Attributes:
        name: name in stored statistics.
        columns: meaning of the columns.
        function: function from sums and counts to scores.
        is_share: True if scores lie within 0..1, as those of nearly all metrics do; a correlation's do not.
        weighted_by: columns that add up to the denominator of the score; by default every row counts 1.
        bounds: smallest and largest score, if scores are not shares but have a scale of their own: -1 and 1.
        row_score: function from rows (..., k) to the score of each alone, if `function` needs several rows.
        whole_set: True if rows depend on the other rows of their set, as ranks do, so that sets cannot be merged.
    """

    name: str
    columns: tuple[str, ...]
    function: Callable[[FloatArray, FloatArray], FloatArray]
    is_share: bool = True
    weighted_by: tuple[str, ...] = ()
    _: KW_ONLY
    bounds: tuple[float, float] | None = None
    row_score: Callable[[FloatArray], FloatArray] | None = None
    whole_set: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest score, infinite if there is none."""
        return (0.0, 1.0) if self.is_share else self.bounds or (-inf, inf)

    def __call__(self, sums: npt.ArrayLike, count: npt.ArrayLike) -> FloatArray:
        """Return the score of each set of sums."""
        return self.function(np.asarray(sums, dtype=np.float64), np.asarray(count, dtype=np.float64))

    def of_examples(self, sums: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
        """Return the score of each example alone, from its sums; 1 if it has no weight, so nothing is wrong with it."""
        scores = self(sums, counts) if self.row_score is None else self.row_score(sums)
        return np.where(self.weights(sums, counts) == 0, 1.0, scores)

    def weighted_rows(self, rows: FloatArray) -> int:
        """Return the number of rows with a weight."""
        return int(np.count_nonzero(self.weights(rows, np.ones(len(rows))))) if self.weighted_by else len(rows)

    def weights(self, sums: FloatArray, count: FloatArray | IntArray) -> FloatArray:
        """Return the weight of each set of sums in the score; 0 for one that cannot change it.

        A sentence with neither gold nor predicted entities, for example, says nothing about F1.
        """
        if not self.weighted_by:
            return np.broadcast_to(np.asarray(count, dtype=np.float64), sums.shape[:-1])
        first, *others = (sums[..., self.columns.index(column)] for column in self.weighted_by)
        return sum(others, start=first)


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the quotient, or 0 if the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def _mean(sums: FloatArray, count: FloatArray) -> FloatArray:
    return _divide(sums[..., 0], np.broadcast_to(count, sums.shape[:-1]))


def _f1(sums: FloatArray, count: FloatArray) -> FloatArray:
    return _divide(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def _first_by_second(sums: FloatArray, count: FloatArray) -> FloatArray:
    return _divide(sums[..., 0], sums[..., 1])


def _first_by_third(sums: FloatArray, count: FloatArray) -> FloatArray:
    return _divide(sums[..., 0], sums[..., 2])


# Module-level functions, not lambdas, because statistics are pickled.
MEAN = Value("mean", ("score",), _mean)
RATIO = Value("ratio", ("correct", "total"), _first_by_second, weighted_by=("total",))
_COUNTS = ("correct", "predicted", "gold")
PRECISION = Value("precision", _COUNTS, _first_by_second, weighted_by=("predicted",))
RECALL = Value("recall", _COUNTS, _first_by_third, weighted_by=("gold",))
F1 = Value("f1", _COUNTS, _f1, weighted_by=("predicted", "gold"))
VALUES = {value.name: value for value in (MEAN, RATIO, PRECISION, RECALL, F1)}


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows estimated from a random subset of the examples: which are answered, and the error of each by the draw."""

    answered: npt.NDArray[np.bool_]
    errors: FloatArray

    def select(self, chosen: npt.NDArray[np.bool_] | IntArray) -> "DrawnRows":
        """Return some of the rows."""
        return DrawnRows(self.answered[chosen], self.errors[chosen])


@dataclass(frozen=True, eq=False)
class Statistics:
    """Per-example sufficient statistics of one metric over one set of examples.

    Attributes:
        rows: (n, k) float64, one row per example (or per query-target pair).
        value: function from column sums to the score.
        units: (n,) the unit of each row, for rows that belong together; None if every row is its own unit.
        drawn: the answered rows, if the others are estimates from them; see `isogloss.metrics.control`.
    """

    rows: FloatArray
    value: Value
    units: IntArray | None = None
    drawn: DrawnRows | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def unit_count(self) -> int:
        """Number of units."""
        return len(self.rows) if self.units is None else len(distinct(self.units))

    @property
    def sums(self) -> FloatArray:
        """Column sums (k,)."""
        total: FloatArray = self.rows.sum(axis=0)
        return total

    @property
    def score(self) -> float:
        """The corpus score, 0..1."""
        return float(self.value(self.sums, len(self.rows)))

    def select(self, chosen: npt.NDArray[np.bool_] | IntArray) -> "Statistics":
        """Return the statistics of some rows: a bucket, a language pair, a shard."""
        units = None if self.units is None else self.units[chosen]
        return Statistics(self.rows[chosen], self.value, units, self.drawn and self.drawn.select(chosen))


def merge(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of several shards of one set, as if they had been computed together.

    All parts must have the same metric, and either all or none have units.
    """
    if len({part.value.name for part in parts}) != 1:
        names = ", ".join(sorted({part.value.name for part in parts})) or "none"
        raise ValueError(f"only statistics of one metric can be merged, got {names}")
    if len(parts) > 1 and parts[0].value.whole_set:
        raise ValueError(f"rows of {parts[0].value.name} depend on the whole set: judge its examples together")
    if any(part.drawn is not None for part in parts):
        raise ValueError("statistics estimated from a subset cannot be merged")
    tagged = [part.units for part in parts if part.units is not None]
    if tagged and len(tagged) != len(parts):
        raise ValueError("either all or none of the merged statistics must have resampling units")
    return Statistics(
        np.concatenate([part.rows for part in parts]), parts[0].value, np.concatenate(tagged) if tagged else None
    )


@dataclass(frozen=True)
class _MeanValue:
    """Mean of several values of neighbouring columns: each has some columns, from left to right."""

    values: tuple[Value, ...]
    widths: tuple[int, ...]

    def __call__(self, sums: FloatArray, count: FloatArray) -> FloatArray:
        parts = np.split(sums, np.cumsum(self.widths)[:-1], axis=-1)
        scores = [value(part, count) for value, part in zip(self.values, parts, strict=True)]
        mean: FloatArray = np.mean(scores, axis=0)
        return mean

    def of_rows(self, rows: FloatArray) -> FloatArray:
        """Return the mean score of each row alone."""
        parts = np.split(rows, np.cumsum(self.widths)[:-1], axis=-1)
        ones = np.ones(rows.shape[:-1])
        mean: FloatArray = np.mean(
            [v.of_examples(part, ones) for v, part in zip(self.values, parts, strict=True)], axis=0
        )
        return mean


def mean_of(several: Sequence[Statistics]) -> Statistics:
    """Return the statistics of the mean of several scores of the same rows: all columns side by side."""
    values = tuple(statistics.value for statistics in several)
    name = "mean of " + ", ".join(value.name for value in values)
    columns = tuple(f"{number}_{column}" for number, value in enumerate(values) for column in value.columns)
    function = _MeanValue(values, tuple(statistics.rows.shape[1] for statistics in several))
    lows, highs = zip(*(value.limits for value in values), strict=True)
    combined = Value(
        name,
        columns if all(value.columns for value in values) else (),
        function,
        is_share=all(value.is_share for value in values),
        bounds=(sum(lows) / len(lows), sum(highs) / len(highs)),
        row_score=function.of_rows,
        whole_set=any(value.whole_set for value in values),
    )
    drawn = [statistics.drawn for statistics in several if statistics.drawn is not None]
    if drawn:
        drawn_rows = DrawnRows(drawn[0].answered, np.concatenate([part.errors for part in drawn], axis=1))
    rows = np.concatenate([statistics.rows for statistics in several], axis=1)
    return Statistics(rows, combined, several[0].units, drawn_rows if drawn else None)


def checked_rows(statistics: Statistics) -> FloatArray:
    """Return the rows, checked to be a non-empty table without NaN and infinity."""
    rows = statistics.rows
    if rows.ndim != 2:
        raise ValueError(f"statistics must be of shape (n, k), got {rows.shape}")
    if not len(rows):
        raise ValueError("no rows: there is nothing to resample")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(f"row {int(np.argmin(finite))} of the statistics is not finite")
    return rows


def sums_by_place(rows: FloatArray, places: IntArray, count: int) -> FloatArray:
    """Return column sums (count, k) of the rows at each index."""
    return np.stack([np.bincount(places, weights=column, minlength=count) for column in rows.T], axis=1)
