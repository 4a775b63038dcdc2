"""What a model wants around one text or two: its special tokens, and the segment each part is in."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.systems.neural.models import plain_backend
from isogloss.systems.tokens.subwords import Int32, Pieces, spread
from isogloss.training.objective import Ints


class Slices(NamedTuple):
    """A stretch of a flat array for every row."""

    ids: Int32
    begins: Ints
    lengths: Ints

    @classmethod
    def of(cls, pieces: Pieces, which: Ints) -> "Slices":
        """Some texts, whole."""
        return cls(pieces.ids, pieces.starts[which], pieces.lengths[which])


@dataclass(frozen=True)
class Framed:
    """Rows with their special tokens; row i is `ids[starts[i]:starts[i + 1]]`.

    Attributes:
        segments: 0 or 1 for each piece.
        places: for each of the texts, where its pieces are in `ids`.
    """

    ids: Int32
    starts: Ints
    segments: npt.NDArray[np.uint8]
    places: tuple[Ints, ...]


@dataclass(frozen=True)
class Frame:
    """The special tokens before, between and after the texts, as the tokenizer itself puts them.

    Attributes:
        specials: (id, segment) of each special token, in as many groups as there are gaps.
        segments: of the texts.
    """

    specials: tuple[tuple[tuple[int, int], ...], ...]
    segments: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: Any, texts: int) -> "Frame":
        """The frame of one text or of two, learnt by looking at how the tokenizer does it."""
        owners, ids, types = _looked_at(tokenizer, texts)
        groups: list[list[tuple[int, int]]] = [[] for _ in range(texts + 1)]
        for place, (owner, token) in enumerate(zip(owners, zip(ids, types, strict=True), strict=True)):
            if owner < 0:
                groups[max(owners[:place], default=-1) + 1].append(token)
        segments = tuple(types[owners.index(text)] for text in range(texts))
        return cls(tuple(map(tuple, groups)), segments)

    @property
    def size(self) -> int:
        """How many special tokens there are."""
        return sum(map(len, self.specials))

    def around(self, *texts: Slices) -> Framed:
        """Rows of the texts, each in its frame."""
        rows = self.size + np.sum([text.lengths for text in texts], axis=0)
        starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        ids, segments = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint8)
        at = starts[:-1].copy()
        places = []
        for gap, group in enumerate(self.specials):
            for token, segment in group:
                ids[at], segments[at] = token, segment
                at += 1
            if gap < len(texts):
                text = texts[gap]
                places.append(spread(at, text.lengths))
                ids[places[-1]] = text.ids[spread(text.begins, text.lengths)]
                segments[places[-1]] = self.segments[gap]
                at += text.lengths
        return Framed(ids, starts, segments, tuple(places))


def _looked_at(tokenizer: Any, texts: int) -> tuple[list[int], list[int], list[int]]:
    """Short texts in their frame: which text each piece is of (-1 for special tokens), its number and its segment."""
    if tokenizer.is_fast:
        seen = plain_backend(tokenizer).encode(*["a"] * texts)
        return [-1 if owner is None else owner for owner in seen.sequence_ids], seen.ids, seen.type_ids
    marks = [[-1 - text] for text in range(texts)]  # numbers that no piece has
    ids = tokenizer.build_inputs_with_special_tokens(*marks)
    return [max(-1, -1 - number) for number in ids], ids, tokenizer.create_token_type_ids_from_sequences(*marks)


def shortened(first: Slices, second: Slices, room: int) -> tuple[Slices, Slices]:
    """Both cut to fit the room, the longer of them before the shorter."""
    least = np.minimum(first.lengths, second.lengths)
    over = first.lengths + second.lengths > room
    shorter = np.where(over, np.minimum(least, room // 2), least)
    longer = np.where(over, room - shorter, np.maximum(first.lengths, second.lengths))
    swap = first.lengths > second.lengths
    return (
        first._replace(lengths=np.where(swap, longer, shorter)),
        second._replace(lengths=np.where(swap, shorter, longer)),
    )
