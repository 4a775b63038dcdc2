"""Several runs of one system: seeds, prompts and translators as factors that cross the examples.

A further seed would change every language at once, so quantities are combined within each run first; the spread of the
runs then shows what a factor does to an average, a gap or an overall score (`RunEstimates`). Prompts and translators
of the same names are the same in two systems: what they change in both alike cancels in the difference, so the variance
between such prompts is that of the differences within prompts. Seeds of two systems have nothing in common.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import fsum, prod

import numpy as np

from isogloss.metrics.estimate import POWER, Estimate, Interval, difference, mean
from isogloss.metrics.power import t_test
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import ALPHA, ENOUGH, LEVEL
from isogloss.metrics.variance_components import MeanSquare, expected_squares, mean_squares, subsets

# Factors with levels of their own in each system, even if two systems have levels of the same name.
OWN_FACTORS = frozenset({"seed"})


@dataclass(frozen=True)
class Design:
    """The runs of a system: for every factor that varies, such as "seed" or "prompt", the level of each run."""

    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def of(runs: Sequence[Mapping[str, str]]) -> "Design":
        """Return the design of runs given as {factor: level}; factors with a single level do not vary.

        Raises:
            ValueError: the runs differ in their factors, or are not a full grid of all levels.
        """
        names = list(dict.fromkeys(factor for run in runs for factor in run))
        for run in runs:
            if lacking := [name for name in names if name not in run]:
                raise ValueError(f"{_text(run) or 'a run'} has no {lacking[0]}")
        levels = [list(dict.fromkeys(run[name] for run in runs)) for name in names]
        present = {tuple(run[name] for name in names) for run in runs}
        for combination in product(*levels):
            if combination not in present:
                raise ValueError(f"{_text(dict(zip(names, combination, strict=True)))} is missing")
        if len(present) < len(runs):
            raise ValueError("two runs have the same levels")
        varying = [name for name, values in zip(names, levels, strict=True) if len(values) > 1]
        return Design({name: tuple(run[name] for run in runs) for name in varying})

    @cached_property
    def levels(self) -> dict[str, int]:
        """Number of levels of each factor."""
        return {factor: len(set(names)) for factor, names in self.factors.items()}

    @cached_property
    def order(self) -> list[int]:
        """Runs in the order of their levels, so that they form a grid."""
        return sorted(range(prod(self.levels.values())), key=lambda run: [each[run] for each in self.factors.values()])

    def of_runs(self, kept: Sequence[int]) -> "Design":
        """Return the design of some of the runs."""
        return Design({factor: tuple(names[run] for run in kept) for factor, names in self.factors.items()})

    def shared(self, other: "Design") -> list[str]:
        """Return the factors with the same levels in both designs."""
        return [
            factor
            for factor, names in self.factors.items()
            if factor not in OWN_FACTORS and set(names) == set(other.factors.get(factor, ()))
        ]


def _text(levels: Mapping[str, str]) -> str:
    return "/".join(f"{factor}-{level}" for factor, level in levels.items())


@dataclass(frozen=True, eq=False)
class RunEstimates:
    """One quantity in every run of a system, in the order of the design."""

    runs: tuple[Estimate, ...]
    design: Design = field(default_factory=Design)

    @cached_property
    def combined(self) -> Estimate:
        """Mean over the runs, with every factor as a further space of sources."""
        return over_runs(self.runs, self.design)

    @staticmethod
    def mean(
        parts: "Sequence[RunEstimates]",
        weights: Sequence[float] | None = None,
        n: int | None = None,
        *,
        of_same: bool = False,
    ) -> "RunEstimates":
        """Return the mean of several quantities within each run; see `isogloss.metrics.estimate.mean`."""
        by_run = zip(*(part.runs for part in parts), strict=True)
        return replace(parts[0], runs=tuple(mean(each, weights, n, of_same=of_same) for each in by_run))

    def minus(self, other: "RunEstimates") -> "RunEstimates":
        """Return the difference from another quantity of the same runs."""
        return replace(self, runs=tuple(difference(a, b) for a, b in zip(self.runs, other.runs, strict=True)))


@dataclass(frozen=True, eq=False)
class MethodDifference:
    """Difference of two methods, at least one of them with several runs, for new runs and new examples."""

    estimate: Estimate
    shared: tuple[str, ...] = ()  # factors with the same levels in both
    separate: tuple[str, ...] = ()  # prompts and translators that both vary, with different levels

    @staticmethod
    def of(first: RunEstimates, second: RunEstimates, further: float) -> "MethodDifference":
        """Return the difference of the means over runs; `further` is as in `Exchange`."""
        shared = tuple(first.design.shared(second.design))
        both = set(first.design.factors).intersection(second.design.factors) - OWN_FACTORS
        apart = difference(_mean(first.runs), _mean(second.runs), unseen=further)
        squares = run_squares([first, second], shared)
        return MethodDifference(replace(apart, runs=squares), shared, tuple(sorted(both.difference(shared))))

    @property
    def value(self) -> float:
        """First mean minus second."""
        return self.estimate.value

    @property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        return self.estimate.t_test

    @property
    def test(self) -> str:
        """Name of the test."""
        kinds = dict.fromkeys(self.shared, "shared ") | dict.fromkeys(self.separate, "different ")
        names = sorted({factor for part in self.estimate.runs for factor in part.factors})
        return f"t over {' and '.join(kinds.get(name, '') + name + 's' for name in names)}" if names else "t"

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval of the difference, or None with too few sources."""
        return self.estimate.difference_interval(level)

    def equivalence(self, margin: float) -> float:
        """Return the p-value of a difference of at least the margin, either way: two one-sided tests."""
        return self.estimate.equivalence_test(margin)

    @cached_property
    def detectable(self) -> float | None:
        """Minimum detectable difference at the 5 % level with 80 % power.

        None with too few sources, or if even the largest possible difference is not detected with this power. With two
        or three seeds, the estimated error varies widely, so this is more than the usual multiple of it.
        """
        if self.estimate.sources < ENOUGH:
            return None
        planned = t_test(expected_parts(self.estimate, self.shared), ALPHA, self.estimate.unseen)
        return planned.detectable(POWER, is_share=self.estimate.is_share)


def expected_parts(estimate: Estimate, shared: Collection[str] = ()) -> list[MeanSquare]:
    """Return the mean squares that a further study of the same size can expect, those of the examples first."""
    components = {key: sum(parts) for key, parts in estimate.run_components.items()}
    freedom = {(part.factors, part.side): part.freedom for part in estimate.runs}
    return [
        MeanSquare(estimate.example_variance, estimate.example_freedom),
        *(MeanSquare(variance, freedom[key], *key) for key, variance in expected_squares(components, shared).items()),
    ]


def variance_shares(estimate: Estimate) -> dict[str, float]:
    """Return the share of the expected variance due to each factor of the runs; the rest is due to the examples.

    Effects of factors on each other count for each of them in equal parts.
    """
    variances = dict.fromkeys(sorted({factor for part in estimate.runs for factor in part.factors}), 0.0)
    for (factors, _), parts in estimate.run_components.items():
        for factor in factors:
            variances[factor] += sum(parts) / len(factors)
    total = estimate.example_variance + sum(variances.values())
    return {factor: variance / total for factor, variance in variances.items()} if total else {}


def over_runs(estimates: Sequence[Estimate], design: Design) -> Estimate:
    """Return the mean of one quantity over runs, with the variance between the levels of each factor."""
    if len(estimates) == 1:
        return estimates[0]
    levels = {
        factor: {
            name: _value([one for one, level in zip(estimates, names, strict=True) if level == name])
            for name in dict.fromkeys(names)
        }
        for factor, names in design.factors.items()
    }
    return replace(_mean(estimates), runs=run_squares([RunEstimates(tuple(estimates), design)]), levels=levels)


def _mean(runs: Sequence[Estimate]) -> Estimate:
    return runs[0] if len(runs) == 1 else mean(runs, n=runs[0].n, of_same=True)


def _value(runs: Sequence[Estimate]) -> float:
    return fsum(run.value for run in runs) / len(runs)


def run_squares(sides: Sequence[RunEstimates], shared: Sequence[str] = ()) -> tuple[MeanSquare, ...]:
    """Return the variance of a mean over runs, or of the difference of two, due to every set of factors.

    Levels also differ on single examples, which the errors of the examples contain as well: `by_example`. For factors
    that both systems share, all this is the variance of the difference of the systems within each level.
    """
    spaces = {space: len(part.values) for side in sides for run in side.runs for space, part in run.errors.items()}
    grids = [_grid(side, spaces) for side in sides]
    own = [
        (grid, list(side.design.factors), number) for number, (grid, side) in enumerate(zip(grids, sides, strict=True))
    ]
    squares = [
        _square(grid, names, factors, side)
        for grid, names, side in own
        for factors in subsets(names)
        if not factors <= set(shared)
    ]
    if shared:
        first, second = (_over_others(grid, names, shared) for grid, names, _ in own)
        squares += [_square(first - second, shared, factors, None) for factors in subsets(shared) if factors]
    return tuple(squares)


def _grid(side: RunEstimates, spaces: Mapping[str, int]) -> FloatArray:
    """Return the score of every run and the contributions of all sources to its error, by levels of all factors."""
    rows = np.zeros((len(side.runs), 1 + sum(spaces.values())))
    for row, run in zip(rows, (side.runs[index] for index in side.design.order), strict=True):
        row[0], start = run.value, 1
        for space, size in spaces.items():
            if space in run.errors:
                row[start : start + size] = run.errors[space].values
            start += size
    return rows.reshape(*side.design.levels.values(), rows.shape[1])


def _over_others(grid: FloatArray, names: Sequence[str], shared: Sequence[str]) -> FloatArray:
    """Return a grid averaged over the factors that are not shared, with the others in the order given."""
    kept = [name for name in names if name in shared]
    averaged: FloatArray = grid.mean(axis=tuple(axis for axis, name in enumerate(names) if name not in shared))
    return averaged.transpose([*(kept.index(name) for name in shared), len(kept)])


def _square(grid: FloatArray, names: Sequence[str], factors: frozenset[str], side: int | None) -> MeanSquare:
    chosen = [axis for axis, name in enumerate(names) if name in factors]
    columns = mean_squares(grid, chosen)
    freedom = prod(grid.shape[axis] - 1 for axis in chosen)
    return MeanSquare(float(columns[0]), freedom, factors, side, by_example=float(columns[1:].sum()))
