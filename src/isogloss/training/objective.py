"""The training objective: items, how some of them become a batch, and the loss of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor, nn

Ints = npt.NDArray[np.int64]
Arrays = Mapping[str, npt.NDArray[Any]]


class TrainingObjective(ABC):
    """Training items of one task for one family of models.

    Attributes:
        lengths: the tokens of each item (of its longest row, where it has several); batches are made of items of
            similar length.
        rows: rows of tokens per item: 1, or the number of choices.
        splittable: whether the loss of a batch is the sum of its items' losses, so that a pass may take a part of it.
            Where items are each other's negatives it is not: every process gets its share of the batch in one piece,
            and the objective itself gathers what the others have.
        notes: what of the training set is not in it, and why.
    """

    lengths: Ints
    rows: int = 1
    splittable: bool = True
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.lengths)

    @abstractmethod
    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Some items as arrays of a fixed shape: `size` items of `width` tokens.

        Shapes depend on `width` and `size` alone, so that a step captured once serves every batch of that shape.
        Where there are fewer than `size` items, the rest is padding that adds nothing to the loss.
        """

    @abstractmethod
    def weight(self, items: Ints) -> float:
        """The labels of these items; a summed loss is divided by how many there are on average."""

    @abstractmethod
    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The summed loss of a batch, in float32; it must not look at a value, for it may run inside a CUDA graph."""

    def backward(self, model: "nn.Module", batch: Mapping[str, "Tensor"], scale: "Tensor") -> "Tensor":
        """Add the gradients of the loss times `scale`; gives that scaled loss."""
        loss = self.loss(model, batch) * scale
        loss.backward()
        return loss.detach()
