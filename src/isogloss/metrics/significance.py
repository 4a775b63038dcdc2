"""Significance tests: the exact distribution of a difference when sources are exchangeable between systems.

Every p-value is two-sided. Nothing is random, so p has no smallest step that a multiple-testing correction could lift
above 0.05, and it depends neither on the order of the systems nor on the other comparisons.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, fsum, lgamma, log, pi, sqrt

import numpy as np
import numpy.typing as npt

from isogloss.figures import SMALLEST_P
from isogloss.metrics.estimate import ROUNDING
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import normal_tail

# Up to this many sources, enumerate all signed sums (of each half).
ENUMERATED = 28
# Up to this sum, count whole numbers exactly.
COUNTED = 20_000
# Up to this many sources, round values to whole numbers with that sum; beyond, the sum is smooth.
ROUNDED = 300
_BISECTIONS = 200


def sign_test(values: npt.ArrayLike) -> float:
    """Return the p-value of a sum of values under random signs.

    P(|sum of ± values| >= |sum of values|) over all choices of signs: approximate randomisation (Noreen 1989) with
    all its trials. Values of one size make it McNemar's exact test. It is exact for up to 28 values and for whole
    numbers (right answers gained or lost in each source), exact for values rounded to a hundredth or so of the largest
    up to 300, and beyond that the saddlepoint approximation of the same probability (Robinson 1982).

    The values are the contributions of sources to the difference (`isogloss.metrics.exchange`); p is 1 if no source
    differs.
    """
    contributions = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(contributions).all():
        raise ValueError(f"value {int(np.argmin(np.isfinite(contributions)))} is not finite")
    largest = float(np.abs(contributions).max(initial=0.0))
    if largest < SMALLEST_P:
        return 1.0
    contributions = contributions[np.abs(contributions) > ROUNDING * largest] / largest
    observed = abs(fsum(contributions.tolist()))  # exactly rounded: independent of the order of systems and examples
    if observed < ROUNDING:
        return 1.0
    whole = _whole_numbers(contributions)
    if whole is None and ENUMERATED < len(contributions) <= ROUNDED:
        # Nearly whole numbers, such as right, wrong or half-right answers, have a sum with steps.
        whole = np.rint(contributions * (COUNTED // len(contributions))).astype(np.int64)
    sizes = np.sort(np.abs(contributions))
    if whole is not None:
        p = _counted_tail(np.abs(whole[whole != 0]), abs(int(whole.sum())))
    elif len(sizes) <= ENUMERATED:
        p = _enumerated_tail(sizes, observed)
    else:
        p = 2 * _saddlepoint_tail(sizes, observed)
    return min(1.0, max(p, SMALLEST_P))


def one_size(values: npt.ArrayLike) -> bool:
    """Return True if all non-zero values have the same size: the sign test is then McNemar's."""
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    sizes = sizes[sizes > ROUNDING * sizes.max(initial=0.0)]
    return not len(sizes) or bool(np.ptp(sizes) <= 1e-9 * sizes.max())


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Apply Holm's step-down correction to the p-values of a family of tests, in the order given.

    The i-th smallest of m is multiplied by m - i + 1, kept at least as large as the one before and at most
    1. Calling those below 0.05 significant keeps the chance of any false alarm below 0.05, however the
    tests depend on each other.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p-values must be a list of numbers within 0..1")
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _whole_numbers(values: FloatArray) -> npt.NDArray[np.int64] | None:
    """Return the values as multiples of a common measure, or None if there is none or it is too small."""
    smallest = np.abs(values).min()
    for divisor in range(1, 7):
        multiples = values * (divisor / smallest)
        whole = np.rint(multiples)
        if np.abs(whole).sum() > COUNTED:
            return None
        if (np.abs(multiples - whole) < 1e-6).all():
            counts: npt.NDArray[np.int64] = whole.astype(np.int64)
            return counts
    return None


def _counted_tail(sizes: npt.NDArray[np.int64], observed: int) -> float:
    """Return P(|sum| >= observed) for whole numbers by convolving the distributions of equal sizes.

    Only positive numbers are added, so small probabilities keep their digits.
    """
    total = int(sizes.sum())
    shares = np.ones(1)  # sums of the numbers with a plus sign
    for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
        added = _fair_binomial(int(count))
        longer = np.zeros(len(shares) + size * count)
        if len(shares) == 1:
            longer[::size] = added
        else:
            for plus, share in enumerate(added.tolist()):
                longer[size * plus : size * plus + len(shares)] += share * shares
        shares = longer
    sums = np.abs(2 * np.arange(len(shares)) - total)
    return float(shares[sums >= observed].sum())


@lru_cache(maxsize=256)
def _fair_binomial(count: int) -> FloatArray:
    """Return the chances of 0 to `count` heads of that many fair coins; a family of tests asks for few counts."""
    logs = np.array([lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) for k in range(count + 1)])
    chances: FloatArray = np.exp(logs - count * log(2))
    return chances


def _enumerated_tail(sizes: FloatArray, observed: float) -> float:
    """Return P(|sum| >= observed) over all choices of signs, combining the sums of both halves."""
    one, other = _signed_sums(sizes[::2]), np.sort(_signed_sums(sizes[1::2]))
    beyond = len(other) - np.searchsorted(other, observed - one - 1e-9)
    # Sums come in pairs of opposite sign.
    return 2 * float(beyond.sum()) / (len(one) * len(other))


def _signed_sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _saddlepoint_tail(sizes: FloatArray, observed: float) -> float:
    """Return P(sum >= observed) by Lugannani and Rice (1980); the cumulant generating function is sum log cosh."""
    most = float(sizes.sum())
    if observed >= most * (1 - 1e-9):
        return 0.5 ** len(sizes)
    point = _saddlepoint(sizes, observed)
    # log cosh x without overflow
    generating = float((point * sizes + np.log1p(np.exp(-2 * point * sizes)) - log(2)).sum())
    curvature = float((sizes**2 * (1 - np.tanh(point * sizes) ** 2)).sum())
    signed_root = sqrt(max(2 * (point * observed - generating), 0.0))
    scaled_point = point * sqrt(curvature)
    if signed_root < 1e-3:  # at the middle the formula divides 0 by 0; the normal distribution is exact enough
        return normal_tail(observed / sqrt(float((sizes**2).sum())))
    density = exp(-(signed_root**2) / 2) / sqrt(2 * pi)
    return normal_tail(signed_root) + density * (1 / scaled_point - 1 / signed_root)


def _saddlepoint(sizes: FloatArray, observed: float) -> float:
    """Solve sum of size * tanh(point * size) = observed: the tilt with the observed mean."""
    low, high = 0.0, 1.0
    while float((sizes * np.tanh(high * sizes)).sum()) < observed and high < 1e9:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if high - low < 1e-13 * high:
            break
        if float((sizes * np.tanh(middle * sizes)).sum()) < observed:
            low = middle
        else:
            high = middle
    return (low + high) / 2
