"""Averages from languages to tasks, tasks to categories, and categories to one overall score.

A task's score is the plain mean over its languages, including English if the task has it. The papers combine task
scores differently, so the rule is always named:

- "category" (XTREME-R, Table 4): the mean over categories of the mean over the category's tasks;
- "flat" (XTREME, Table 2, and the reference scorer for both suites): the mean over tasks.

The functions average plain numbers as well as estimates with uncertainty.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from isogloss.errors import IsoglossError, unknown

T = TypeVar("T")
# Weighted mean of scores.
Mean = Callable[[Sequence[T], Sequence[float]], T]

RULES = ("category", "flat")


def groups(
    figures: Mapping[str, T], category_of: Callable[[str], str], mean: Mean[T], weights: Mapping[str, float]
) -> dict[str, T]:
    """Return the mean over the tasks of each non-empty category; the default weight is 1."""
    by_category: dict[str, list[str]] = {}
    for name in figures:
        by_category.setdefault(category_of(name), []).append(name)
    return {
        category: mean([figures[name] for name in names], [weights.get(name, 1.0) for name in names])
        for category, names in by_category.items()
    }


def combined(
    figures: Mapping[str, T], rule: str, category_of: Callable[[str], str], mean: Mean[T], weights: Mapping[str, float]
) -> T:
    """Combine task scores by the named rule."""
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    if rule == "category":
        parts = list(groups(figures, category_of, mean, weights).values())
        return mean(parts, [1.0] * len(parts))
    return mean(list(figures.values()), [weights.get(name, 1.0) for name in figures])


def overall(task_scores: Mapping[str, float], rule: str) -> float:
    """Return the overall score of the given tasks, by the named rule.

    Args:
        task_scores: task to its score; aliases are understood.
        rule: "category", the mean over categories of the mean over tasks, or "flat", the mean over tasks.

    Returns:
        The overall score, on the scale of the scores.

    Raises:
        UnknownNameError: unknown task or rule.
        IsoglossError: no scores, a score that is not finite, or a task given under two names.
    """
    # The only upward import: tasks define their categories.
    from isogloss.tasks.registry import canonical, category_of

    scores: dict[str, float] = {}
    for name, score in task_scores.items():
        task_id = canonical(name)
        if task_id in scores:
            raise IsoglossError(f"duplicate score of task {task_id}", where=name, fix="Pass it under one name")
        scores[task_id] = score
        if not math.isfinite(score):
            raise IsoglossError(f"expected a finite score, got {score}", where=name)
    if not scores:
        raise IsoglossError("no scores to average")
    return combined(scores, rule, category_of, weighted_mean, {})


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean, exactly rounded so that it does not depend on the order of the values."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)
