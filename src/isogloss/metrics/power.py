"""Power of the tests of two systems: the chance that a true difference becomes significant.

A test divides the difference by its estimated error. With two or three seeds, that error and its degrees of freedom
vary widely from study to study, so power is an average over what they may turn out to be. For a single estimated
variance this is the noncentral t distribution; `isogloss.metrics.estimate.Estimate` pools several.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import erfc, inf, isfinite, lgamma, log, sqrt

import numpy as np

from isogloss.metrics.estimate import ROUNDING
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import normal_quantile, t_quantile

# Equally likely outcomes of the estimated variances.
_OUTCOMES = 512
# From here on, Wilson and Hilferty's approximation of chi-squared is accurate to four digits.
_MANY = 40


@dataclass(frozen=True)
class VariancePart:
    """Part of the variance of a difference, with the degrees of freedom of its estimate; infinite if it is known.

    Parts of one factor, such as the seeds of both systems, are pooled; "" is that of the examples.
    """

    variance: float
    freedom: float
    factor: str = ""


@dataclass(frozen=True, eq=False)
class PlannedTest:
    """A two-sided test: the standard error of the difference, and equally likely thresholds of significance."""

    error: float
    thresholds: FloatArray

    def power(self, difference: float) -> float:
        """Return the chance that a true difference becomes significant."""
        if not self.error:
            return float(np.mean(self.thresholds < abs(difference)))
        scale = self.error * sqrt(2)
        tails = [erfc((limit - difference) / scale) + erfc((limit + difference) / scale) for limit in self._finite]
        return sum(tails) / (2 * len(self.thresholds))

    @cached_property
    def _finite(self) -> list[float]:
        return [limit for limit in self.thresholds.tolist() if isfinite(limit)]

    def detectable(self, power: float) -> float:
        """Return the smallest difference that is detected with this power; infinite if there is none."""
        if not self.error:
            return float(np.quantile(self.thresholds, power))
        low, high = 0.0, max(self.error, min(self._finite, default=0.0))
        if len(self._finite) < power * len(self.thresholds):
            return inf
        while self.power(high) < power:
            low, high = high, 2 * high
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.power(middle) < power else (low, middle)
        return high


def t_test(parts: Sequence[VariancePart], alpha: float, further: float = 0.0) -> PlannedTest:
    """Return the t test of a difference with several estimated parts of variance, as `Estimate.t_test` makes it.

    `further` is added to the estimated variance, as the test does, but not to the true one.
    """
    used = [part for part in parts if part.variance > ROUNDING**2]
    error = sqrt(sum(part.variance for part in used))
    if not used or any(part.freedom <= 0 for part in used):
        return PlannedTest(error, np.full(1, inf if used else 0.0))
    drawn = _variance_ratios(tuple(part.freedom for part in used)) * np.array([[part.variance] for part in used])
    total = drawn.sum(axis=0)
    inverse = np.zeros(drawn.shape[1])
    for factor in dict.fromkeys(part.factor for part in used):
        rows = [row for row, part in enumerate(used) if part.factor == factor]
        pooled = drawn[rows].sum(axis=0)
        squares = sum(drawn[row] ** 2 / used[row].freedom for row in rows)
        inverse += squares / (pooled * total)
    return PlannedTest(error, _t_quantiles(1 - alpha / 2, inverse) * np.sqrt(total + further))


def exchange_test(variance: float, freedom: float, alpha: float, weight: float, step: float = 0.0) -> PlannedTest:
    """Return the exchange test of single runs (`isogloss.metrics.exchange.Exchange`).

    It measures the error by the contributions of sources around zero instead of their mean, which adds the square of
    the difference times `weight`, the sum of squared weights of sources. `step` is half the distance of possible
    differences, which an exact test cannot use.
    """
    quantile = normal_quantile(1 - alpha / 2)
    room = 1 - quantile**2 * weight
    if room <= 0:
        return PlannedTest(sqrt(variance), np.full(1, inf))
    ratios = _variance_ratios((freedom,))[0]
    return PlannedTest(sqrt(variance), quantile * np.sqrt(variance * ratios / room) + step)


@lru_cache(maxsize=256)
def _variance_ratios(freedoms: tuple[float, ...]) -> FloatArray:
    """Return equally likely ratios of estimated to true variances: one row per part."""
    rows = zip(*_outcomes(len(freedoms)), freedoms, strict=True)
    return np.stack([_variance_quantiles(shares, scores, freedom) for shares, scores, freedom in rows])


@lru_cache(maxsize=8)
def _outcomes(dimensions: int) -> tuple[FloatArray, FloatArray]:
    """Return evenly spread points in the unit cube, as shares and as quantiles of the normal distribution.

    This is a Kronecker sequence of powers of the generalised golden ratio.
    """
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1, dimensions + 1)
    shares: FloatArray = np.clip((0.5 + steps[:, None] * np.arange(_OUTCOMES)) % 1, 1e-6, 1 - 1e-6)
    return shares, np.vectorize(normal_quantile)(shares)


def largest_variance(freedom: float, confidence: float) -> float:
    """Return the upper confidence limit of a variance, relative to its estimate."""
    share = np.array([1 - confidence])
    return 1 / float(_variance_quantiles(share, np.array([normal_quantile(1 - confidence)]), freedom)[0])


def _variance_quantiles(shares: FloatArray, scores: FloatArray, freedom: float) -> FloatArray:
    """Return quantiles of chi-squared divided by its degrees of freedom; `scores` are those of the normal."""
    if not isfinite(freedom):
        return np.ones(len(shares))
    if freedom > _MANY:
        scale = 2 / (9 * freedom)
        return np.asarray((1 - scale + scores * sqrt(scale)) ** 3)
    # Density of chi, integrated by the trapezoidal rule, densest near zero.
    chi = np.linspace(0, 1, 4001)[1:] ** 2 * (sqrt(freedom) + 8)
    density = np.exp((freedom - 1) * np.log(chi) - chi**2 / 2 - (freedom / 2 - 1) * log(2) - lgamma(freedom / 2))
    first = float(density[0] * chi[0] / freedom)  # the density is a power of chi near zero
    steps = np.diff(chi) * (density[1:] + density[:-1]) / 2
    distribution = np.concatenate([[first], first + np.cumsum(steps)])
    quantiles: FloatArray = np.interp(shares, distribution / distribution[-1], chi) ** 2
    return quantiles / freedom


def _t_quantiles(probability: float, inverse_freedoms: FloatArray) -> FloatArray:
    """Return quantiles of t for many degrees of freedom, given as 1 / freedom within 0..1."""
    grid, logarithms = _t_table(probability)
    return np.exp(np.interp(inverse_freedoms, grid, logarithms))


@lru_cache(maxsize=32)
def _t_table(probability: float) -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(0, 1, 161)
    quantiles = [normal_quantile(probability), *(t_quantile(probability, 1 / share) for share in grid[1:].tolist())]
    return grid, np.log(quantiles)
