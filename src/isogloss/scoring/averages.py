"""From cells to task averages, categories and the overall figure, each with its uncertainty.

An `Estimate` carries its bootstrap replicates, so an average of estimates is again one: value and replicates are
averaged alike, and the interval follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.intervals import ROUNDING, drawn_interval
from isogloss.metrics.significance import paired
from isogloss.metrics.statistics import FloatArray
from isogloss.scoring.cells import Cell, Request
from isogloss.scoring.draws import Draws
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.results import AverageScore, Number, Overall
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

# Systems are trained in English, and transferred from there.
PIVOT = "en"
# Why some tasks have no average.
MIXED = "no overall: of some tasks more is better, of others less"


@dataclass(frozen=True)
class Estimate:
    """A score, 0..1, with its replicates, the number of examples, and of the fewest units behind any part of it."""

    value: float
    draws: FloatArray
    n: int
    units: int

    @property
    def number(self) -> Number:
        """The estimate on the 0..100 scale with its 95 % interval."""
        return scaled(self.value, drawn_interval(self.value, self.draws, self.units), self.n)


def mean(estimates: Sequence[Estimate], weights: Sequence[float] | None = None, n: int | None = None) -> Estimate:
    """The mean of estimates, plain unless there are weights; n is the sum of theirs unless it is given."""
    return Estimate(
        float(np.average([each.value for each in estimates], weights=weights)),
        np.average([each.draws for each in estimates], axis=0, weights=weights),
        sum(each.n for each in estimates) if n is None else n,
        min(each.units for each in estimates),
    )


def scaled(value: float, bounds: tuple[float, float], n: int) -> Number:
    """A number on the 0..100 scale."""
    return Number(100 * value, 100 * bounds[0], 100 * bounds[1], n)


def cell_estimate(cell: Cell, metric: str, draws: Draws) -> Estimate:
    """A metric of a cell with its replicates."""
    statistics = cell.metrics[metric]
    replicates = draws[cell.task, cell.language, metric]
    return Estimate(statistics.score, replicates, len(statistics), statistics.unit_count)


def averaged(cells: Sequence[Cell], name: str, request: Request) -> list[Cell]:
    """The cells that enter a task's average: languages of the suite, with the task's full gold."""
    inside = request.suite.languages_of(name)
    return [cell for cell in cells if cell.task == name and not cell.partial and cell.language in inside]


def task_averages(cells: Sequence[Cell], draws: Draws, request: Request) -> dict[str, tuple[Estimate, AverageScore]]:
    """The average over languages of every task that has any, as an estimate and as it is recorded."""
    averages: dict[str, tuple[Estimate, AverageScore]] = {}
    for name in request.tasks:
        inside = averaged(cells, name, request)
        if not inside:
            continue
        _refuse_mixture(inside)
        shared = [metric for metric in inside[0].metrics if all(metric in cell.metrics for cell in inside)]
        metrics = {metric: mean([cell_estimate(cell, metric, draws) for cell in inside]) for metric in shared}
        score = mean([metrics[metric] for metric in task(name).main], n=sum(cell.n for cell in inside))
        members = [cell.language for cell in inside]
        missing = [code for code in request.suite.languages_of(name) if code not in members]
        numbers = {metric: estimate.number for metric, estimate in metrics.items()}
        gap = _transfer_gap(inside, draws)
        averages[name] = (score, AverageScore(name, score.number, numbers, members, missing, gap))
    return averages


def _transfer_gap(cells: Sequence[Cell], draws: Draws) -> Number | None:
    """English minus the mean of the other languages, from the same draws."""
    scores = {
        cell.language: mean([cell_estimate(cell, metric, draws) for metric in task(cell.task).main], n=cell.n)
        for cell in cells
    }
    english = scores.pop(PIVOT, None)
    if english is None or not scores:
        return None
    others = mean(list(scores.values()))
    if np.ptp(english.draws - others.draws) < ROUNDING:
        return None
    units = min(english.units, others.units)
    gap = paired(english.draws, others.draws, english.value - others.value, units=units)
    return scaled(gap.difference, (gap.low, gap.high), english.n + others.n)


def _refuse_mixture(cells: Sequence[Cell]) -> None:
    """Tags in one language and character spans in another are two metrics, and have no average."""
    by_dialect: dict[str, str] = {}
    for cell in cells:
        by_dialect.setdefault(cell.judgement.dialect, cell.language)
    if len(by_dialect) > 1:
        kinds = ", ".join(f"{dialect or 'plain'} in {code}" for dialect, code in by_dialect.items())
        raise PredictionError(
            f"the answers of {cells[0].task} are of two kinds: {kinds}", fix="Give one kind everywhere"
        )


def overall(estimates: Mapping[str, Estimate], suite: Suite) -> Estimate:
    """One estimate for all tasks, by the suite's rule."""
    return aggregate.combined(estimates, suite.rule, _category, mean, suite.weights)


def _category(name: str) -> str:
    return task(name).category


def suite_averages(
    averages: Mapping[str, tuple[Estimate, AverageScore]], request: Request
) -> tuple[list[AverageScore], Overall]:
    """Categories and the overall figure, with everything of the suite that is missing."""
    suite = request.suite
    estimates = {name: averages[name][0] for name in suite.tasks if name in averages}
    members = {category: [name for name in names if name in estimates] for category, names in suite.categories.items()}
    categories = [
        AverageScore(name, group.number, {}, members[name], _missing(suite.categories[name], averages))
        for name, group in aggregate.groups(estimates, _category, mean, suite.weights).items()
        if not mixed_directions(members[name])
    ]
    if request.split == "best":
        note = "no overall: the cells are of different splits"
    elif not estimates:
        note = f"no task of {suite.id} was scored in full"
    else:
        note = MIXED if mixed_directions(estimates) else ""
    number = None if note else overall(estimates, suite).number
    return categories, Overall(suite.rule, number, _missing(suite.tasks, averages), note)


def _missing(tasks: Sequence[str], averages: Mapping[str, tuple[Estimate, AverageScore]]) -> list[str]:
    cells = [f"{name}/{code}" for name in tasks if name in averages for code in averages[name][1].missing]
    return [*cells, *(name for name in tasks if name not in averages)]
