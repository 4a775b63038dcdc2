"""Bitext mining: the answer for a source sentence is its translation's id, or none."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from isogloss.metrics.statistics import F1, PRECISION, RECALL, Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Complaint, Judgement, Kind, Values
from isogloss.tasks.task import Task


class Mining(Kind):
    """BUCC 2018."""

    answer = list[str] | str
    shape = "the id of the English sentence, or a list of ids; leave out sentences without a translation"
    inputs = ("text",)
    lenient = True

    def normalize(self, value: Any) -> Any:
        """A list of English ids."""
        return value if isinstance(value, list) else [value]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[Complaint]:
        """English ids that do not exist."""
        known = examples.pool.language_of if examples.pool is not None else None
        for row, found in enumerate(values):
            for item in found or ():
                if known is not None and item not in known:
                    yield row, f"{item!r} is no sentence of the English side", "Use the ids of the .en file"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """F1, precision and recall over the pairs."""
        rows = np.zeros((len(examples), 3))
        for row, (gold, value) in enumerate(zip(examples["targets"], values, strict=True)):
            if gold or value:
                found = set(value or ())
                rows[row] = len(found.intersection(gold)), len(found), len(set(gold))
        # One row a source sentence: it is what resampling draws, and what two systems have in common.
        by_value = {"f1": F1, "precision": PRECISION, "recall": RECALL}
        return Judgement({name: Statistics(rows, value) for name, value in by_value.items()})
