"""Student's t distribution for any degrees of freedom, and the conventions of intervals and tests."""

from functools import lru_cache
from math import erfc, exp, inf, lgamma, log, log1p, pi, sqrt

# The confidence level of intervals.
LEVEL = 0.95
# Differences with a smaller p-value are called significant.
ALPHA = 0.05
# Minimum number of sources for an interval: with fewer, the spread is too uncertain.
ENOUGH = 20

# The continued fraction gains several digits per step in this range.
_STEPS = 400


def t_tail(t: float, freedom: float) -> float:
    """Return P(T >= t) for t >= 0, accurate however small it is."""
    if t < 0 or freedom <= 0:
        raise ValueError(f"expected t >= 0 and positive degrees of freedom, got {t} and {freedom}")
    return _beta_share(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of t for a probability of at least one half.

    Newton's method from the normal quantile. The distribution function is concave above 0 and the normal
    quantile lies below the root, so every step stays below it and the iteration cannot overshoot.
    """
    if not 0.5 <= probability < 1 or freedom <= 0:
        expected = "0.5 <= probability < 1 and positive degrees of freedom"
        raise ValueError(f"expected {expected}, got {probability} and {freedom}")
    t, step = normal_quantile(probability), 1.0
    log_peak = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    while step > 1e-12 * (1 + t):
        density = exp(log_peak - (freedom + 1) / 2 * log1p(t * t / freedom))
        step = (t_tail(t, freedom) - (1 - probability)) / density
        t += step
    return t


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    # The fraction converges quickly below the mean of the distribution; above it the other side is taken.
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return exp(log_front) * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of I_x(a, b) by Lentz's method (DLMF 8.17.22)."""
    value, inverse, ratio = 1.0, 1.0, inf
    for step in range(1, _STEPS):
        half = step // 2
        weight = -(a + half) * (a + b + half) if step % 2 else half * (b - half)
        term = weight * x / ((a + step - 1) * (a + step))
        inverse = 1 / (1 + term * inverse)
        ratio = 1 + term / ratio
        value *= ratio * inverse
        if abs(ratio * inverse - 1) < 1e-15:
            break
    return value


def normal_quantile(probability: float) -> float:
    """Return the quantile of the normal distribution."""
    from statistics import NormalDist  # slow import that reading a result record does not need

    return NormalDist().inv_cdf(probability)


def normal_tail(z: float) -> float:
    """Return P(Z >= z) of the normal distribution."""
    return erfc(z / sqrt(2)) / 2
