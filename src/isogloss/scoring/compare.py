"""Compare systems with paired tests per cell, per task and overall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Unpack, overload

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.estimate import Estimate, difference, mean
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.averages import MIXED, averaged
from isogloss.scoring.cells import Cell, Progress
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.contrast import contrast_fields, corrected, tested
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions
from isogloss.scoring.request import Request, ScoreOptions
from isogloss.scoring.score import clustered_tasks, judge_systems
from isogloss.scoring.seeds import cell_estimates, check_same_examples, common_cells, seed_share
from isogloss.scoring.sources import Sources
from isogloss.tasks.registry import category_of
from isogloss.workers import Workers, in_parallel, local_workers

# (task, language) -> the cells of both systems, one per seed
CellPairs = Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]


@overload
def compare(
    first: Predictions, second: Predictions, /, *, jobs: int = 1, **options: Unpack[ScoreOptions]
) -> Comparison: ...


@overload
def compare(
    *predictions: Predictions, jobs: int = 1, **options: Unpack[ScoreOptions]
) -> Comparison | list[Comparison]: ...


def compare(*predictions: Predictions, jobs: int = 1, **options: Unpack[ScoreOptions]) -> Comparison | list[Comparison]:
    """Compare systems on the cells they share: differences with intervals and corrected p-values.

    Args:
        *predictions: two or more prediction folders, folders of seeds (`seed-0`, `seed-1`, …), or mappings
            {task: {language: {id: answer}}}.
        jobs: number of processes; more than one requires `if __name__ == "__main__":` in a script.
        **options: suite, data, gold, split, tasks, languages, allow_partial, resample and strict, as in `score`.

    Returns:
        The comparison of two systems; for more systems, a list with one comparison per pair.

    Raises:
        PredictionError: fewer than two systems, no common cell, invalid answers, or no gold.
        UnknownNameError: unknown suite, task, language or split.
    """
    with local_workers(jobs) as workers:
        comparisons = compare_request(predictions, Request.of(**options), workers=workers)
    return comparisons[0] if len(predictions) == 2 else comparisons


def compare_request(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, workers: Workers | None = None
) -> list[Comparison]:
    """Compare every pair of systems on the requested cells; `workers`, if given, share cells and pairs."""
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    results = judge_systems(systems, request, progress, workers)
    judged = [SystemRuns.of(name, one.runs, one.left_out) for name, one in results.items()]
    pairs = list(combinations(judged, 2))
    # The statistics of a system take many megabytes, so a single pair stays in this process.
    return list(in_parallel(workers if len(pairs) > 1 else None, partial(_compare_pair, request=request), pairs))


def _compare_pair(pair: "tuple[SystemRuns, SystemRuns]", request: Request) -> Comparison:
    return compare_runs(*pair, request)


@dataclass(frozen=True)
class SystemRuns:
    """The judged cells of one system by (task, language), one per seed, and what is left out."""

    name: str
    cells: dict[tuple[str, str], list[Cell]]
    left_out: list[LeftOut]

    @classmethod
    def of(
        cls, name: str, runs: Sequence[Sequence[Cell]], left_out: Sequence[LeftOut], metric: str = SCORE
    ) -> "SystemRuns":
        """Return the cells that all runs of a system share, reduced to each task's main score or one metric."""
        shared, in_some = common_cells(runs, where=name)
        cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in (cell for row in zip(*shared, strict=True) for cell in row):
            if metric not in (SCORE, *cell.metrics):
                continue
            statistics = main_statistics(cell.task, cell.metrics) if metric == SCORE else cell.metrics[metric]
            judgement = replace(cell.judgement, metrics={SCORE: statistics})
            cells.setdefault((cell.task, cell.language), []).append(replace(cell, judgement=judgement))
        return cls(name, cells, [*left_out, *in_some])

    @property
    def seeds(self) -> int:
        """Number of runs."""
        return len(next(iter(self.cells.values())))


def compare_runs(first: SystemRuns, second: SystemRuns, request: Request) -> Comparison:
    """Compare two systems on the cells they share; other systems have no effect."""
    pairs = {key: (cells, second.cells[key]) for key, cells in first.cells.items() if key in second.cells}
    names, suite = (first.name, second.name), request.suite
    if not pairs:
        raise PredictionError("the systems share no cell", where=", ".join(names))
    for first_cells, second_cells in pairs.values():
        check_same_examples((*first_cells, *second_cells), " and ".join(names))
    contrasts = [
        _contrast("cell", "/".join(key), _paired({key: cells}, request)[key], len(pairs), of_task=key[0])
        for key, cells in pairs.items()
    ]
    averages = _task_averages(pairs, request)
    partial = {
        name: any((name, code) not in pairs for code in suite.languages_of(name)) for name in {*averages, *suite.tasks}
    }
    tasks = [
        _contrast("task", name, average, len(averages), of_task=name, partial=partial[name])
        for name, average in averages.items()
    ]
    in_suite = {name: average for name, average in averages.items() if name in suite.tasks}
    has_overall = len(in_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(in_suite)
    overall = None
    if has_overall and not mixed:
        rule, weights, is_partial = suite.rule, suite.weights, any(partial[name] for name in suite.tasks)
        pair = aggregate.combined(in_suite, rule, category_of, PairedEstimates.mean, weights)
        overall = _contrast("overall", rule, pair, 1, of_task=next(iter(in_suite)), partial=is_partial)
    return Comparison(
        first=first.name,
        second=second.name,
        cells=corrected(contrasts),
        tasks=corrected(tasks),
        overall=overall,
        rule=suite.rule,
        skipped=["/".join(key) for key in dict.fromkeys([*first.cells, *second.cells]) if key not in pairs],
        note=MIXED if mixed else "",
        seeds=(first.seeds, second.seeds),
        resample=request.resample,
        left_out=list(dict.fromkeys([*first.left_out, *second.left_out])),
        clustered=clustered_tasks(cells[0] for cells, _ in pairs.values()) if request.resample == "source" else [],
    )


def _task_averages(pairs: CellPairs, request: Request) -> "dict[str, PairedEstimates]":
    """Return both systems' averages over the languages of each task's average."""
    estimates = _paired(pairs, request)
    averages = {}
    for name in dict.fromkeys(name for name, _ in pairs):
        inside = averaged([cells[0][0] for cells in pairs.values()], name, request)
        if inside:
            averages[name] = PairedEstimates.mean([estimates[name, cell.language] for cell in inside])
    return averages


@dataclass(frozen=True)
class PairedEstimates:
    """The scores of two systems, and the contribution of each source to their difference."""

    first: Estimate
    second: Estimate
    swapped: Estimate | None

    @staticmethod
    def mean(parts: Sequence["PairedEstimates"], weights: Sequence[float] | None = None) -> "PairedEstimates":
        """Return the mean of both systems over some cells or tasks."""
        swapped = [part.swapped for part in parts if part.swapped is not None]
        return PairedEstimates(
            mean([part.first for part in parts], weights),
            mean([part.second for part in parts], weights),
            mean(swapped, weights) if len(swapped) == len(parts) else None,
        )


def _paired(pairs: CellPairs, request: Request) -> dict[tuple[str, str], PairedEstimates]:
    """Return the estimates of both systems on some cells, over the sources of these cells.

    Single runs can be compared by exchanging the systems' answers source by source. Several seeds add an error that
    such an exchange does not measure.
    """
    sources = Sources((cell for both in pairs.values() for cells in both for cell in cells), request.resample)
    sides = [
        cell_estimates(list(zip(*(both[side] for both in pairs.values()), strict=True)), sources, f"{side}")
        for side in (0, 1)
    ]
    estimates = {}
    for key, (first, second) in pairs.items():
        single = len(first) == len(second) == 1
        swapped = sources.swaps(first[0], first[0].metrics[SCORE], second[0].metrics[SCORE]) if single else None
        estimates[key] = PairedEstimates(sides[0][*key, SCORE], sides[1][*key, SCORE], swapped)
    return estimates


def _contrast(
    level: str, name: str, pair: PairedEstimates, family: int, *, of_task: str, partial: bool = False
) -> ScoreContrast:
    """Return the contrast of a cell, a task or the overall score; `of_task` is a task that sets the direction."""
    delta = difference(pair.first, pair.second, paired=True)
    p, test = (delta.t_test, "t over seeds") if pair.swapped is None else tested(pair.swapped)
    return ScoreContrast(
        **contrast_fields((pair.first.value, pair.second.value), delta, p, family),
        level=level,
        name=name,
        test=test,
        n=pair.first.n,
        lower_is_better=lower_is_better(of_task),
        partial=partial,
        seed_share=seed_share(delta),
    )
