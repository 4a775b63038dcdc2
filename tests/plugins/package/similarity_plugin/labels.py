"""A kind that is a shipped one with a metric more, and a task of it: texts of many subjects, some of them rare."""

from collections import Counter

import numpy as np

from isogloss.metrics.statistics import RATIO, Statistics
from isogloss.tasks import Layout, Task
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, Values
from isogloss.tasks.kinds.classification import Classification

SUBJECTS = tuple("astronomy botany cooking dance economics fishing geology history insects jazz kites law".split())


class ManyLabels(Classification):
    """Classification where rare labels count as much as frequent ones."""

    shape = "a subject"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Accuracy, and its mean over the labels."""
        judgement = super().judge(task, examples, values)
        gold = examples["label"]
        size = Counter(gold)
        rows = [((label == value) / size[label], 1 / size[label]) for label, value in zip(gold, values, strict=True)]
        return Judgement({**judgement.metrics, "balanced": Statistics(np.array(rows), RATIO)})


TASK = Task(
    id="subjects",
    title="Subjects: what a text is about",
    kind="topics",
    category="classification",
    languages=("en", "de"),
    main=("balanced",),
    layouts=(Layout("pairs.documents", test="subjects/{lang}.tsv", train="subjects/train-{lang}.tsv"),),
    counts={},
    options={"labels": SUBJECTS},
    licence="CC0-1.0",
    homepage="https://example.org/subjects",
    citation="made for a test",
)
