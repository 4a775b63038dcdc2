"""Tokenised texts: flat arrays that can be mapped into memory, and their rows as batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.training.objective import Ints

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """Tokenised texts in one flat array; row i is `input_ids[starts[i]:starts[i + 1]]`.

    Attributes:
        input_ids: token ids in the model's vocabulary, including special tokens, int32.
        starts: start of each row, and the end of the last, int64.
        aligned: further arrays with one number per token (segment, tag, character offsets, …).
        columns: arrays with one number per row (label, number of its example, …).
    """

    input_ids: npt.NDArray[np.int32]
    starts: Ints
    aligned: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Array] = field(default_factory=dict)

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
    """Return the tokens of some rows as a (size, width) array, and the number of valid tokens in each row.

    Padding rows count one valid token, because attention over none would be 0 / 0.
    """
    lengths = np.ones(size, np.int64)
    input_ids = padded(encoded.input_ids, encoded.starts, rows, width, size, fill)
    lengths[: len(rows)] = encoded.starts[rows + 1] - encoded.starts[rows]
    return input_ids, lengths


def masked(encoded: Encoded, rows: Ints, width: int, size: int, fill: int) -> dict[str, Array]:
    """Return the same rows as model arguments: `input_ids` and `attention_mask`."""
    input_ids, lengths = table(encoded, rows, width, size, fill)
    mask = np.arange(width) < lengths[:, None]
    return {"input_ids": input_ids.astype(np.int64), "attention_mask": mask.astype(np.int64)}
