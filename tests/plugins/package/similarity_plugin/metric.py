"""A metric in addition to those of the kind; lower is better."""

import numpy as np

from isogloss.metrics.registry import Metric
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import Values


def distance(task: Task, examples: Examples, values: Values) -> Statistics:
    """Return the distance of each answer from the right one, at most 1; missing answers have 1."""
    pairs = zip(examples[examples.gold], values, strict=True)
    return Statistics(
        np.array([[1.0 if value is None else min(1.0, abs(gold - value))] for gold, value in pairs]), MEAN
    )


DISTANCE = Metric(
    "distance", "mean distance from the right number", lower_is_better=True, kinds=("similarity",), statistics=distance
)
