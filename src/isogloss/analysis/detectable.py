"""What a test of a given size can show: the smallest difference it finds, and the size that a difference needs."""

from math import sqrt

from isogloss.metrics.estimate import POWER
from isogloss.metrics.student import ENOUGH, LEVEL, t_quantile

# Beyond this many examples a difference is none.
_MOST = 10**10


def difference_variance(first: float, second: float, correlation: float = 0.0) -> float:
    """The variance of one example's difference between two systems that are right on so large shares, 0..1.

    Args:
        first: the share of the one system.
        second: the share of the other.
        correlation: of being right, between the two; 0 is an upper bound, since systems mostly fail on the same
            examples.
    """
    a, b = first * (1 - first), second * (1 - second)
    return max(0.0, a + b - 2 * correlation * sqrt(a * b))


def detectable_difference(variance: float, n: float) -> float | None:
    """The smallest true difference, 0..1, that n examples would show at the 5 % level four times in five.

    The formula of `Estimate.detectable`: for a further example, of which either system may be right, there is a little
    more. None for fewer than 20 examples.
    """
    if n < ENOUGH:
        return None
    reach = t_quantile((1 + LEVEL) / 2, n - 1) + t_quantile(POWER, n - 1)
    return reach * sqrt(variance / n + 1 / (n + 2) ** 2)


def examples_needed(variance: float, difference: float) -> int | None:
    """The smallest number of examples that would show a difference, 0..1; None where there is none to be shown."""
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
