"""Is one system better than another: paired tests per cell, per task and overall."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.significance import Difference, approximate_randomisation, holm, mcnemar, paired
from isogloss.metrics.statistics import FloatArray
from isogloss.predictions.folder import Folder
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.draws import RESAMPLES, Draws, draw
from isogloss.tasks.registry import task

__all__ = ["Comparison", "Contrast", "compare"]

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
        span = f"{abs(top.difference):.1f} points (95 % {top.low:.1f} to {top.high:.1f}, p = {top.p:.3g})"
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
    names = _distinct([str(Folder(path).system["name"]) for path in systems])
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


def _distinct(names: list[str]) -> list[str]:
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
        if len(cell.metrics["score"]) != len(first.metrics["score"]) or cell.split != first.split:
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
    averages: dict[str, tuple[tuple[float, float], tuple[FloatArray, FloatArray], int]] = {}
    for name in dict.fromkeys(cell.task for cell in cells[0] if not cell.partial):
        inside = [[cell for cell in side if cell.task == name and not cell.partial] for side in cells]
        scores = tuple(float(np.mean([cell.metrics["score"].score for cell in side])) for side in inside)
        moved = tuple(
            np.mean([of[name, cell.language, "score"] for cell in side], axis=0)
            for of, side in zip(draws, inside, strict=True)
        )
        averages[name] = ((scores[0], scores[1]), (moved[0], moved[1]), sum(cell.n for cell in inside[0]))
    tasks = [_average_contrast("task", name, *average) for name, average in averages.items()]
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


def _average_contrast(
    level: str, name: str, scores: tuple[float, float], draws: tuple[FloatArray, FloatArray], n: int
) -> Contrast:
    difference = paired(*draws, scores[0] - scores[1])
    return _contrast(level, name, scores, difference, "paired bootstrap", n)


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


def _overall(
    averages: Mapping[str, tuple[tuple[float, float], tuple[FloatArray, FloatArray], int]], request: Request
) -> Contrast | None:
    """The suite's figure over the tasks both have, or None where there is but one task."""
    inside = {name: average for name, average in averages.items() if name in request.suite.tasks}
    if len(inside) < 2 or request.split == "best":
        return None
    rule = request.suite.rule
    scores = [aggregate.overall({name: a[0][side] for name, a in inside.items()}, rule) for side in (0, 1)]
    draws = [
        np.array(
            [
                aggregate.overall({name: float(a[1][side][i]) for name, a in inside.items()}, rule)
                for i in range(RESAMPLES)
            ]
        )
        for side in (0, 1)
    ]
    total = sum(average[2] for average in inside.values())
    return _average_contrast("overall", rule, (scores[0], scores[1]), (draws[0], draws[1]), total)
