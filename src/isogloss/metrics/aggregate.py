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


def groups(
    figures: Mapping[str, T], category_of: Callable[[str], str], mean: Mean[T], weights: Mapping[str, float]
) -> dict[str, T]:
    """The mean over the given tasks of each category that has any; a task without a weight weighs 1."""
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
    """One figure for the given tasks, by the named rule; an unknown rule is an error."""
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    if rule == "category":
        parts = list(groups(figures, category_of, mean, weights).values())
        return mean(parts, [1.0] * len(parts))
    return mean(list(figures.values()), [weights.get(name, 1.0) for name in figures])


def overall(task_scores: Mapping[str, float], rule: str) -> float:
    """One number for the given tasks, by the named rule.

    Args:
        task_scores: task to its score; aliases are understood.
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
        if not math.isfinite(score):
            raise IsoglossError(f"the score is {score}", where=name, fix="Every task needs a finite score")
    if not scores:
        raise IsoglossError("there is no task to average over")
    return combined(scores, rule, lambda name: task(name).category, weighted_mean, {})


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean by exactly rounded sums, so that the order of the values cannot show."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)
