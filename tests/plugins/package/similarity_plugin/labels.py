"""A built-in kind with a further metric, in which rare labels count as much as frequent ones."""

from collections import Counter

import numpy as np

from isogloss.metrics.statistics import RATIO, Statistics
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import Judgement, Values
from isogloss.tasks.kinds.classification import Classification


class ManyLabels(Classification):
    """Classification with many labels; supported by every system that predicts labels."""

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Compute accuracy, and its mean over the labels."""
        judgement = super().judge(task, examples, values)
        gold = examples["label"]
        size = Counter(gold)
        rows = [((label == value) / size[label], 1 / size[label]) for label, value in zip(gold, values, strict=True)]
        return Judgement({**judgement.metrics, "balanced": Statistics(np.array(rows), RATIO)})
