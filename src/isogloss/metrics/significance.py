"""Is the difference real: tests between two systems scored on the same examples.

Every p-value is two-sided. Resampled p-values are (r + 1) / (resamples + 1), r being how many resamples are
at least as extreme as the data: never 0, so a family of m tests at 0.05 under Holm's correction needs more
than 20 m resamples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from isogloss.metrics.intervals import ROUNDING, percentile_interval
from isogloss.metrics.resampling import Seed, block_sizes, collapse, resampled_sums, unit_table, weighted_sums
from isogloss.metrics.statistics import MEAN, FloatArray, Statistics

# Differences with a smaller p-value are called significant.
ALPHA = 0.05
# Measured: one binomial draw (about 40 ns) costs as much as drawing and summing 50 random bits.
BINOMIAL_COST = 50


@dataclass(frozen=True)
class Difference:
    """How much better one system is than another.

    Attributes:
        difference: score of the first minus score of the second.
        low: lower end of its interval.
        high: upper end of its interval.
        p: the two-sided p-value of no difference.
    """

    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    a: Statistics, b: Statistics, resamples: int = 1000, seed: Seed = 0, level: float = 0.95
) -> Difference:
    """The difference score(a) - score(b) under the same draws of units for both systems.

    The interval is the expanded percentile interval; the p-value is that of `paired`.

    Args:
        a: the rows of one system.
        b: those of the other, of the same metric over the same units in the same order.
        resamples: how many times the units are drawn again.
        seed: the same seed gives the same answer.
        level: the confidence level of the interval.

    Raises:
        ValueError: the two cannot be paired, or there is nothing to resample.
    """
    _check_aligned(a, b)
    table_a, table_b = unit_table(a), unit_table(b)
    columns = a.rows.shape[1]
    sums = resampled_sums(np.concatenate([table_a[:, :-1], table_b], axis=1), resamples, seed)
    count = sums[:, -1]
    replicates_a = a.value(sums[:, :columns], count)
    replicates_b = b.value(sums[:, columns:-1], count)
    return paired(replicates_a, replicates_b, a.score - b.score, level, units=len(table_a))


def paired(
    replicates_a: FloatArray,
    replicates_b: FloatArray,
    observed: float,
    level: float = 0.95,
    units: int | None = None,
) -> Difference:
    """The difference of two systems from replicates drawn with the same weights.

    `joint_replicates` of the same units with the same seed gives both systems the same weights, so their
    columns, and any averages of them, can be subtracted draw by draw. The null distribution is that of the
    replicates moved to have no difference: p counts |replicate - observed| >= |observed| (Efron and
    Tibshirani 1993, section 16.4).

    Args:
        replicates_a: bootstrap scores of one system, (resamples,).
        replicates_b: those of the other, in the same order of draws.
        observed: score of the first minus score of the second.
        level: the confidence level of the interval.
        units: how many units were drawn, as in `percentile_interval`.

    Raises:
        ValueError: the replicates differ in number, or one is not finite.
    """
    if replicates_a.shape != replicates_b.shape:
        raise ValueError(f"paired replicates differ in shape: {replicates_a.shape} and {replicates_b.shape}")
    differences = replicates_a - replicates_b
    low, high = percentile_interval(differences, level, units, score=observed)
    return Difference(observed, low, high, _resampled_p(differences - observed, observed))


def approximate_randomisation(a: Statistics, b: Statistics, trials: int = 1000, seed: Seed = 0) -> float:
    """The p-value of exchanging the two systems' rows of each unit with probability 1/2 (Noreen 1989).

    Exchanging the rows of a unit moves its row difference from one system's sums to the other's, so only
    the number of exchanges of each distinct difference matters, and that is binomial.

    Args:
        a: the rows of one system.
        b: those of the other, of the same metric over the same units in the same order.
        trials: how many times all units are exchanged at random.
        seed: the same seed gives the same answer.

    Returns:
        The two-sided p-value, at least 1 / (trials + 1).

    Raises:
        ValueError: the two cannot be paired.
    """
    _check_aligned(a, b)
    moves = unit_table(b)[:, :-1] - unit_table(a)[:, :-1]
    moves = moves[moves.any(axis=1)]
    if not len(moves):
        return 1.0
    moved = _moved_sums(moves, trials, seed)
    differences = a.value(a.sums + moved, len(a)) - b.value(b.sums - moved, len(b))
    return _resampled_p(differences, a.score - b.score)


def mcnemar(a: Statistics, b: Statistics, *, mid_p: bool = False) -> float:
    """The exact McNemar test of two systems' 0/1 rows.

    Of the examples that exactly one system gets right, each falls to either with probability 1/2 if the
    systems are equally good: p = 2 P(X <= min(only a, only b)), X ~ Binomial(only a + only b, 1/2), at most
    1. The mid-p variant counts the observed outcome half: less conservative, and still close to its level.

    Args:
        a: the 0/1 rows of one system.
        b: those of the other, on the same examples.
        mid_p: take the mid-p variant.

    Returns:
        The two-sided p-value.

    Raises:
        ValueError: rows are not 0/1, share units, or cannot be paired.
    """
    _check_aligned(a, b)
    if a.value != MEAN or not np.isin([a.rows, b.rows], (0, 1)).all():
        raise ValueError("McNemar's test is for 0/1 rows; use paired_bootstrap for other scores")
    if a.units is not None and len(np.unique(a.units)) < len(a):
        raise ValueError("McNemar's test needs independent rows; use paired_bootstrap where they share units")
    only_a, only_b = int((a.rows > b.rows).sum()), int((a.rows < b.rows).sum())
    total, fewer = only_a + only_b, min(only_a, only_b)
    drawn = np.arange(fewer)
    steps = np.log((total - drawn) / (drawn + 1))
    probabilities = np.exp(np.concatenate([[0.0], np.cumsum(steps)]) - total * log(2))
    below = float(probabilities.sum())
    if mid_p:
        below -= float(probabilities[-1]) / 2
    return min(1.0, 2 * below)


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's step-down correction of the p-values of a family of tests.

    The i-th smallest of m is multiplied by m - i + 1, kept at least as large as the one before and at most
    1. Calling those below 0.05 significant keeps the chance of any false alarm below 0.05, however the
    tests depend on each other.

    Args:
        p_values: one p-value per test.

    Returns:
        The adjusted p-values, in the order given.

    Raises:
        ValueError: one is not within 0..1.
    """
    given = np.asarray(p_values, dtype=np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("p-values must be a list of numbers within 0..1")
    order = np.argsort(given, kind="stable")
    stepped = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _moved_sums(moves: FloatArray, trials: int, seed: Seed) -> FloatArray:
    """Sums (trials, k) of the rows of a table, each taken with probability 1/2."""
    rng = np.random.default_rng(seed)
    rows, counts = collapse(moves)
    blocks: Iterator[FloatArray]
    if BINOMIAL_COST * len(rows) <= len(moves):
        sizes = block_sizes(len(rows), trials)
        blocks = (rng.binomial(counts, 0.5, (size, len(counts))).astype(np.float64) for size in sizes)
    else:
        rows = np.repeat(rows, counts, axis=0)
        blocks = (_coins(rng, size, len(moves)) for size in block_sizes(len(rows), trials))
    return weighted_sums(blocks, rows)


def _coins(rng: np.random.Generator, size: int, width: int) -> FloatArray:
    """Fair coins, shape (size, width), as 0.0 and 1.0."""
    drawn = rng.integers(256, size=(size, -(-width // 8)), dtype=np.uint8)
    return np.unpackbits(drawn, axis=1, count=width).astype(np.float64)


def _resampled_p(null: FloatArray, observed: float) -> float:
    """The share of null differences at least as large as the observed one, itself counted in."""
    extreme = int((np.abs(null) >= abs(observed) - ROUNDING).sum())
    return (extreme + 1) / (len(null) + 1)


def _check_aligned(a: Statistics, b: Statistics) -> None:
    """Two systems can be paired only if their rows are of one metric over the same units."""
    if a.value != b.value or a.rows.shape != b.rows.shape:
        raise ValueError(f"cannot pair {a.value.name} {a.rows.shape} with {b.value.name} {b.rows.shape}")
    if a.units is b.units:
        return
    if a.units is None or b.units is None or not np.array_equal(a.units, b.units):
        raise ValueError("cannot pair statistics whose rows belong to different units")
