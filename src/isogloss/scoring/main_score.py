"""The one figure a task is known by: its main metric, or the mean of two, and whether less of it is better.

Reading a result record imports this file, so it stays light.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from isogloss.errors import DataError
from isogloss.metrics.registry import metric as find_metric
from isogloss.tasks.registry import task

if TYPE_CHECKING:
    from isogloss.metrics.statistics import Statistics

# The name of the mean of a task's metrics: of F1 and exact match (XTREME-R paper, section 5).
SCORE = "score"


def main_score(name: str, metrics: Mapping[str, float]) -> float:
    """The one figure of a task, from the values of its metrics."""
    main = task(name).main
    if missing := [metric for metric in main if metric not in metrics]:
        raise DataError(f"a score without {', '.join(missing)}", where=name)
    return sum(metrics[metric] for metric in main) / len(main)


def main_statistics(name: str, metrics: "Mapping[str, Statistics]") -> "Statistics":
    """The statistics of a task's one figure: those of its main metric, or of several the mean of their rows."""
    import numpy as np

    main = [metrics[metric] for metric in task(name).main]
    if len(main) == 1:
        return main[0]
    return replace(main[0], rows=np.mean([statistics.rows for statistics in main], axis=0))


def lower_is_better(name: str, metric: str = SCORE) -> bool:
    """Whether a smaller score of a task is the better one, by its one figure or by one of its metrics.

    Raises:
        DataError: that figure is a mean of metrics of both directions.
    """
    main = task(name).main
    directions = {find_metric(one).lower_is_better for one in (main if metric == SCORE else (metric,))}
    if len(directions) > 1:
        what = f"{', '.join(main)} have no mean: of some more is better, of others less"
        raise DataError(what, where=name, fix="Give the task main metrics of one direction")
    return directions.pop()


def mixed_directions(tasks: Iterable[str]) -> bool:
    """Whether some of the tasks are better with more, others with less: their scores have no mean."""
    return len({lower_is_better(name) for name in tasks}) > 1
