"""Power of the tests of two systems: the chance that a true difference becomes significant.

A test divides the difference by its estimated error. With two or three seeds, that error and its degrees of freedom
vary widely from study to study, so power is an average over what they may turn out to be. For a single estimated
variance this is the noncentral t distribution; several are pooled as `isogloss.metrics.estimate.Estimate` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf, isfinite, lgamma, log, sqrt

import numpy as np

from isogloss.metrics.estimate import ROUNDING
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import normal_quantile, t_quantile
from isogloss.metrics.variance_components import MeanSquare, pooled

# Equally likely outcomes of the estimated variances.
_OUTCOMES = 512
# From here on, Wilson and Hilferty's approximation of chi-squared is accurate to four digits.
_MANY = 40


@dataclass(frozen=True, eq=False)
class PlannedTest:
    """A two-sided test: the standard error of the difference, and equally likely thresholds of significance."""

    error: float
    thresholds: FloatArray

    def power(self, difference: float) -> float:
        """Return the chance that a true difference becomes significant."""
        if not self.error:
            return float(np.mean(self.thresholds < abs(difference)))
        tails = _normal_tails((self._finite - difference) / self.error) + _normal_tails(
            (self._finite + difference) / self.error
        )
        return float(tails.sum()) / len(self.thresholds)

    @cached_property
    def _finite(self) -> FloatArray:
        return self.thresholds[np.isfinite(self.thresholds)]

    def detectable(self, power: float, *, is_share: bool = True) -> float | None:
        """Return the smallest difference that is detected with this power, or None if there is none.

        Differences of shares are at most 1.
        """
        largest = 1.0 if is_share else inf
        if not self.error:
            difference = float(np.quantile(self.thresholds, power))
        elif len(self._finite) < power * len(self.thresholds) or (is_share and self.power(largest) < power):
            return None
        else:
            difference = self._smallest(power)
        return difference if isfinite(difference) and difference <= largest else None

    def _smallest(self, power: float) -> float:
        # With equal thresholds, this is the result.
        likely = max(self.error, float(np.median(self._finite)) + self.error * normal_quantile(power))
        low, high = 0.98 * likely, 1.02 * likely
        if self.power(low) >= power:
            low, high = 0.0, low
        while self.power(high) < power:
            low, high = high, 2 * high
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.power(middle) < power else (low, middle)
        return high


def _normal_tails(z: FloatArray) -> FloatArray:
    """Return P(Z >= z) of the normal distribution within 1e-7 (Abramowitz and Stegun 1964, 7.1.26), for arrays."""
    size = np.abs(z) / sqrt(2)
    t = 1 / (1 + 0.3275911 * size)
    powers = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    upper = powers * np.exp(-(size**2)) / 2
    return np.where(z < 0, 1 - upper, upper)


def t_test(parts: Sequence[MeanSquare], alpha: float, further: float = 0.0) -> PlannedTest:
    """Return the t test of a difference with several estimated mean squares, as `Estimate.t_test` makes it.

    `further` is added to the estimated variance, as the test does, but not to the true one.
    """
    used = [part for part in parts if part.variance > ROUNDING**2]
    error = sqrt(pooled(used)[0]) if used else 0.0
    if not used or any(part.freedom <= 0 for part in used):
        return PlannedTest(error, np.full(1, inf if used else 0.0))
    ratios = _variance_ratios(tuple(part.freedom for part in used))
    drawn = [replace(part, variance=part.variance * row) for part, row in zip(used, ratios, strict=True)]
    total, inverse = pooled(drawn)
    return PlannedTest(error, _t_quantiles(1 - alpha / 2, inverse) * np.sqrt(total + further))


def exchange_test(
    variance: float, freedom: float, alpha: float, weight: float, step: float = 0.0, further: float = 0.0
) -> PlannedTest:
    """Return the exchange test of single runs (`isogloss.metrics.exchange.Exchange`).

    It measures the error by the contributions of sources around zero instead of their mean, which adds the square of
    the difference times `weight`, the sum of squared weights of sources. `step` is half the distance of possible
    differences, which an exact test cannot use. The variance is at least that of two `further` examples, as of two
    systems that give the same answers to all examples at hand.
    """
    quantile, variance = normal_quantile(1 - alpha / 2), max(variance, further)
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
