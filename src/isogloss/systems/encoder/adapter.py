"""Shared parts of the encoder's task adapters: model inputs, cached tokens and labelled items."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from isogloss.systems.neural.task_adapter import IGNORED, TaskAdapter
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.tokens.inputs import MODEL_ARGUMENTS, InputRows, check_length
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, padded_column
from isogloss.training.objective import Arrays, Ints, TrainingObjective


class EncoderAdapter(TaskAdapter):
    """A task with one of transformers' heads, of class `auto_class`."""

    @property
    def head_settings(self) -> dict[str, Any]:
        """Labels of the task."""
        labels = dict(enumerate(self.task.labels))
        return {
            "num_labels": len(labels),
            "id2label": labels,
            "label2id": {label: number for number, label in labels.items()},
        }

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

    def weight(self, items: Ints) -> float:
        """Return the number of items."""
        return float(len(items))

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
