"""The special tokens that a model wants around one text or two, and the segment each part is in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.systems.pretrained import plain_backend
from isogloss.systems.tokens.subwords import Int32, TextSlices, concatenate
from isogloss.training.objective import Ints


@dataclass(frozen=True)
class TokenRows:
    """Rows of tokens, special ones included; row i is `ids[starts[i]:starts[i + 1]]`.

    Attributes:
        segments: 0 or 1 for each token.
        places: for each of the texts, where its sub-words are in `ids`.
    """

    ids: Int32
    starts: Ints
    segments: npt.NDArray[np.uint8]
    places: tuple[Ints, ...]


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens before, between and after the texts, as the tokenizer itself puts them.

    Attributes:
        groups: (id, segment) of each special token, in as many groups as there are gaps.
        segments: of the texts.
    """

    groups: tuple[tuple[tuple[int, int], ...], ...]
    segments: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: Any, texts: int) -> "SpecialTokens":
        """Those of one text or of two, found by looking at how the tokenizer does it."""
        owners, ids, types = _example_row(tokenizer, texts)
        groups: list[list[tuple[int, int]]] = [[] for _ in range(texts + 1)]
        for place, (owner, token) in enumerate(zip(owners, zip(ids, types, strict=True), strict=True)):
            if owner < 0:
                groups[max(owners[:place], default=-1) + 1].append(token)
        segments = tuple(types[owners.index(text)] for text in range(texts))
        return cls(tuple(map(tuple, groups)), segments)

    @property
    def count(self) -> int:
        """How many special tokens there are."""
        return sum(map(len, self.groups))

    def add_to(self, *texts: TextSlices) -> TokenRows:
        """Rows of the texts with their special tokens."""
        parts = [TextSlices.repeated([token for token, _ in group], len(texts[0].lengths)) for group in self.groups]
        ids, starts, places = concatenate(
            [parts[0], *(part for pair in zip(texts, parts[1:], strict=True) for part in pair)]
        )
        segments = np.empty(len(ids), np.uint8)
        for group, here in zip(self.groups, places[0::2], strict=True):
            segments[here] = np.tile([segment for _, segment in group], len(texts[0].lengths))
        for segment, here in zip(self.segments, places[1::2], strict=True):
            segments[here] = segment
        return TokenRows(ids, starts, segments, tuple(places[1::2]))


def _example_row(tokenizer: Any, texts: int) -> tuple[list[int], list[int], list[int]]:
    """Short texts with special tokens: the text of each token (-1 for special ones), its id and its segment."""
    if tokenizer.is_fast:
        seen = plain_backend(tokenizer).encode(*["a"] * texts)
        return [-1 if owner is None else owner for owner in seen.sequence_ids], seen.ids, seen.type_ids
    marks = [[-1 - text] for text in range(texts)]  # numbers that no sub-word has
    ids = tokenizer.build_inputs_with_special_tokens(*marks)
    return [max(-1, -1 - number) for number in ids], ids, tokenizer.create_token_type_ids_from_sequences(*marks)


def cut_longest_first(first: TextSlices, second: TextSlices, room: int) -> tuple[TextSlices, TextSlices]:
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
