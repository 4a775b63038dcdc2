"""Texts as pieces: flat arrays that are written once and mapped into memory, and rows of them as batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.training.objective import Ints

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """Rows of pieces; row i is `pieces[starts[i]:starts[i + 1]]`.

    Attributes:
        pieces: ids in the model's vocabulary, special tokens included, int32.
        starts: where each row begins, with the end of the last, int64.
        aligned: further numbers for every piece (segment, tag, character offsets, …), each an array like `pieces`.
        columns: numbers for every row (label, example it is part of, …).
    """

    pieces: npt.NDArray[np.int32]
    starts: Ints
    aligned: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """Pieces of each row."""
        return np.diff(self.starts)


def padded(flat: Array, starts: Ints, rows: Ints, width: int, size: int, fill: float) -> Array:
    """Some rows of a flat array as a (size, width) array; what no row reaches is `fill`.

    Raises:
        ValueError: a row is longer than `width`, or there are more rows than `size`.
    """
    lengths = starts[rows + 1] - starts[rows]
    if len(rows) > size or lengths.max(initial=0) > width:
        raise ValueError(f"{len(rows)} rows of up to {lengths.max(initial=0)} do not fit {size} of {width}")
    filled = np.full((size, width), fill, dtype=flat.dtype)
    places = np.arange(width)
    inside = places < lengths[:, None]
    filled[: len(rows)][inside] = flat[(starts[rows][:, None] + places)[inside]]
    return filled


def table(of: Encoded, rows: Ints, width: int, size: int, fill: int) -> tuple[Array, Ints]:
    """The pieces of some rows as a (size, width) array, and how many count in each.

    Of a row of padding the first piece counts, lest its attention be 0 / 0.

    Raises:
        ValueError: a row is longer than `width`, or there are more rows than `size`.
    """
    lengths = np.ones(size, np.int64)
    pieces = padded(of.pieces, of.starts, rows, width, size, fill)
    lengths[: len(rows)] = of.starts[rows + 1] - of.starts[rows]
    return pieces, lengths


def masked(of: Encoded, rows: Ints, width: int, size: int, fill: int) -> dict[str, Array]:
    """The same as arguments of a model: `input_ids` and `attention_mask`."""
    pieces, lengths = table(of, rows, width, size, fill)
    mask = np.arange(width) < lengths[:, None]
    return {"input_ids": pieces.astype(np.int64), "attention_mask": mask.astype(np.int64)}
