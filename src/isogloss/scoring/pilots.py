"""Pilots of planned comparisons: variance components of the difference of two systems, from their judged cells.

The runs of each system and the languages of a task form a grid. An analysis of variance of the scores, and of the
contributions of sources to their errors, separates what further examples, languages, seeds and prompts would change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, prod
from typing import Any

import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.crossed import RunEstimates
from isogloss.metrics.estimate import ROUNDING, Estimate, difference, sum_of_squares
from isogloss.metrics.exchange import Exchange
from isogloss.metrics.language_sample import NO_INTERVAL_REASON, FamilyError, mean_error
from isogloss.metrics.significance import one_size
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.metrics.variance_components import crossed_variances, inner_products
from isogloss.scoring.averages import averaged
from isogloss.scoring.cells import Cell
from isogloss.scoring.compare import PairedEstimates, SystemRuns
from isogloss.scoring.designs import cell_estimates, check_same_examples
from isogloss.scoring.main_score import SCORE, mixed_directions
from isogloss.scoring.names import family_of
from isogloss.scoring.planning import EXAMPLE, LANGUAGE, PilotStudy, VarianceComponent
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources
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
    pairs = _paired(first, second, keys, request)
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


def _paired(
    first: SystemRuns, second: SystemRuns, keys: Sequence[tuple[str, str]], request: Request
) -> dict[tuple[str, str], PairedEstimates]:
    systems = (first, second)
    cells: list[list[list[Cell]]] = [[system.cells[key] for key in keys] for system in systems]
    for one, other in zip(*cells, strict=True):
        check_same_examples((*one, *other), f"{first.name} and {second.name}")
    sources = Sources((cell for side in cells for runs in side for cell in runs), request.resample)
    sides = [
        cell_estimates(list(zip(*side, strict=True)), sources, system.design)
        for side, system in zip(cells, systems, strict=True)
    ]
    pairs = {}
    for key, one, other in zip(keys, *cells, strict=True):
        # The first runs stand for the others: only the size of a step and of further examples is taken from them.
        exchange = sources.exchange(one[0], one[0].metrics[SCORE], other[0].metrics[SCORE])
        pairs[key] = PairedEstimates(sides[0][*key, SCORE], sides[1][*key, SCORE], exchange)
    return pairs


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
    apart = average.first.combined if single else difference(average.first.combined, average.second.combined)
    known: dict[str, Any] = {
        "level": level,
        "name": name,
        "difference": None if single else apart.value,
        "sources": apart.sources,
        "source_size": average.exchange.n / max(1, sum(cell.exchange.sources for cell in cells)),
    }
    if apart.sources < ENOUGH:
        reason = f"{apart.sources} independent examples; a pilot needs at least {ENOUGH}"
        return PlannedScore(**known, pilot=None, reason=reason)
    if sum(part.variance for part in apart.errors.values()) < ROUNDING**2:
        same = "all examples have the same score" if single else "both systems have the same score on every example"
        return PlannedScore(**known, pilot=None, reason=same, bound=1 - ALPHA ** (1 / apart.sources))
    n = average.exchange.n / len(cells) if examples is None else examples
    grids = [_Grid.of([cell.first for cell in cells], n), _Grid.of([cell.second for cell in cells], n)]
    sample = None
    if assumptions.sampled and level != "cell":
        apart_by_language = grids[0].mean_scores() - grids[1].mean_scores()
        sample = mean_error(apart_by_language, [family_of(code) for code in languages])
        if sample is None:
            reason = f"too few languages or families to be a sample: {NO_INTERVAL_REASON}"
            return PlannedScore(**known, pilot=None, reason=reason)
    components = _own_components(grids[0], assumptions) if single else _pair_components(grids, sample)
    pilot = PilotStudy(
        components=tuple(components),
        numbers={EXAMPLE: (n, n), LANGUAGE: (len(cells), len(cells)), **_numbers(grids)},
        freedom=apart.example_freedom if isfinite(apart.example_freedom) else apart.sources - 1.0,
        language_freedom=sample.freedom if sample else 0.0,
        **_exchange_figures(average.exchange),
    )
    return PlannedScore(**known, pilot=pilot)


def _numbers(grids: "Sequence[_Grid]") -> dict[str, tuple[float, float]]:
    names = dict.fromkeys(factor for grid in grids for factor in grid.levels)
    return {factor: (grids[0].levels.get(factor, 1), grids[1].levels.get(factor, 1)) for factor in names}


def _exchange_figures(exchange: Exchange) -> dict[str, Any]:
    step = float(np.abs(exchange.values).max(initial=0.0)) if one_size(exchange.values) else 0.0
    return {"weight": sum_of_squares(exchange.weights), "step": step, "further": exchange.further}


@dataclass(frozen=True, eq=False)
class _Grid:
    """Scores and errors of one system's runs in every language; runs are in the order of their levels."""

    levels: Mapping[str, int]
    cells: Sequence[Sequence[Estimate]]  # by run, then language
    examples: float

    @staticmethod
    def of(cells: Sequence[RunEstimates], examples: float) -> "_Grid":
        factors = cells[0].design.factors
        levels = {factor: len(set(names)) for factor, names in factors.items()}
        level_numbers = [[list(dict.fromkeys(names)).index(name) for name in names] for names in factors.values()]
        order = sorted(range(len(cells[0].runs)), key=lambda run: [numbers[run] for numbers in level_numbers])
        return _Grid(levels, [[cell.runs[run] for cell in cells] for run in order], examples)

    @property
    def languages(self) -> int:
        return len(self.cells[0])

    def run_components(self, side: int) -> list[VarianceComponent]:
        """Return the components that involve its runs, with and without examples."""
        names = [*self.levels, *([LANGUAGE] if self.languages > 1 else [])]
        sizes = [*self.levels.values(), *([self.languages] if self.languages > 1 else [])]
        points = [cell for run in self.cells for cell in run]
        scores = np.array([point.value for point in points])
        between = crossed_variances(np.outer(scores, scores), sizes)
        by_source = crossed_variances(inner_products([_errors(point) for point in points]), sizes)
        components = []
        for axes, of_source in by_source.items():
            factors = frozenset(names[axis] for axis in axes)
            if factors - {LANGUAGE}:
                # Runs differ on the examples at hand more than on all examples.
                pure = max(0.0, between[axes] - max(0.0, of_source))
                components.append(VarianceComponent(factors, pure, side))
                components.append(VarianceComponent(factors | {EXAMPLE}, max(0.0, of_source) * self.examples, side))
        return components

    def mean_errors(self) -> list[dict[str, FloatArray]]:
        """Return the contributions of sources to the mean over runs in each language."""
        return [
            {space: np.mean([one[space] for one in runs], axis=0) for space in runs[0]}
            for runs in (list(map(_errors, same)) for same in zip(*self.cells, strict=True))
        ]

    def mean_scores(self) -> FloatArray:
        """Return the mean over runs in each language."""
        means: FloatArray = np.mean([[cell.value for cell in run] for run in self.cells], axis=0)
        return means

    def remaining(self, components: Sequence[VarianceComponent], factors: frozenset[str]) -> float:
        """Return the part of the variance of shared factors that is due to runs, in the mean over the runs."""
        return sum(
            component.variance / prod(self.levels[factor] for factor in component.run_factors)
            for component in components
            if component.factors.intersection((EXAMPLE, LANGUAGE)) == factors
        )


def _errors(estimate: Estimate) -> dict[str, FloatArray]:
    return {space: part.values for space, part in estimate.errors.items()}


def _shared_components(errors: Sequence[Mapping[str, FloatArray]], examples: float) -> dict[frozenset[str], float]:
    """Return the variance due to examples, and to examples of single languages, including that of runs."""
    several = len(errors) > 1
    by_source = crossed_variances(inner_products(errors), [len(errors)] if several else [])
    names = frozenset({EXAMPLE}), frozenset({EXAMPLE, LANGUAGE})
    return {names[len(axes)]: examples * value for axes, value in by_source.items()}


def _pair_components(grids: Sequence[_Grid], sample: FamilyError | None) -> list[VarianceComponent]:
    """Return the components of the difference of two systems; `sample` is the error of its mean over languages."""
    of_runs = [grid.run_components(side) for side, grid in enumerate(grids)]
    components = [component for side in of_runs for component in side]
    first, second = (grid.mean_errors() for grid in grids)
    apart = [{space: one[space] - other[space] for space in one} for one, other in zip(first, second, strict=True)]
    observed = _shared_components(apart, grids[0].examples)
    for factors, variance in observed.items():
        runs = sum(grid.remaining(side, factors) for grid, side in zip(grids, of_runs, strict=True))
        components.append(VarianceComponent(factors, max(0.0, variance - runs)))
    if sample is not None:
        between = sample.error**2 * grids[0].languages
        noise = observed[frozenset({EXAMPLE, LANGUAGE})] / grids[0].examples
        runs = sum(grid.remaining(side, frozenset({LANGUAGE})) for grid, side in zip(grids, of_runs, strict=True))
        components.append(VarianceComponent(frozenset({LANGUAGE}), max(0.0, between - noise - runs)))
    return components


def _own_components(grid: _Grid, assumptions: PilotAssumptions) -> list[VarianceComponent]:
    """Return the components of the difference of two systems like this one, with an assumed correlation."""
    components = grid.run_components(0)
    both = [*components, *(VarianceComponent(each.factors, each.variance, 1) for each in components)]
    for factors, variance in _shared_components(grid.mean_errors(), grid.examples).items():
        # `variance` is that of the mean over runs; that of a single run is larger.
        kept = variance - grid.remaining(components, factors)
        single_run = kept + sum(
            each.variance for each in components if each.factors.intersection((EXAMPLE, LANGUAGE)) == factors
        )
        both.append(VarianceComponent(factors, max(0.0, 2 * (kept - assumptions.correlation * max(0.0, single_run)))))
    return both
