"""Spread of runs and directional agreement of dev and test scores over runs (Keung et al. 2020, Tables 2 and 3).

All pairs of checkpoints of a run with test scores at least half a point apart are counted; the paper samples from them.
Pairs with equal dev scores count half, so that unrelated scores agree in half of the pairs, however coarse they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from isogloss.metrics.estimate import ROUNDING, Interval, wilson_interval
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.metrics.student import ALPHA, LEVEL, t_quantile

# Agreement of unrelated scores.
CHANCE = 0.5
# Minimum change of a test score, in points.
SMALLEST_MOVE = 0.5
# Fewer runs do not show how runs differ. A jackknife over the dependent checkpoints of a run cannot replace runs: its
# intervals covered the truth in only 40 to 50 % of simulated random walks.
FEWEST_SEEDS = 3
# The paper's rule of thumb for test sets of 4,000 (MLDoc) and 5,010 (XNLI) examples.
LARGE_SPREAD = 2.5
# Maximum test set size for the exact test.
MOST_EXAMPLES = 10**6


@dataclass(frozen=True)
class RunSpread:
    """Smallest and largest score of several runs.

    Attributes:
        p: p-value of the difference between the two as shares of n examples; None if n is unknown.
        p_any: the same with Bonferroni correction for all pairs of runs.
    """

    smallest: float
    largest: float
    p: float | None = None
    p_any: float | None = None

    @property
    def spread(self) -> float:
        """Largest minus smallest score."""
        return self.largest - self.smallest

    @property
    def large(self) -> bool:
        """True if the spread is at least the paper's 2.5 points."""
        return self.spread >= LARGE_SPREAD - ROUNDING * 100

    @property
    def significant(self) -> bool | None:
        """True if the paper's test is significant; None without a test."""
        return None if self.p is None else self.p < ALPHA


def run_spread(scores: FloatArray, n: int = 0) -> RunSpread:
    """Return the spread of the scores of runs, 0..100, on the same n examples (0 if unknown)."""
    low, high = float(scores.min()), float(scores.max())
    if not n or len(scores) < 2:
        return RunSpread(low, high)
    p = two_proportions(round(low / 100 * n), n, round(high / 100 * n), n)
    return RunSpread(low, high, p, min(1.0, p * len(scores) * (len(scores) - 1) / 2))


def two_proportions(right: int, n: int, other_right: int, other_n: int) -> float:
    """Return the two-sided p-value of Fisher's exact test: right of n against other_right of other_n.

    This is the total probability of all tables with the same margins that are at most as likely as the observed one.

    Raises:
        ValueError: a count is not within 0..n.
    """
    if not (0 <= right <= n and 0 <= other_right <= other_n):
        raise ValueError(f"{right} of {n} and {other_right} of {other_n} are not valid counts")
    both, total = right + other_right, n + other_n
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])

    def log_choose(total: int, chosen: IntArray) -> FloatArray:
        logarithm: FloatArray = factorials[total] - factorials[chosen] - factorials[total - chosen]
        return logarithm

    here = np.arange(max(0, both - other_n), min(n, both) + 1, dtype=np.int64)
    of_all = log_choose(total, np.array([both], dtype=np.int64))
    chances = np.exp(log_choose(n, here) + log_choose(other_n, both - here) - of_all)
    observed = chances[right - here[0]]
    return min(1.0, float(chances[chances <= observed * (1 + 1e-7)].sum()))


def interval_over_runs(values: FloatArray) -> Interval | None:
    """Return Student's 95 % interval of the mean over runs, or None for fewer than three or equal runs."""
    count = len(values)
    if count < 3 or not (error := float(values.std(ddof=1)) / sqrt(count)) > ROUNDING:
        return None
    margin = t_quantile((1 + LEVEL) / 2, count - 1) * error
    return float(values.mean()) - margin, float(values.mean()) + margin


@dataclass(frozen=True)
class PairCounts:
    """Counts of checkpoint pairs of one run.

    Attributes:
        pairs: pairs with a sufficient change of the test score.
        agreeing: pairs in which dev and test move the same way; equal dev scores count half.
        equal: pairs with equal dev scores.
    """

    pairs: int
    agreeing: float
    equal: int


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionalAgreement:
    """Share of pairs in which dev and test move the same way.

    Attributes:
        share: share of pairs, 0..1.
        pairs: number of pairs.
        equal: number of pairs with equal dev scores.
        without: share without each run, NaN if no pair is left.
    """

    share: float
    pairs: int
    equal: int
    without: FloatArray

    @property
    def interval(self) -> Interval | None:
        """95 % interval; None for fewer than three runs.

        Pairs share checkpoints, so they are dependent. The interval is Wilson's with Student's quantile, with an
        effective number of pairs from the jackknife over runs.
        """
        runs = len(self.without)
        if runs < FEWEST_SEEDS or not np.isfinite(self.without).all():
            return None
        variance, between = jackknife_variance(self.without), 0 < self.share < 1
        effective = self.share * (1 - self.share) / variance if variance > ROUNDING**2 and between else float(runs)
        return wilson_interval(self.share, effective, t_quantile((1 + LEVEL) / 2, runs - 1))


def count_pairs(dev: FloatArray, test: FloatArray, smallest_move: float = SMALLEST_MOVE) -> PairCounts:
    """Count the checkpoint pairs of one run; scores are in order, NaN where a checkpoint was not evaluated."""
    evaluated = np.isfinite(dev) & np.isfinite(test)
    dev, test = dev[evaluated], test[evaluated]
    # Allow for rounding in scores exactly half a point apart.
    moves = np.subtract.outer(test, test)
    enough = np.abs(moves) >= smallest_move - ROUNDING * 100
    dev_moves = np.subtract.outer(dev, dev)
    equal = enough & (np.abs(dev_moves) < ROUNDING * 100)
    same = enough & ~equal & (np.sign(dev_moves) == np.sign(moves))
    # Every pair is counted twice.
    return PairCounts(int(enough.sum()) // 2, float(same.sum() + equal.sum() / 2) / 2, int(equal.sum()) // 2)


def agreement(counts: Sequence[PairCounts]) -> DirectionalAgreement | None:
    """Return the agreement over the pairs of all runs, or None if no test score moved enough."""
    by_run = np.array([[run.pairs, run.agreeing] for run in counts], dtype=np.float64).reshape(-1, 2)
    pairs, agreeing = by_run.sum(axis=0)
    if not pairs:
        return None
    left = np.array([pairs, agreeing]) - by_run
    without = np.divide(left[:, 1], left[:, 0], out=np.full(len(left), np.nan), where=left[:, 0] > 0)
    equal = sum(run.equal for run in counts)
    return DirectionalAgreement(share=float(agreeing / pairs), pairs=int(pairs), equal=equal, without=without)


def mean_agreement(agreements: Sequence[DirectionalAgreement]) -> DirectionalAgreement | None:
    """Return the mean over languages of the same runs, with a jackknife interval; None without languages."""
    if not agreements:
        return None
    without = np.mean([language.without for language in agreements], axis=0)
    share = float(np.mean([language.share for language in agreements]))
    pairs, equal = (sum(counts) for counts in zip(*((each.pairs, each.equal) for each in agreements), strict=True))
    return DirectionalAgreement(share=share, pairs=pairs, equal=equal, without=without)


def difference_interval(first: DirectionalAgreement, second: DirectionalAgreement) -> Interval | None:
    """Return the 95 % interval of the first share minus the second, by the jackknife over the same runs."""
    without = first.without - second.without
    if len(without) < FEWEST_SEEDS or not np.isfinite(without).all():
        return None
    margin = t_quantile((1 + LEVEL) / 2, len(without) - 1) * sqrt(jackknife_variance(without))
    difference = first.share - second.share
    return max(-1.0, difference - margin), min(1.0, difference + margin)


def jackknife_variance(without: FloatArray) -> float:
    """Return the jackknife variance from the leave-one-out values."""
    runs = len(without)
    return float(((without - without.mean()) ** 2).sum()) * (runs - 1) / runs
