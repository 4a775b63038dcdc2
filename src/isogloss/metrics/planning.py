"""Sizes of test sets, from scores: what difference could be detected, and how many examples it takes.

Studies with several seeds, prompts or languages are planned by `isogloss.scoring.planning`.

These functions do not test anything: power computed for an observed difference only repeats its p-value. To test two
scores, use `isogloss.metrics.unpaired` or, with answers, `isogloss compare`.
"""

from math import sqrt

from isogloss.metrics.estimate import POWER
from isogloss.metrics.student import ENOUGH, LEVEL, t_quantile

# A difference that needs more examples is treated as zero.
_MOST = 10**10


def difference_variance(first: float, second: float, correlation: float = 0.0) -> float:
    """Return the per-example variance of the difference between two systems, from their accuracies, 0..1.

    A correlation of correctness of 0 gives an upper bound, since systems mostly fail on the same examples.
    """
    a, b = first * (1 - first), second * (1 - second)
    return max(0.0, a + b - 2 * correlation * sqrt(a * b))


def detectable_difference(variance: float, n: float) -> float | None:
    """Return the minimum detectable difference, 0..1, at the 5 % level with 80 % power, or None below 20 examples.

    This is a sum of two t quantiles times the standard error, which includes one further example.
    """
    if n < ENOUGH:
        return None
    reach = t_quantile((1 + LEVEL) / 2, n - 1) + t_quantile(POWER, n - 1)
    return reach * sqrt(variance / n + 1 / (n + 2) ** 2)


def examples_needed(variance: float, difference: float) -> int | None:
    """Return the number of examples needed to detect a difference, 0..1, or None if it is zero or too small."""
    apart = abs(difference)
    low, high = ENOUGH, _MOST
    if apart == 0 or (detectable_difference(variance, high) or 0) > apart:
        return None
    while low < high:
        middle = (low + high) // 2
        if (detectable_difference(variance, middle) or 0) <= apart:
            high = middle
        else:
            low = middle + 1
    return low
