"""Plan a comparison of two systems: power, minimum detectable difference and sample sizes from variance components.

Scores and differences are shares, 0..1. All numbers are those of the tests that `isogloss.compare` makes: an exchange
test of single runs, and a t test over seeds, prompts and translators if there are several.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, prod

from isogloss.metrics.crossed import OWN_FACTORS
from isogloss.metrics.estimate import POWER
from isogloss.metrics.language_sample import LEAST_FREEDOM
from isogloss.metrics.planning import difference_variance
from isogloss.metrics.power import PlannedTest, exchange_test, largest_variance, t_test
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.metrics.variance_components import MeanSquare, RunFactors, expected_squares

EXAMPLE, LANGUAGE = "example", "language"
# Factors of the test set; any other is varied between runs.
TEST_SET = (EXAMPLE, LANGUAGE)
# More levels than this are out of reach.
_MOST = 10**9
# The variance of a pilot is below its cautious value with this confidence (Browne 1995).
CONFIDENCE = 0.8
# Numbers of seeds, prompts and translators to combine with examples, and the most designs to return.
_RUNS = (2, 3, 5, 10, 20, 50)
_DESIGNS = 6

# Numbers of levels by factor, in the first and the second system.
Numbers = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class VarianceComponent:
    """Variance of a difference due to some factors, with one level of each; `side` is the system that varies them.

    It is None if both systems share the levels, as those of examples and of prompts with the same names.
    """

    factors: frozenset[str]
    variance: float
    side: int | None = None

    @property
    def run_factors(self) -> list[str]:
        """Factors that vary between runs, such as seeds."""
        return sorted(self.factors.difference(TEST_SET))

    def within(self, numbers: Numbers) -> float:
        """Return its part of the variance of a study's difference."""
        return self.variance / prod(numbers[factor][self.side or 0] for factor in self.factors)


@dataclass(frozen=True, kw_only=True)
class StudyGoal:
    """A true difference, 0..1, the chance of detecting it, and the level of the test."""

    difference: float
    power: float = POWER
    alpha: float = ALPHA


@dataclass(frozen=True, kw_only=True)
class PilotStudy:
    """Result of a pilot: the variance components of a difference, and the design they were measured with.

    Attributes:
        numbers: examples per language, languages, and runs of both systems.
        freedom: degrees of freedom of the examples' variance.
        language_freedom: degrees of freedom of the variance between languages; 0 if they are not a sample.
        weight: sum of the squared weights of sources.
        step: half the distance between possible differences of single runs.
        further: variance of two further examples.
        shared: factors of runs with the same levels in both systems, such as prompts.
        measured: False if its variances are assumed.
    """

    components: tuple[VarianceComponent, ...]
    numbers: Numbers
    freedom: float
    language_freedom: float = 0.0
    weight: float = 0.0
    step: float = 0.0
    further: float = 0.0
    shared: tuple[str, ...] = ()
    measured: bool = True

    @property
    def factors(self) -> list[str]:
        """Factors to plan: examples, languages if there are several, and what varies between runs."""
        runs = dict.fromkeys(factor for component in self.components for factor in component.run_factors)
        several = [LANGUAGE] if self.numbers[LANGUAGE][0] > 1 else []
        return [EXAMPLE, *several, *(factor for factor in self.numbers if factor in runs)]

    def least(self, factor: str) -> int:
        """Return the smallest number of levels that a test can use."""
        if factor == EXAMPLE:
            return ceil(ENOUGH * self.numbers[EXAMPLE][0] / (self.freedom + 1))
        if factor != LANGUAGE:
            return 2
        return ceil(LEAST_FREEDOM * self.numbers[LANGUAGE][0] / (self.language_freedom or inf)) or 1

    def test(self, numbers: Numbers, alpha: float = ALPHA) -> PlannedTest:
        """Return the test of a study with these numbers."""
        of_runs, alone = self._run_variances(numbers), self._variances_alone(numbers)
        parts = [
            *(MeanSquare(alone[name], self._freedom(name, numbers), _factors(name)) for name in alone),
            *(
                MeanSquare(variance, prod(numbers[factor][side or 0] - 1 for factor in factors), factors, side)
                for (factors, side), variance in expected_squares(of_runs, self.shared).items()
            ),
        ]
        scale = self.numbers[EXAMPLE][0] / numbers[EXAMPLE][0]
        if any(part.factors for part in parts):
            return t_test(parts, alpha, self.further * scale**2)
        [only] = parts
        step = self.step * scale * self.numbers[LANGUAGE][0] / numbers[LANGUAGE][0]
        return exchange_test(only.variance, only.freedom, alpha, self.weight * scale, step, self.further * scale**2)

    def _run_variances(self, numbers: Numbers) -> dict[RunFactors, float]:
        """Return the variance due to each set of factors of the runs, with and without examples and languages."""
        variances: dict[RunFactors, float] = {}
        for component in self.components:
            if runs := component.run_factors:
                key = frozenset(runs), component.side
                variances[key] = variances.get(key, 0.0) + component.within(numbers)
        return variances

    def _variances_alone(self, numbers: Numbers) -> dict[str, float]:
        """Return the variance of all runs alike due to examples, and that between languages if they are a sample."""
        variances = {EXAMPLE: 0.0}
        for component in self.components:
            if not component.run_factors:
                name = EXAMPLE if EXAMPLE in component.factors else LANGUAGE
                variances[name] = variances.get(name, 0.0) + component.within(numbers)
        return variances

    def _freedom(self, factor: str, numbers: Numbers) -> float:
        if factor == EXAMPLE:
            return (self.freedom + 1) * numbers[EXAMPLE][0] / self.numbers[EXAMPLE][0] - 1
        return self.language_freedom * numbers[LANGUAGE][0] / self.numbers[LANGUAGE][0]

    def shares(self, numbers: Numbers) -> dict[str, float]:
        """Return the share of the variance due to each factor; that of the examples includes new sources.

        Effects of factors of the runs on each other count for each of them in equal parts.
        """
        variances = self._variances_alone(numbers)
        for (factors, _), variance in self._run_variances(numbers).items():
            for factor in sorted(factors):
                variances[factor] = variances.get(factor, 0.0) + variance / len(factors)
        total = sum(variances.values())
        return {factor: variance / total if total else 0.0 for factor, variance in variances.items()}

    def with_levels(self, numbers: Numbers, **levels: float) -> dict[str, tuple[float, float]]:
        """Return the numbers of a study with other levels of some factors in both systems."""
        return {**numbers, **{factor: (count, count) for factor, count in levels.items()}}

    def cautious(self) -> "PilotStudy":
        """Return the pilot with the largest variances that it is compatible with, at 80 % confidence."""
        larger = (replace(each, variance=each.variance * self._doubt(each)) for each in self.components)
        return replace(self, components=tuple(larger))

    def _doubt(self, component: VarianceComponent) -> float:
        """Return the ratio of the upper confidence limit of a variance to its estimate."""
        if component.run_factors:
            sides = (0,) if component.side is None else (0, 1)
            counts = ([self.numbers[factor][side] for side in sides] for factor in component.run_factors)
            freedom = min(max(0.0, sum(each) - len(each)) for each in counts)
        else:
            freedom = self.freedom if EXAMPLE in component.factors else self.language_freedom
        return largest_variance(freedom, CONFIDENCE) if freedom > 0 else 1.0


def _factors(name: str) -> frozenset[str]:
    return frozenset() if name == EXAMPLE else frozenset({name})


def assumed_pilot(
    scores: Sequence[float],
    examples: float,
    *,
    deviations: Mapping[frozenset[str], float] | None = None,
    runs: Mapping[str, int] | None = None,
    correlation: float = 0.0,
    parallel: bool = False,
) -> PilotStudy:
    """Return a pilot of two systems that are alike, from figures in place of predictions.

    Args:
        scores: score in each language, 0..1, with the variance of a share of right answers.
        examples: number of examples per language.
        deviations: standard deviation, 0..1, between the levels of factors of each system, such as seeds. Prompts and
            translators are those of both systems, with independent effects: an upper bound.
        runs: number of runs of each system by factor; 1 by default.
        correlation: correlation of the two systems on an example.
        parallel: True if languages have translations of the same examples, on which all of them fail together.
    """
    spread = sum(difference_variance(score, score, correlation) for score in scores) / len(scores)
    shared = frozenset({EXAMPLE} if parallel or len(scores) == 1 else TEST_SET)
    components = [VarianceComponent(shared, spread)]
    for factors, deviation in (deviations or {}).items():
        components += of_two_systems(factors, deviation**2)
    levels = {factor: 1 for component in components for factor in component.run_factors} | dict(runs or {})
    sources = examples if parallel else examples * len(scores)
    return PilotStudy(
        components=tuple(components),
        numbers={factor: (n, n) for factor, n in {EXAMPLE: examples, LANGUAGE: len(scores), **levels}.items()},
        freedom=sources - 1,
        weight=1 / sources,
        step=1 / (examples * len(scores)),
        further=2 / (sources + 2) ** 2,
        shared=tuple(sorted(factor for factor in levels if factor not in OWN_FACTORS)),
    )


def of_two_systems(factors: frozenset[str], variance: float) -> list[VarianceComponent]:
    """Return the components of the difference of two systems that are alike, from the variance of one of them.

    Both have the same prompts, with independent effects, which is an upper bound: effects that both share cancel.
    """
    if factors & OWN_FACTORS:
        return [VarianceComponent(factors, variance, side) for side in (0, 1)]
    return [VarianceComponent(factors, 2 * variance)]


def detectable(pilot: PilotStudy, numbers: Numbers, goal: StudyGoal) -> float | None:
    """Return the minimum detectable difference of a study, 0..1, or None if even the largest is not detected."""
    return pilot.test(numbers, goal.alpha).detectable(goal.power)


def reached(pilot: PilotStudy, numbers: Numbers, goal: StudyGoal) -> bool:
    """Return True if a study has the power to detect the difference."""
    return pilot.test(numbers, goal.alpha).power(goal.difference) >= goal.power


def needed(pilot: PilotStudy, factor: str, numbers: Numbers, goal: StudyGoal) -> int | None:
    """Return the smallest number of levels of one factor that reaches the goal, or None if more of it never does.

    Few seeds make power uneven: more examples let the seeds weigh more, which leaves fewer degrees of freedom. So the
    numbers are tried upwards.
    """
    below = pilot.least(factor) - 1
    for count in _ladder(below + 1):
        if reached(pilot, pilot.with_levels(numbers, **{factor: count}), goal):
            high = count
            break
        below = count
    else:
        return None
    while high - below > 1:
        middle = (below + high) // 2
        enough = reached(pilot, pilot.with_levels(numbers, **{factor: middle}), goal)
        below, high = (below, middle) if enough else (middle, high)
    return high


def at_best(pilot: PilotStudy, factor: str, numbers: Numbers, goal: StudyGoal) -> float | None:
    """Return the smallest difference that any number of levels of one factor makes detectable."""
    # Some numbers are enough, as the curve is flat at its lowest point.
    counts = [*list(_ladder(pilot.least(factor)))[::3], inf]
    limits = (detectable(pilot, pilot.with_levels(numbers, **{factor: count}), goal) for count in counts)
    return min((limit for limit in limits if limit is not None), default=None)


def _ladder(least: int) -> Iterator[int]:
    count = least
    while count < _MOST:
        yield count
        count *= 2


def combinations(pilot: PilotStudy, goal: StudyGoal) -> list[dict[str, tuple[float, float]]]:
    """Return designs that reach the goal: for some numbers of runs, or of languages, the examples they need."""
    varied = [factor for factor in pilot.factors if factor not in TEST_SET] or pilot.factors[1:]
    choices: Sequence[int] = _RUNS
    if varied == [LANGUAGE]:
        languages = int(pilot.numbers[LANGUAGE][0])
        choices = (max(1, languages // 2), languages, 2 * languages)
    designs: list[dict[str, tuple[float, float]]] = []
    for counts in sorted(product(choices, repeat=len(varied)), key=prod) if varied else ():
        numbers = pilot.with_levels(pilot.numbers, **dict(zip(varied, counts, strict=True)))
        examples = needed(pilot, EXAMPLE, numbers, goal) if len(designs) < _DESIGNS else None
        if examples is not None:
            designs.append(pilot.with_levels(numbers, **{EXAMPLE: examples}))
    return designs
