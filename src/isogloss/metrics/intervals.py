"""Bootstrap intervals of any function of per-example statistics.

Built-in scores use analytic intervals (`isogloss.metrics.estimate`); this one is for user-defined scores.

A resample is a vector of weights (the number of times each unit was drawn), so the column sums of a thousand
resamples are one matrix product. If many units have equal rows, the counts of the distinct rows are multinomial: the
same distribution from far fewer random numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, estimate, sum_of_squares, wilson_interval
from isogloss.metrics.statistics import MEAN, VALUES, FloatArray, Statistics, Value, checked_rows, sums_by_place
from isogloss.metrics.student import t_quantile

Seed = int | Sequence[int]

# Weights per block: half a megabyte, which fits the cache and keeps memory flat.
BLOCK_SIZE = 2**16
# Columns per product. Above 2**18 multiplications OpenBLAS starts threads, and on a busy machine waiting for them cost
# ten times as much as the single-threaded product.
BLOCK_COLUMNS = 4
# Measured: a category of a multinomial draw (about 65 ns) costs as much as 12 row indices drawn and counted.
CATEGORY_COST = 12
_NORMAL = NormalDist()


def bootstrap(
    statistics: npt.ArrayLike | Statistics,
    value: Value | str | Callable[..., Any] | None = None,
    resamples: int = 1000,
    seed: Seed = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the bootstrap interval of a score: bias-corrected and accelerated (BCa), expanded for small samples.

    Plain percentiles are too narrow for few units, and too high or too low near the ends of a scale. BCa (Efron 1987)
    shifts them by the replicates' bias and by the skewness, estimated by the jackknife; the normal quantile is widened
    to sqrt(n / (n - 1)) t, t being Student's with n - 1 degrees of freedom (Hesterberg 2015, "What Teachers Should Know
    About the Bootstrap"). If no resample differs from the data, a share gets Wilson's interval.

    Args:
        statistics: rows (n, k) or (n,), one per example; or `Statistics`, with units drawn whole.
        value: function from column sums to a score: a `Value`, its name ("mean", "f1", "ratio", …), `numpy.mean`, or
            any function of the (k,) sums of one resample. Not needed for `Statistics`.
        resamples: number of resamples.
        seed: random seed; the same seed gives the same interval on any machine, whatever the order of the rows.
        level: confidence level.

    Returns:
        The lower and the upper end, on the scale of the score.

    Raises:
        ValueError: no rows, a number is not finite, or the value does not fit the columns.
    """
    if not 0 < level < 1:
        raise ValueError(f"the confidence level must be between 0 and 1, got {level}")
    checked = _as_statistics(statistics, value)
    draws = replicates(checked, resamples, seed)
    if not np.isfinite(draws).all():
        raise ValueError(f"replicate {int(np.argmin(np.isfinite(draws)))} is not finite")
    score, units = checked.score, checked.unit_count
    if np.ptp(draws) < ROUNDING or units < 2:
        quantile = _NORMAL.inv_cdf((1 + level) / 2)
        return wilson_interval(score, units, quantile) if 0 <= score <= 1 else (score, score)
    places = _places(checked, draws, sqrt(units / (units - 1)) * t_quantile((1 + level) / 2, units - 1))
    # Percentile k / (resamples + 1) is the k-th smallest: the chance that a further replicate falls below it.
    low, high = np.interp(places * (len(draws) + 1) - 1, np.arange(len(draws)), np.sort(draws)).tolist()
    return min(low, score), max(high, score)


def _places(statistics: Statistics, draws: FloatArray, quantile: float) -> FloatArray:
    """Return the two percentiles of an interval, 0..1, corrected for bias and skewness."""
    score = statistics.score
    below = float((draws < score - ROUNDING).mean() + (np.abs(draws - score) <= ROUNDING).mean() / 2)
    bias = _NORMAL.inv_cdf(min(max(below, 1 / len(draws)), 1 - 1 / len(draws)))
    [errors] = (part.values for part in estimate(statistics).errors.values())
    spread = sum_of_squares(errors)
    acceleration = float((errors**3).sum()) / (6 * spread**1.5) if spread else 0.0
    ends = []
    for end in (-quantile, quantile):
        left = 1 - acceleration * (bias + end)
        # Beyond the point where the correction reverses, use the extreme replicate.
        ends.append(_NORMAL.cdf(bias + (bias + end) / left) if left > 0 else float(end > 0))
    return np.array(ends)


def _as_statistics(
    statistics: npt.ArrayLike | Statistics, value: Value | str | Callable[..., Any] | None
) -> Statistics:
    """Convert rows and a value in any accepted form to `Statistics`."""
    if isinstance(statistics, Statistics):
        checked = statistics if value is None else replace(statistics, value=_as_value(value))
    else:
        array = np.asarray(statistics, dtype=np.float64)
        checked = Statistics(array[:, None] if array.ndim == 1 else array, _as_value(value))
    columns = checked.value.columns
    if columns and checked.rows.shape[1:] != (len(columns),):
        raise ValueError(f"{checked.value.name} needs the columns {columns}, got shape {checked.rows.shape}")
    return checked


def _as_value(value: Value | str | Callable[..., Any] | None) -> Value:
    """Convert a name, `numpy.mean`, or a function of one resample's sums to a `Value`."""
    if isinstance(value, Value):
        return value
    if value is np.mean:
        return MEAN
    if isinstance(value, str) and value in VALUES:
        return VALUES[value]
    if not callable(value):
        raise ValueError(f"unknown value {value!r}: pass a function of the sums or one of {', '.join(VALUES)}")

    def each_resample(sums: FloatArray, count: FloatArray) -> FloatArray:
        scores = [np.asarray(value(one), dtype=np.float64).item() for one in sums.reshape(-1, sums.shape[-1])]
        return np.reshape(scores, sums.shape[:-1])

    return Value(getattr(value, "__name__", "value"), (), each_resample)


def replicates(statistics: Statistics, resamples: int = 1000, seed: Seed = 0) -> FloatArray:
    """Return the bootstrap scores of one set of statistics, shape (resamples,).

    Rows of one unit are drawn together. The order of the rows and the names of the units do not matter.
    """
    # One row per unit: the sums over its rows, then its number of rows.
    table = np.column_stack([checked_rows(statistics), np.ones(len(statistics))])
    if statistics.units is not None:
        names, places = np.unique(statistics.units, return_inverse=True)
        table = sums_by_place(table, places, len(names))
    table = table[np.lexsort(table.T)]
    new = np.ones(len(table), dtype=bool)
    new[1:] = (table[1:] != table[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    units, shares = len(table), None
    if CATEGORY_COST * len(first) <= units:
        table, shares = table[first], np.diff(first, append=units) / units
    blocks = _weights(units, shares, resamples, seed)
    groups = np.array_split(table, -(-table.shape[1] // BLOCK_COLUMNS), axis=1)
    sums = np.concatenate([np.concatenate([weights @ group for group in groups], axis=1) for weights in blocks])
    return statistics.value(sums[:, :-1], sums[:, -1])


def _weights(units: int, shares: FloatArray | None, resamples: int, seed: Seed) -> Iterator[FloatArray]:
    """Yield blocks of weights, one row per resample: of distinct rows with these shares, or of single units."""
    if resamples < 1:
        raise ValueError(f"the number of resamples must be at least 1, got {resamples}")
    rng = np.random.default_rng(seed)
    size = max(1, BLOCK_SIZE // (units if shares is None else len(shares)))
    for start in range(0, resamples, size):
        count = min(size, resamples - start)
        if shares is not None:
            counts = rng.multinomial(units, shares, size=count)
        else:
            drawn = rng.integers(units, size=(count, units))
            drawn += np.arange(0, count * units, units)[:, None]  # so that one pass counts all resamples separately
            counts = np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units)
        yield counts.astype(np.float64)
