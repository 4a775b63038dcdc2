"""Score of a task: its main metric or the mean of several, and its direction.

Reading a result record imports this module, so keep it light.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from isogloss.errors import DataError
from isogloss.metrics.registry import metric as find_metric
from isogloss.tasks.registry import task

if TYPE_CHECKING:
    from isogloss.metrics.statistics import Statistics

# Name of the mean of a task's main metrics, such as F1 and exact match (XTREME-R, section 5).
SCORE = "score"


def main_score(name: str, metrics: Mapping[str, float]) -> float:
    """Return the score of a task from its metrics."""
    main = task(name).main
    if missing := [metric for metric in main if metric not in metrics]:
        raise DataError(f"missing metric {', '.join(missing)}", where=name)
    return sum(metrics[metric] for metric in main) / len(main)


def main_statistics(name: str, metrics: "Mapping[str, Statistics]") -> "Statistics":
    """Return the statistics of a task's score: those of its main metric, or of the mean of several."""
    import numpy as np

    from isogloss.metrics.statistics import MEAN, mean_of

    main = [metrics[metric] for metric in task(name).main]
    if len(main) == 1:
        return main[0]
    if any(statistics.value != MEAN for statistics in main):  # a worker returns an equal value, not the same
        return mean_of(main)
    rows, drawn = np.mean([statistics.rows for statistics in main], axis=0), main[0].drawn
    if drawn is not None:
        errors = [statistics.drawn.errors for statistics in main if statistics.drawn is not None]
        drawn = replace(drawn, errors=np.mean(errors, axis=0))
    return replace(main[0], rows=rows, drawn=drawn)


def lower_is_better(name: str, metric: str = SCORE) -> bool:
    """Return True if lower is better, for a task's score or one of its metrics."""
    main = task(name).main
    directions = {find_metric(one).lower_is_better for one in (main if metric == SCORE else (metric,))}
    if len(directions) > 1:
        what = f"cannot average {', '.join(main)}: higher is better for some, lower for others"
        raise DataError(what, where=name, fix="Choose main metrics with the same direction")
    return directions.pop()


def mixed_directions(tasks: Iterable[str]) -> bool:
    """Return True if the tasks have different directions, so that their scores have no mean."""
    return len({lower_is_better(name) for name in tasks}) > 1
