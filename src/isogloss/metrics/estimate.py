"""Uncertainty of scores: an estimate records how much each source of examples adds to its error.

Examples that share a source (questions about one article, translations of one sentence) are right or wrong together,
so sources are the sampling units. The jackknife leaves out one source at a time to measure how much it moves the
score; the sum of squares is the variance. Averages and differences add up source by source, so anything that shares
sources - languages, tasks, two systems - is correlated correctly.

Nothing is random: the same answers give the same results in any order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, fsum, inf, isfinite, log, sqrt

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, checked_rows, sums_by_place
from isogloss.metrics.student import ENOUGH, LEVEL, t_quantile, t_tail
from isogloss.metrics.variance_components import MeanSquare, RunFactors, pooled, run_components

# Mathematically equal scores may differ in their last digits.
ROUNDING = 1e-12
# Power of the test behind the minimum detectable difference.
POWER = 0.8

Interval = tuple[float, float]


def sum_of_squares(values: FloatArray) -> float:
    """Return the sum of squares, independent of the number of cores (BLAS changes the order of additions)."""
    return float((values**2).sum())


@dataclass(frozen=True, eq=False)
class SourceErrors:
    """Contribution of each source of a space to an estimate's error, 0 for sources not `present`."""

    values: FloatArray
    present: npt.NDArray[np.bool_]

    @cached_property
    def variance(self) -> float:
        """Variance due to this space."""
        return sum_of_squares(self.values)

    @cached_property
    def count(self) -> int:
        """Number of sources."""
        return int(np.count_nonzero(self.present))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance."""
        return self.count - 1


class UnevenErrors(SourceErrors):
    """Contributions of which few are large, as of a subset if a guide predicts most answers.

    A sum of n squares that are not those of normal contributions varies as one with fewer degrees of freedom.
    """

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance, given the observed kurtosis."""
        squares, most = self.values**2, self.count - 1
        excess = float((squares**2).sum()) / self.variance**2 - 1 / self.count if self.variance else 0.0
        return min(most, 2 / excess) if excess > 0 else most


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """A score, or an average or difference of scores, with its uncertainty.

    `unseen` is the variance that a further source would add if all its examples could be right or wrong: what the
    observed sources cannot show.
    """

    errors: Mapping[str, SourceErrors]  # by space of sources; spaces are independent of each other
    unseen: float
    value: float
    centre: float  # the score with one further example right and one wrong in every cell; the middle of intervals
    n: int  # number of examples
    is_share: bool = True  # True if all underlying scores lie within 0..1
    limits: Interval = (0.0, 1.0)  # smallest and largest possible value, infinite if there is none
    runs: tuple[MeanSquare, ...] = ()  # variance between seeds, prompts, …, if it is a mean over several runs
    levels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # factor -> level -> score

    @cached_property
    def run_components(self) -> dict[RunFactors, tuple[float, float]]:
        """Variance due to the factors of runs: effects on all examples, and on single examples."""
        return run_components(self.runs)

    @cached_property
    def example_variance(self) -> float:
        """Variance due to examples alone, without that of runs on single examples."""
        between = sum(part.variance for part in self.errors.values())
        return max(0.0, between - sum(on_single for _, on_single in self.run_components.values()))

    @property
    def example_freedom(self) -> float:
        """Degrees of freedom of the examples' variance, pooled over spaces (Satterthwaite); infinite if it is 0."""
        parts = [part for part in self.errors.values() if part.count > 1]
        squares = sum(part.variance**2 / part.freedom for part in parts)
        return sum(part.variance for part in parts) ** 2 / squares if squares else inf

    @cached_property
    def _pooled(self) -> tuple[float, float]:
        examples = MeanSquare(self.example_variance, self.example_freedom)
        if not self.runs:
            return examples.variance, 1 / examples.freedom
        total, inverse = pooled([examples, *self.runs])
        return float(total), float(inverse)

    @property
    def variance(self) -> float:
        """Variance observed between sources of examples and between runs."""
        return self._pooled[0]

    @property
    def sources(self) -> int:
        """Number of sources of examples."""
        return sum(part.count for part in self.errors.values())

    @property
    def from_subset(self) -> bool:
        """True if some rows are estimated from answers to a subset of the examples."""
        return any(isinstance(part, UnevenErrors) for part in self.errors.values())

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance; a space of g sources has g - 1, a factor of g levels has g - 1."""
        total, inverse = self._pooled
        return 1 / inverse if total > ROUNDING**2 and inverse else float(max(1, self.sources - 1))

    def score_interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval of a score, or None with fewer than `ENOUGH` sources.

        This is Wilson's interval with Student's quantile and the effective sample size, the number of 0/1 examples with
        the same variance (Korn and Graubard 1998). It holds its level at the ends of the scale, where the bootstrap is
        too narrow, and never leaves the scale. If all sources agree, the effective size is the number of sources.
        Scores that are not shares get Student's interval, or None if nothing varies; between limits of their own it is
        that of the log odds of their place between them, which for correlations is Fisher's z.
        """
        if self.sources < ENOUGH:
            return None
        quantile = t_quantile((1 + level) / 2, self.freedom)
        spread, variance = self.value * (1 - self.value), self.variance
        if not self.is_share or spread < -ROUNDING:
            margin = quantile * sqrt(variance)
            return bounded_interval(self.value, margin, self.limits) if variance > ROUNDING**2 else None
        if variance < ROUNDING**2 or spread < ROUNDING:
            effective = float(self.sources)
        else:
            effective = spread / (variance + self.unseen * self.centre * (1 - self.centre))
        return wilson_interval(min(1.0, max(0.0, self.value)), effective, quantile)

    def difference_interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval of a difference of scores, -1..1, or None with fewer than `ENOUGH` sources.

        This is Student's interval, shifted and widened by two further examples, one in favour of each side (Agresti and
        Min 2005), so it has positive width even if all sources agree.
        """
        error = sqrt(self.variance + self.unseen)
        if self.sources < ENOUGH or error < ROUNDING:
            return None
        margin = t_quantile((1 + level) / 2, self.freedom) * error
        low, high = self.centre - margin, self.centre + margin
        if self.is_share:
            low, high = max(-1.0, low), min(1.0, high)
        else:
            low, high = max(self.limits[0], low), min(self.limits[1], high)
        return min(low, self.value), max(high, self.value)

    @property
    def t_test(self) -> float:
        """Two-sided p-value of no difference, consistent with the interval."""
        error = sqrt(self.variance + self.unseen)
        return min(1.0, 2 * t_tail(abs(self.centre) / error, self.freedom)) if error else 1.0

    def equivalence_test(self, margin: float) -> float:
        """Return the p-value of a difference of at least the margin, either way: two one-sided tests."""
        error = sqrt(self.variance + self.unseen)
        if self.sources < ENOUGH or not error:
            return 1.0
        distance = (margin - abs(self.centre)) / error
        tail = t_tail(abs(distance), self.freedom)
        return tail if distance >= 0 else 1 - tail


def estimate(statistics: Statistics, codes: IntArray | None = None, size: int = 0, space: str = "") -> Estimate:
    """Return the estimate of a score from its statistics; the jackknife leaves out all rows of a source together.

    `codes` has the source of every unit (or row, if rows are units) as a number below `size`, the number of sources in
    the `space`; by default each unit is its own source.
    """
    rows = checked_rows(statistics)
    position, size = source_numbers(statistics, codes, size)
    counts = np.bincount(position, minlength=size)
    sums = sums_by_place(rows, position, size)
    # Estimated rows vary around their weights.
    present = (counts if statistics.drawn is not None else statistics.value.weights(sums, counts)) > 0
    total = rows.sum(axis=0)
    without = statistics.value(total - sums[present], len(rows) - counts[present])
    value = float(statistics.value(total, len(rows)))
    if not np.isfinite(without).all():
        # Some scores are undefined without a source, such as the correlation of constants: their error is unknown.
        present = np.zeros_like(present)
    count = int(np.count_nonzero(present))
    errors = np.zeros(size)
    if count > 1:
        errors[present] = (without.mean() - without) * sqrt((count - 1) / count)
    if statistics.drawn is not None:  # sources without an answer show no variation of their own
        present = present & (np.bincount(position, weights=statistics.drawn.answered, minlength=size) > 0)
        count = int(np.count_nonzero(present))
    source_errors = (SourceErrors if statistics.drawn is None else UnevenErrors)(errors, present)
    centre, unseen, is_share, n = value, 0.0, statistics.value.is_share, len(rows)
    if is_share:
        independent = _independent_examples(value, source_errors, statistics.value.weighted_rows(rows))
        centre = (value * independent + 1) / (independent + 2)
        # A single source shows no variation between sources.
        unseen = 1 / ((count + 2) * (independent + 2)) if count > 1 else 1.0
    return Estimate(
        value=value,
        centre=centre,
        n=n,
        errors={space: source_errors},
        unseen=unseen,
        is_share=is_share,
        limits=statistics.value.limits,
    )


def _independent_examples(value: float, errors: SourceErrors, n: int) -> float:
    """Return the equivalent number of independent examples, between the number of sources and n.

    If all sources agree, each counts as one example.
    """
    sources, variance = errors.count, errors.variance
    if variance < ROUNDING**2:
        return sources
    centre = (value * sources + 1) / (sources + 2)
    return min(max(sources, centre * (1 - centre) / variance), max(n, sources))


def source_numbers(statistics: Statistics, codes: IntArray | None, size: int) -> tuple[IntArray, int]:
    """Return the source of every row as a number, and the number of sources."""
    position = np.arange(len(statistics)) if statistics.units is None else statistics.units
    if codes is not None:
        position = codes[position]
    elif statistics.units is not None and not size:
        position = np.unique(position, return_inverse=True)[1].astype(np.int64)
    return position, max(size, int(position.max(initial=-1)) + 1)


def mean(
    estimates: Sequence[Estimate],
    weights: Sequence[float] | None = None,
    n: int | None = None,
    *,
    of_same: bool = False,
) -> Estimate:
    """Return the mean of estimates, plain unless there are weights.

    n defaults to the sum of their n; set `of_same` if all use the same examples, like two metrics of a task.
    """
    weights = [1.0] * len(estimates) if weights is None else weights
    total = fsum(weights)
    combined = weighted_sum(estimates, [weight / total for weight in weights])
    # Exactly rounded, so the order of the parts does not matter.
    value = fsum(weight * part.value for weight, part in zip(weights, estimates, strict=True)) / total
    unseen = max(part.unseen for part in estimates) if of_same else combined.unseen
    return replace(combined, value=value, n=combined.n if n is None else n, unseen=unseen)


def difference(a: Estimate, b: Estimate, *, unseen: float | None = None) -> Estimate:
    """Return a - b, source by source where shared.

    `unseen` replaces the sum of both estimates' if they use the same examples: `Exchange.further` is that of pairs.
    """
    result = replace(weighted_sum([a, b], [1.0, -1.0]), n=a.n)
    return result if unseen is None else replace(result, unseen=unseen)


def weighted_sum(estimates: Sequence[Estimate], factors: Sequence[float]) -> Estimate:
    """Return the sum of estimates times factors: an average, a difference, a trend.

    Means over several runs are combined within runs first (`isogloss.metrics.crossed`).
    """
    if any(part.runs for part in estimates):
        raise ValueError("combine estimates within runs first")
    errors: dict[str, SourceErrors] = {}
    used = [(part, factor) for part, factor in zip(estimates, factors, strict=True) if factor]
    for part, factor in used:
        for space, added in part.errors.items():
            values, present, kind = factor * added.values, added.present, added
            if space in errors:
                before = errors[space]
                values, present = before.values + values, before.present | present
                # A sum with uneven contributions is uneven in any order.
                kind = before if isinstance(before, UnevenErrors) else added
            errors[space] = replace(kind, values=values, present=present)
    ends = [sorted(factor * limit for limit in part.limits) for part, factor in used]
    return Estimate(
        value=sum(factor * part.value for part, factor in used),
        centre=sum(factor * part.centre for part, factor in used),
        n=sum(part.n for part in estimates),
        errors=errors,
        unseen=sum(factor**2 * part.unseen for part, factor in used),
        is_share=all(part.is_share for part in estimates),
        limits=(sum(low for low, _ in ends), sum(high for _, high in ends)),
    )


def bounded_interval(value: float, margin: float, limits: Interval) -> Interval:
    """Return value ± margin, or the same on the scale of log odds between finite limits, which it never leaves."""
    low, high = limits
    below, above = value - low, high - value
    if not (isfinite(below) and isfinite(above)) or min(below, above) < -ROUNDING:
        return value - margin, value + margin
    if min(below, above) < ROUNDING:
        return max(low, value - margin), min(high, value + margin)
    middle, half = log(below / above), margin * (high - low) / (below * above)
    ends = (_share_of_odds(middle - half), _share_of_odds(middle + half))
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def _share_of_odds(log_odds: float) -> float:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return 1 / (1 + exp(-log_odds)) if log_odds > 0 else exp(log_odds) / (1 + exp(log_odds))


def wilson_interval(share: float, n: float, quantile: float) -> Interval:
    """Return Wilson's score interval of a share of n examples.

    (p + q²/2n ± q sqrt(p(1 - p)/n + q²/4n²)) / (1 + q²/n): holds its level for small n, never leaves 0..1.
    """
    square = quantile * quantile
    centre = share + square / (2 * n)
    margin = quantile * sqrt(share * (1 - share) / n + square / (4 * n * n))
    scale = 1 + square / n
    return max(0.0, min(share, (centre - margin) / scale)), min(1.0, max(share, (centre + margin) / scale))
