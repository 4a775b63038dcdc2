"""From languages to a task, from tasks to a category, from categories to one number.

A task's figure is the plain mean over its languages, English included where the task has it. How task figures
become an overall differs between the papers, so the rule is always named:

- "category" (XTREME-R, Table 4): the mean over categories of the mean over the category's tasks;
- "flat" (XTREME, Table 2, and the reference scorer for both suites): the mean over tasks.

Everything here averages what it is given, be it numbers or estimates with their uncertainty.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from isogloss.errors import IsoglossError, unknown

T = TypeVar("T")
# The mean of some figures with their weights.
Mean = Callable[[Sequence[T], Sequence[float]], T]

RULES = ("category", "flat")

# A task is known by the first of these that it has; a cut-off such as "@20" does not change a metric's place.
_HEADLINE = ("f1", "accuracy", "map", "mrr")


def macro(values: Mapping[str, float]) -> float:
    """The plain mean over languages: one with 47 sentences weighs as much as one with 20,000."""
    return _finite_mean(values, "language")


def task_score(metric_averages: Mapping[str, float]) -> float:
    """The one figure a task enters an overall with, from its metrics' averages over languages.

    (EM + F1) / 2 where the task has both; else F1, else accuracy, else mAP (or MRR, which is mAP with one
    target).
    """
    by_name: dict[str, float] = {}
    for metric, value in metric_averages.items():
        by_name.setdefault(metric.partition("@")[0], value)  # of several cut-offs, the first counts
    if "em" in by_name and "f1" in by_name:
        return _finite_mean({metric: by_name[metric] for metric in ("em", "f1")}, "metric")
    for metric in _HEADLINE:
        if metric in by_name:
            return _finite_mean({metric: by_name[metric]}, "metric")
    raise IsoglossError(
        f"no metric to know the task by: {', '.join(metric_averages) or 'none'} given",
        fix=f"Needed: one of {', '.join(_HEADLINE)}",
    )


def groups(
    figures: Mapping[str, T], category_of: Callable[[str], str], mean: Mean[T], weights: Mapping[str, float]
) -> dict[str, T]:
    """The mean over the given tasks of each category that has any.

    Args:
        figures: task to its figure.
        category_of: the category of a task.
        mean: the weighted mean of such figures.
        weights: of tasks; 1 where nothing is said.
    """
    by_category: dict[str, list[str]] = {}
    for name in figures:
        by_category.setdefault(category_of(name), []).append(name)
    return {
        category: mean([figures[name] for name in names], [weights.get(name, 1.0) for name in names])
        for category, names in by_category.items()
    }


def combined(
    figures: Mapping[str, T],
    rule: str,
    category_of: Callable[[str], str],
    mean: Mean[T],
    weights: Mapping[str, float],
) -> T:
    """One figure for the given tasks, by the named rule; see `groups` for the arguments.

    Raises:
        UnknownNameError: no such rule.
    """
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    if rule == "category":
        parts = list(groups(figures, category_of, mean, weights).values())
        return mean(parts, [1.0] * len(parts))
    return mean(list(figures.values()), [weights.get(name, 1.0) for name in figures])


def overall(task_scores: Mapping[str, float], rule: str) -> float:
    """One number for the given tasks, by the named rule.

    Args:
        task_scores: task to its figure (see `task_score`); aliases are understood.
        rule: "category", the mean over categories of the mean over tasks, or "flat", the mean over tasks.

    Returns:
        The overall figure, on the scale of the scores.

    Raises:
        UnknownNameError: a task or a rule that does not exist.
        IsoglossError: no scores, a score that is not finite, or a task given under two names.
    """
    # The one look upwards: which category a task is in is the task's own knowledge.
    from isogloss.tasks.registry import canonical, task

    scores: dict[str, float] = {}
    for name, score in task_scores.items():
        known = canonical(name)
        if known in scores:
            raise IsoglossError(f"two scores for the task {known}", where=name, fix="Give it under one name")
        scores[known] = score
    _finite_mean(scores, "task")
    return combined(scores, rule, lambda name: task(name).category, weighted_mean, {})


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean by exactly rounded sums, so that the order of the values cannot show."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)


def _finite_mean(values: Mapping[str, float], kind: str) -> float:
    if not values:
        raise IsoglossError(f"there is no {kind} to average over")
    for name, value in values.items():
        if not math.isfinite(value):
            raise IsoglossError(f"the score is {value}", where=name, fix=f"Every {kind} needs a finite score")
    return weighted_mean(list(values.values()), [1.0] * len(values))
