"""Is one system better than another: paired tests per cell, per task and overall."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypedDict, Unpack, overload

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.estimate import Estimate, difference, mean
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.averages import MIXED, averaged
from isogloss.scoring.cells import Cell, Request, Resample
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.contrast import contrast_fields, corrected, tested
from isogloss.scoring.judged_systems import judged_systems, system_names
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions
from isogloss.scoring.score import clustered_tasks
from isogloss.scoring.seeds import cell_estimates, check_same_examples, common_cells, seed_share
from isogloss.scoring.sources import Sources
from isogloss.tasks.registry import task
from isogloss.workers import Workers, in_parallel, local_workers

# (task, language) -> the cells of one system and of the other, one a seed
CellPairs = Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]


class _CompareOptions(TypedDict, total=False):
    """What `compare` can be told, for its types: two systems give one comparison."""

    suite: str
    data: str | os.PathLike[str] | None
    gold: str | os.PathLike[str] | None
    split: str
    tasks: Sequence[str] | None
    languages: Sequence[str] | None
    allow_partial: bool
    resample: Resample
    strict: bool
    jobs: int


@overload
def compare(first: Predictions, second: Predictions, /, **options: Unpack[_CompareOptions]) -> Comparison: ...


@overload
def compare(*predictions: Predictions, **options: Unpack[_CompareOptions]) -> Comparison | list[Comparison]: ...


def compare(  # noqa: PLR0913 - what the verb can be told
    *predictions: Predictions,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    allow_partial: bool = False,
    resample: Resample = "source",
    strict: bool = False,
    jobs: int = 1,
) -> Comparison | list[Comparison]:
    """Compare systems on the cells they share: differences with intervals and corrected p-values.

    Args:
        *predictions: two or more prediction folders, folders of seeds (`seed-0`, `seed-1`, …), or mappings
            {task: {language: {id: answer}}}.
        suite: decides languages, averages and the rule of the overall figure.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also compare cells whose gold is incomplete; no average includes them.
        resample: of what intervals and p-values speak: "source" of new articles, premises …, "example" of new examples
            from the same ones.
        strict: refuse answers that would be left out, for want of gold or of a right name.
        jobs: processes that share the work; more than one need `if __name__ == "__main__":` in a script.

    Returns:
        The comparison of two systems; of more, a list with one for every pair.

    Raises:
        PredictionError: fewer than two systems, no cell in common, answers that cannot be scored, or gold for none.
        UnknownNameError: no such suite, task, language or split.
    """
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=data,
        gold=gold,
        allow_partial=allow_partial,
        resample=resample,
        strict=strict,
    )
    with local_workers(jobs) as workers:
        found = compare_request(predictions, request, workers=workers)
    return found[0] if len(predictions) == 2 else found


def compare_request(
    systems: Sequence[Predictions],
    request: Request,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> list[Comparison]:
    """Compare every pair of systems as a request says.

    `progress` is called with each cell before it is judged, and `workers` share cells and pairs if there are any.
    """
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    names = system_names(systems)
    judged = [
        SystemRuns.of(name, found.runs, found.left_out)
        for name, found in zip(names, judged_systems(systems, request, progress, workers), strict=True)
    ]
    pairs = list(combinations(judged, 2))
    # The statistics of a system are many megabytes: a single pair is compared where they are.
    return list(in_parallel(workers if len(pairs) > 1 else None, partial(_compare_pair, request=request), pairs))


def _compare_pair(pair: "tuple[SystemRuns, SystemRuns]", request: Request) -> Comparison:
    return compare_runs(*pair, request)


@dataclass(frozen=True)
class SystemRuns:
    """The judged cells of one system by (task, language), one cell a seed; and what is left out."""

    name: str
    cells: dict[tuple[str, str], list[Cell]]
    left_out: list[LeftOut]

    @classmethod
    def of(cls, name: str, runs: Sequence[Sequence[Cell]], left_out: Sequence[LeftOut]) -> "SystemRuns":
        """The cells that all runs of a system have, with the one figure each task is known by alone."""
        shared, in_some = common_cells(runs, where=name)
        rows = ([_one_score(cell) for cell in row] for row in zip(*shared, strict=True))
        return cls(name, {(row[0].task, row[0].language): row for row in rows}, [*left_out, *in_some])

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(next(iter(self.cells.values())))


def _one_score(cell: Cell) -> Cell:
    score = main_statistics(cell.task, cell.metrics)
    return replace(cell, judgement=replace(cell.judgement, metrics={SCORE: score}))


def compare_runs(first: SystemRuns, second: SystemRuns, request: Request) -> Comparison:
    """Two systems on the cells that both have, and on no others, so that a third system changes nothing."""
    pairs = {key: (cells, second.cells[key]) for key, cells in first.cells.items() if key in second.cells}
    names = (first.name, second.name)
    if not pairs:
        raise PredictionError("the systems have no cell in common", where=", ".join(names))
    for first_cells, second_cells in pairs.values():
        check_same_examples((*first_cells, *second_cells), " and ".join(names))
    contrasts = [
        _contrast("cell", "/".join(key), _paired({key: each}, request)[key], len(pairs), of_task=key[0])
        for key, each in pairs.items()
    ]
    averages = _task_averages(pairs, request)
    partial = {name: _is_partial(name, pairs, request) for name in {*averages, *request.suite.tasks}}
    tasks = [
        _contrast("task", name, each, len(averages), of_task=name, partial=partial[name])
        for name, each in averages.items()
    ]
    of_suite = {name: each for name, each in averages.items() if name in request.suite.tasks}
    has_overall = len(of_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(of_suite)
    is_partial = any(partial[name] for name in request.suite.tasks)
    return Comparison(
        *names,
        corrected(contrasts),
        corrected(tasks),
        _overall(of_suite, request, is_partial) if has_overall and not mixed else None,
        request.suite.rule,
        ["/".join(key) for key in dict.fromkeys([*first.cells, *second.cells]) if key not in pairs],
        MIXED if mixed else "",
        (first.seeds, second.seeds),
        request.resample,
        list(dict.fromkeys([*first.left_out, *second.left_out])),
        clustered_tasks(cells[0] for cells, _ in pairs.values()) if request.resample == "source" else [],
    )


def _task_averages(pairs: CellPairs, request: Request) -> "dict[str, PairedEstimates]":
    """The averages of both systems over the languages of each task that count."""
    together = _paired(pairs, request)
    found = {}
    for name in dict.fromkeys(name for name, _ in pairs):
        inside = averaged([cells[0][0] for cells in pairs.values()], name, request)
        if inside:
            found[name] = PairedEstimates.mean([together[name, cell.language] for cell in inside])
    return found


def _is_partial(name: str, pairs: CellPairs, request: Request) -> bool:
    """Whether some language of a task's average was not compared."""
    return any((name, code) not in pairs for code in request.suite.languages_of(name))


@dataclass(frozen=True)
class PairedEstimates:
    """The scores of two systems on one thing, and what each source adds to their difference."""

    first: Estimate
    second: Estimate
    swapped: Estimate | None

    @staticmethod
    def mean(parts: Sequence["PairedEstimates"], weights: Sequence[float] | None = None) -> "PairedEstimates":
        """The mean of both systems over some cells or tasks."""
        swapped = [part.swapped for part in parts if part.swapped is not None]
        return PairedEstimates(
            mean([part.first for part in parts], weights),
            mean([part.second for part in parts], weights),
            mean(swapped, weights) if len(swapped) == len(parts) else None,
        )


def _paired(pairs: CellPairs, request: Request) -> dict[tuple[str, str], PairedEstimates]:
    """The estimates of both systems on some cells, over the sources these cells have.

    With a single run on either side, the systems' answers can be exchanged source by source; with several the
    seeds are a further source of error, which no exchange tells of.
    """
    sources = Sources((cell for both in pairs.values() for cells in both for cell in cells), request.resample)
    sides = [
        cell_estimates(list(zip(*(both[side] for both in pairs.values()), strict=True)), sources, f"{side}")
        for side in (0, 1)
    ]
    found = {}
    for key, (first, second) in pairs.items():
        single = len(first) == len(second) == 1
        swapped = sources.swaps(first[0], first[0].metrics[SCORE], second[0].metrics[SCORE]) if single else None
        found[key] = PairedEstimates(sides[0][*key, SCORE], sides[1][*key, SCORE], swapped)
    return found


def _contrast(
    level: str, name: str, pair: PairedEstimates, family: int, *, of_task: str, partial: bool = False
) -> ScoreContrast:
    """The contrast of a cell, a task or the overall figure; `of_task` is a task of it, which says what is better."""
    apart = difference(pair.first, pair.second, paired=True)
    p, test = (apart.t_test, "t over seeds") if pair.swapped is None else tested(pair.swapped)
    fields = contrast_fields((pair.first.value, pair.second.value), apart, p, family)
    return ScoreContrast(
        **fields,
        level=level,
        name=name,
        test=test,
        n=pair.first.n,
        lower_is_better=lower_is_better(of_task),
        partial=partial,
        seed_share=seed_share(apart),
    )


def _overall(averages: Mapping[str, PairedEstimates], request: Request, partial: bool) -> ScoreContrast:
    """The suite's figure over the tasks both have."""
    suite = request.suite
    pair = aggregate.combined(
        averages, suite.rule, lambda name: task(name).category, PairedEstimates.mean, suite.weights
    )
    return _contrast("overall", suite.rule, pair, 1, of_task=next(iter(averages)), partial=partial)
