"""The encoder's task adapters: their shared parts, classification of one or two texts, and multiple choice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.neural.task_adapter import IGNORED, TaskAdapter
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import choice_indices, label_ids, question_texts
from isogloss.systems.tokens.inputs import MODEL_ARGUMENTS, InputRows, check_length
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Arrays, Encoded, Ints, TrainingObjective, padded_column


class EncoderAdapter(TaskAdapter):
    """A task with one of transformers' heads, of class `auto_class`."""

    @property
    def head_settings(self) -> dict[str, Any]:
        """Labels of the task."""
        labels = self.task.labels
        numbers = {label: number for number, label in enumerate(labels)}
        return {"num_labels": len(labels), "id2label": dict(enumerate(labels)), "label2id": numbers}

    def check(self, examples: Examples) -> None:
        """Check that a model with language ids knows the languages of the examples."""
        self.inputs.language_ids(examples)

    def _tokenised(self, contents: Sequence[Any], settings: Sequence[object], make: Callable[[], Encoded]) -> Encoded:
        check_length(self.source, self.recipe.max_length)
        return super()._tokenised(contents, (self.inputs.segmented, *settings), make)

    def _text_rows(
        self, examples: Examples, columns: Sequence[Sequence[str]], example_of: Ints | None = None
    ) -> InputRows:
        """Return rows of one or two texts, cut to the recipe's length."""
        longest = self.recipe.max_length
        encoded = self._tokenised(columns, (longest,), lambda: self.inputs.encode(columns, longest))
        return self.inputs.rows_for(examples, encoded, example_of)


class LabelledItems(TrainingObjective):
    """Items with one label in each column; the model scores every label."""

    def __init__(self, items: InputRows, columns: Mapping[str, Ints], rows: int = 1) -> None:
        self.items, self.columns, self.lengths, self.rows = items, columns, items.lengths, rows

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return the items with their labels."""
        labels = {name: padded_column(column, items, size, IGNORED) for name, column in self.columns.items()}
        return {**self.items.batch(items, width, size), **labels}

    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the cross-entropy of `labels`."""
        logits = model(**model_arguments(batch)).logits
        return cross_entropy(logits.flatten(0, -2), batch["labels"].flatten())


def model_arguments(batch: Batch) -> dict[str, Tensor]:
    """Return the part of a batch that the model takes."""
    return {name: batch[name] for name in MODEL_ARGUMENTS if name in batch}


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy in float32, summed over the labels that are not ignored."""
    from torch.nn import functional

    return functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="sum")


def best_label(model: Model, batch: Batch) -> tuple[Tensor]:
    """Return the argmax of the model's (float32) logits."""
    return (model(**batch).logits.argmax(-1),)


def most_likely(model: Model, items: InputRows) -> list[int]:
    """Return the index of every item's best label."""
    from isogloss.training.inference import outputs

    best = np.zeros(len(items.lengths), np.int64)
    for numbers, (labels,) in outputs(model, items.lengths, items.batch, best_label):
        best[numbers] = labels
    return list(best.tolist())


class EncoderClassifier(EncoderAdapter):
    """MLDoc, XNLI and PAWS-X: a softmax over the labels, from the first token's state."""

    name = "encoder classification"
    auto_class = "AutoModelForSequenceClassification"

    def _objective(self, train: Examples) -> TrainingObjective:
        labels = label_ids(self.task, train[train.gold], train)
        return LabelledItems(self._rows(train), {"labels": labels})

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return each example's most likely label."""
        return [self.task.labels[number] for number in most_likely(model, self._rows(examples))]

    def _rows(self, examples: Examples) -> InputRows:
        names = ("text",) if "text" in examples.columns else ("text_a", "text_b")
        return self._text_rows(examples, [examples[name] for name in names])


class EncoderMultipleChoice(EncoderAdapter):
    """XCOPA and Social IQa: one score per choice, and a softmax over an example's choices."""

    name = "encoder multiple choice"
    auto_class = "AutoModelForMultipleChoice"

    @property
    def head_settings(self) -> dict[str, Any]:
        """Empty: the head gives one score per choice."""
        return {}

    def _objective(self, train: Examples) -> TrainingObjective:
        groups = self._groups(train)
        return LabelledItems(groups, {"labels": choice_indices(train)}, groups.choices)

    def predict(self, model: Model, examples: Examples) -> list[int]:
        """Return the index of each example's best choice."""
        return most_likely(model, self._groups(examples))

    def _groups(self, examples: Examples) -> "_ChoiceGroups":
        choices = examples["choices"]
        counts = set(map(len, choices)) or {1}
        if len(counts) > 1:
            what = f"examples have {' or '.join(map(str, sorted(counts)))} choices"
            fix = "Use the same number of choices in every example"
            raise SystemFailureError(what, where=dataset_name(examples), fix=fix)
        [count] = counts
        questions = zip(examples["premise"], question_texts(examples), strict=True)
        texts = [f"{premise} {question}" for premise, question in questions for _ in range(count)]
        columns = [texts, [text for texts in choices for text in texts]]
        rows = self._text_rows(examples, columns, np.arange(len(examples)).repeat(count))
        return _ChoiceGroups(rows.inputs, rows.encoded, rows.languages, count)


@dataclass(frozen=True)
class _ChoiceGroups(InputRows):
    """Rows grouped by example."""

    choices: int = 1

    @property
    def lengths(self) -> Ints:
        longest: Ints = self.encoded.lengths.reshape(-1, self.choices).max(axis=1)
        return longest

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Return some examples, (size, choices, width) each."""
        every = (rows[:, None] * self.choices + np.arange(self.choices)).ravel()
        flat = super().batch(every, width, size * self.choices)
        return {name: array.reshape(size, self.choices, width) for name, array in flat.items()}
