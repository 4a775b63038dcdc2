"""How sure a score is: confidence intervals from per-example statistics.

A mean of 0/1 rows gets Wilson's analytic interval, everything else the percentile bootstrap. An average
over languages, tasks or categories needs no formula of its own: average the replicates' columns as the
scores are averaged and take their percentiles.

    parallel = joint_replicates([xnli_en, xnli_de], seed=stream(0, "xnli")).mean(axis=1)
    separate = replicates(tydiqa_en, seed=stream(0, "tydiqa", "en"))
    percentile_interval((parallel + separate) / 2)

The replicates are those of `isogloss.metrics.resampling`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import lgamma, log, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.metrics.resampling import Seed, replicates
from isogloss.metrics.statistics import MEAN, VALUES, FloatArray, Statistics, Value

# Scores that are equal on paper may differ in their last digits.
ROUNDING = 1e-12

_NORMAL = NormalDist()


def bootstrap(
    statistics: npt.ArrayLike | Statistics,
    value: Value | str | Callable[..., Any] | None = None,
    resamples: int = 1000,
    seed: Seed = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a score, expanded for small samples (see `percentile_interval`).

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
    given = _as_statistics(statistics, value)
    scores = replicates(given, resamples, seed)
    return percentile_interval(scores, level, units=given.unit_count, score=given.score)


def interval(
    statistics: Statistics,
    resamples: int = 1000,
    seed: Seed = 0,
    level: float = 0.95,
    draws: FloatArray | None = None,
) -> tuple[float, float]:
    """The confidence interval of a score: Wilson's for a mean of 0/1 rows, else the bootstrap's (`drawn_interval`).

    Args:
        statistics: rows with their value, whose units are drawn whole.
        resamples: how many times the examples are drawn again.
        seed: the same seed gives the same interval on any machine, whatever the order of the rows.
        level: the confidence level.
        draws: replicates of the score, where they have been drawn before.
    """
    if statistics.is_binary:
        return wilson(statistics.score, len(statistics), level)
    if draws is None:
        draws = replicates(statistics, resamples, seed)
    return drawn_interval(statistics.score, draws, statistics.unit_count, level)


def drawn_interval(score: float, draws: FloatArray, units: int, level: float = 0.95) -> tuple[float, float]:
    """The confidence interval of a score, or of an average of scores, from its bootstrap replicates.

    Where no resample differs from the data (a single unit, a perfect F1) the bootstrap knows no spread. A
    share then takes Wilson's interval with the number of units: no variable within 0..1 varies more than a
    0/1 one of equal mean. `units` is how many were drawn, for an average the smallest number of any part.
    """
    if np.ptp(draws) < ROUNDING and 0 <= score <= 1:
        return wilson(score, units, level)
    return percentile_interval(draws, level, units, score)


def percentile_interval(
    draws: FloatArray, level: float = 0.95, units: int | None = None, score: float | None = None
) -> tuple[float, float]:
    """The interval between two percentiles of bootstrap replicates.

    Plain percentiles are too narrow for few units. Given their number n, the probability left out on each
    side is therefore Phi(-sqrt(n / (n - 1)) t), t the Student quantile with n - 1 degrees of freedom: the
    expanded percentile interval (Hesterberg 2015, "What Teachers Should Know About the Bootstrap").

    Args:
        draws: bootstrap replicates of a score, (resamples,).
        level: the confidence level.
        units: how many units were drawn; for an average of independent groups the smallest number among them.
        score: the score itself; the interval is stretched to hold it.

    Returns:
        The lower and the upper end.

    Raises:
        ValueError: a replicate is not finite, or the level not between 0 and 1.
    """
    if not np.isfinite(draws).all():
        raise ValueError(f"replicate {int(np.argmin(np.isfinite(draws)))} is not finite")
    tail = _tail(level, units)
    # Percentile k / (resamples + 1) is the k-th smallest: the chance that a further replicate falls below it.
    places = np.array([tail, 1 - tail]) * (len(draws) + 1) - 1
    low, high = np.interp(places, np.arange(len(draws)), np.sort(draws)).tolist()
    return (low, high) if score is None else (min(low, score), max(high, score))


def wilson(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of n examples.

    (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n): holds its level for small n, never leaves 0..1.

    Args:
        share: the share p, 0..1.
        n: of how many examples.
        level: the confidence level.

    Returns:
        The lower and the upper end, 0..1.

    Raises:
        ValueError: the share is none, or there are no examples.
    """
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(f"a share must lie within 0..1 and n be at least 1, got {share} of {n}")
    z = -_NORMAL.inv_cdf(_tail(level, None))
    centre = share + z * z / (2 * n)
    margin = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    return max(0.0, min(share, (centre - margin) / scale)), min(1.0, max(share, (centre + margin) / scale))


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t for a probability of at least one half.

    Newton's method from the normal quantile. The distribution function is concave above 0 and the normal
    quantile lies below the root, so every step stays below it and the iteration cannot overshoot.
    """
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"no t quantile for probability {probability} and {freedom} degrees of freedom")
    t, step = _NORMAL.inv_cdf(probability), 1.0
    log_peak = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    while step > 1e-12 * (1 + t):
        density = np.exp(log_peak - (freedom + 1) / 2 * np.log1p(t * t / freedom))
        step = float((probability - _t_probability(t, freedom)) / density)
        t += step
    return t


def _t_probability(t: float, freedom: int) -> float:
    """P(T <= t) for whole degrees of freedom and t >= 0, as a finite sum (Abramowitz and Stegun 26.7.3-4)."""
    angle = np.arctan2(t, sqrt(freedom))
    sine, cosine = np.sin(angle), np.cos(angle)
    odd = freedom % 2
    index = np.arange(1, freedom // 2)
    ratios = (2 * index - 1 + odd) / (2 * index + odd) * cosine**2
    series = (1 + np.cumprod(ratios).sum()) * sine if freedom > 1 else 0.0
    within = 2 / pi * (angle + cosine * series) if odd else series
    return float((1 + within) / 2)


@lru_cache(maxsize=1024)
def _tail(level: float, units: int | None) -> float:
    """The probability left out on each side of an interval; 0, the whole range, for a single unit."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, got {level}")
    tail = (1 - level) / 2
    if units is None:
        return tail
    if units == 1:
        return 0.0
    return _NORMAL.cdf(-sqrt(units / (units - 1)) * t_quantile(1 - tail, units - 1))


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
