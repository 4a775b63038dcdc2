"""A metric that is computed beside those that a kind has by itself, and of which less is better."""

import numpy as np

from isogloss.metrics.registry import Metric
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import Values


def distance(task: Task, examples: Examples, values: Values) -> Statistics:
    """How far an answer is from the right one, at most 1; no answer is as far as can be."""
    pairs = zip(examples[examples.gold], values, strict=True)
    return Statistics(
        np.array([[1.0 if value is None else min(1.0, abs(gold - value))] for gold, value in pairs]), MEAN
    )


DISTANCE = Metric(
    "distance", "mean distance from the right number", lower_is_better=True, kinds=("similarity",), statistics=distance
)
