"""Tests of two scores without their answers: conservative if both systems answered the same examples.

Systems mostly fail on the same examples, so the difference of two scores on one test set varies less than these tests
assume. With the answers, `isogloss compare` pairs them and finds smaller differences.
"""

from math import fsum, sqrt

import numpy as np

from isogloss.figures import SMALLEST_P
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.metrics.student import normal_tail


def difference_p(difference: float, *errors: float) -> float:
    """Return the two-sided p-value of a difference, or of a sum of differences, from independent standard errors."""
    error = sqrt(fsum(each * each for each in errors))
    if not error or not difference:
        return SMALLEST_P if difference else 1.0
    return max(SMALLEST_P, 2 * normal_tail(abs(difference) / error))


def two_proportions(right: int, n: int, other_right: int, other_n: int) -> float:
    """Return the two-sided p-value of Fisher's exact test: right of n against other_right of other_n.

    This is the total probability of all tables with the same margins that are at most as likely as the observed one.
    """
    if not (0 <= right <= n and 0 <= other_right <= other_n):
        raise ValueError(f"{right} of {n} and {other_right} of {other_n} are not valid counts")
    both, total = right + other_right, n + other_n
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])

    def log_choose(total: int, chosen: IntArray | int) -> FloatArray:
        return np.asarray(factorials[total] - factorials[chosen] - factorials[total - chosen], np.float64)

    here = np.arange(max(0, both - other_n), min(n, both) + 1, dtype=np.int64)
    chances = np.exp(log_choose(n, here) + log_choose(other_n, both - here) - log_choose(total, both))
    observed = chances[right - here[0]]
    return min(1.0, max(SMALLEST_P, float(chances[chances <= observed * (1 + 1e-7)].sum())))
