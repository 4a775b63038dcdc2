"""How sure a score is: an estimate knows what every source of its examples adds to its error.

Examples that share a source (questions about one article, the translations of one sentence) are right or wrong
together, so what is drawn from the world is the source. Leaving out one source after the other (the jackknife) tells
how much each moves the score; the sum of the squares is the variance. Averages and differences add up source by
source, so whatever shares sources - languages, tasks, two systems - is correlated as it should be.

Nothing is drawn at random: the same answers give the same figures, in whatever order they come.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, checked_rows, sums_by_place
from isogloss.metrics.student import ENOUGH, LEVEL, t_quantile, t_tail

# Scores that are equal on paper may differ in their last digits.
ROUNDING = 1e-12
# How often the detectable difference would be found.
POWER = 0.8

Interval = tuple[float, float]


def sum_of_squares(values: FloatArray) -> float:
    """The sum of the squares, the same on any number of cores: BLAS would add up in another order on another number."""
    return float((values**2).sum())


@dataclass(frozen=True, eq=False)
class SourceErrors:
    """What each source of a space adds to the error of an estimate, 0 for those that are not `present`.

    Seeds are such a space as well, but no examples: they are marked, and not counted among these.
    """

    values: FloatArray
    present: npt.NDArray[np.bool_]
    are_seeds: bool = False

    @property
    def variance(self) -> float:
        """The part of the variance that the space has."""
        return sum_of_squares(self.values)

    @property
    def count(self) -> int:
        """How many sources there are."""
        return int(np.count_nonzero(self.present))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A score, or an average or difference of scores, and how sure it is.

    Attributes:
        value: the score.
        centre: the score with one further example right and one wrong in every cell; the middle of intervals.
        n: the examples behind it.
        errors: by space of sources what each source adds to the error. Spaces are independent of each other.
        unseen: the variance that a further source would add if all its examples could be right or wrong: what the
            sources have not shown yet.
        is_share: whether it is made of scores within 0..1.
        seeds: the score of each seed, where it is a mean over several.
    """

    value: float
    centre: float
    n: int
    errors: Mapping[str, SourceErrors]
    unseen: float
    is_share: bool = True
    seeds: FloatArray | None = None

    @property
    def variance(self) -> float:
        """The variance that the sources have shown."""
        return sum(part.variance for part in self.errors.values())

    @property
    def seed_variance(self) -> float:
        """The part of the variance that is due to seeds."""
        return sum(part.variance for part in self.errors.values() if part.are_seeds)

    @property
    def sources(self) -> int:
        """How many sources the examples have in all spaces."""
        return sum(part.count for part in self.errors.values() if not part.are_seeds)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the variance (Satterthwaite 1946): a space of g sources has g - 1."""
        parts = [(part.variance, part.count - 1) for part in self.errors.values() if part.count > 1]
        total = sum(variance for variance, _ in parts)
        if total < ROUNDING**2:
            return float(max(1, self.sources - 1))
        return total**2 / sum(variance**2 / freedom for variance, freedom in parts)

    def score_interval(self, level: float = LEVEL) -> Interval | None:
        """The interval of a score; None where there are fewer than `ENOUGH` sources.

        Wilson's interval with Student's quantile and the effective number of examples, which is how many 0/1 examples
        would have the same variance (Korn and Graubard 1998). It holds its level at the ends of the scale, where
        the bootstrap is too narrow, and never leaves the scale. Where no source differs from the others, the
        effective number is that of the sources. What is no share has no ends, and Student's plain interval, or
        none where nothing varies.
        """
        if self.sources < ENOUGH:
            return None
        quantile = t_quantile((1 + level) / 2, self.freedom)
        spread, variance = self.value * (1 - self.value), self.variance
        if not self.is_share or spread < -ROUNDING:
            margin = quantile * sqrt(variance)
            return (self.value - margin, self.value + margin) if variance > ROUNDING**2 else None
        if variance < ROUNDING**2 or spread < ROUNDING:
            effective = float(self.sources)
        else:
            effective = spread / (variance + self.unseen * self.centre * (1 - self.centre))
        return wilson_interval(min(1.0, max(0.0, self.value)), effective, quantile)

    def difference_interval(self, level: float = LEVEL) -> Interval | None:
        """The interval of a difference of scores, -1..1; None where there are fewer than `ENOUGH` sources.

        Student's interval, moved and widened by two further examples of which one favours either side (Agresti
        and Min 2005): no point even where all sources agree.
        """
        error = sqrt(self.variance + self.unseen)
        if self.sources < ENOUGH or error < ROUNDING:
            return None
        margin = t_quantile((1 + level) / 2, self.freedom) * error
        low, high = self.centre - margin, self.centre + margin
        if self.is_share:
            low, high = max(-1.0, low), min(1.0, high)
        return min(low, self.value), max(high, self.value)

    @property
    def t_test(self) -> float:
        """The two-sided p-value of no difference, from the same figures as the interval."""
        error = sqrt(self.variance + self.unseen)
        return min(1.0, 2 * t_tail(abs(self.centre) / error, self.freedom)) if error else 1.0

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that would be found, at the 5 % level, four times in five."""
        if self.sources < ENOUGH:
            return None
        reach = t_quantile((1 + LEVEL) / 2, self.freedom) + t_quantile(POWER, self.freedom)
        return reach * sqrt(self.variance + self.unseen)


def estimate(statistics: Statistics, codes: IntArray | None = None, size: int = 0, space: str = "") -> Estimate:
    """The estimate of a score from its statistics.

    Args:
        statistics: rows with their value; rows of one unit are always left out together.
        codes: the source of every unit, or of every row where rows are units, as a number below `size`; by default
            each is its own source.
        size: how many sources the space has.
        space: the name of the space of sources.

    Raises:
        ValueError: there are no rows, or a number is not finite.
    """
    rows = checked_rows(statistics)
    position, size = _positions(statistics, codes, size)
    counts = np.bincount(position, minlength=size)
    sums = sums_by_place(rows, position, size)
    present = counts > 0
    total = rows.sum(axis=0)
    without = statistics.value(total - sums[present], len(rows) - counts[present])
    value = float(statistics.value(total, len(rows)))
    if not np.isfinite(without).all():
        # A score that some sources alone make possible, such as a correlation of constants: nothing tells its error.
        present = np.zeros_like(present)
    count = int(np.count_nonzero(present))
    errors = np.zeros(size)
    if count > 1:
        errors[present] = (without.mean() - without) * sqrt((count - 1) / count)
    found = SourceErrors(errors, present)
    if not statistics.value.is_share:
        return Estimate(value, value, len(rows), {space: found}, 0.0, is_share=False)
    independent = _independent_examples(value, found, len(rows))
    centre = (value * independent + 1) / (independent + 2)
    # One source alone shows nothing of how sources differ.
    unseen = 1 / ((count + 2) * (independent + 2)) if count > 1 else 1.0
    return Estimate(value, centre, len(rows), {space: found}, unseen)


def _independent_examples(value: float, errors: SourceErrors, n: int) -> float:
    """How many examples that share no source would say as much: between the number of sources and n.

    Where no source differs from the others nothing tells that they hold more than one such example each.
    """
    sources, variance = errors.count, errors.variance
    if variance < ROUNDING**2:
        return sources
    centre = (value * sources + 1) / (sources + 2)
    return min(max(sources, centre * (1 - centre) / variance), max(n, sources))


def swaps(a: Statistics, b: Statistics, codes: IntArray | None = None, size: int = 0, space: str = "") -> Estimate:
    """The difference of two systems on the same rows, with what each source adds to it in place of the errors.

    If the systems are equally good, either could have given either's answers on a source: the signs of these
    numbers are arbitrary, which `sign_test` makes a test of. A source adds what exchanging its rows moves
    the two scores apart, starting from the mean of both.
    """
    same = a.value.name == b.value.name and a.value.columns == b.value.columns  # plug-ins may make a function twice
    if not same or a.rows.shape != b.rows.shape:
        raise ValueError(f"cannot pair {a.value.name} {a.rows.shape} with {b.value.name} {b.rows.shape}")
    position, size = _positions(a, codes, size)
    moves = sums_by_place((a.rows - b.rows) / 2, position, size)
    middle = (a.sums + b.sums) / 2
    values = a.value(middle + moves, len(a)) - a.value(middle - moves, len(a))
    present = np.bincount(position, minlength=size) > 0
    return Estimate(a.score - b.score, 0.0, len(a), {space: SourceErrors(values, present)}, 0.0)


def _positions(statistics: Statistics, codes: IntArray | None, size: int) -> tuple[IntArray, int]:
    """The source of every row as a number, and how many there are."""
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
    """The mean of estimates, plain unless there are weights.

    n is the sum of theirs unless it is given; `of_same` says that all are of the same examples, as two metrics are.
    """
    given = [1.0] * len(estimates) if weights is None else weights
    total = fsum(given)
    found = weighted_sum(estimates, [weight / total for weight in given])
    # Exactly rounded, so that the order of the parts cannot show.
    value = fsum(weight * each.value for weight, each in zip(given, estimates, strict=True)) / total
    unseen = max(each.unseen for each in estimates) if of_same else found.unseen
    return replace(found, value=value, n=found.n if n is None else n, unseen=unseen)


def difference(a: Estimate, b: Estimate, *, paired: bool = False) -> Estimate:
    """One estimate minus another, source by source where they share them; paired if they are of the same examples."""
    found = replace(weighted_sum([a, b], [1.0, -1.0]), n=a.n, seeds=None)
    return replace(found, unseen=max(a.unseen, b.unseen)) if paired else found


def over_seeds(estimates: Sequence[Estimate], space: str) -> Estimate:
    """The mean of one score over several seeds, with the seeds as a further space of sources.

    That seeds differ on single examples is in the errors of these already, so it is taken out of how the seeds' scores
    differ.
    """
    count = len(estimates)
    if count == 1:
        return estimates[0]
    found = mean(estimates, n=estimates[0].n, of_same=True)
    values = np.array([each.value for each in estimates])
    apart = (values - values.mean()) / sqrt(count * (count - 1))
    shown = sum_of_squares(apart)
    on_examples = sum(
        float(((each.errors[name].values - part.values) ** 2).sum())
        for each in estimates
        for name, part in found.errors.items()
    ) / (count * (count - 1))
    left = sqrt(max(0.0, 1 - on_examples / shown)) if shown > ROUNDING**2 else 0.0
    errors = {**found.errors, space: SourceErrors(left * apart, np.ones(count, dtype=bool), are_seeds=True)}
    return replace(found, errors=errors, seeds=values)


def weighted_sum(estimates: Sequence[Estimate], factors: Sequence[float]) -> Estimate:
    """The sum of estimates times factors: an average, a difference, a trend."""
    errors: dict[str, SourceErrors] = {}
    used = [(each, factor) for each, factor in zip(estimates, factors, strict=True) if factor]
    for each, factor in used:
        for space, part in each.errors.items():
            before = errors.get(space)
            values = factor * part.values
            errors[space] = (
                replace(part, values=values)
                if before is None
                else replace(part, values=before.values + values, present=before.present | part.present)
            )
    seeds = [factor * each.seeds for each, factor in used if each.seeds is not None]
    alike = len(seeds) == len(used) and len({len(values) for values in seeds}) == 1
    return Estimate(
        sum(factor * each.value for each, factor in used),
        sum(factor * each.centre for each, factor in used),
        sum(each.n for each in estimates),
        errors,
        sum(factor**2 * each.unseen for each, factor in used),
        all(each.is_share for each in estimates),
        np.sum(seeds, axis=0) if alike else None,
    )


def wilson_interval(share: float, n: float, quantile: float) -> Interval:
    """Wilson's score interval of a share of n examples.

    (p + q²/2n ± q sqrt(p(1 - p)/n + q²/4n²)) / (1 + q²/n): holds its level for small n, never leaves 0..1.
    """
    square = quantile * quantile
    centre = share + square / (2 * n)
    margin = quantile * sqrt(share * (1 - share) / n + square / (4 * n * n))
    scale = 1 + square / n
    return max(0.0, min(share, (centre - margin) / scale)), min(1.0, max(share, (centre + margin) / scale))
