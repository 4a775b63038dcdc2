"""Difference of two systems on the same examples, tested by exchanging their answers.

If two systems are equally good, their answers on a source are exchangeable, so the sign of the source's contribution to
the difference is arbitrary: `sign_test` has the exact distribution. The interval inverts the same test: it holds the
shifts d for which contributions less their share of d look like random signs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np

from isogloss.metrics.estimate import POWER, ROUNDING, Interval, source_numbers, sum_of_squares
from isogloss.metrics.power import exchange_test
from isogloss.metrics.significance import one_size, sign_test
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, sums_by_place
from isogloss.metrics.student import ALPHA, ENOUGH, LEVEL, normal_quantile, normal_tail

# Design effect of articles on real answers (benchmarks/README.md): if no answer differs, nothing shows that of a
# difference.
DESIGN_EFFECT = 2.0


class Contributions(NamedTuple):
    """Each source's contribution to a difference, and its weight in it: the contribution if all differ by 1."""

    values: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Exchange:
    """Difference of two systems, first minus second, by source; or the mean of such differences.

    `further` is the variance of two further examples, one in favour of each system (Agresti and Min 2005): what the
    examples at hand cannot show.
    """

    value: float
    parts: Mapping[str, Contributions]  # by space of sources
    further: float
    n: int
    is_share: bool = True  # True if scores lie within 0..1
    right_or_wrong: bool = False  # True if every source is a single answer that is right or wrong

    @cached_property
    def values(self) -> FloatArray:
        """Contribution of each source, over all spaces."""
        return np.concatenate([part.values for part in self.parts.values()])

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each source, over all spaces."""
        return np.concatenate([part.weights for part in self.parts.values()])

    @property
    def sources(self) -> int:
        """Number of sources with a weight."""
        return int(np.count_nonzero(self.weights))

    @cached_property
    def p(self) -> float:
        """Two-sided p-value: the chance of such a difference if every source's answers may change sides."""
        return sign_test(self.values)

    @property
    def test(self) -> str:
        """Name of the test."""
        return "McNemar" if self.right_or_wrong else "randomisation"

    def z(self, shift: float = 0.0) -> float:
        """Return the standardised distance of the difference from a hypothetical one."""
        error = sqrt(sum_of_squares(self.values - shift * self.weights) + self.further)
        return (self.value - shift) / error if error > ROUNDING else 0.0

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval of the difference, or None with fewer than `ENOUGH` sources or no variation.

        It holds every shift with |z| below the normal quantile: for sources of equal weight, Student's interval.
        If the exact test disagrees about 0, it decides: the interval then ends there.
        """
        values, weights = self.values, self.weights
        if self.sources < ENOUGH or sum_of_squares(values - self.value * weights) + self.further < ROUNDING**2:
            return None
        square = normal_quantile((1 + level) / 2) ** 2
        # (value - d)² <= square (sum of (v - d w)² + further), solved for d.
        a = 1 - square * sum_of_squares(weights)
        b = self.value - square * float((values * weights).sum())
        c = self.value**2 - square * (sum_of_squares(values) + self.further)
        limit = 1.0 if self.is_share else np.inf
        if a <= 0:  # too few sources for this level
            low, high = -limit, limit
        else:
            margin = sqrt(max(0.0, b * b - a * c))
            low, high = max(-limit, (b - margin) / a), min(limit, (b + margin) / a)
        low, high = min(low, self.value), max(high, self.value)
        significant = self.p < 1 - level
        if significant and low <= 0 <= high:
            low, high = (ROUNDING, high) if self.value > 0 else (low, -ROUNDING)
        elif not significant and not low <= 0 <= high:
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high

    def equivalence(self, margin: float) -> float:
        """Return the p-value of a difference of at least the margin, either way: two one-sided tests."""
        if self.sources < ENOUGH:
            return 1.0
        return max(normal_tail(self.z(-margin)), normal_tail(-self.z(margin)))

    @cached_property
    def variance(self) -> float:
        """Variance of the difference, without that of further examples."""
        return sum(self._variances)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance, pooled over spaces (Satterthwaite)."""
        counts = [int(np.count_nonzero(part.weights)) for part in self.parts.values()]
        squares = sum(
            variance**2 / (count - 1) for variance, count in zip(self._variances, counts, strict=True) if count > 1
        )
        return self.variance**2 / squares if squares else self.sources - 1.0

    @property
    def _variances(self) -> list[float]:
        return [sum_of_squares(part.values - self.value * part.weights) for part in self.parts.values()]

    @property
    def step(self) -> float:
        """Half the distance between possible differences, 0 if it is small."""
        return float(np.abs(self.values).max(initial=0.0)) if one_size(self.values) else 0.0

    @cached_property
    def detectable(self) -> float | None:
        """Minimum detectable difference at the 5 % level with 80 % power.

        None with too few sources, or if even the largest possible difference is not detected with this power.
        """
        if self.sources < ENOUGH:
            return None
        weight = sum_of_squares(self.weights)
        planned = exchange_test(self.variance, self.freedom, ALPHA, weight, self.step, self.further)
        return planned.detectable(POWER, is_share=self.is_share)

    @staticmethod
    def mean(exchanges: "Sequence[Exchange]", weights: Sequence[float] | None = None) -> "Exchange":
        """Return the mean of differences, plain unless there are weights; shared sources are added up."""
        weights = [1.0] * len(exchanges) if weights is None else weights
        total = fsum(weights)
        parts: dict[str, Contributions] = {}
        for exchange, weight in zip(exchanges, weights, strict=True):
            for space, part in exchange.parts.items():
                added = Contributions(*(weight / total * array for array in part))
                before = parts.get(space)
                parts[space] = added if before is None else Contributions(*map(np.add, before, added))
        return Exchange(
            value=fsum(weight * one.value for one, weight in zip(exchanges, weights, strict=True)) / total,
            parts=parts,
            further=sum((weight / total) ** 2 * one.further for one, weight in zip(exchanges, weights, strict=True)),
            n=sum(one.n for one in exchanges),
            is_share=all(one.is_share for one in exchanges),
            right_or_wrong=len(exchanges) == 1 and exchanges[0].right_or_wrong,
        )


def exchange(a: Statistics, b: Statistics, codes: IntArray | None = None, size: int = 0, space: str = "") -> Exchange:
    """Return the difference of two systems on the same rows, with the contribution of each source.

    A contribution is the change of the difference when the source's rows are swapped, starting from the mean of both
    systems. `codes`, `size` and `space` are as in `estimate`.
    """
    same = a.value.name == b.value.name and a.value.columns == b.value.columns  # plugins may create a function twice
    if not same or a.rows.shape != b.rows.shape:
        raise ValueError(f"cannot pair {a.value.name} {a.rows.shape} with {b.value.name} {b.rows.shape}")
    position, size = source_numbers(a, codes, size)
    middle, moves = (a.sums + b.sums) / 2, (a.rows - b.rows) / 2
    values = _swapped(a, middle, sums_by_place(moves, position, size))
    row_weights = a.value.weights((a.rows + b.rows) / 2, np.ones(len(a)))
    weights = np.bincount(position, weights=row_weights, minlength=size).astype(np.float64)
    total, value = float(weights.sum()), a.score - b.score
    weights = weights / total if total > 0 else weights
    counts = (int(np.count_nonzero(each)) for each in (weights, row_weights))
    spread = sum_of_squares(values - value * weights)
    further = _further(values, _swapped(a, middle, moves), spread, *counts)
    return Exchange(
        value=value,
        parts={space: Contributions(values, weights)},
        # Without a scale, a further example could move the score by any amount.
        further=further if a.value.is_share else 0.0,
        n=len(a),
        is_share=a.value.is_share,
        right_or_wrong=_right_or_wrong(a, b, position),
    )


def _right_or_wrong(a: Statistics, b: Statistics, position: IntArray) -> bool:
    """Return True if every source has one row, and rows are 0 or 1."""
    binary = a.rows.shape[1] == 1 and all(bool(((each.rows == 0) | (each.rows == 1)).all()) for each in (a, b))
    return binary and int(np.bincount(position).max(initial=0)) <= 1


def _swapped(statistics: Statistics, middle: FloatArray, moves: FloatArray) -> FloatArray:
    value, count = statistics.value, len(statistics)
    return value(middle + moves, count) - value(middle - moves, count)


def _further(by_source: FloatArray, by_row: FloatArray, spread: float, sources: int, rows: int) -> float:
    """Return the variance of two further examples, one in favour of each system, as large as the observed differences.

    An example is one answer, or more if the rows of a source differ together; if whole sources differ, it is a source.
    The sum with the `spread` of sources is at least the variance of two further examples of `DESIGN_EFFECT` answers
    that differ by 1, so that systems with nearly the same answers never get a narrower interval than with the same.
    """
    together, alone = sum_of_squares(by_source), sum_of_squares(by_row)
    least = max(0.0, 2 / (max(sources, rows / DESIGN_EFFECT) + 2) ** 2 - spread)
    if alone < ROUNDING**2:
        return least
    independent = max(sources, rows * min(1.0, alone / together)) if together > ROUNDING**2 else max(rows, sources)
    squared_size = min(1.0, rows**2 * alone / np.count_nonzero(by_row))
    return max(least, 2 * squared_size / (independent + 2) ** 2)
