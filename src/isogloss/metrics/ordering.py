"""Simultaneous order of systems: corrected tests of all pairs, the ranks they leave open, and letters for groups.

Ranks, letters and sentences about a ranking follow from the same tests, so they never contradict each other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.metrics.student import ALPHA

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Ordering:
    """Simultaneous verdicts on k systems.

    With a probability of at least 95 %, all verdicts are true together: every system called better is better. Rank
    sets then contain all ranks that a system can claim, which are several if it equals others: from 1 + the number of
    systems that are truly better to k - the number that are truly worse.

    Attributes:
        scores: figure of each system, by which systems are listed.
        p: corrected two-sided p-values (k, k), 1 on the diagonal and NaN for pairs that cannot be tested.
        better: matrix (k, k), True where the row's system is significantly better than the column's.
        lower_is_better: direction of the scores.
    """

    scores: FloatArray
    p: FloatArray
    better: BoolArray
    lower_is_better: bool = False

    @classmethod
    def of(cls, scores: FloatArray, p: FloatArray, *, lower_is_better: bool = False) -> "Ordering":
        """Return the verdicts of corrected p-values."""
        signed = -scores if lower_is_better else scores
        better = (p < ALPHA) & (signed[:, None] > signed[None])
        return cls(scores=scores, p=p, better=better, lower_is_better=lower_is_better)

    @property
    def low(self) -> IntArray:
        """Best possible rank of each system: one below all that are significantly better."""
        better_than_it: IntArray = self.better.sum(axis=0, dtype=np.int64)
        return 1 + better_than_it

    @property
    def high(self) -> IntArray:
        """Worst possible rank of each system: one above all that are significantly worse."""
        worse_than_it: IntArray = self.better.sum(axis=1, dtype=np.int64)
        return len(self.better) - worse_than_it

    @cached_property
    def order(self) -> list[int]:
        """Systems from best to worst score; equal scores keep their order."""
        ranked = np.argsort(self.scores if self.lower_is_better else -self.scores, kind="stable")
        return [int(system) for system in ranked]

    @cached_property
    def groups(self) -> list[list[int]]:
        """Groups of systems that are not significantly different, best first; they overlap.

        Two systems share a group if and only if they are not significantly different. Groups grow from the best pair
        without a group and take every system that fits, from best to worst (Gramm et al. 2007): at most one group per
        pair, where insert-and-absorb (Piepho 2004) may need exponentially many.
        """
        same = ~(self.better | self.better.T)[np.ix_(self.order, self.order)]
        missing = same.copy()
        grown: list[IntArray] = []
        for first in range(len(same)):
            for second in [*(first + 1 + np.flatnonzero(missing[first, first + 1 :])).tolist(), first]:
                if missing[first, second]:
                    grown.append(_grown(same, first, second))
                    missing[np.ix_(grown[-1], grown[-1])] = False
        return [[self.order[rank] for rank in group] for group in _needed(grown, len(same))]

    @property
    def letters(self) -> list[str]:
        """Compact letter display: the letters of each system's groups, "a" for the best.

        Two systems share a letter if and only if they are not significantly different. Letters continue with aa, ab, …
        after z; they are then separated by spaces.
        """
        own: list[list[str]] = [[] for _ in self.scores]
        for index, group in enumerate(self.groups):
            for system in group:
                own[system].append(letter(index))
        between = "" if len(self.groups) <= 26 else " "
        return [between.join(names) for names in own]


def ordering(scores: npt.ArrayLike, p_values: npt.ArrayLike, *, lower_is_better: bool = False) -> Ordering:
    """Return the simultaneous verdicts on systems from the p-values of all pairs, by Holm's correction.

    Args:
        scores: figure of each of k systems.
        p_values: uncorrected two-sided p-values, symmetric (k, k). The diagonal is ignored. A NaN marks a pair that
            cannot be tested: it counts as one of the tests, and its systems as not different.
        lower_is_better: direction of the scores.

    Raises:
        ValueError: scores that are not finite, p-values outside 0..1, or a matrix that is not symmetric.
    """
    figures, raw = np.asarray(scores, dtype=np.float64), np.asarray(p_values, dtype=np.float64)
    if figures.ndim != 1 or not np.isfinite(figures).all():
        raise ValueError("scores must be a list of finite numbers")
    count = len(figures)
    if raw.shape != (count, count) or not np.array_equal(raw, raw.T, equal_nan=True):
        raise ValueError(f"p-values must be a symmetric matrix of {count} rows")
    above = np.triu_indices(count, 1)
    untested = np.isnan(raw[above])
    corrected = holm(np.where(untested, 1.0, raw[above]))
    p = np.ones((count, count))
    p[above] = p.T[above] = np.where(untested, np.nan, corrected)
    return Ordering.of(figures, p, lower_is_better=lower_is_better)


def letter(index: int) -> str:
    """Return the name of a group by its position: a to z, then aa, ab and so on."""
    name = ""
    while index >= 0:
        index, digit = divmod(index, 26)
        name, index = chr(ord("a") + digit) + name, index - 1
    return name


def _grown(same: BoolArray, first: int, second: int) -> IntArray:
    """Return the group of two systems and of all others, best first, that differ from none of its members."""
    group = [first, second]
    fits: BoolArray = same[first] & same[second]
    fits[group] = False
    candidate = 0
    while fits[candidate:].any():
        candidate += int(fits[candidate:].argmax())
        group.append(candidate)
        fits &= same[candidate]
        candidate += 1
    return np.unique(group)


def _needed(groups: list[IntArray], count: int) -> list[list[int]]:
    """Drop groups of which all pairs share another group."""
    shared = np.zeros((count, count), dtype=np.int64)
    for group in groups:
        shared[np.ix_(group, group)] += 1
    kept = []
    for group in groups:
        pairs = np.ix_(group, group)
        if (shared[pairs] > 1).all():
            shared[pairs] -= 1
        else:
            kept.append(group.tolist())
    return sorted(kept)
