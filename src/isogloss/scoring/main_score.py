"""The one figure a task is known by: its main metric, or the mean of two, and whether less of it is better."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from isogloss.errors import DataError
from isogloss.metrics.registry import metric as find_metric
from isogloss.metrics.statistics import Statistics
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

# The name of the mean of a task's metrics: of F1 and exact match (XTREME-R paper, section 5).
SCORE = "score"


def main_statistics(of: Task, metrics: Mapping[str, Statistics]) -> Statistics:
    """The statistics of a task's one figure: those of its main metric, or the mean rows of several.

    Args:
        of: the task.
        metrics: the statistics of a cell by metric, one row an example each.

    Returns:
        Statistics whose score is the mean of the main metrics' scores.
    """
    main = [metrics[name] for name in of.main]
    rows = np.mean([statistics.rows for statistics in main], axis=0)
    return main[0] if len(main) == 1 else replace(main[0], rows=rows)


def lower_is_better(name: str, metric: str = SCORE) -> bool:
    """Whether a smaller score of a task is the better one.

    Args:
        name: the task.
        metric: one of its metrics; by default the figure it is known by.

    Raises:
        DataError: that figure is a mean of metrics of both directions.
    """
    directions = {find_metric(one).lower_is_better for one in (task(name).main if metric == SCORE else (metric,))}
    if len(directions) > 1:
        what = f"{', '.join(task(name).main)} have no mean: of some more is better, of others less"
        raise DataError(what, where=name, fix="Give the task main metrics of one direction")
    return directions.pop()


def mixed_directions(tasks: Iterable[str]) -> bool:
    """Whether some of the tasks are better with more, others with less: their scores have no mean."""
    return len({lower_is_better(name) for name in tasks}) > 1
