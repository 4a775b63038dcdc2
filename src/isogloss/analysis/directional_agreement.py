"""How often dev and test scores move the same way from one checkpoint to another (Keung et al. 2020, Table 3).

All pairs of checkpoints of a run are taken whose test scores lie at least half a point apart; the paper samples from
them. A pair whose dev scores are equal counts half, so that scores which have nothing to do with each other agree in
half of the pairs, however coarse they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from isogloss.metrics.estimate import ROUNDING, Interval, wilson_interval
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import LEVEL, t_quantile

# The share of pairs in which scores move the same way that have nothing to do with each other.
CHANCE = 0.5
# Points that a test score must have moved by.
SMALLEST_MOVE = 0.5
# Fewer runs say too little about how runs differ. Leaving out checkpoints instead, which are not independent, gave
# intervals that held the truth of random walks in 40 to 50 % of simulated studies: then there is none.
FEWEST_SEEDS = 3


@dataclass(frozen=True)
class PairCounts:
    """The pairs of checkpoints of one run.

    Attributes:
        pairs: how many there are whose test scores moved enough.
        agreeing: in how many of them dev and test moved the same way; equal dev scores count half.
        equal: in how many of them the dev scores are equal.
    """

    pairs: int
    agreeing: float
    equal: int


@dataclass(frozen=True, eq=False)
class DirectionalAgreement:
    """The share of pairs in which dev and test moved the same way.

    Attributes:
        share: 0..1.
        interval: its 95 % interval; None for fewer than three runs.
        pairs: how many pairs there are.
        equal: in how many of them the dev scores are equal.
        without: the share without each run, NaN where nothing would be left.
    """

    share: float
    interval: Interval | None
    pairs: int
    equal: int
    without: FloatArray


def count_pairs(dev: FloatArray, test: FloatArray, smallest_move: float = SMALLEST_MOVE) -> PairCounts:
    """Count the pairs of checkpoints of one run, by their scores in order; NaN where a checkpoint was not asked."""
    asked = np.isfinite(dev) & np.isfinite(test)
    dev, test = dev[asked], test[asked]
    # Scores that are half a point apart on paper may differ by a little less in their last digits.
    moves = np.subtract.outer(test, test)
    enough = np.abs(moves) >= smallest_move - ROUNDING * 100
    dev_moves = np.subtract.outer(dev, dev)
    equal = enough & (np.abs(dev_moves) < ROUNDING * 100)
    same = enough & ~equal & (np.sign(dev_moves) == np.sign(moves))
    # Every pair is there twice, from either side.
    return PairCounts(int(enough.sum()) // 2, float(same.sum() + equal.sum() / 2) / 2, int(equal.sum()) // 2)


def agreement(counts: Sequence[PairCounts]) -> DirectionalAgreement | None:
    """The agreement over the pairs of all runs; None where no test score moved enough.

    Pairs share checkpoints, so they are no independent observations. The interval leaves out one run after the other
    (the jackknife), and is Wilson's with Student's quantile, for as many independent pairs as would vary so much.
    """
    by_run = np.array([[each.pairs, each.agreeing] for each in counts], dtype=np.float64).reshape(-1, 2)
    pairs, agreeing = by_run.sum(axis=0)
    if not pairs:
        return None
    share = float(agreeing / pairs)
    left = np.array([pairs, agreeing]) - by_run
    without = np.divide(left[:, 1], left[:, 0], out=np.full(len(left), np.nan), where=left[:, 0] > 0)
    return DirectionalAgreement(
        share, _interval(share, without), int(pairs), sum(each.equal for each in counts), without
    )


def mean_agreement(found: Sequence[DirectionalAgreement]) -> DirectionalAgreement | None:
    """The mean over languages of the same runs, with the interval of the same jackknife; None for no languages."""
    if not found:
        return None
    without = np.mean([each.without for each in found], axis=0)
    share = float(np.mean([each.share for each in found]))
    pairs, equal = sum(each.pairs for each in found), sum(each.equal for each in found)
    return DirectionalAgreement(share, _interval(share, without), pairs, equal, without)


def _interval(share: float, without: FloatArray) -> Interval | None:
    runs = len(without)
    if runs < FEWEST_SEEDS or not np.isfinite(without).all():
        return None
    variance = jackknife_variance(without)
    effective = share * (1 - share) / variance if variance > ROUNDING**2 and 0 < share < 1 else float(runs)
    return wilson_interval(share, effective, t_quantile((1 + LEVEL) / 2, runs - 1))


def difference_interval(first: DirectionalAgreement, second: DirectionalAgreement) -> Interval | None:
    """The 95 % interval of the first share minus the second, of the same runs: Student's, with the same jackknife."""
    without = first.without - second.without
    if len(without) < FEWEST_SEEDS or not np.isfinite(without).all():
        return None
    margin = t_quantile((1 + LEVEL) / 2, len(without) - 1) * sqrt(jackknife_variance(without))
    found = first.share - second.share
    return max(-1.0, found - margin), min(1.0, found + margin)


def jackknife_variance(without: FloatArray) -> float:
    """The variance of an estimate by its values without each run."""
    runs = len(without)
    return float(((without - without.mean()) ** 2).sum()) * (runs - 1) / runs
