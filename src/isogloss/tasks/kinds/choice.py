"""Multiple choice: the answer is the index of the better choice."""

from collections.abc import Iterator
from typing import Any

from isogloss.metrics import accuracy
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.task import Task


class Choice(Kind):
    """XCOPA. Numbers are compared as JSON has them: 1, 1.0 and true are the same, the string "1" is not a number."""

    form = "option"
    answer_type = bool | int | float | str
    answer_help = "the index of the choice, from 0"
    inputs = ("premise", "question", "choices")
    gold = "label"
    label_format = "choices"
    translatable = ("premise", "choices")

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Anything that is not the index of a choice."""
        for row, (value, choices) in enumerate(zip(values, examples["choices"], strict=True)):
            if isinstance(value, str):
                yield row, f"{value!r} is a string", "Write the number, without quotes"
            elif value is not None and value not in range(len(choices)):
                yield row, f"{value!r} is not the index of one of {len(choices)} choices", "Count from 0"

    def row_id(self, split: str, row: int) -> str:
        """XCOPA numbers its examples itself, by row."""
        return str(row)

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Labels; a label folder has no texts of the two choices."""
        return ids, {"choices": [("", "")] * len(ids), "label": values}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Accuracy."""
        return Judgement({"accuracy": accuracy.statistics(examples["label"], values)})
