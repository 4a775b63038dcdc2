"""The encoder's task adapters: their shared parts, classification of one or two texts, and multiple choice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import IGNORED, choice_indices, label_ids, premises_and_questions, question_texts
from isogloss.systems.tokens.inputs import MODEL_ARGUMENTS, InputRows, check_length
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Arrays, Encoded, Ints, TrainingObjective, padded_column

# Name of the mask of choices that an example does not have.
_ABSENT = "absent"


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
        logits = possible(model(**model_arguments(batch)).logits, batch)
        return cross_entropy(logits.flatten(0, -2), batch["labels"].flatten())


def model_arguments(batch: Batch) -> dict[str, Tensor]:
    """Return the part of a batch that the model takes."""
    return {name: batch[name] for name in MODEL_ARGUMENTS if name in batch}


def possible(logits: Tensor, batch: Batch) -> Tensor:
    """Return logits without those of `absent` choices, if a batch has any."""
    return logits.masked_fill(batch[_ABSENT].bool(), -1e9) if _ABSENT in batch else logits


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy in float32, summed over the labels that are not ignored."""
    from torch.nn import functional

    return functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="sum")


def best_label(model: Model, batch: Batch) -> tuple[Tensor]:
    """Return the argmax of the model's (float32) logits."""
    return (possible(model(**model_arguments(batch)).logits, batch).argmax(-1),)


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
        counts = np.array([len(texts) for texts in choices], np.int64)
        premises, _ = premises_and_questions(examples)
        questions = zip(premises, question_texts(examples), counts.tolist(), strict=True)
        texts = [
            f"{premise} {question}" if premise else question
            for premise, question, count in questions
            for _ in range(count)
        ]
        columns = [texts, [text for texts in choices for text in texts]]
        rows = self._text_rows(examples, columns, np.arange(len(examples)).repeat(counts))
        return _ChoiceGroups(rows.inputs, rows.encoded, rows.languages, counts)


@dataclass(frozen=True)
class _ChoiceGroups(InputRows):
    """Rows grouped by example."""

    counts: Ints = field(default_factory=lambda: np.ones(0, np.int64))  # of each example's choices

    @property
    def choices(self) -> int:
        """Largest number of choices."""
        return int(self.counts.max(initial=1))

    @property
    def lengths(self) -> Ints:
        if not len(self.counts):
            return np.zeros(0, np.int64)
        longest: Ints = np.maximum.reduceat(self.encoded.lengths, np.cumsum(self.counts) - self.counts)
        return longest

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Return some examples, (size, choices, width) each; missing choices repeat the last and are `absent`."""
        places, counts = np.arange(self.choices), self.counts[rows][:, None]
        begins = (np.cumsum(self.counts) - self.counts)[rows][:, None]
        every = (begins + np.minimum(places, counts - 1)).ravel()
        flat = super().batch(every, width, size * self.choices)
        arrays: dict[str, Array] = {name: each.reshape(size, self.choices, width) for name, each in flat.items()}
        if self.counts.min(initial=self.choices) < self.choices:
            absent = np.zeros((size, self.choices), np.int64)
            absent[: len(rows)] = places >= counts
            arrays[_ABSENT] = absent
        return arrays
