"""The bootstrap interval of any function of per-example statistics.

Scores have intervals of their own, which need no drawing (`isogloss.metrics.estimate`); this one is for figures that
people make up themselves.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, estimate, sum_of_squares, wilson_interval
from isogloss.metrics.resampling import Seed, replicates
from isogloss.metrics.statistics import MEAN, VALUES, FloatArray, Statistics, Value
from isogloss.metrics.student import t_quantile

_NORMAL = NormalDist()


def bootstrap(
    statistics: npt.ArrayLike | Statistics,
    value: Value | str | Callable[..., Any] | None = None,
    resamples: int = 1000,
    seed: Seed = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Bootstrap interval of a score: bias-corrected and accelerated (BCa), expanded for small samples.

    Plain percentiles are too narrow for few units, and too high or too low near the ends of a scale. BCa (Efron 1987)
    moves them by how the replicates lie about the score and by their skewness, which the jackknife tells; the
    normal quantile is widened to sqrt(n / (n - 1)) t, t being Student's with n - 1 degrees of freedom (Hesterberg
    2015, "What Teachers Should Know About the Bootstrap"). Where no resample differs from the data, a share has
    Wilson's interval.

    Args:
        statistics: rows (n, k) or (n,), one per example; or `Statistics`, whose units are then drawn whole.
        value: how column sums become a score: a `Value`, its name ("mean", "f1", "ratio", …), `numpy.mean`, or
            any function of the (k,) sums of one resample. `Statistics` bring their own.
        resamples: how many times the examples are drawn again.
        seed: the same seed gives the same interval on any machine, whatever the order of the rows.
        level: the confidence level.

    Returns:
        The lower and the upper end, on the scale of the score.

    Raises:
        ValueError: there are no rows, a number is not finite, or the value does not fit the columns.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, got {level}")
    given = _as_statistics(statistics, value)
    draws = replicates(given, resamples, seed)
    if not np.isfinite(draws).all():
        raise ValueError(f"replicate {int(np.argmin(np.isfinite(draws)))} is not finite")
    score, units = given.score, given.unit_count
    if np.ptp(draws) < ROUNDING or units < 2:
        quantile = _NORMAL.inv_cdf((1 + level) / 2)
        return wilson_interval(score, units, quantile) if 0 <= score <= 1 else (score, score)
    places = _places(given, draws, sqrt(units / (units - 1)) * t_quantile((1 + level) / 2, units - 1))
    # Percentile k / (resamples + 1) is the k-th smallest: the chance that a further replicate falls below it.
    low, high = np.interp(places * (len(draws) + 1) - 1, np.arange(len(draws)), np.sort(draws)).tolist()
    return min(low, score), max(high, score)


def _places(statistics: Statistics, draws: FloatArray, quantile: float) -> FloatArray:
    """The two percentiles of an interval, 0..1, corrected for bias and skewness."""
    score = statistics.score
    below = float((draws < score - ROUNDING).mean() + (np.abs(draws - score) <= ROUNDING).mean() / 2)
    bias = _NORMAL.inv_cdf(min(max(below, 1 / len(draws)), 1 - 1 / len(draws)))
    [errors] = (part.values for part in estimate(statistics).errors.values())
    spread = sum_of_squares(errors)
    acceleration = float((errors**3).sum()) / (6 * spread**1.5) if spread else 0.0
    ends = []
    for end in (-quantile, quantile):
        left = 1 - acceleration * (bias + end)
        # Beyond the point where the correction turns round, the end is that of the replicates.
        ends.append(_NORMAL.cdf(bias + (bias + end) / left) if left > 0 else float(end > 0))
    return np.array(ends)


def _as_statistics(
    statistics: npt.ArrayLike | Statistics, value: Value | str | Callable[..., Any] | None
) -> Statistics:
    """Rows and a value in any accepted form as one `Statistics`."""
    if isinstance(statistics, Statistics):
        given = statistics if value is None else replace(statistics, value=_as_value(value))
    else:
        array = np.asarray(statistics, dtype=np.float64)
        given = Statistics(array[:, None] if array.ndim == 1 else array, _as_value(value))
    columns = given.value.columns
    if columns and given.rows.shape[1:] != (len(columns),):
        raise ValueError(f"{given.value.name} needs the columns {columns}, got shape {given.rows.shape}")
    return given


def _as_value(value: Value | str | Callable[..., Any] | None) -> Value:
    """A `Value` from its name, from `numpy.mean`, or from a function of one resample's sums."""
    if isinstance(value, Value):
        return value
    if value is np.mean:
        return MEAN
    if isinstance(value, str) and value in VALUES:
        return VALUES[value]
    if not callable(value):
        raise ValueError(f"no value {value!r}: give a function of the sums or one of {', '.join(VALUES)}")

    def each_resample(sums: FloatArray, count: FloatArray) -> FloatArray:
        scores = [np.asarray(value(one), dtype=np.float64).item() for one in sums.reshape(-1, sums.shape[-1])]
        return np.reshape(scores, sums.shape[:-1])

    return Value(getattr(value, "__name__", "value"), (), each_resample)
