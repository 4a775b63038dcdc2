"""Tests of whether the order of systems would hold in similar languages, from scores alone.

Languages of a family resemble each other: a system that is good at Spanish is often good at Portuguese. So they are
not independent evidence, and a benchmark with many Indo-European languages says less about other families than its
number of languages suggests. How much families matter is unknown, and differs between systems: the test averages over
the values that fit the scores of two systems and, as one pair shows little, of the other systems of the ranking.

Nothing is random, so the page of a board computes the same p-values (site/web/statistics/language_tests.js).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma

import numpy as np
import numpy.typing as npt

from isogloss.figures import SMALLEST_P
from isogloss.metrics.estimate import ROUNDING
from isogloss.metrics.language_sample import group_numbers
from isogloss.metrics.statistics import FloatArray, IntArray

# Fewer languages do not show how much languages differ: no pair is tested then.
LEAST_LANGUAGES = 5
# Correlation of languages of a family: the share of the standard deviation within families takes ten equally likely
# values. Families matter in real scores (correlations of 0.4 to 0.7), so large values are as dense as small ones.
CORRELATIONS = tuple(1 - (step / 10) ** 2 for step in range(10, 0, -1))
# Maximum weight of the other systems, in pairs: families may matter more or less to the two systems tested.
_OTHER_PAIRS = 2.0
# Correlations with a smaller probability do not change a p-value.
_NEGLIGIBLE = 1e-12
# The continued fraction gains several digits per step.
_STEPS = 400
_BLOCK = 8192


def language_tests(
    figures: npt.ArrayLike, moves: npt.ArrayLike, weights: npt.ArrayLike, families: Sequence[str]
) -> FloatArray:
    """Return the p-value of every pair of systems, two-sided and uncorrected: (systems, systems), 1 on the diagonal.

    The difference of two systems varies over languages as much as their scores show, and languages of a family are
    correlated. Student's test, given the correlation, is averaged over `CORRELATIONS`, weighted by their likelihood
    (REML): that of the pair, and that of all systems, scaled to the same spread. Systems that vary alike count as
    fewer; their effective number follows from the eigenvalues of their correlation. Languages count as fewer, too, if
    some vary much more than others.

    Args:
        figures: figure of each of k systems.
        moves: (k, languages), how much each system's figure moves when a language is left out: the figure of all
            languages minus that of all others. NaN for systems without scores per language.
        weights: share of each language in the figure, summing to 1; languages without weight are ignored.
        families: family of each language. If all are of one family, the test is about languages of this family.

    Returns:
        p-values; NaN for systems without moves, and for all pairs with fewer than `LEAST_LANGUAGES` languages.
    """
    figures, moves, shares = (np.asarray(each, dtype=np.float64) for each in (figures, moves, weights))
    count = len(figures)
    p = np.full((count, count), np.nan)
    np.fill_diagonal(p, 1.0)
    counted = shares > 0
    tested = np.flatnonzero(~np.isnan(moves).any(axis=1)) if moves.size else np.zeros(0, dtype=np.int64)
    if int(counted.sum()) < LEAST_LANGUAGES or len(tested) < 2:
        return p
    shares = shares[counted] / shares[counted].sum()
    # Distance of each language from the mean: exact for weighted means, a first-order approximation for other figures.
    distances = moves[np.ix_(tested, counted)] * (1 - shares) / shares
    sample = _FamilySample.of(shares, [family for family, used in zip(families, counted, strict=True) if used])
    first, second = np.triu_indices(len(tested), 1)
    pairs = sample.pair_tests(figures[tested], distances, first, second)
    p[tested[first], tested[second]] = p[tested[second], tested[first]] = pairs
    return p


@dataclass(frozen=True, eq=False)
class _FamilySample:
    """A sample of languages with their weights, and the family of each as a number."""

    weights: FloatArray
    family: IntArray

    @classmethod
    def of(cls, weights: FloatArray, names: Sequence[str]) -> "_FamilySample":
        # Languages of one family are a sample of languages, not of families.
        return cls(weights, np.arange(len(names)) if len(set(names)) == 1 else group_numbers(names))

    @property
    def sizes(self) -> FloatArray:
        """Number of languages of each family."""
        return np.bincount(self.family).astype(np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums of languages by family, along the last axis."""
        totals: FloatArray = values @ (self.family[:, None] == np.arange(len(self.sizes)))
        return totals

    def pair_tests(self, figures: FloatArray, distances: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """Return the p-values of some pairs of systems."""
        centred = distances - distances.mean(axis=0)
        lengths = np.sqrt((centred**2).sum(axis=1, keepdims=True))
        scaled = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > ROUNDING)
        systems = self.effective_systems(scaled)
        languages = self.effective_languages(scaled, systems)
        spreads = np.array([self.pair_spreads(centred, correlation, first, second) for correlation in CORRELATIONS])
        apart = np.abs(figures[first] - figures[second])
        p = np.zeros(len(apart))
        for correlation, spread, share in zip(
            CORRELATIONS, spreads, self.probabilities(scaled, systems, spreads), strict=True
        ):
            error = np.sqrt(spread * self.variance(correlation))
            ratio = np.divide(apart, error, out=np.full_like(apart, np.inf), where=error > ROUNDING * (1 + apart))
            counted = share > _NEGLIGIBLE
            p[counted] += 2 * share[counted] * _t_tails(ratio[counted], self.freedom(correlation, languages))
        p[apart <= ROUNDING * (1 + np.abs(figures[first]))] = 1.0
        return np.clip(p, SMALLEST_P, 1.0)

    def pair_spreads(self, values: FloatArray, correlation: float, first: IntArray, second: IntArray) -> FloatArray:
        """Return the variance over languages of the difference of each pair."""
        covariance = self.covariance(values, correlation)
        own = np.diag(covariance)
        return np.maximum(own[first] + own[second] - 2 * covariance[first, second], 0.0)

    def effective_systems(self, scaled: FloatArray) -> float:
        """Return the number of independent systems that systems of the same spread are worth."""
        covariance = self.covariance(scaled, 0.0)
        return max(1.0, float(np.trace(covariance) ** 2 / max(float((covariance**2).sum()), ROUNDING**2)))

    def effective_languages(self, scaled: FloatArray, systems: float) -> float:
        """Return the effective number of languages: fewer if some vary much more than others, as in a worst ten.

        It follows from the fourth moment of the distances, that of normal variables if all languages vary alike.
        """
        squares = (scaled**2).sum(axis=0)
        share = float(squares.sum() ** 2 / max(float((squares**2).sum()), ROUNDING**2))
        return min(float(len(self.family)), max(2.0, (1 + 2 / systems) * share))

    def probabilities(self, scaled: FloatArray, systems: float, spreads: FloatArray) -> FloatArray:
        """Return the probability of each correlation for each pair, given its spreads: (correlations, pairs)."""
        traces = np.array([[np.trace(self.covariance(scaled, correlation))] for correlation in CORRELATIONS])
        others = min(systems - 1, _OTHER_PAIRS)
        logs = self._log_likelihoods(spreads) + others * self._log_likelihoods(traces)
        likelihoods = np.exp(logs - logs.max(axis=0))
        shares: FloatArray = likelihoods / likelihoods.sum(axis=0)
        return shares

    def _log_likelihoods(self, spreads: FloatArray) -> FloatArray:
        """Return the log likelihoods of correlations (REML) from the spreads they imply, (correlations, pairs)."""
        sizes, constants = self.sizes, []
        for correlation in CORRELATIONS:
            precisions = self._precisions(correlation)
            determinant = ((sizes - 1) * np.log(1 - correlation) + np.log(sizes / precisions)).sum()
            constants.append(determinant + np.log(precisions.sum()))
        logs: FloatArray = np.log(np.maximum(spreads, ROUNDING**2))
        return -(np.array(constants)[:, None] + (len(self.family) - 1) * logs) / 2

    def covariance(self, values: FloatArray, correlation: float) -> FloatArray:
        """Return the covariance of systems over languages, given the correlation within families.

        It is the generalised least squares estimate, from deviations within families and from the families' means.
        """
        sizes, ratio = self.sizes, self._precisions(correlation)
        means = self.sums(values) / sizes
        centre = means @ ratio / ratio.sum()
        within = (values - means[:, self.family]) / np.sqrt(1 - correlation)
        between = (means - centre[:, None]) * np.sqrt(ratio)
        products: FloatArray = within @ within.T + between @ between.T
        return products / (len(self.family) - 1)

    def _precisions(self, correlation: float) -> FloatArray:
        """Return the number of independent languages that each family is worth."""
        return self.sizes / (1 - correlation + self.sizes * correlation)

    def _parts(self, correlation: float) -> tuple[float, float]:
        """Return the variance of the weighted mean from single languages and from what families share."""
        alone = float((self.weights**2).sum())
        return alone, correlation * (float((self.sums(self.weights) ** 2).sum()) - alone)

    def variance(self, correlation: float) -> float:
        """Return the variance of the weighted mean, for languages with a variance of 1."""
        return sum(self._parts(correlation))

    def freedom(self, correlation: float, languages: float) -> float:
        """Return degrees of freedom between those of languages and families, by their parts in the standard error."""
        alone, shared = self._parts(correlation)
        errors = alone / np.sqrt(languages - 1) + shared / np.sqrt(len(self.sizes) - 1)
        return float(((alone + shared) / errors) ** 2)


def _t_tails(t: FloatArray, freedom: float) -> FloatArray:
    """Return P(T >= t) for many t >= 0: `student.t_tail` for arrays, since rankings have thousands of pairs."""
    x = freedom / (freedom + t * t)
    small = x <= (freedom / 2 + 1) / (freedom / 2 + 2.5)
    tails = np.empty_like(t)
    tails[small] = _beta_shares(x[small], freedom / 2, 0.5) / 2
    tails[~small] = (1 - _beta_shares(1 - x[~small], 0.5, freedom / 2)) / 2
    return tails


def _beta_shares(x: FloatArray, a: float, b: float) -> FloatArray:
    """Return the regularised incomplete beta function for x below its mean, block by block: blocks fit in the cache."""
    shares = np.empty_like(x)
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        shares[block] = _beta_block(x[block], a, b)
    return shares


def _beta_block(x: FloatArray, a: float, b: float) -> FloatArray:
    """Return `_beta_shares` of one block, by the continued fraction of `student.t_tail`."""
    value, inverse, ratio = np.ones_like(x), np.ones_like(x), np.full_like(x, np.inf)
    for step in range(1, _STEPS):
        half = step // 2
        weight = -(a + half) * (a + b + half) if step % 2 else half * (b - half)
        term = weight / ((a + step - 1) * (a + step)) * x
        inverse = 1 / (1 + term * inverse)
        ratio = 1 + term / ratio
        value *= ratio * inverse
        if (np.abs(ratio * inverse - 1) < 1e-15).all():
            break
    with np.errstate(divide="ignore"):  # x is 0 for an infinite t
        front = np.exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * np.log(x) + b * np.log1p(-x))
    shares: FloatArray = front * value / a
    return shares
