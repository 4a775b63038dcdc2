"""Training objectives: items, batches of items and the loss of a batch; tokenised texts as flat arrays."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor, nn

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]


class TrainingObjective(ABC):
    """Training items of one task for one model family."""

    lengths: Ints  # tokens per item (of its longest row, if it has several); batches group items of similar length
    rows: int = 1  # rows of tokens per item: 1, or the number of choices
    # True if a batch's loss is the sum of its items' losses, so that a pass may take part of it. False if items are
    # each other's negatives: every process then gets its share in one piece, and the objective gathers the rest.
    splittable: bool = True
    notes: Sequence[str] = ()  # training examples left out, and why

    def __len__(self) -> int:
        return len(self.lengths)

    @abstractmethod
    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return some items as arrays of a fixed shape, `size` items of `width` tokens, with padding for missing items.

        Shapes depend only on `width` and `size`, so that a step captured once serves every batch of that shape.
        """

    def weight(self, items: Ints) -> float:
        """Return the number of labels in these items, by default one each; losses are divided by its average."""
        return float(len(items))

    @abstractmethod
    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the summed loss of a batch in float32; must not read values, as it may run inside a CUDA graph."""

    def backward(self, model: "nn.Module", batch: Mapping[str, "Tensor"], scale: "Tensor") -> "Tensor":
        """Add the gradients of the loss times `scale`, and return the scaled loss."""
        loss = self.loss(model, batch) * scale
        loss.backward()
        return loss.detach()


@dataclass(frozen=True)
class Encoded:
    """Tokenised texts in one flat array; row i is `input_ids[starts[i]:starts[i + 1]]`."""

    input_ids: npt.NDArray[np.int32]  # token ids in the model's vocabulary, including special tokens
    starts: Ints  # start of each row, and the end of the last
    aligned: Mapping[str, Array] = field(default_factory=dict)  # one number per token (segment, tag, characters, …)
    columns: Mapping[str, Array] = field(default_factory=dict)  # one number per row (label, number of its example, …)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """Tokens per row."""
        return np.diff(self.starts)


def padded(flat: Array, starts: Ints, rows: Ints, width: int, size: int, fill: float) -> Array:
    """Return some rows of a flat array as a (size, width) array padded with `fill`."""
    lengths = starts[rows + 1] - starts[rows]
    if len(rows) > size or lengths.max(initial=0) > width:
        raise ValueError(f"{len(rows)} rows of up to {lengths.max(initial=0)} do not fit {size} of {width}")
    filled = np.full((size, width), fill, dtype=flat.dtype)
    positions = np.arange(width)
    inside = positions < lengths[:, None]
    filled[: len(rows)][inside] = flat[(starts[rows][:, None] + positions)[inside]]
    return filled


def padded_column(column: Array, items: Ints, size: int, fill: int) -> Array:
    """Return the values of some items as an int64 array of length `size`, padded with `fill`."""
    filled = np.full((size, *column.shape[1:]), fill, np.int64)
    filled[: len(items)] = column[items]
    return filled


def table(encoded: Encoded, rows: Ints, width: int, size: int, fill: int) -> tuple[Array, Ints]:
    """Return the tokens of some rows as a (size, width) array, and the number of valid tokens in each row."""
    lengths = np.ones(size, np.int64)  # padding rows have one, because attention over none would be 0 / 0
    input_ids = padded(encoded.input_ids, encoded.starts, rows, width, size, fill)
    lengths[: len(rows)] = encoded.starts[rows + 1] - encoded.starts[rows]
    return input_ids, lengths


def masked(encoded: Encoded, rows: Ints, width: int, size: int, fill: int) -> dict[str, Array]:
    """Return the same rows as model arguments: `input_ids` and `attention_mask`."""
    input_ids, lengths = table(encoded, rows, width, size, fill)
    mask = np.arange(width) < lengths[:, None]
    return {"input_ids": input_ids.astype(np.int64), "attention_mask": mask.astype(np.int64)}
