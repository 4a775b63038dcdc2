"""Several runs of one system: seeds, prompts and translators as factors that cross the examples.

A further seed would change every language at once, so quantities are combined within each run first; the spread of the
runs then shows what a factor does to an average, a gap or an overall score (`RunEstimates`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import isfinite, sqrt

import numpy as np

from isogloss.metrics.estimate import POWER, Estimate, Interval, SourceErrors, difference, mean, sum_of_squares
from isogloss.metrics.power import VariancePart, t_test
from isogloss.metrics.student import ALPHA, ENOUGH, LEVEL


@dataclass(frozen=True)
class Design:
    """The runs of a system: for every factor that varies, such as "seed" or "prompt", the level of each run.

    `owner` names the system, so that the seeds of two systems are different sources.
    """

    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    owner: str = ""

    @staticmethod
    def of(runs: Sequence[Mapping[str, str]], owner: str = "") -> "Design":
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
        return Design({name: tuple(run[name] for run in runs) for name in varying}, owner)


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

    @staticmethod
    def of(first: RunEstimates, second: RunEstimates, further: float) -> "MethodDifference":
        """Return the difference of the means over runs; `further` is as in `Exchange`."""
        return MethodDifference(difference(first.combined, second.combined, unseen=further))

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
        factors = " and ".join(f"{factor}s" for factor in self.estimate.factor_variances)
        return f"t over {factors}" if factors else "t"

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval of the difference, or None with too few sources."""
        return self.estimate.difference_interval(level)

    def equivalence(self, margin: float) -> float:
        """Return the p-value of a difference of at least the margin, either way: two one-sided tests."""
        return self.estimate.equivalence_test(margin)

    @property
    def detectable(self) -> float | None:
        """Minimum detectable difference at the 5 % level with 80 % power, or None with too few sources.

        With two or three seeds, the estimated error varies widely, so this is more than the usual multiple of it.
        """
        if self.estimate.sources < ENOUGH:
            return None
        reach = t_test(_variance_parts(self.estimate), ALPHA, self.estimate.unseen).detectable(POWER)
        return reach if isfinite(reach) else None


def _variance_parts(estimate: Estimate) -> list[VariancePart]:
    """Return the variance of each factor's space, and that of all examples, with their degrees of freedom."""
    factors = [part for part in estimate.errors.values() if part.factor]
    return [
        VariancePart(estimate.example_variance, estimate.example_freedom),
        *(VariancePart(part.variance, part.freedom, part.factor) for part in factors),
    ]


def over_runs(estimates: Sequence[Estimate], design: Design) -> Estimate:
    """Return the mean of one quantity over runs, with each factor of the design as a further space of sources.

    The variance due to a factor is that of the means of its levels. Levels also differ on single examples, which the
    errors of the examples already contain: this `overlap` is counted once. Effects of two factors on each other are
    part of both, so the variance of a mean over two factors is, if anything, too large.
    """
    if len(estimates) == 1:
        return estimates[0]
    average = mean(estimates, n=estimates[0].n, of_same=True)
    errors, levels, overlap = dict(average.errors), {}, 0.0
    for factor, level_of_run in design.factors.items():
        names = list(dict.fromkeys(level_of_run))
        means = [
            mean([one for one, level in zip(estimates, level_of_run, strict=True) if level == name], of_same=True)
            for name in names
        ]
        count = len(means)
        values = np.array([one.value for one in means])
        apart = (values - values.mean()) / sqrt(count * (count - 1))
        errors[f"{factor} of {design.owner}"] = SourceErrors(apart, np.ones(count, dtype=bool), factor)
        levels[factor] = dict(zip(names, values.tolist(), strict=True))
        gaps = (
            sum_of_squares(one.errors[space].values - shared.values)
            for one in means
            for space, shared in average.errors.items()
        )
        overlap += sum(gaps) / (count * (count - 1))
    return replace(average, errors=errors, levels=levels, overlap=overlap)
