"""Tokenised texts: flat arrays that are written once and mapped into memory, and rows of them as batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.training.objective import Ints

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """Tokenised texts, one after the other; row i is `input_ids[starts[i]:starts[i + 1]]`.

    Attributes:
        input_ids: tokens as ids in the model's vocabulary, special ones included, int32.
        starts: where each row begins, with the end of the last, int64.
        aligned: further numbers for every token (segment, tag, character offsets, …), each an array like `input_ids`.
        columns: numbers for every row (label, example it is part of, …).
    """

    input_ids: npt.NDArray[np.int32]
    starts: Ints
    aligned: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """Tokens of each row."""
        return np.diff(self.starts)


def padded(flat: Array, starts: Ints, rows: Ints, width: int, size: int, fill: float) -> Array:
    """Some rows of a flat array as a (size, width) array; what no row reaches is `fill`."""
    lengths = starts[rows + 1] - starts[rows]
    if len(rows) > size or lengths.max(initial=0) > width:
        raise ValueError(f"{len(rows)} rows of up to {lengths.max(initial=0)} do not fit {size} of {width}")
    filled = np.full((size, width), fill, dtype=flat.dtype)
    places = np.arange(width)
    inside = places < lengths[:, None]
    filled[: len(rows)][inside] = flat[(starts[rows][:, None] + places)[inside]]
    return filled


def padded_column(column: Array, items: Ints, size: int, fill: int) -> Array:
    """The values of some items in the first places of an int64 array of `size`; the others are `fill`."""
    filled = np.full((size, *column.shape[1:]), fill, np.int64)
    filled[: len(items)] = column[items]
    return filled


def table(encoded: Encoded, rows: Ints, width: int, size: int, fill: int) -> tuple[Array, Ints]:
    """The tokens of some rows as a (size, width) array, and how many count in each.

    Of a row of padding the first token counts, or its attention would be 0 / 0.
    """
    lengths = np.ones(size, np.int64)
    input_ids = padded(encoded.input_ids, encoded.starts, rows, width, size, fill)
    lengths[: len(rows)] = encoded.starts[rows + 1] - encoded.starts[rows]
    return input_ids, lengths


def masked(encoded: Encoded, rows: Ints, width: int, size: int, fill: int) -> dict[str, Array]:
    """The same as arguments of a model: `input_ids` and `attention_mask`."""
    input_ids, lengths = table(encoded, rows, width, size, fill)
    mask = np.arange(width) < lengths[:, None]
    return {"input_ids": input_ids.astype(np.int64), "attention_mask": mask.astype(np.int64)}
