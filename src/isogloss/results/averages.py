"""Averages and transfer gaps of a system over a suite."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from isogloss.metrics import aggregate
from isogloss.results.system import OVERALL, SystemResult
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.results import Number
from isogloss.tasks.suites import Suite


def missing_cells(system: SystemResult, suite: Suite) -> list[str]:
    """Return what a system lacks of a suite: whole tasks by id, single cells as `task/language`."""
    missing = []
    for name in suite.tasks:
        if name not in system.averages:
            codes = suite.languages_of(name)
            lacking = [code for code in codes if system.score(name, code) is None]
            missing += [name] if len(lacking) == len(codes) else [f"{name}/{code}" for code in lacking]
    return missing


def completed_averages(system: SystemResult, suite: Suite) -> dict[str, Number]:
    """Return the average of each task, category and the suite that a system covers completely.

    Recorded averages come first; others follow from the cells, without an interval.
    """
    averages = {}
    for name in suite.tasks:
        scores = [system.score(name, code) for code in suite.languages_of(name)]
        numbers = [score for score in scores if score is not None]
        if name in system.averages:
            averages[name] = system.averages[name]
        elif len(numbers) == len(scores):
            averages[name] = _mean(numbers, [1.0] * len(numbers))
    columns = dict(averages)
    for category, names in suite.categories.items():
        if set(names) <= set(averages) and not mixed_directions(names):
            weights = [suite.weights.get(name, 1.0) for name in names]
            recorded = system.averages.get(category)
            columns[category] = recorded or _mean([averages[name] for name in names], weights)
    if set(suite.tasks) <= set(averages) and not mixed_directions(suite.tasks):
        columns[OVERALL] = system.averages.get(OVERALL) or aggregate.combined(
            averages, suite.rule, lambda name: suite.members[name].category, _mean, suite.weights
        )
    return columns


def _mean(numbers: Sequence[Number], weights: Sequence[float]) -> Number:
    value = aggregate.weighted_mean([number.value for number in numbers], weights)
    return Number(value, None, None, sum(number.n for number in numbers))


def transfer_gap(scores: Mapping[str, float]) -> float | None:
    """Return English minus the mean of the other languages, or None without English or others; 0 is perfect transfer.

    Args:
        scores: score by language code.
    """
    others = [value for code, value in scores.items() if code != PIVOT]
    return scores[PIVOT] - fmean(others) if PIVOT in scores and others else None


def transfer_gaps(system: SystemResult, suite: Suite) -> dict[str, Number]:
    """Return the transfer gap by task: recorded, or computed if all cells of the task are present."""
    gaps = {}
    for name in suite.tasks:
        codes = suite.languages_of(name)
        scores = {code: score for code in codes if (score := system.score(name, code)) is not None}
        gap = transfer_gap({code: score.value for code, score in scores.items()})
        if name in system.gaps:
            gaps[name] = system.gaps[name]
        elif gap is not None and len(scores) == len(codes):
            gaps[name] = Number(gap, None, None, sum(score.n for score in scores.values()))
    return gaps
