"""How far runs of one recipe lie apart (Keung et al. 2020, Table 2), and whether chance could have done it."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from isogloss.metrics.estimate import ROUNDING, Interval
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.metrics.student import ALPHA, LEVEL, t_quantile

# The paper's rule of thumb for test sets of 4,000 (MLDoc) and 5,010 (XNLI) examples.
LARGE_SPREAD = 2.5
# Examples of a test set that an exact test can be made for.
MOST_EXAMPLES = 10**6


@dataclass(frozen=True)
class RunSpread:
    """The smallest and the largest score of several runs.

    Attributes:
        p: of the test whether the two are the same share of n examples; None where n is not known.
        p_any: the same for any two of the runs, of which these are the ones furthest apart (Bonferroni).
    """

    smallest: float
    largest: float
    p: float | None = None
    p_any: float | None = None

    @property
    def spread(self) -> float:
        """The largest minus the smallest."""
        return self.largest - self.smallest

    @property
    def large(self) -> bool:
        """Whether it is at least the paper's 2.5 points."""
        return self.spread >= LARGE_SPREAD - ROUNDING * 100

    @property
    def significant(self) -> bool | None:
        """Whether the paper's test tells the two runs apart; None where there is none."""
        return None if self.p is None else self.p < ALPHA


def run_spread(scores: FloatArray, n: int = 0) -> RunSpread:
    """The spread of the scores of runs, 0..100, each on the same n examples, 0 where that is not known."""
    low, high = float(scores.min()), float(scores.max())
    if not n or len(scores) < 2:
        return RunSpread(low, high)
    p = two_proportions(round(low / 100 * n), n, round(high / 100 * n), n)
    return RunSpread(low, high, p, min(1.0, p * len(scores) * (len(scores) - 1) / 2))


def two_proportions(right: int, n: int, other_right: int, other_n: int) -> float:
    """The two-sided p-value of Fisher's exact test of two shares: right of n, and other_right of other_n.

    The sum of the chances of all tables with the same margins that are no more likely than this one.

    Raises:
        ValueError: a count is not within 0..n.
    """
    if not (0 <= right <= n and 0 <= other_right <= other_n):
        raise ValueError(f"{right} of {n} and {other_right} of {other_n} are no shares")
    both, total = right + other_right, n + other_n
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])

    def log_choose(of: int, chosen: IntArray) -> FloatArray:
        found: FloatArray = factorials[of] - factorials[chosen] - factorials[of - chosen]
        return found

    here = np.arange(max(0, both - other_n), min(n, both) + 1, dtype=np.int64)
    of_all = log_choose(total, np.array([both], dtype=np.int64))
    chances = np.exp(log_choose(n, here) + log_choose(other_n, both - here) - of_all)
    observed = chances[right - here[0]]
    return min(1.0, float(chances[chances <= observed * (1 + 1e-7)].sum()))


def interval_over_runs(values: FloatArray) -> Interval | None:
    """Student's 95 % interval of the mean over runs; None for fewer than three, or where they do not differ."""
    count = len(values)
    if count < 3 or not (error := float(values.std(ddof=1)) / sqrt(count)) > ROUNDING:
        return None
    margin = t_quantile((1 + LEVEL) / 2, count - 1) * error
    return float(values.mean()) - margin, float(values.mean()) + margin
