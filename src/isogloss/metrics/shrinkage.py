"""Empirical-Bayes estimates of scores by system and language, for cells with few examples.

Small test sets give extreme scores by chance: they fill lists of the worst languages and inflate inequality. The model
of one task is

    score = system mean + language effect + (system, language) effect + error

with normal effects of unknown variance and errors of known variance. Systems answer the same examples, so their errors
in a language are correlated. The mean of a language over systems and the deviations from it are estimated separately,
since they are independent of each other; each is a normal hierarchy, averaged over its unknown variance (Gelman et al.,
Bayesian Data Analysis, chapter 5), with a flat prior on the standard deviation.
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
# Standard deviations at which the hierarchy is evaluated, as shares of the largest.
_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, eq=False, kw_only=True)
class ShrunkScores:
    """Estimates of the true scores (systems, languages) and draws from their posterior distribution.

    Attributes:
        values: posterior means.
        low: lower ends of the 95 % intervals.
        high: upper ends.
        draws: draws (draws, systems, languages), without the error that all languages of a system share.
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray
    draws: FloatArray


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
    systems = len(values)
    rng = np.random.default_rng(seed)
    # Errors of one language are taken as equal in all systems: they have the same examples.
    own = np.maximum((noise**2).mean(axis=0) - shared, 0.0)
    common = values.mean(axis=0)
    level = _hierarchy(common[None], own * ((1 - correlation) / systems + correlation), 1, draws, rng)
    drawn = np.repeat(level.draws, systems, axis=1)
    means = np.repeat(level.means, systems, axis=0)
    if systems > 1:
        # Deviations of systems sum to 0: they have one dimension less.
        apart = _hierarchy(values - common, own * (1 - correlation), systems - 1, draws, rng)
        drawn = drawn + apart.draws - apart.draws.mean(axis=1, keepdims=True)
        means = means + apart.means
    low, high = np.quantile(
        drawn + np.sqrt(shared) * rng.standard_normal((draws, systems, 1)), ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0
    )
    return ShrunkScores(values=means, low=low, high=high, draws=drawn)


@dataclass(frozen=True, eq=False)
class _Posterior:
    means: FloatArray  # (rows, languages)
    draws: FloatArray  # (draws, rows, languages)


def _hierarchy(
    rows: FloatArray, noise: FloatArray, dimensions: int, draws: int, rng: np.random.Generator
) -> _Posterior:
    """Return the posterior of true values that vary around the mean of each row with one unknown variance.

    Args:
        rows: observed values (rows, languages).
        noise: variance of the errors by language.
        dimensions: number of independent rows, fewer than all if they sum to 0.
        draws: number of draws.
        rng: source of random numbers.
    """
    count = rows.shape[1]
    observed = float(((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum()) / (dimensions * (count - 1))
    # Twice the observed standard deviation, and more for few languages, holds nearly all of the posterior.
    variances = (_GRID * np.sqrt(observed) * (2 + 8 / (dimensions * (count - 1)))) ** 2
    total = variances[:, None] + np.maximum(noise, 1e-12 * max(observed, 1e-12))  # (grid, languages)
    precision = (1 / total).sum(axis=1)
    centres = (rows @ (1 / total).T / precision).T  # (grid, rows)
    residual = ((rows - centres[..., None]) ** 2 / total[:, None]).sum(axis=(1, 2))
    logs = -0.5 * (dimensions * (np.log(total).sum(axis=1) + np.log(precision)) + residual)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    kept = variances[:, None] / total  # share of a value's deviation that is real
    means = np.einsum("g,grl->rl", weights, centres[..., None] + kept[:, None] * (rows - centres[..., None]))
    point = rng.choice(len(variances), size=draws, p=weights)
    centre = centres[point] + rng.standard_normal((draws, len(rows))) / np.sqrt(precision[point])[:, None]
    deviation = np.sqrt(variances[point, None] * (1 - kept[point]))[:, None] * rng.standard_normal((draws, *rows.shape))
    drawn = centre[..., None] + kept[point][:, None] * (rows - centre[..., None]) + deviation
    return _Posterior(means, drawn)


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
