"""Is one system better than another: paired tests per cell, per task and overall."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics.significance import Difference, approximate_randomisation, holm, mcnemar, paired
from isogloss.predictions.folder import PredictionFolder
from isogloss.scoring.averages import Estimate, averaged, figure, mean, overall
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.draws import RESAMPLES, Draws, draw
from isogloss.tasks.registry import task

ALPHA = 0.05


class Contrast(msgspec.Struct, frozen=True):
    """Two systems on one cell, task average, or overall: scores and difference on the 0..100 scale.

    `p` is corrected (Holm) over the contrasts of the same level; `test` names the test.
    """

    level: str
    name: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    test: str
    n: int

    @property
    def significant(self) -> bool:
        """Whether the two can be told apart."""
        return self.p < ALPHA


class Comparison(msgspec.Struct, frozen=True):
    """Two systems compared on all the cells that both have; positive differences favour the first."""

    first: str
    second: str
    cells: list[Contrast]
    tasks: list[Contrast]
    overall: Contrast | None
    rule: str
    skipped: list[str]

    def verdict(self) -> str:
        """The comparison in one sentence."""
        top = self.overall or (self.tasks[0] if len(self.tasks) == 1 else None)
        better = sum(c.significant and c.difference > 0 for c in self.cells)
        worse = sum(c.significant and c.difference < 0 for c in self.cells)
        counted = f"{better} of {len(self.cells)} cells favour {self.first}, {worse} favour {self.second}"
        if top is None:
            return counted
        low, high = (top.low, top.high) if top.difference >= 0 else (-top.high, -top.low)
        span = f"{abs(top.difference):.1f} points (95 % {low:.1f} to {high:.1f}, p = {top.p:.3g})"
        if not top.significant:
            return f"{self.first} and {self.second} cannot be told apart: {span}; {counted}"
        winner, loser = (self.first, self.second) if top.difference > 0 else (self.second, self.first)
        return f"{winner} is better than {loser} by {span}; {counted}"


def compare(
    systems: Sequence[Path], request: Request, progress: Callable[[str], None] | None = None, seed: int = 0
) -> list[Comparison]:
    """Compare every pair of systems on the cells that all of them have."""
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    names = distinct_names([str(PredictionFolder(path).system["name"]) for path in systems])
    judged = [{(c.task, c.language): c for c in judged_cells(path, request, progress)} for path in systems]
    shared = [key for key in judged[0] if all(key in cells for cells in judged)]
    if not shared:
        raise PredictionError("the systems have no cell in common", where=", ".join(map(str, systems)))
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


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names that can be told apart."""
    return [name if names.count(name) == 1 else f"{name} ({place + 1})" for place, name in enumerate(names)]


def _one_score(cell: Cell) -> Cell:
    """The cell with the one figure the task is known by: (F1 + EM) / 2 where it has two."""
    main = [cell.metrics[name] for name in task(cell.task).main]
    rows = np.mean([statistics.rows for statistics in main], axis=0)
    return replace(cell, judgement=replace(cell.judgement, metrics={"score": replace(main[0], rows=rows)}))


def _check_same_examples(cells: Sequence[Cell], names: Sequence[str]) -> None:
    first = cells[0]
    for cell, name in zip(cells, names, strict=True):
        same = len(cell.metrics["score"]) == len(first.metrics["score"]) and cell.split == first.split
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
            means = [mean([figure(cell, "score", of) for cell in side]) for side, of in zip(inside, draws, strict=True)]
            averages[name] = (means[0], means[1])
    tasks = [_average_contrast("task", name, *pair) for name, pair in averages.items()]
    return Comparison(
        names[0],
        names[1],
        _corrected(found),
        _corrected(tasks),
        _overall(averages, request),
        request.suite.rule,
        skipped,
    )


def _cell_contrast(a: Cell, b: Cell, draws: tuple[Draws, Draws], family: int) -> Contrast:
    key = (a.task, a.language, "score")
    first, second = a.metrics["score"], b.metrics["score"]
    difference = paired(draws[0][key], draws[1][key], first.score - second.score, units=first.unit_count)
    if first.is_binary and second.is_binary:
        p, test = mcnemar(first, second), "McNemar"
    else:
        # Holm's correction over m tests needs p-values as small as 0.05 / m, so more than 20 m trials.
        p = approximate_randomisation(first, second, trials=max(1000, 40 * family))
        test = "approximate randomisation"
    moved = replace(difference, p=p)
    return _contrast("cell", f"{a.task}/{a.language}", (first.score, second.score), moved, test, a.n)


def _average_contrast(level: str, name: str, first: Estimate, second: Estimate) -> Contrast:
    difference = paired(first.draws, second.draws, first.value - second.value, units=first.units)
    return _contrast(level, name, (first.value, second.value), difference, "paired bootstrap", first.n)


def _contrast(
    level: str, name: str, scores: tuple[float, float], difference: Difference, test: str, n: int
) -> Contrast:
    return Contrast(
        level,
        name,
        100 * scores[0],
        100 * scores[1],
        100 * difference.difference,
        100 * difference.low,
        100 * difference.high,
        difference.p,
        test,
        n,
    )


def _corrected(contrasts: list[Contrast]) -> list[Contrast]:
    adjusted = holm([contrast.p for contrast in contrasts])
    return [msgspec.structs.replace(c, p=float(p)) for c, p in zip(contrasts, adjusted, strict=True)]


def _overall(averages: Mapping[str, tuple[Estimate, Estimate]], request: Request) -> Contrast | None:
    """The suite's figure over the tasks both have, or None where there is but one task."""
    inside = {name: pair for name, pair in averages.items() if name in request.suite.tasks}
    if len(inside) < 2 or request.split == "best":
        return None
    sides = [overall({name: pair[side] for name, pair in inside.items()}, request.suite) for side in (0, 1)]
    return _average_contrast("overall", request.suite.rule, sides[0], sides[1])
