"""Pilots of planned comparisons: variance components of the difference of two systems, from their judged cells.

The variances of runs and examples are those of the test that `isogloss.compare` makes, so that a study like the pilot
gets the pilot's own test. The runs of each system and the languages of a task form a grid: its analysis of variance
separates what a factor changes in all languages from what it changes in single ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, prod
from typing import Any

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.crossed import MethodDifference
from isogloss.metrics.estimate import ROUNDING, sum_of_squares
from isogloss.metrics.language_sample import NO_INTERVAL_REASON, mean_error
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.scoring.averages import averaged
from isogloss.scoring.compare import SystemRuns
from isogloss.scoring.designs import check_same_examples
from isogloss.scoring.language_grid import ALONE, LanguageGrid, LanguageParts, language_parts
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.names import family_of
from isogloss.scoring.paired_estimates import PairedEstimates, paired_estimates
from isogloss.scoring.planning import EXAMPLE, LANGUAGE, Numbers, PilotStudy, VarianceComponent, of_two_systems
from isogloss.scoring.request import Request
from isogloss.tasks.registry import category_of


@dataclass(frozen=True, kw_only=True)
class PilotAssumptions:
    """Assumptions on what a pilot cannot show.

    Attributes:
        sampled: True if the languages are a sample of more, so that differences between them count as an error.
        correlation: correlation of two systems on an example, if there is only one.
    """

    sampled: bool = False
    correlation: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PlannedScore:
    """A score to compare two systems by: a cell, a task average or the overall score.

    Attributes:
        level: "cell", "task" or "overall".
        pilot: its variance components, or None if they are unknown; `reason` says why.
        difference: first score minus second, 0..1; None with a single system.
        sources: number of sources of its examples.
        source_size: examples per source in one language.
        bound: largest difference that a pilot without any difference is compatible with (95 %).
    """

    level: str
    name: str
    pilot: PilotStudy | None
    difference: float | None = None
    sources: int = 0
    source_size: float = 1.0
    reason: str = ""
    bound: float | None = None


def planned_scores(
    systems: Sequence[SystemRuns], request: Request, assumptions: PilotAssumptions
) -> Iterator[PlannedScore]:
    """Yield the overall score, every task average and every cell that one or two judged systems have.

    Raises:
        PredictionError: two systems share no cell.
    """
    first, second = systems[0], systems[-1]
    single = len(systems) == 1
    keys = [key for key in first.cells if key in second.cells]
    if not keys:
        fix = "Pass pilots on the same tasks and languages"
        raise PredictionError("the pilots share no cell", where=f"{first.name}, {second.name}", fix=fix)
    judged = {key: (first.cells[key], second.cells[key]) for key in keys}
    for one, other in judged.values():
        check_same_examples((*one, *other), f"{first.name} and {second.name}")
    pairs = paired_estimates(judged, (first.design, second.design), request)
    pilot_of = partial(_planned, single=single, assumptions=assumptions)
    languages = {
        name: [(name, cell.language) for cell in averaged([first.cells[key][0] for key in keys], name, request)]
        for name in dict.fromkeys(name for name, _ in keys)
    }
    tasks = {name: [pairs[key] for key in inside] for name, inside in languages.items() if inside}
    in_suite = {name: PairedEstimates.mean(cells) for name, cells in tasks.items() if name in request.suite.tasks}
    if len(in_suite) > 1 and request.split != "best" and not mixed_directions(in_suite):
        suite = request.suite
        top = aggregate.combined(in_suite, suite.rule, category_of, PairedEstimates.mean, suite.weights)
        count = sum(len(tasks[name]) for name in in_suite)
        yield pilot_of("overall", suite.rule, [top], [""], examples=top.exchange.n / count)
    for name, cells in tasks.items():
        yield pilot_of("task", name, cells, [code for _, code in languages[name]])
    for key in keys:
        yield pilot_of("cell", "/".join(key), [pairs[key]], [key[1]])


def _planned(
    level: str,
    name: str,
    cells: Sequence[PairedEstimates],
    languages: Sequence[str],
    *,
    single: bool,
    assumptions: PilotAssumptions,
    examples: float | None = None,
) -> PlannedScore:
    average = PairedEstimates.mean(cells)
    exchange = average.exchange
    difference = MethodDifference.of(average.first, average.second, exchange.further)
    apart = average.first.combined if single else difference.estimate
    variance, freedom = apart.example_variance, apart.example_freedom
    if not single and not apart.runs:
        variance, freedom = exchange.variance, exchange.freedom
    known: dict[str, Any] = {
        "level": level,
        "name": name,
        "difference": None if single else apart.value,
        "sources": apart.sources,
        "source_size": exchange.n / max(1, sum(cell.exchange.sources for cell in cells)),
    }
    if apart.sources < ENOUGH:
        reason = f"{apart.sources} independent examples; a pilot needs at least {ENOUGH}"
        return PlannedScore(**known, pilot=None, reason=reason)
    if sum(part.variance for part in apart.errors.values()) < ROUNDING**2:
        same = "all examples have the same score" if single else "both systems have the same score on every example"
        return PlannedScore(**known, pilot=None, reason=same, bound=1 - ALPHA ** (1 / apart.sources))
    n = exchange.n / len(cells) if examples is None else examples
    grids = [LanguageGrid.of([cell.first for cell in cells]), LanguageGrid.of([cell.second for cell in cells])]
    sample = None
    if assumptions.sampled and level != "cell":
        apart_by_language = grids[0].mean_scores() - grids[1].mean_scores()
        sample = mean_error(apart_by_language, [family_of(code) for code in languages])
        if sample is None:
            reason = f"too few languages or families to be a sample: {NO_INTERVAL_REASON}"
            return PlannedScore(**known, pilot=None, reason=reason)
    numbers = {EXAMPLE: (n, n), LANGUAGE: (len(cells), len(cells)), **_numbers(grids)}
    parts = language_parts(grids[:1], ()) if single else language_parts(grids, difference.shared)
    components = _components({**apart.run_components, ALONE: (0.0, variance)}, parts, numbers)
    if single:
        components = _of_two_alike(components, assumptions.correlation)
    if sample is not None:
        # What runs and examples change in single languages adds to the observed variance between languages.
        between = sample.error**2 - sum(map(sum, parts.values())) + parts[ALONE][0]
        components.append(VarianceComponent(frozenset({LANGUAGE}), max(0.0, between) * len(cells)))
    pilot = PilotStudy(
        components=tuple(components),
        numbers=numbers,
        freedom=freedom if isfinite(freedom) else apart.sources - 1.0,
        language_freedom=sample.freedom if sample else 0.0,
        weight=sum_of_squares(exchange.weights),
        step=exchange.step,
        further=exchange.further,
        shared=difference.shared,
    )
    return PlannedScore(**known, pilot=pilot)


def _numbers(grids: Sequence[LanguageGrid]) -> dict[str, tuple[float, float]]:
    names = dict.fromkeys(factor for grid in grids for factor in grid.levels)
    return {factor: (grids[0].levels.get(factor, 1), grids[1].levels.get(factor, 1)) for factor in names}


def _components(totals: LanguageParts, parts: LanguageParts, numbers: Numbers) -> list[VarianceComponent]:
    """Return the components of a difference.

    Args:
        totals: its variance due to factors of the runs, on all and on single examples; that of all runs is `ALONE`.
        parts: estimated parts of it that concern single languages, at most all of it.
        numbers: numbers of the pilot.
    """
    languages = ((), (LANGUAGE,)) if numbers[LANGUAGE][0] > 1 else ((),)
    components = []
    for (factors, side), variances in totals.items():
        for examples, total, part in zip(
            ((), (EXAMPLE,)), variances, parts.get((factors, side), (0.0, 0.0)), strict=True
        ):
            single = min(max(0.0, part), total)
            for language, variance in zip(languages, (total - single, single), strict=False):
                names = factors.union(examples, language)
                if names:
                    levels = prod(numbers[name][side or 0] for name in names)
                    components.append(VarianceComponent(names, variance * levels, side))
    # Without runs, only examples vary: languages are given.
    return [each for each in components if each.factors != {LANGUAGE}]


def _of_two_alike(components: Sequence[VarianceComponent], correlation: float) -> list[VarianceComponent]:
    """Return the components of the difference of two systems like this one, with an assumed correlation."""
    both = []
    for component in components:
        if component.run_factors:
            both += of_two_systems(component.factors, component.variance)
            continue
        # That of a single run is larger than that of the mean over runs.
        of_runs = (each for each in components if each.factors - component.factors == frozenset(each.run_factors))
        single_run = sum(each.variance for each in of_runs if component.factors <= each.factors)
        variance = 2 * (component.variance - correlation * single_run)
        both.append(VarianceComponent(component.factors, max(0.0, variance)))
    return both
