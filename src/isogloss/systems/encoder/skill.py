"""What the skills of an encoder have in common: a head on top, rows of pieces below, tokenised once."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.inputs import ARGUMENTS, Inputs
from isogloss.systems.neural.skill import Skill
from isogloss.tasks.examples import Examples
from isogloss.training.cache import cached
from isogloss.training.encoded import Encoded
from isogloss.training.exercise import Arrays, Exercise, Ints
from isogloss.version import __version__

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["IGNORED", "EncoderSkill", "LabelledItems", "arguments", "cross_entropy", "most_likely", "where"]

IGNORED = -100  # the label of what has none


def arguments(batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
    """The part of a batch that is for the model."""
    return {name: batch[name] for name in ARGUMENTS if name in batch}


class EncoderSkill(Skill):
    """A task under one of transformers' heads.

    Attributes:
        auto: transformers' class of the head.
    """

    auto: ClassVar[str]

    @cached_property
    def inputs(self) -> Inputs:
        """What the model wants to be given."""
        return Inputs(self.source)

    @property
    def settings(self) -> dict[str, Any]:
        """What the head adds to the model's configuration."""
        labels = self.task.labels
        return {
            "num_labels": len(labels),
            "id2label": dict(enumerate(labels)),
            "label2id": {label: number for number, label in enumerate(labels)},
        }

    def open(self, seed: int) -> "nn.Module":
        """The pretrained model with a new head, drawn from the seed."""
        model: nn.Module = self.source.open(self.auto, seed, **self.settings)
        return model

    def exercise(self, train: Examples) -> Exercise:
        """Training examples as an exercise.

        Raises:
            SystemFailureError: there are none, they have no answers, or an answer is not one of the task's.
        """
        if not len(train) or not train.has_gold:
            what = f"the training set {'has no answers' if len(train) else 'is empty'}"
            raise SystemFailureError(what, where=where(train), fix="Give a training split that has gold")
        return self._exercise(train)

    @abstractmethod
    def _exercise(self, train: Examples) -> Exercise: ...

    def _codes(self, labels: Iterable[str], examples: Examples) -> Ints:
        """The number of each label."""
        numbers = {label: number for number, label in enumerate(self.task.labels)}
        try:
            return np.fromiter(map(numbers.__getitem__, labels), np.int64)
        except KeyError as error:
            fix = f"{self.task.id} has {', '.join(self.task.labels)}"
            what = f"label {error.args[0]!r} is not one of the task's"
            raise SystemFailureError(what, where=where(examples), fix=fix) from None

    def _tokenised(self, contents: Sequence[Any], lengths: Mapping[str, int], make: Callable[[], Encoded]) -> Encoded:
        """What `make` gives for columns of examples under some lengths, from disk where it was made before."""
        text = hashlib.blake2b(msgspec.json.encode(contents), digest_size=16).hexdigest()
        named = (f"{name} {value}" for name, value in sorted(lengths.items()))
        model = f"{self.inputs.identity} {self.inputs.segmented}"
        return cached(["encoder", type(self).__name__, __version__, model, text, *named], make)


class LabelledItems(Exercise):
    """Items with one label each, which the model gives a number for every possible label of.

    Args:
        batch: some items as arguments of the model.
        lengths: of the items.
        labels: of the items.
        rows: rows of pieces an item has.
    """

    def __init__(self, batch: Callable[[Ints, int, int], Arrays], lengths: Ints, labels: Ints, rows: int = 1) -> None:
        self._batch, self.lengths, self.labels, self.rows = batch, lengths, labels, rows

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """The items with their labels."""
        labels = np.full(size, IGNORED, np.int64)
        labels[: len(items)] = self.labels[items]
        return {**self._batch(items, width, size), "labels": labels}

    def weight(self, items: Ints) -> float:
        """The number of items."""
        return float(len(items))

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The cross entropy of the labels."""
        return cross_entropy(model(**arguments(batch)).logits, batch["labels"])


def cross_entropy(logits: "Tensor", labels: "Tensor") -> "Tensor":
    """Summed over the labels that are not ignored, in float32 whatever the precision of the logits."""
    from torch.nn import functional

    return functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="sum")


def most_likely(model: "nn.Module", lengths: Ints, batch: Callable[[Ints, int, int], Arrays]) -> Ints:
    """The number of the best label of every item."""
    from isogloss.training.inference import outputs

    def forward(model: "nn.Module", given: Mapping[str, "Tensor"]) -> tuple["Tensor"]:
        return (model(**given).logits.argmax(-1),)

    best = np.zeros(len(lengths), np.int64)
    for items, (found,) in outputs(model, lengths, batch, forward):
        best[items] = found
    return best


def where(examples: Examples) -> str:
    """What examples are called in messages."""
    return f"{examples.task}/{examples.language} {examples.split}"
