"""The labels a model has seen."""

from collections.abc import Iterable

import numpy as np

from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import SystemFailureError
from isogloss.tasks.task import Task


class LabelSet:
    """The task's labels that occur in training, in the task's order: no other is ever given.

    Raises:
        SystemFailureError: training has a label the task does not know, or none at all.
    """

    def __init__(self, task: Task, seen: Iterable[str], *, where: str) -> None:
        found = set(seen)
        strange = sorted(found - set(task.labels))
        if strange:
            fix = f"{task.id} has {', '.join(task.labels)}"
            raise SystemFailureError(f"label {strange[0]!r} is not one of the task's", where=where, fix=fix)
        if not found:
            raise SystemFailureError("the training set has no labels", where=where)
        self.names = [label for label in task.labels if label in found]

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, labels: Iterable[str]) -> IntArray:
        """The number of each label."""
        number = {label: code for code, label in enumerate(self.names)}
        return np.fromiter(map(number.__getitem__, labels), np.int64)
