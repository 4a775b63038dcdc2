"""Texts as sub-word tokens, many at once: flat arrays, with the characters that each sub-word stands for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import plain_backend
from isogloss.training.objective import Ints

_TOGETHER = 4096  # texts in one call of the tokenizer: bounds the memory

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Subwords:
    """The sub-words of some texts, without special tokens; those of text i are `ids[starts[i]:starts[i + 1]]`.

    Attributes:
        ids: in the model's vocabulary.
        starts: where each text begins, with the end of the last.
        spans: (sub-words, 2), half-open code points of its text that a sub-word stands for: no whitespace at the
            ends, and none that the next one begins with; empty for one that is only the mark of a blank. Without rows
            where they were not wanted.
    """

    ids: Int32
    starts: Ints
    spans: Int32

    @property
    def lengths(self) -> Ints:
        """Sub-words of each text."""
        return np.diff(self.starts)


class TextSlices(NamedTuple):
    """A stretch of a flat array of token ids for every row."""

    ids: Int32
    begins: Ints
    lengths: Ints

    @classmethod
    def of(cls, subwords: Subwords, which: Ints) -> "TextSlices":
        """Some texts, whole."""
        return cls(subwords.ids, subwords.starts[which], subwords.lengths[which])

    @classmethod
    def repeated(cls, ids: Sequence[int], rows: int) -> "TextSlices":
        """The same tokens in every row."""
        return cls(np.array(ids, np.int32), np.zeros(rows, np.int64), np.full(rows, len(ids), np.int64))

    @classmethod
    def stacked(cls, rows: Sequence[Int32]) -> "TextSlices":
        """Rows that are arrays of their own."""
        lengths = np.array([len(row) for row in rows], np.int64)
        ids = np.concatenate([np.empty(0, np.int32), *rows])
        return cls(ids, np.cumsum(lengths) - lengths, lengths)

    def rows(self, which: Ints) -> "TextSlices":
        """Some of the rows."""
        return self._replace(begins=self.begins[which], lengths=self.lengths[which])

    def cut(self, longest: Ints | int) -> "TextSlices":
        """The beginnings, with so many tokens at most."""
        return self._replace(lengths=np.minimum(self.lengths, longest))


def concatenate(parts: Sequence[TextSlices]) -> tuple[Int32, Ints, list[Ints]]:
    """Rows made of one slice of every part, one after the other.

    Returns:
        The token ids, row after row; where each row begins, with the end of the last; and for each part where its
        tokens are among the ids.
    """
    starts = row_starts(np.sum([part.lengths for part in parts], axis=0))
    ids = np.empty(starts[-1], np.int32)
    at = starts[:-1].copy()
    places = []
    for part in parts:
        places.append(slice_indices(at, part.lengths))
        ids[places[-1]] = part.ids[slice_indices(part.begins, part.lengths)]
        at += part.lengths
    return ids, starts, places


def row_starts(lengths: Ints) -> Ints:
    """Where rows of some lengths begin in a flat array, with the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def unique(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """The different texts in order of appearance, and which of them each text is."""
    numbers: dict[str, int] = {}
    which = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return list(numbers), which


def slice_indices(begins: Ints, lengths: Ints) -> Ints:
    """begins[0], begins[0] + 1, … lengths[0] of them, then the same from begins[1]: the indices of many slices."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def tokenize(tokenizer: Any, texts: Sequence[str], *, spans: bool = False) -> Subwords:
    """The sub-words of texts; with `spans` the characters of each as well."""
    call = _tokenizer_call(tokenizer, spans)
    ids, lengths, places = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.empty((0, 2), np.int32)]
    for start in range(0, len(texts), _TOGETHER):
        part = list(texts[start : start + _TOGETHER])
        found = call(part)
        ids.append(np.fromiter(chain.from_iterable(numbers for numbers, _ in found), np.int32))
        lengths.append(np.fromiter((len(numbers) for numbers, _ in found), np.int64, len(found)))
        if spans:
            flat = chain.from_iterable(chain.from_iterable(offsets for _, offsets in found))
            places.append(_own_characters(np.fromiter(flat, np.int64).reshape(-1, 2), lengths[-1], part))
    return Subwords(np.concatenate(ids), row_starts(np.concatenate(lengths)), np.concatenate(places))


def _tokenizer_call(tokenizer: Any, spans: bool) -> Callable[[list[str]], list[tuple[Sequence[int], Sequence[Any]]]]:
    """What gives the sub-word ids of each of some texts, and their offsets."""
    if not tokenizer.is_fast:
        if spans:
            name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
            fix = "Answers inside a text need them: save it with a tokenizer.json, as transformers' fast tokenizers do"
            raise SystemFailureError("its tokenizer gives no character offsets", where=name, fix=fix)
        return lambda texts: [
            (ids, ()) for ids in tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        ]
    backend = plain_backend(tokenizer)
    call = backend.encode_batch if spans else backend.encode_batch_fast  # the second leaves offsets out
    return lambda texts: [(one.ids, one.offsets if spans else ()) for one in call(texts, add_special_tokens=False)]


def locate_spans(owners: Ints, spans: Int32, texts: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The first and the last sub-word that has characters of each of some stretches of texts.

    Args:
        owners: the text of each sub-word, in order.
        spans: the characters of each sub-word, (sub-words, 2).
        texts: the text of each stretch.
        begins: its first character.
        ends: one past its last.

    Returns:
        Numbers of sub-words; where none has a character of a stretch, the last (-1) is before the first.
    """
    solid = np.flatnonzero(spans[:, 1] > spans[:, 0])
    # One number for a text and a place in it, so that one search serves all texts.
    base, far = owners[solid] << 32, texts << 32
    first = np.searchsorted(base + spans[solid, 1], far + begins, side="right")
    last = np.searchsorted(base + spans[solid, 0], far + ends, side="left") - 1
    found = first <= last
    places = np.append(solid, -1)
    return np.where(found, places[np.minimum(first, len(solid))], 0), np.where(found, places[last], -1)


def character_columns(spans: Int32, places: Ints, size: int) -> dict[str, Int32]:
    """Spans of characters as two flat arrays, `begin` and `end`: each span at its place, -1 elsewhere."""
    columns = {name: np.full(size, -1, np.int32) for name in ("begin", "end")}
    for side, column in enumerate(columns.values()):
        column[places] = spans[:, side]
    return columns


def _own_characters(offsets: Ints, lengths: Ints, texts: Sequence[str]) -> Int32:
    """The characters of each sub-word that are its own, from the offsets that a tokenizer gives."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    base = np.repeat(np.cumsum(sizes) - sizes, lengths)
    begins, ends = base + offsets[:, 0], base + offsets[:, 1]
    # A mark of a blank by itself is often said to stand for the letter after it, which the next one has as well.
    following = np.append(begins[1:], sizes.sum())
    ends = np.minimum(ends, np.maximum(following, begins))
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    at = np.arange(len(codes))
    solid = ~np.isin(codes, _blanks())
    after = np.minimum.accumulate(np.where(solid, at, len(codes))[::-1])[::-1]  # the first solid one from here on
    before = np.maximum.accumulate(np.where(solid, at, -1))  # the last one up to here
    some = ends > begins
    begins[some], ends[some] = after[begins[some]], before[ends[some] - 1] + 1
    empty = ends <= begins
    begins[empty] = ends[empty] = base[empty] + offsets[empty, 0]
    return np.stack([begins - base, ends - base], axis=1).astype(np.int32)


@cache
def _blanks() -> npt.NDArray[np.uint32]:
    """The code points that Python calls whitespace, all of them in the first few thousand."""
    return np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
