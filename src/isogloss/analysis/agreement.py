"""Agreement of two or more raters of the same items, corrected for chance.

Each measure is a `Statistics`: one row per item and a value of column sums, so that its error follows from the
jackknife over sources, like that of every score.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, Estimate, Interval
from isogloss.metrics.statistics import FloatArray, Statistics, Value


def cohen_statistics(first: npt.NDArray[np.generic], second: npt.NDArray[np.generic]) -> Statistics:
    """Return the statistics of Cohen's kappa (1960) of two ratings of the same items.

    Columns: equality of the ratings, then the category of each rating as indicators.
    """
    categories, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    chosen = np.eye(len(categories))[codes]
    rows = np.column_stack([first == second, chosen[: len(first)], chosen[len(first) :]]).astype(np.float64)
    return Statistics(rows, _COHEN)


def fleiss_statistics(right: npt.NDArray[np.bool_]) -> Statistics:
    """Return the statistics of Fleiss' kappa (1971) of binary ratings, (items, raters); Scott's pi for two raters."""
    raters = right.shape[1]
    yes = right.sum(axis=1)
    alike = (yes * (yes - 1) + (raters - yes) * (raters - yes - 1)) / (raters * (raters - 1))
    return Statistics(np.column_stack([alike, yes / raters]).astype(np.float64), _FLEISS)


def agreement_shares(statistics: Statistics) -> tuple[float, float]:
    """Return the observed and the expected share of equal ratings, from `cohen_statistics`."""
    same, chance = _cohen_shares(statistics.sums, np.asarray(float(len(statistics))))
    return float(same), float(chance)


def kappa_interval(estimate: Estimate) -> Interval | None:
    """Return the interval of a kappa, clipped to -1..1, or None if nothing varies."""
    interval = estimate.score_interval()
    return None if interval is None else (max(-1.0, interval[0]), min(1.0, interval[1]))


def counts_if_independent(shares: Sequence[float]) -> FloatArray:
    """Return the probabilities of 0, 1, … successes in independent trials with these probabilities."""
    chances: FloatArray = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return chances


def _cohen_shares(sums: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    categories = (sums.shape[-1] - 1) // 2
    first, second = sums[..., 1 : 1 + categories], sums[..., 1 + categories :]
    items = np.maximum(count, 1)
    return sums[..., 0] / items, (first * second).sum(axis=-1) / items**2


def _beyond_chance(same: FloatArray, chance: FloatArray) -> FloatArray:
    """Return (same - chance) / (1 - chance), or NaN if chance explains everything."""
    left = 1 - chance
    kappa: FloatArray = np.divide(same - chance, left, out=np.full(np.shape(left), np.nan), where=left > ROUNDING)
    return kappa


def _fleiss(sums: FloatArray, count: FloatArray) -> FloatArray:
    items = np.maximum(count, 1)
    right = sums[..., 1] / items
    return _beyond_chance(sums[..., 0] / items, right**2 + (1 - right) ** 2)


_COHEN = Value("cohen's kappa", (), lambda sums, count: _beyond_chance(*_cohen_shares(sums, count)), is_share=False)
_FLEISS = Value("fleiss' kappa", ("alike", "right"), _fleiss, is_share=False)
