"""Text and pair classification: the answer is a label."""

from collections.abc import Iterator
from typing import Any

from isogloss.errors import near_names
from isogloss.metrics import accuracy
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.readers.pairs import RENAMED
from isogloss.tasks.task import Task


class Classification(Kind):
    """XNLI, PAWS-X, MLDoc."""

    form = "label"
    answer_type = str | int
    answer_help = "a label"
    inputs = ("text", "text_a", "text_b")
    gold = "label"
    label_format = "lines"
    translatable = ("text", "text_a", "text_b")

    def normalize(self, value: Any) -> Any:
        """Labels are compared as strings, without surrounding blanks."""
        return str(value).strip()

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Labels outside the label set."""
        known = {*task.labels, None}
        for row, value in enumerate(values):
            if value not in known:
                close = near_names(str(value), task.labels, 1)
                hint = f"did you mean {close[0]}? " if close else ""
                yield (row, f"label {value!r} is not one of {', '.join(task.labels)}", f"{hint}Write the label itself")

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Labels as the task spells them: label folders write XNLI's in two ways."""
        return ids, {"label": [RENAMED.get(value, value) for value in values]}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Accuracy."""
        return Judgement({"accuracy": accuracy.statistics(examples["label"], values)})
