"""Classification of texts and pairs, and multiple choice: the answer is a label, or the index of a choice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from isogloss.errors import near_names
from isogloss.metrics import accuracy
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.replies import Reply, choices_in, label_in
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
        """Return the label as a string without surrounding blanks."""
        return str(value).strip()

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Any]:
        """Return the labels that the replies give, in any case or in a synonym that the task declares."""
        synonyms = cast("Mapping[str, str]", task.options.get("synonyms", {}))
        labels = {label: label for label in task.labels} | dict(synonyms) | dict(spellings)
        known = {spelling.casefold(): label for spelling, label in labels.items()}
        return [label_in(reply.text, language, known) for reply in replies]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield labels outside the label set."""
        labels = {*task.labels, None}
        for row, value in enumerate(values):
            if value not in labels:
                close = near_names(str(value), task.labels, 1)
                hint = f"Did you mean {close[0]}? " if close else ""
                yield (row, f"label {value!r} is not one of {', '.join(task.labels)}", f"{hint}Write the label itself")

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return labels as the task spells them; label folders spell XNLI's in two ways."""
        return ids, {"label": [RENAMED.get(value, value) for value in values]}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return accuracy."""
        return Judgement({"accuracy": accuracy.statistics(examples["label"], values)})


class Choice(Kind):
    """XCOPA. Numbers compare as in JSON: 1, 1.0 and true are equal, the string "1" is invalid."""

    form = "option"
    answer_type = bool | int | float | str
    answer_help = "the index of the choice, from 0"
    inputs = ("premise", "question", "choices")
    gold = "label"
    label_format = "choices"
    translatable = ("premise", "choices")

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Any]:
        """Return the choices that the replies give by number, letter, ordinal or text."""
        return choices_in(replies, language, {name.casefold(): int(index) for name, index in spellings.items()})

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield answers that are not the index of a choice."""
        for row, (value, choices) in enumerate(zip(values, examples["choices"], strict=True)):
            if isinstance(value, str):
                yield row, f"{value!r} is a string", "Write the number, without quotes"
            elif value is not None and value not in range(len(choices)):
                yield row, f"{value!r} is not the index of one of {len(choices)} choices", "Count from 0"

    def row_id(self, split: str, row: int) -> str:
        """Return the row number, which XCOPA uses as id."""
        return str(row)

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the labels; a label folder has no texts of the choices."""
        return ids, {"choices": [("", "")] * len(ids), "label": values}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return accuracy."""
        return Judgement({"accuracy": accuracy.statistics(examples["label"], values)})
