"""Averages of tasks, categories and suites, with uncertainty."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.crossed import RunEstimates
from isogloss.metrics.estimate import ROUNDING, Estimate, Interval
from isogloss.scoring.cells import Cell
from isogloss.scoring.contrast import scaled
from isogloss.scoring.designs import Estimates, factor_spreads
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.request import Request
from isogloss.scoring.results import AverageScore, Number, Overall
from isogloss.tasks.pseudo_sets import is_pseudo
from isogloss.tasks.registry import category_of, task

# Language that systems transfer from.
PIVOT = "en"
# Reason for a missing average.
MIXED = "no overall score: higher is better for some tasks, lower for others"


def number(estimate: Estimate) -> Number:
    """Return a score, 0..100, with its 95 % interval."""
    return _number(estimate, estimate.score_interval())


def _number(estimate: Estimate, interval: Interval | None) -> Number:
    return Number(100 * estimate.value, *scaled(interval), estimate.n, factor_spreads(estimate))


def averaged(cells: Sequence[Cell], name: str, request: Request) -> list[Cell]:
    """Return the cells that enter a task's average: languages of the suite with complete gold, written by people.

    Pseudo test sets are averaged only among themselves, if their split is requested.
    """
    inside, pseudo = request.averaged_languages(task(name)), is_pseudo(request.split)
    return [
        cell
        for cell in cells
        if cell.task == name and not cell.partial and cell.language in inside and is_pseudo(cell.split) == pseudo
    ]


def task_averages(
    cells: Sequence[Cell], estimates: Estimates, request: Request
) -> dict[str, tuple[RunEstimates, AverageScore]]:
    """Return the average over languages of every scored task, as an estimate and as a record."""
    averages: dict[str, tuple[RunEstimates, AverageScore]] = {}
    for name in request.tasks:
        inside = averaged(cells, name, request)
        if not inside:
            continue
        # Tags and character spans are different metrics.
        by_dialect: dict[str, str] = {}
        for cell in inside:
            by_dialect.setdefault(cell.judgement.dialect, cell.language)
        if len(by_dialect) > 1:
            kinds = ", ".join(f"{dialect or 'plain'} in {code}" for dialect, code in by_dialect.items())
            raise PredictionError(f"{name} has answers of two kinds: {kinds}", fix="Use one kind for all languages")
        shared = [
            metric for metric in inside[0].metrics if all((name, cell.language, metric) in estimates for cell in inside)
        ]
        metrics = {
            metric: RunEstimates.mean([estimates[name, cell.language, metric] for cell in inside]) for metric in shared
        }
        main = [metrics[metric] for metric in task(name).main]
        score = RunEstimates.mean(main, n=sum(cell.n for cell in inside), of_same=True)
        members = [cell.language for cell in inside]
        missing = [code for code in request.averaged_languages(task(name)) if code not in members]
        numbers = {metric: number(estimate.combined) for metric, estimate in metrics.items()}
        gap = _transfer_gap(inside, estimates)
        average = AverageScore(
            name=name, score=number(score.combined), metrics=numbers, members=members, missing=missing, gap=gap
        )
        averages[name] = (score, average)
    return averages


def _transfer_gap(cells: Sequence[Cell], estimates: Estimates) -> Number | None:
    """Return English minus the mean of the other languages, paired by shared sources."""
    scores = {
        cell.language: RunEstimates.mean(
            [estimates[cell.task, cell.language, metric] for metric in task(cell.task).main], n=cell.n, of_same=True
        )
        for cell in cells
    }
    english = scores.pop(PIVOT, None)
    if english is None or not scores:
        return None
    gap = english.minus(RunEstimates.mean(list(scores.values()))).combined
    if gap.variance < ROUNDING**2:
        return None
    return _number(replace(gap, n=sum(cell.n for cell in cells)), gap.difference_interval())


def suite_averages(
    averages: Mapping[str, tuple[RunEstimates, AverageScore]], request: Request
) -> tuple[list[AverageScore], Overall]:
    """Return category averages and the overall score, with the missing parts of the suite."""
    suite = request.suite
    estimates = {name: averages[name][0] for name in suite.tasks if name in averages}
    members = {category: [name for name in names if name in estimates] for category, names in suite.categories.items()}
    categories = [
        AverageScore(
            name=name,
            score=number(group.combined),
            metrics={},
            members=members[name],
            missing=_missing(suite.categories[name], averages),
        )
        for name, group in aggregate.groups(estimates, category_of, RunEstimates.mean, suite.weights).items()
        if not mixed_directions(members[name])
    ]
    if request.split == "best":
        note = "no overall score: cells from different splits"
    elif not estimates:
        note = f"no overall score: no complete task of {suite.id}"
    else:
        note = MIXED if mixed_directions(estimates) else ""
    top = None
    if not note:
        total = aggregate.combined(estimates, suite.rule, category_of, RunEstimates.mean, suite.weights)
        top = number(total.combined)
    return categories, Overall(suite.rule, top, _missing(suite.tasks, averages), note)


def _missing(tasks: Sequence[str], averages: Mapping[str, tuple[RunEstimates, AverageScore]]) -> list[str]:
    cells = [f"{name}/{code}" for name in tasks if name in averages for code in averages[name][1].missing]
    return [*cells, *(name for name in tasks if name not in averages)]
