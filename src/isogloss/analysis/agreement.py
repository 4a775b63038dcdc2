"""How much two or more raters of the same items agree, against what chance alone would give them.

Each measure is a `Statistics`: one row an item and a value of column sums, so that its error follows from leaving out
one source after the other, like that of every score.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, Estimate, Interval
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, Value


def cohen_statistics(first: npt.NDArray[np.generic], second: npt.NDArray[np.generic]) -> Statistics:
    """Cohen's kappa (1960) of two ratings of the same items, by category.

    The columns are whether they are the same, and for either rating which category it is.
    """
    categories, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    chosen = np.eye(len(categories))[codes]
    rows = np.column_stack([first == second, chosen[: len(first)], chosen[len(first) :]]).astype(np.float64)
    return Statistics(rows, _COHEN)


def fleiss_statistics(right: npt.NDArray[np.bool_]) -> Statistics:
    """Fleiss' kappa (1971) of several yes-or-no ratings, (items, raters); with two raters it is Scott's pi."""
    raters = right.shape[1]
    yes = right.sum(axis=1)
    alike = (yes * (yes - 1) + (raters - yes) * (raters - yes - 1)) / (raters * (raters - 1))
    return Statistics(np.column_stack([alike, yes / raters]).astype(np.float64), _FLEISS)


def agreement_shares(statistics: Statistics) -> tuple[float, float]:
    """The share of items on which two ratings are the same, and what chance would give, of `cohen_statistics`."""
    same, chance = _cohen_shares(statistics.sums, np.asarray(float(len(statistics))))
    return float(same), float(chance)


def kappa_interval(estimate: Estimate) -> Interval | None:
    """The interval of a kappa, which is never outside -1..1; None where nothing varies."""
    interval = estimate.score_interval()
    return None if interval is None else (max(-1.0, interval[0]), min(1.0, interval[1]))


def counts_if_independent(shares: Sequence[float]) -> FloatArray:
    """The chances that 0, 1, … of several independent things happen, each with its own chance."""
    chances: FloatArray = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return chances


def right_counts(right: npt.NDArray[np.bool_]) -> IntArray:
    """How many items (items, raters) have 0, 1, … ratings that are right."""
    counted: IntArray = np.bincount(right.sum(axis=1), minlength=right.shape[1] + 1)
    return counted


def _cohen_shares(sums: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    categories = (sums.shape[-1] - 1) // 2
    first, second = sums[..., 1 : 1 + categories], sums[..., 1 + categories :]
    items = np.maximum(count, 1)
    return sums[..., 0] / items, (first * second).sum(axis=-1) / items**2


def _beyond_chance(same: FloatArray, chance: FloatArray) -> FloatArray:
    """(same - chance) / (1 - chance), not a number where chance alone explains all."""
    left = 1 - chance
    kappa: FloatArray = np.divide(same - chance, left, out=np.full(np.shape(left), np.nan), where=left > ROUNDING)
    return kappa


def _cohen(sums: FloatArray, count: FloatArray) -> FloatArray:
    return _beyond_chance(*_cohen_shares(sums, count))


def _fleiss(sums: FloatArray, count: FloatArray) -> FloatArray:
    items = np.maximum(count, 1)
    right = sums[..., 1] / items
    return _beyond_chance(sums[..., 0] / items, right**2 + (1 - right) ** 2)


_COHEN = Value("cohen's kappa", (), _cohen, is_share=False)
_FLEISS = Value("fleiss' kappa", ("alike", "right"), _fleiss, is_share=False)
