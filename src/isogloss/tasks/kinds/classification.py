"""Classification of texts and pairs, and multiple choice: the answer is a label, or the index of a choice."""

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, cast

import numpy as np

from isogloss.errors import DataError, near_names
from isogloss.metrics import accuracy
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import GoldFault, Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.cells import index_cell, text_cell, texts_cell
from isogloss.tasks.kinds.replies import Reading, Reply, choices_in, label_readings
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
    needed = (("text",), ("text_a", "text_b"))
    needs_labels = True
    category = "classification"
    main = ("accuracy",)

    def parse_column(self, name: str, cell: Any) -> str:
        """Return the text, or the label without surrounding blanks."""
        return text_cell(cell).strip() if name == self.gold else text_cell(cell)

    def normalize(self, value: Any) -> Any:
        """Return the label as a string without surrounding blanks."""
        return str(value).strip()

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the labels that the replies give, in any case or in a synonym that the task declares."""
        synonyms = cast("Mapping[str, str]", task.options.get("synonyms", {}))
        labels = {label: label for label in task.labels} | dict(synonyms) | dict(spellings)
        known = {spelling.casefold(): label for spelling, label in labels.items()}
        return label_readings(replies, language, known)

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield labels outside the label set, all with the same reason."""
        labels = {*task.labels, None}
        wrong = {row: value for row, value in enumerate(values) if value not in labels}
        if wrong:
            what, fix = wrong_labels(task, list(dict.fromkeys(wrong.values())))
            yield from ((row, what, fix) for row in wrong)

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return labels as the task spells them; label folders spell XNLI's in two ways."""
        return ids, {"label": [RENAMED.get(value, value) for value in values]}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return accuracy."""
        return Judgement({"accuracy": accuracy.statistics(examples["label"], values)})


def wrong_labels(task: Task, spelt: list[str]) -> tuple[str, str]:
    """Return what is wrong with the distinct labels outside of a task's label set, and how to fix it."""
    expected = ", ".join(task.labels)
    if len(spelt) == 1 and not spelt[0].isdecimal():
        close = near_names(spelt[0], task.labels, 1)
        hint = f"Did you mean {close[0]}? " if close else ""
        return f"label {spelt[0]!r} is not one of {expected}", f"{hint}Write the label itself"
    shown = ", ".join(f"{label!r:.40}" for label in spelt[:5]) + ", …" * (len(spelt) > 5)
    if numbers := sorted(map(int, spelt)) if all(label.isdecimal() and len(label) < 9 for label in spelt) else []:
        shown = f"integers {numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else f"the integer {numbers[0]}"
    as_numbered = len(numbers) == len(task.labels)
    labels = task.labels if as_numbered else ["LABEL"] * min(len(spelt), 5)
    spellings = map(str, numbers) if as_numbered else (f"{label:.20}" for label in spelt)
    example = ",".join(f"{spelling}={label}" for spelling, label in zip(spellings, labels, strict=False))
    order = ", if that is your model's order" if as_numbered else ""
    fix = f"Write the labels, or map them with isogloss import table FILE --labels {example}{order}"
    return f"{shown} instead of {expected}", fix


class Choice(Kind):
    """XCOPA, and any task with 2 to 26 choices per example, as many as the example has.

    Numbers compare as in JSON: 1, 1.0 and true are equal, the string "1" is invalid. If the number of choices varies,
    so does the chance of guessing right: the metric `chance` has it for every example.
    """

    form = "option"
    answer_type = bool | int | float | str
    answer_help = "the index of the choice, from 0"
    inputs = ("premise", "question", "choices")
    gold = "label"
    label_format = "choices"
    translatable = ("premise", "choices")
    category = "classification"
    main = ("accuracy",)

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return a text; the choices, which a text separates by `|`; or the index of the right one."""
        if name == self.gold:
            return index_cell(cell)
        return tuple(texts_cell(cell, _between_bars)) if name == "choices" else text_cell(cell)

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the choices that the replies give by number, letter, ordinal or text."""
        return choices_in(replies, language, {name.casefold(): int(index) for name, index in spellings.items()})

    def gold_faults(self, examples: Examples) -> Iterator[GoldFault]:
        """Yield indices without a choice, and choices that are equal."""
        for row, (choices, label) in enumerate(zip(examples["choices"], examples[self.gold], strict=True)):
            if label not in range(len(choices)):
                yield GoldFault(row, "choice-out-of-range", error=True)
            if len(set(choices)) < len(choices):
                yield GoldFault(row, "equal-choices")

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
        """Return the labels; a label folder has no texts of the choices, of which there are at least as many."""
        most = max((int(value) for value in values if isinstance(value, int | float)), default=1)
        if most >= len(ascii_uppercase):
            raise DataError(f"gold index {most}: at most {len(ascii_uppercase)} choices", fix="Count from 0")
        return ids, {"choices": [("",) * max(2, most + 1)] * len(ids), "label": values}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return accuracy, and the expected accuracy of guessing if the number of choices varies."""
        metrics = {"accuracy": accuracy.statistics(examples["label"], values)}
        counts = np.array([len(choices) for choices in examples["choices"]], dtype=np.float64)
        if len(set(counts.tolist())) > 1:
            metrics["chance"] = Statistics(1 / np.maximum(counts, 1)[:, None], MEAN)
        return Judgement(metrics)


def _between_bars(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")]
