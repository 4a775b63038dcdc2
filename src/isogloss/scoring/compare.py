"""Is one system better than another: paired tests per cell, per task and overall."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import overload

import msgspec

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.estimate import Estimate, difference, mean
from isogloss.predictions.memory import Predictions, open_predictions
from isogloss.scoring.averages import MIXED, averaged
from isogloss.scoring.cells import Cell, Request, Resample, judged_cells
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.contrast import contrast_numbers, corrected, distinct_names, tested
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions
from isogloss.scoring.seeds import cell_estimates, common_cells, seed_folders, seed_share
from isogloss.scoring.sources import Sources
from isogloss.tasks.registry import task


@overload
def compare(
    first: Predictions,
    second: Predictions,
    /,
    *,
    suite: str = ...,
    data: str | os.PathLike[str] | None = ...,
    gold: str | os.PathLike[str] | None = ...,
    split: str = ...,
    tasks: Sequence[str] | None = ...,
    languages: Sequence[str] | None = ...,
    allow_partial: bool = ...,
    resample: Resample = ...,
) -> Comparison: ...


@overload
def compare(
    *predictions: Predictions,
    suite: str = ...,
    data: str | os.PathLike[str] | None = ...,
    gold: str | os.PathLike[str] | None = ...,
    split: str = ...,
    tasks: Sequence[str] | None = ...,
    languages: Sequence[str] | None = ...,
    allow_partial: bool = ...,
    resample: Resample = ...,
) -> Comparison | list[Comparison]: ...


def compare(
    *predictions: Predictions,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    allow_partial: bool = False,
    resample: Resample = "source",
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

    Returns:
        The comparison of two systems; of more, a list with one for every pair.

    Raises:
        PredictionError: fewer than two systems, no cell in common, or answers that cannot be scored.
        DataError: gold is missing.
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
    )
    found = compare_request(predictions, request)
    return found[0] if len(predictions) == 2 else found


def compare_request(
    systems: Sequence[Predictions], request: Request, progress: Callable[[str], None] | None = None
) -> list[Comparison]:
    """Compare every pair of systems as a request says; `progress` is called with each cell before it is judged."""
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    folders = [seed_folders(each) for each in systems]
    names = distinct_names([str(open_predictions(next(iter(each.values()))).system["name"]) for each in folders])
    judged = [
        SystemRuns.of(name, [list(judged_cells(each, request, progress)) for each in runs.values()])
        for name, runs in zip(names, folders, strict=True)
    ]
    return [_compared(first, second, request) for first, second in combinations(judged, 2)]


@dataclass(frozen=True)
class SystemRuns:
    """The judged cells of one system by (task, language), one cell a seed; and what only some of its seeds have."""

    name: str
    cells: dict[tuple[str, str], list[Cell]]
    in_some: list[str]

    @classmethod
    def of(cls, name: str, runs: Sequence[Sequence[Cell]]) -> "SystemRuns":
        """The cells that all runs of a system have, with the one figure each task is known by alone."""
        shared, in_some = common_cells(runs, where=name)
        rows = ([_one_score(cell) for cell in row] for row in zip(*shared, strict=True))
        return cls(name, {(row[0].task, row[0].language): row for row in rows}, in_some)

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(next(iter(self.cells.values())))


def _one_score(cell: Cell) -> Cell:
    score = main_statistics(cell.task, cell.metrics)
    return replace(cell, judgement=replace(cell.judgement, metrics={SCORE: score}))


def _compared(first: SystemRuns, second: SystemRuns, request: Request) -> Comparison:
    shared = [key for key in first.cells if key in second.cells]
    names = (first.name, second.name)
    if not shared:
        raise PredictionError("the systems have no cell in common", where=", ".join(names))
    skipped = ["/".join(key) for key in dict.fromkeys([*first.cells, *second.cells]) if key not in shared]
    for key in shared:
        _check_same_examples((*first.cells[key], *second.cells[key]), names)
    pairs = {key: (first.cells[key], second.cells[key]) for key in shared}
    together = _paired(pairs, request, names)
    found = [
        _contrast("cell", "/".join(key), _paired({key: pairs[key]}, request, names)[key], len(shared)) for key in shared
    ]
    averages: dict[str, PairedEstimates] = {}
    for name in dict.fromkeys(name for name, _ in shared):
        inside = averaged([cells[0][0] for cells in pairs.values()], name, request)
        if inside:
            averages[name] = PairedEstimates.mean([together[name, cell.language] for cell in inside])
    tasks = [
        _contrast("task", name, each, len(averages), _is_partial(name, shared, request))
        for name, each in averages.items()
    ]
    inside_suite = {name: each for name, each in averages.items() if name in request.suite.tasks}
    has_overall = len(inside_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(inside_suite)
    return Comparison(
        *names,
        corrected(found),
        corrected(tasks),
        _overall(inside_suite, request, any(_is_partial(name, shared, request) for name in request.suite.tasks))
        if has_overall and not mixed
        else None,
        request.suite.rule,
        [*skipped, *dict.fromkeys([*first.in_some, *second.in_some])],
        MIXED if mixed else "",
        (first.seeds, second.seeds),
        request.resample,
    )


def _is_partial(name: str, shared: Sequence[tuple[str, str]], request: Request) -> bool:
    """Whether some language of a task's average was not compared."""
    return any((name, code) not in shared for code in request.suite.languages_of(name))


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


def _paired(
    pairs: Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]], request: Request, names: tuple[str, str]
) -> dict[tuple[str, str], PairedEstimates]:
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


def _check_same_examples(cells: Sequence[Cell], names: tuple[str, str]) -> None:
    first = cells[0]
    for cell in cells:
        same = len(cell.metrics[SCORE]) == len(first.metrics[SCORE]) and cell.split == first.split
        if not same or cell.judgement.dialect != first.judgement.dialect:
            what = f"{names[0]} and {names[1]} were scored on different examples of {cell.task}/{cell.language}"
            raise PredictionError(what, fix="Score both on the same split, with the same kind of answers")


def _contrast(level: str, name: str, pair: PairedEstimates, family: int, partial: bool = False) -> ScoreContrast:
    apart = difference(pair.first, pair.second, paired=True)
    p, test = (apart.t_test, "t over seeds") if pair.swapped is None else tested(pair.swapped)
    numbers = contrast_numbers((pair.first.value, pair.second.value), apart, p, family)
    lower = lower_is_better(name.partition("/")[0])
    return ScoreContrast(*numbers, level, name, test, pair.first.n, lower, partial, seed_share(apart))


def _overall(averages: Mapping[str, PairedEstimates], request: Request, partial: bool) -> ScoreContrast:
    """The suite's figure over the tasks both have."""
    suite = request.suite
    pair = aggregate.combined(
        averages, suite.rule, lambda name: task(name).category, PairedEstimates.mean, suite.weights
    )
    contrast = _contrast("overall", next(iter(averages)), pair, 1, partial)
    return msgspec.structs.replace(contrast, name=suite.rule)
