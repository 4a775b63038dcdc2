"""Training objectives: items, batches of items, and the loss of a batch."""

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
    """Training items of one task for one model family.

    Attributes:
        lengths: tokens per item (of its longest row, if it has several); batches group items of similar length.
        rows: rows of tokens per item: 1, or the number of choices.
        splittable: True if a batch's loss is the sum of its items' losses, so that a pass may take part of a batch.
            False if items are each other's negatives: every process then gets its share of the batch in one piece,
            and the objective gathers the rest.
        notes: training examples left out, and why.
    """

    lengths: Ints
    rows: int = 1
    splittable: bool = True
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.lengths)

    @abstractmethod
    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return some items as arrays of a fixed shape: `size` items of `width` tokens.

        Shapes depend only on `width` and `size`, so that a step captured once serves every batch of that shape. Missing
        items are padding that adds nothing to the loss.
        """

    @abstractmethod
    def weight(self, items: Ints) -> float:
        """Return the number of labels in these items; losses are divided by its average."""

    @abstractmethod
    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the summed loss of a batch in float32; must not read values, as it may run inside a CUDA graph."""

    def backward(self, model: "nn.Module", batch: Mapping[str, "Tensor"], scale: "Tensor") -> "Tensor":
        """Add the gradients of the loss times `scale`, and return the scaled loss."""
        loss = self.loss(model, batch) * scale
        loss.backward()
        return loss.detach()
