"""Bitext mining: the answer for a source sentence is its translation's id, or none."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from isogloss.metrics import mining
from isogloss.metrics.statistics import PRECISION, RECALL
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Fault, Judgement, Kind, Values
from isogloss.tasks.task import Task

__all__ = ["Mining"]


class Mining(Kind):
    """BUCC 2018."""

    answer = list[str] | str
    shape = "the id of the English sentence, or a list of ids; leave out sentences without a translation"
    inputs = ("text",)
    lenient = True

    def normalize(self, value: Any) -> Any:
        """A list of English ids."""
        return value if isinstance(value, list) else [value]

    def faults(self, task: Task, examples: Examples, values: Values) -> Iterator[Fault]:
        """English ids that do not exist."""
        known = examples.pool.rows if examples.pool is not None else None
        for row, found in enumerate(values):
            for item in found or ():
                if known is not None and item not in known:
                    yield row, f"{item!r} is no sentence of the English side", "Use the ids of the .en file"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """F1, precision and recall over the pairs."""
        gold = [(i, j) for i, targets in zip(examples.ids, examples["targets"], strict=True) for j in targets]
        found = [(i, j) for i, value in zip(examples.ids, values, strict=True) for j in value or ()]
        f1 = mining.statistics(gold, found)
        return Judgement({"f1": f1, "precision": replace(f1, value=PRECISION), "recall": replace(f1, value=RECALL)})
