"""What the task adapters of an encoder have in common: a head on top, rows of tokens below, tokenised once."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isogloss.systems.neural.task_adapter import IGNORED, TaskAdapter
from isogloss.systems.tokens.inputs import MODEL_ARGUMENTS, ModelInputs, check_length
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, padded_column
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn


def model_arguments(batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
    """The part of a batch that is for the model."""
    return {name: batch[name] for name in MODEL_ARGUMENTS if name in batch}


class EncoderAdapter(TaskAdapter):
    """A task under one of transformers' heads, of the class `auto_class`."""

    auto_class: ClassVar[str]

    @cached_property
    def inputs(self) -> ModelInputs:
        """What the model wants to be given."""
        return ModelInputs(self.source)

    @property
    def head_settings(self) -> dict[str, Any]:
        """What the head adds to the model's configuration."""
        labels = self.task.labels
        return {
            "num_labels": len(labels),
            "id2label": dict(enumerate(labels)),
            "label2id": {label: number for number, label in enumerate(labels)},
        }

    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model with a new head, drawn from the seed."""
        from isogloss.systems.neural.output_layer import use_float32_logits

        model: nn.Module = self.source.load_model(self.auto_class, seed, **self.head_settings)
        use_float32_logits(model)
        return model

    def check(self, examples: Examples) -> None:
        """Look whether the model knows their languages, where it needs them."""
        self.inputs.language_ids(examples)

    def _tokenised(self, contents: Sequence[Any], settings: Sequence[object], make: Callable[[], Encoded]) -> Encoded:
        check_length(self.source, self.recipe.max_length)
        return super()._tokenised(contents, (self.inputs.segmented, *settings), make)


class LabelledItems(TrainingObjective):
    """Items with one label each; the model scores every possible label."""

    def __init__(self, batch: Callable[[Ints, int, int], Arrays], lengths: Ints, labels: Ints, rows: int = 1) -> None:
        self._batch, self.lengths, self.labels, self.rows = batch, lengths, labels, rows

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """The items with their labels."""
        return {**self._batch(items, width, size), "labels": padded_column(self.labels, items, size, IGNORED)}

    def weight(self, items: Ints) -> float:
        """The number of items."""
        return float(len(items))

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The cross entropy of the labels."""
        return cross_entropy(model(**model_arguments(batch)).logits, batch["labels"])


def cross_entropy(logits: "Tensor", labels: "Tensor") -> "Tensor":
    """Summed over the labels that are not ignored, in float32 whatever the precision of the logits."""
    from torch.nn import functional

    return functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="sum")


def most_likely(model: "nn.Module", lengths: Ints, batch: Callable[[Ints, int, int], Arrays]) -> Ints:
    """The number of the best label of every item."""
    from isogloss.training.inference import outputs

    best = np.zeros(len(lengths), np.int64)
    for items, (found,) in outputs(model, lengths, batch, best_label):
        best[items] = found
    return best


def best_label(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> tuple["Tensor"]:
    """The number of the best label wherever the model gives logits, which are float32."""
    return (model(**batch).logits.argmax(-1),)
