"""From languages to a task, from tasks to a category, from categories to one number.

A task's figure is the plain mean over its languages, English included where the task has it. How task figures
become an overall differs between the papers, so the rule is always named:

- "category" (XTREME-R, Table 4): the mean over categories of the mean over the category's tasks;
- "flat" (XTREME, Table 2, and the reference scorer for both suites): the mean over tasks.

Everything here averages what it is given; `missing` says what a suite still lacks.
"""

import math
from collections.abc import Collection, Mapping

from isogloss.errors import IsoglossError, unknown

# The one table of what belongs where; a suite has some of each category's tasks.
CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "classification": ("xnli", "pawsx", "xcopa", "mldoc", "mini-xnli", "mini-xcopa"),
    "structured": ("udpos", "wikiann", "mini-udpos", "mini-wikiann"),
    "qa": ("xquad", "mlqa", "tydiqa", "mini-xquad", "mini-mlqa", "mini-tydiqa"),
    "retrieval": ("bucc", "mewslix", "lareqa", "tatoeba", "mini-mewslix", "mini-lareqa", "mini-tatoeba"),
}
CATEGORY_OF: Mapping[str, str] = {task: category for category, tasks in CATEGORIES.items() for task in tasks}

_REAL = tuple(task for task in CATEGORY_OF if not task.startswith("mini-"))

# XTREME-R put XCOPA for PAWS-X, and two language-agnostic retrieval tasks for BUCC.
SUITES: Mapping[str, tuple[str, ...]] = {
    "xtreme-r": tuple(task for task in _REAL if task not in {"pawsx", "bucc", "mldoc"}),
    "xtreme": tuple(task for task in _REAL if task not in {"xcopa", "mewslix", "lareqa", "mldoc"}),
    "mldoc": ("mldoc",),
    "mini": tuple(task for task in CATEGORY_OF if task.startswith("mini-")),
}

ALIASES: Mapping[str, str] = {"panx": "wikiann", "bucc2018": "bucc"}

RULES = ("category", "flat")
DEFAULT_RULE: Mapping[str, str] = {"xtreme-r": "category", "xtreme": "flat", "mldoc": "flat", "mini": "category"}

# A task is known by the first of these that it has; a cut-off such as "@20" does not change a metric's place.
_HEADLINE = ("f1", "accuracy", "map", "mrr")


def macro(values: Mapping[str, float]) -> float:
    """The plain mean over languages: one with 47 sentences weighs as much as one with 20,000."""
    return _mean(values, "language")


def task_score(metric_averages: Mapping[str, float]) -> float:
    """The one figure a task enters an overall with, from its metrics' averages over languages.

    (EM + F1) / 2 where the task has both; else F1, else accuracy, else mAP (or MRR, which is mAP with one
    target).
    """
    by_name: dict[str, float] = {}
    for metric, value in metric_averages.items():
        by_name.setdefault(metric.partition("@")[0], value)  # of several cut-offs, the first counts
    if "em" in by_name and "f1" in by_name:
        return _mean({metric: by_name[metric] for metric in ("em", "f1")}, "metric")
    for metric in _HEADLINE:
        if metric in by_name:
            return _mean({metric: by_name[metric]}, "metric")
    raise IsoglossError(
        f"no metric to know the task by: {', '.join(metric_averages) or 'none'} given",
        fix=f"Needed: one of {', '.join(_HEADLINE)}",
    )


def groups(task_scores: Mapping[str, float]) -> dict[str, float]:
    """The mean over the given tasks of each category that has any."""
    scores = _by_id(task_scores)
    given = {category: {task: scores[task] for task in its if task in scores} for category, its in CATEGORIES.items()}
    return {category: _mean(its, "task") for category, its in given.items() if its}


def overall(task_scores: Mapping[str, float], rule: str) -> float:
    """One number for the given tasks, by the named rule.

    Args:
        task_scores: task to its figure (see `task_score`).
        rule: "category", the mean of the `groups` present, or "flat", the mean over tasks.

    Raises:
        UnknownNameError: a task outside the two suites, or a rule that does not exist.
        IsoglossError: no scores, a score that is not finite, or a task given under two names.
    """
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    if rule == "category":
        return _mean(groups(task_scores), "task")
    return _mean(_by_id(task_scores), "task")


def categories(suite: str) -> dict[str, tuple[str, ...]]:
    """The suite's tasks by category."""
    tasks = _suite(suite)
    return {category: tuple(task for task in its if task in tasks) for category, its in CATEGORIES.items()}


def missing(tasks: Collection[str], suite: str) -> tuple[str, ...]:
    """The suite's tasks that are not among the given ones; () means that their overall is the suite's."""
    given = {_task_id(task) for task in tasks}
    return tuple(task for task in _suite(suite) if task not in given)


def _suite(name: str) -> tuple[str, ...]:
    if name not in SUITES:
        raise unknown("suite", name, SUITES)
    return SUITES[name]


def _task_id(name: str) -> str:
    task = ALIASES.get(name, name)
    if task not in CATEGORY_OF:
        raise unknown("task", name, CATEGORY_OF)
    return task


def _by_id(task_scores: Mapping[str, float]) -> dict[str, float]:
    """The scores under the tasks' own ids."""
    scores: dict[str, float] = {}
    for name, score in task_scores.items():
        task = _task_id(name)
        if task in scores:
            raise IsoglossError(f"two scores for the task {task}", where=name, fix="Give it under one name")
        scores[task] = score
    return scores


def _mean(values: Mapping[str, float], kind: str) -> float:
    """The mean by an exactly rounded sum, so that the order of the values cannot show."""
    if not values:
        raise IsoglossError(f"there is no {kind} to average over")
    for name, value in values.items():
        if not math.isfinite(value):
            raise IsoglossError(f"the score is {value}", where=name, fix=f"Every {kind} needs a finite score")
    return math.fsum(values.values()) / len(values)
