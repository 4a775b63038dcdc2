"""Empirical-Bayes estimates of scores by system and language, for cells with few examples.

Small test sets give extreme scores by chance: they fill lists of the worst languages and inflate inequality. The model
of one task is

    score = system mean + language effect + (system, language) effect + error

with normal effects and errors of known variance. Systems answer the same examples, so their errors in a language are
correlated. Language effects have one unknown variance; (system, language) effects have one for each system, since one
system may be even where another is not. All standard deviations have a flat prior (Gelman et al., Bayesian Data
Analysis, chapter 5). The posterior is drawn by Gibbs sampling: given what the systems have in common in each language,
every system is a normal hierarchy of its own.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import LEVEL

# Fewer languages do not show how much languages differ.
FEWEST_LANGUAGES = 5
# Assumed correlation of the errors of two systems on the same examples.
CORRELATION = 0.5
DRAWS = 2000
# Standard deviations at which a posterior is evaluated, as shares of the largest and densest near 0, with their widths.
_GRID = np.linspace(0.0, 1.0, 51) ** 2
_WIDTHS = np.gradient(_GRID)
# Independent chains of the sampler, and the steps before their draws count.
_CHAINS, _WARM_UP = 25, 50


@dataclass(frozen=True, eq=False, kw_only=True)
class ShrunkScores:
    """Estimates of the true scores (systems, languages) and draws from their posterior distribution.

    Attributes:
        values: posterior means.
        low: lower ends of the 95 % intervals.
        high: upper ends.
        draws: draws (draws, systems, languages), without the error that all languages of a system share.
        noise: mean variance of the errors of each system, without what all languages share.
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray
    draws: FloatArray
    noise: FloatArray


def shrink(
    scores: npt.ArrayLike,
    errors: npt.ArrayLike,
    *,
    shared: float = 0.0,
    correlation: float = CORRELATION,
    draws: int = DRAWS,
    seed: int = 0,
) -> ShrunkScores:
    """Estimate true scores from noisy ones.

    Args:
        scores: scores (systems, languages) of one task.
        errors: their standard errors.
        shared: variance of errors that all languages of a system have in common, as in parallel test sets.
        correlation: correlation of the errors of two systems in a language.
        draws: number of draws from the posterior distribution.
        seed: random seed; the same seed gives the same draws.

    Raises:
        ValueError: fewer than five languages, numbers that are not finite, or invalid errors or correlations.
    """
    values, noise = _checked(scores, errors, shared, correlation)
    # Sorted, so that estimates do not depend on the order of systems and languages.
    rows = np.lexsort(np.sort(values, axis=1).T)
    columns = np.lexsort(np.concatenate([noise[rows], values[rows]]))
    cells = np.ix_(rows, columns)
    rng = np.random.default_rng(seed)
    own = np.maximum(noise**2 - shared, 0.0)
    sampler = _Sampler(values[cells], _smoothed(own[cells]), correlation, rng)
    true, expected = sampler.draws(draws)
    drawn, means = np.empty_like(true), np.empty_like(values)
    drawn[:, rows[:, None], columns] = true
    means[cells] = expected
    low, high = np.quantile(
        drawn + np.sqrt(shared) * rng.standard_normal((draws, len(values), 1)),
        ((1 - LEVEL) / 2, (1 + LEVEL) / 2),
        axis=0,
    )
    return ShrunkScores(values=means, low=low, high=high, draws=drawn, noise=own.mean(axis=1))


def _smoothed(variances: FloatArray) -> FloatArray:
    """Return variances as products of a system's and a language's.

    The variance of a share depends on the share: a score that is low by chance would have a larger error than one that
    is high by chance, and noise would look like inequality.
    """
    total = float(variances.mean())
    products = variances.mean(axis=1, keepdims=True) * variances.mean(axis=0)
    return products / total if total else variances


class _Sampler:
    """Gibbs sampler with several chains at once, as the first axis of all draws.

    The error of a score is `loading` times the luck of its language, which all systems have in common, plus an error
    of its own with the variance `alone`.
    """

    def __init__(self, scores: FloatArray, noise: FloatArray, correlation: float, rng: np.random.Generator) -> None:
        self.rng = rng
        self.systems, self.languages = scores.shape
        self.levels = scores.mean(axis=1, keepdims=True)
        self.scores = scores - self.levels  # around 0, for precise sums of squares
        if self.systems == 1:
            correlation = 0.0
        spread = scores.var(axis=1, ddof=1) + noise.mean(axis=1)
        spread = np.maximum(spread, max(1e-6 * float(spread.max()), 1e-12))
        self.alone = np.maximum((1 - correlation) * noise, 1e-10 * spread[:, None])
        self.loading = np.sqrt(correlation * noise)
        # Twice the standard deviation, and more for few languages, holds nearly all of the posterior.
        largest = 2 + 8 / (self.languages - 1)
        self.grids = (largest * np.sqrt(spread)[:, None] * _GRID) ** 2  # variances (systems, grid)
        self.language_grid = (largest * np.sqrt(spread.max()) * _GRID[1:]) ** 2
        total = self.grids[..., None] + self.alone[:, None]  # (systems, grid, languages)
        self.inverse = 1 / total
        self.precision = self.inverse.sum(axis=2)
        self.prior = np.log(_WIDTHS) - 0.5 * (np.log(total).sum(axis=2) + np.log(self.precision))

    def draws(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return draws of the true scores (draws, systems, languages), and their expectation."""
        single = self.systems == 1
        chains, warm_up = (count, 0) if single else (min(_CHAINS, count), _WARM_UP)
        effects = luck = np.zeros((chains, self.languages))
        if not single:  # chains start from language effects of different size
            effects = self.rng.random((chains, 1)) * self.scores.mean(axis=0)
        true, expected = [], []
        for step in range(warm_up + -(-count // chains)):
            variances, means = self._systems_step(effects, luck)
            if step >= warm_up:
                drawn, mean = self._true_scores(variances, means, effects, luck)
                true.append(drawn)
                expected.append(mean.mean(axis=0))
            if not single:
                effects, luck = self._languages_step(variances, means)
        return np.concatenate(true)[:count], np.mean(expected, axis=0)

    def _systems_step(self, effects: FloatArray, luck: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Draw the variance of every system's own effects and its mean, given what systems have in common."""
        rest = self._rest(effects, luck)
        centres = np.einsum("csl,sgl->csg", rest, self.inverse, optimize=True) / self.precision
        squares = np.einsum("csl,sgl->csg", rest**2, self.inverse, optimize=True)
        point = self._chosen(self.prior - 0.5 * (squares - centres**2 * self.precision))
        system = np.arange(self.systems)
        centre = np.take_along_axis(centres, point[..., None], axis=2)[..., 0]
        noise = self.rng.standard_normal(centre.shape) / np.sqrt(self.precision[system, point])
        return self.grids[system, point], centre + noise

    def _languages_step(self, variances: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Draw the effect and the luck of every language, given the variances and means of all systems.

        Both are normal with a precision matrix of two rows; the variance of the effects is drawn first, without them.
        """
        weights = 1 / (variances[..., None] + self.alone)
        loaded = weights * self.loading
        rest = self.scores - means[..., None]
        first, mixed = weights.sum(axis=1), loaded.sum(axis=1)  # (chains, languages)
        second = 1 + (loaded * self.loading).sum(axis=1)
        pull, lucky_pull = (weights * rest).sum(axis=1), (loaded * rest).sum(axis=1)
        grid = self.language_grid[:, None, None]
        determinant = (1 / grid + first) * second - mixed**2  # (grid, chains, languages)
        explained = second * pull**2 - 2 * mixed * pull * lucky_pull + (1 / grid + first) * lucky_pull**2
        logs = 0.5 * (explained / determinant - np.log(grid * determinant)).sum(axis=2).T
        variance = self.language_grid[self._chosen(logs + np.log(_WIDTHS[1:]))][:, None]
        determinant = (1 / variance + first) * second - mixed**2
        normal = self.rng.standard_normal((2, *pull.shape))
        effects = (second * pull - mixed * lucky_pull) / determinant + np.sqrt(second / determinant) * normal[0]
        luck = (lucky_pull - mixed * effects) / second + normal[1] / np.sqrt(second)
        # Means of systems and effects can move against each other: a draw of this movement speeds up the chains.
        shift = np.sqrt(variance / self.languages) * self.rng.standard_normal(variance.shape)
        return effects - effects.mean(axis=1, keepdims=True) + shift, luck

    def _true_scores(
        self, variances: FloatArray, means: FloatArray, effects: FloatArray, luck: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the true scores, and return their expectation given everything else."""
        kept = variances[..., None] / (variances[..., None] + self.alone)  # share of a deviation that is real
        level = means[..., None]
        expected = self.levels + level + effects[:, None] + kept * (self._rest(effects, luck) - level)
        return expected + np.sqrt(kept * self.alone) * self.rng.standard_normal(kept.shape), expected

    def _rest(self, effects: FloatArray, luck: FloatArray) -> FloatArray:
        rest: FloatArray = self.scores - effects[:, None] - self.loading * luck[:, None]
        return rest

    def _chosen(self, logs: FloatArray) -> npt.NDArray[np.int64]:
        """Draw a point of the grid, the last axis, from the logarithms of its densities."""
        shares = np.cumsum(np.exp(logs - logs.max(axis=-1, keepdims=True)), axis=-1)
        threshold = self.rng.random((*logs.shape[:-1], 1)) * shares[..., -1:]
        points: npt.NDArray[np.int64] = (shares < threshold).sum(axis=-1)
        return points


def _checked(
    scores: npt.ArrayLike, errors: npt.ArrayLike, shared: float, correlation: float
) -> tuple[FloatArray, FloatArray]:
    values, noise = np.asarray(scores, np.float64), np.asarray(errors, np.float64)
    if values.ndim != 2 or values.shape != noise.shape or not len(values):
        raise ValueError(f"expected scores and errors (systems, languages), got {values.shape} and {noise.shape}")
    if values.shape[1] < FEWEST_LANGUAGES:
        raise ValueError(f"shrinkage needs {FEWEST_LANGUAGES} languages, got {values.shape[1]}")
    if not np.isfinite(values).all() or not np.isfinite(noise).all() or (noise < 0).any():
        raise ValueError("scores and errors must be finite, and errors not negative")
    if not 0 <= correlation < 1 or shared < 0:
        raise ValueError(f"correlation must be within 0..1 and shared at least 0, got {correlation} and {shared}")
    return values, noise
