"""Two groups compared within strata, so that what the strata are made of cannot be what sets the groups apart."""

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, Value


def matched_difference(
    score: FloatArray, first: npt.NDArray[np.bool_], stratum: IntArray, units: IntArray | None = None
) -> Statistics | None:
    """The mean score of the first group minus that of the second, as if both had the second's share of each stratum.

    Strata that hold one group alone are left out. This is direct standardisation (Kitagawa 1955); as a function of the
    sums within strata its error follows from leaving out sources. None where no stratum holds both groups.

    Args:
        score: of every row.
        first: whether a row is of the first group.
        stratum: of every row, a number.
        units: of every row, what is left out together.
    """
    both = [each for each in np.unique(stratum) if 0 < first[stratum == each].sum() < (stratum == each).sum()]
    if not both:
        return None
    columns = []
    for each in both:
        for group in (first, ~first):
            inside = (group & (stratum == each)).astype(np.float64)
            columns += [inside * score, inside]
    return Statistics(np.column_stack(columns), _MATCHED, units)


def _matched(sums: FloatArray, count: FloatArray) -> FloatArray:
    parts = sums.reshape(*sums.shape[:-1], -1, 4)
    first, first_size, second, second_size = (parts[..., place] for place in range(4))
    # A stratum that lost one of its groups with the source that was left out has nothing to compare.
    whole = (first_size > 0) & (second_size > 0)
    apart = np.divide(first, first_size, out=np.zeros_like(first), where=whole)
    apart -= np.divide(second, second_size, out=np.zeros_like(second), where=whole)
    weights = np.where(whole, second_size, 0.0)
    total = weights.sum(axis=-1)
    found: FloatArray = np.divide(
        (weights * apart).sum(axis=-1), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return found


_MATCHED = Value("matched difference", (), _matched, is_share=False)
