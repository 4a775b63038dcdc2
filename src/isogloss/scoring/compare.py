"""Is one system better than another: paired tests per cell, per task and overall."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, overload

import msgspec

from isogloss.errors import PredictionError
from isogloss.metrics.significance import paired
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.memory import Predictions, open_predictions
from isogloss.scoring.averages import MIXED, Estimate, averaged, cell_estimate, mean, overall
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.contrast import SystemContrast, contrast_numbers, corrected, distinct_names, tested
from isogloss.scoring.draws import RESAMPLES, Draws, draw
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions


class ScoreContrast(SystemContrast, frozen=True, omit_defaults=True):
    """Two systems on one cell, task average, or overall.

    Attributes:
        level: "cell", "task" or "overall".
        name: `task/language`, the task, or the rule of the overall figure.
        test: the test that gave p.
        n: the number of examples.
        lower_is_better: whether the smaller score is the better one.
    """

    level: str
    name: str
    test: str
    n: int
    lower_is_better: bool = False

    @property
    def winner(self) -> Literal["first", "second", ""]:
        """Which of the two is better, "" where they cannot be told apart."""
        return self.favours(self.lower_is_better)


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two systems compared on all the cells that both have; differences are the first minus the second.

    Attributes:
        first: the name of one system.
        second: that of the other.
        cells: one contrast a cell.
        tasks: one a task average.
        overall: that of the overall figure; None where there is but one task, or no such figure.
        rule: how the overall figure is made.
        skipped: cells that only one of the systems has.
        note: why there is no overall figure, where it would be expected.
    """

    first: str
    second: str
    cells: list[ScoreContrast]
    tasks: list[ScoreContrast]
    overall: ScoreContrast | None
    rule: str
    skipped: list[str]
    note: str = ""

    def verdict(self) -> str:
        """The comparison in one sentence."""
        top = self.overall or (self.tasks[0] if len(self.tasks) == 1 else None)
        wins = Counter(contrast.winner for contrast in self.cells)
        counted = (
            f"{wins['first']} of {len(self.cells)} cells favour {self.first}, {wins['second']} favour {self.second}"
        )
        if top is None:
            return f"{counted}; {self.note}" if self.note else counted
        low, high = (top.low, top.high) if top.difference >= 0 else (-top.high, -top.low)
        span = f"{abs(top.difference):.1f} points (95 % {low:.1f} to {high:.1f}, p = {top.p:.3g})"
        if not top.winner:
            return f"{self.first} and {self.second} cannot be told apart: {span}; {counted}"
        names = (self.first, self.second) if top.winner == "first" else (self.second, self.first)
        return f"{names[0]} is better than {names[1]} by {span}; {counted}"

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict()}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        heading = ("", self.first, self.second, "difference", "95 %", "p")
        averages = [*self.tasks, *([] if self.overall is None else [self.overall])]
        rows = [
            (
                each.name if each.level != "overall" else "overall",
                *(f"{score:.1f}" for score in (each.first, each.second)),
                f"{each.difference:+.1f}",
                f"{each.low:+.1f} to {each.high:+.1f}",
                f"{each.p:.3g}",
            )
            for each in averages or self.cells
        ]
        return html_table(self.verdict(), heading, rows)

    def to_pandas(self) -> Any:
        """Every contrast as a row of a pandas data frame."""
        top = [] if self.overall is None else [self.overall]
        systems = {"first_system": self.first, "second_system": self.second}
        return data_frame([systems | msgspec.structs.asdict(each) for each in [*self.cells, *self.tasks, *top]])


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
) -> Comparison | list[Comparison]:
    """Compare systems on the cells they share: differences with intervals and corrected p-values.

    Args:
        *predictions: two or more prediction folders, or mappings {task: {language: {id: answer}}}.
        suite: decides languages, averages and the rule of the overall figure.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also compare cells whose gold is incomplete; no average includes them.

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
    )
    found = compare_request(predictions, request)
    return found[0] if len(predictions) == 2 else found


def compare_request(
    systems: Sequence[Predictions], request: Request, progress: Callable[[str], None] | None = None, seed: int = 0
) -> list[Comparison]:
    """Compare every pair of systems as a request says; `progress` is called with each cell before it is judged."""
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    names = distinct_names([str(open_predictions(each).system["name"]) for each in systems])
    return compare_cells([list(judged_cells(each, request, progress)) for each in systems], names, request, seed)


def compare_cells(
    systems: Sequence[Sequence[Cell]], names: Sequence[str], request: Request, seed: int = 0
) -> list[Comparison]:
    """Compare every pair of systems, each given by its judged cells, on the cells that all have."""
    judged = [{(cell.task, cell.language): cell for cell in cells} for cells in systems]
    shared = [key for key in judged[0] if all(key in cells for cells in judged)]
    if not shared:
        raise PredictionError("the systems have no cell in common", where=", ".join(names))
    everything = dict.fromkeys(key for cells in judged for key in cells)
    skipped = [f"{name}/{code}" for name, code in everything if (name, code) not in shared]
    aligned = [[_one_score(cells[key]) for key in shared] for cells in judged]
    for group in zip(*aligned, strict=True):
        _check_same_examples(group, names)
    draws = draw(aligned, RESAMPLES, seed)
    return [
        _contrasted((names[a], names[b]), (aligned[a], aligned[b]), (draws[a], draws[b]), request, skipped)
        for a, b in combinations(range(len(systems)), 2)
    ]


def _one_score(cell: Cell) -> Cell:
    """The cell with the one figure the task is known by alone."""
    score = main_statistics(cell.task, cell.metrics)
    return replace(cell, judgement=replace(cell.judgement, metrics={SCORE: score}))


def _check_same_examples(cells: Sequence[Cell], names: Sequence[str]) -> None:
    first = cells[0]
    for cell, name in zip(cells, names, strict=True):
        same = len(cell.metrics[SCORE]) == len(first.metrics[SCORE]) and cell.split == first.split
        if not same or cell.judgement.dialect != first.judgement.dialect:
            what = f"{names[0]} and {name} were scored on different examples of {cell.task}/{cell.language}"
            raise PredictionError(what, fix="Score both on the same split, with the same kind of answers")


def _contrasted(
    names: tuple[str, str],
    cells: tuple[list[Cell], list[Cell]],
    draws: tuple[Draws, Draws],
    request: Request,
    skipped: list[str],
) -> Comparison:
    found = [_cell_contrast(a, b, draws, len(cells[0])) for a, b in zip(*cells, strict=True)]
    averages: dict[str, tuple[Estimate, Estimate]] = {}
    for name in dict.fromkeys(cell.task for cell in cells[0]):
        inside = [averaged(side, name, request) for side in cells]
        if inside[0]:
            first, second = (
                mean([cell_estimate(cell, SCORE, drawn) for cell in side])
                for side, drawn in zip(inside, draws, strict=True)
            )
            averages[name] = (first, second)
    tasks = [_average_contrast("task", name, pair, lower_is_better(name)) for name, pair in averages.items()]
    inside_suite = {name: pair for name, pair in averages.items() if name in request.suite.tasks}
    has_overall = len(inside_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(inside_suite)
    return Comparison(
        names[0],
        names[1],
        corrected(found),
        corrected(tasks),
        _overall(inside_suite, request) if has_overall and not mixed else None,
        request.suite.rule,
        skipped,
        MIXED if mixed else "",
    )


def _cell_contrast(a: Cell, b: Cell, draws: tuple[Draws, Draws], family: int) -> ScoreContrast:
    key = (a.task, a.language, SCORE)
    numbers, test = tested(a.metrics[SCORE], b.metrics[SCORE], (draws[0][key], draws[1][key]), family)
    return ScoreContrast(*numbers, "cell", f"{a.task}/{a.language}", test, a.n, lower_is_better(a.task))


def _average_contrast(level: str, name: str, pair: tuple[Estimate, Estimate], lower_is_better: bool) -> ScoreContrast:
    first, second = pair
    difference = paired(first.draws, second.draws, first.value - second.value, units=first.units)
    numbers = contrast_numbers((first.value, second.value), difference)
    return ScoreContrast(*numbers, level, name, "paired bootstrap", first.n, lower_is_better)


def _overall(averages: Mapping[str, tuple[Estimate, Estimate]], request: Request) -> ScoreContrast:
    """The suite's figure over the tasks both have."""
    first, second = (overall({name: pair[side] for name, pair in averages.items()}, request.suite) for side in (0, 1))
    return _average_contrast("overall", request.suite.rule, (first, second), lower_is_better(next(iter(averages))))
