"""Texts as sub-word tokens in flat arrays, the characters that each sub-word covers, and windows over long passages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource, plain_backend
from isogloss.training.objective import Array, Ints

# Code points that Python treats as whitespace; all are below 0x3001.
_BLANKS = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
_TOGETHER = 4096  # texts per tokenizer call, to bound the memory

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Subwords:
    """The sub-words of some texts, without special tokens; those of text i are `ids[starts[i]:starts[i + 1]]`."""

    ids: Int32
    starts: Ints
    # Half-open code points covered by each sub-word, (sub-words, 2), without surrounding whitespace and without overlap
    # with the next; empty for a bare whitespace marker. Without rows if not requested.
    spans: Int32

    @property
    def lengths(self) -> Ints:
        """Sub-words per text."""
        return np.diff(self.starts)


class TextSlices(NamedTuple):
    """One slice of a flat array of token ids per row."""

    ids: Int32
    begins: Ints
    lengths: Ints

    @classmethod
    def of(cls, subwords: Subwords, which: Ints) -> "TextSlices":
        """Select whole texts."""
        return cls(subwords.ids, subwords.starts[which], subwords.lengths[which])

    @classmethod
    def repeated(cls, ids: Sequence[int], rows: int) -> "TextSlices":
        """Repeat the same tokens in every row."""
        return cls(np.array(ids, np.int32), np.zeros(rows, np.int64), np.full(rows, len(ids), np.int64))

    @classmethod
    def stacked(cls, rows: Sequence[Int32]) -> "TextSlices":
        """Stack rows given as separate arrays."""
        lengths = np.array([len(row) for row in rows], np.int64)
        ids = np.concatenate([np.empty(0, np.int32), *rows])
        return cls(ids, np.cumsum(lengths) - lengths, lengths)

    def rows(self, which: Ints) -> "TextSlices":
        """Select rows."""
        return self._replace(begins=self.begins[which], lengths=self.lengths[which])

    def cut(self, longest: Ints | int) -> "TextSlices":
        """Keep at most `longest` tokens from the start of each row."""
        return self._replace(lengths=np.minimum(self.lengths, longest))


def concatenate(parts: Sequence[TextSlices]) -> tuple[Int32, Ints, list[Ints]]:
    """Concatenate one slice of every part per row; return ids, row starts and end, and each part's token indices."""
    starts = row_starts(np.sum([part.lengths for part in parts], axis=0))
    ids = np.empty(starts[-1], np.int32)
    at = starts[:-1].copy()
    positions = []
    for part in parts:
        positions.append(slice_indices(at, part.lengths))
        ids[positions[-1]] = part.ids[slice_indices(part.begins, part.lengths)]
        at += part.lengths
    return ids, starts, positions


def row_starts(lengths: Ints) -> Ints:
    """Return the start of each row in a flat array, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def unique(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the distinct texts in order of appearance, and each text's index in them."""
    numbers: dict[str, int] = {}
    which = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return list(numbers), which


def slice_indices(begins: Ints, lengths: Ints) -> Ints:
    """Return the indices of many slices: begins[0], begins[0] + 1, … (lengths[0] of them), then begins[1] and so on."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def tokenize(tokenizer: Any, texts: Sequence[str], *, spans: bool = False) -> Subwords:
    """Tokenise texts; with `spans`, also return the characters of each sub-word."""
    call = _tokenizer_call(tokenizer, spans)
    ids, lengths, characters = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.empty((0, 2), np.int32)]
    for start in range(0, len(texts), _TOGETHER):
        part = list(texts[start : start + _TOGETHER])
        encodings = call(part)
        ids.append(np.fromiter(chain.from_iterable(numbers for numbers, _ in encodings), np.int32))
        lengths.append(np.fromiter((len(numbers) for numbers, _ in encodings), np.int64, len(encodings)))
        if spans:
            flat = chain.from_iterable(chain.from_iterable(offsets for _, offsets in encodings))
            characters.append(_own_characters(np.fromiter(flat, np.int64).reshape(-1, 2), lengths[-1], part))
    return Subwords(np.concatenate(ids), row_starts(np.concatenate(lengths)), np.concatenate(characters))


def _tokenizer_call(tokenizer: Any, spans: bool) -> Callable[[list[str]], list[tuple[Sequence[int], Sequence[Any]]]]:
    """Return a function that tokenises texts into sub-word ids and offsets."""
    if not tokenizer.is_fast:
        if spans:
            name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
            fix = "Save the model with a tokenizer.json (a fast tokenizer): answer spans need character offsets"
            raise SystemFailureError("the tokenizer does not return character offsets", where=name, fix=fix)
        settings = {"add_special_tokens": False, "verbose": False}
        return lambda texts: [(ids, ()) for ids in tokenizer(texts, **settings)["input_ids"]]
    backend = plain_backend(tokenizer)
    call = backend.encode_batch if spans else backend.encode_batch_fast  # the latter skips offsets
    return lambda texts: [
        (encoding.ids, encoding.offsets if spans else ()) for encoding in call(texts, add_special_tokens=False)
    ]


def locate_spans(owners: Ints, spans: Int32, texts: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the first and last sub-word that overlaps each of some half-open text spans; last is -1 if none does."""
    # `owners` holds the text of each sub-word, in order, and `spans` its characters.
    solid = np.flatnonzero(spans[:, 1] > spans[:, 0])
    # Combine text and character into one number, so that one search serves all texts.
    base, far = owners[solid] << 32, texts << 32
    first = np.searchsorted(base + spans[solid, 1], far + begins, side="right")
    last = np.searchsorted(base + spans[solid, 0], far + ends, side="left") - 1
    overlaps = first <= last
    numbers = np.append(solid, -1)
    return np.where(overlaps, numbers[np.minimum(first, len(solid))], 0), np.where(overlaps, numbers[last], -1)


def character_columns(spans: Int32, positions: Ints, size: int) -> dict[str, Int32]:
    """Return character spans as two flat arrays, `begin` and `end`: each span at its position, -1 elsewhere."""
    columns = {name: np.full(size, -1, np.int32) for name in ("begin", "end")}
    for side, column in enumerate(columns.values()):
        column[positions] = spans[:, side]
    return columns


def _own_characters(offsets: Ints, lengths: Ints, texts: Sequence[str]) -> Int32:
    """Return the characters that belong to each sub-word, from a tokenizer's offsets."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    base = np.repeat(np.cumsum(sizes) - sizes, lengths)
    begins, ends = base + offsets[:, 0], base + offsets[:, 1]
    # A bare whitespace marker often claims the following letter too, which belongs to the next sub-word.
    following = np.append(begins[1:], sizes.sum())
    ends = np.minimum(ends, np.maximum(following, begins))
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    at = np.arange(len(codes))
    solid = ~np.isin(codes, _BLANKS)
    after = np.minimum.accumulate(np.where(solid, at, len(codes))[::-1])[::-1]  # next non-blank position
    before = np.maximum.accumulate(np.where(solid, at, -1))  # previous non-blank position
    some = ends > begins
    begins[some], ends[some] = after[begins[some]], before[ends[some] - 1] + 1
    empty = ends <= begins
    begins[empty] = ends[empty] = base[empty] + offsets[empty, 0]
    return np.stack([begins - base, ends - base], axis=1).astype(np.int32)


@dataclass(frozen=True)
class Windows:
    """Slices of distinct passages, one per row, in order of the examples."""

    passages: Subwords
    passage_of: Ints  # index of each example's passage
    examples: Ints  # example of each window
    slices: TextSlices

    @classmethod
    def of(cls, source: ModelSource, contexts: Sequence[str], room: Ints, taken: Ints, stride: int) -> "Windows":
        """Cover each passage with windows, `stride` sub-words apart, that fit the room not taken by its question."""
        room = room - taken
        if room.min(initial=1) < 1:
            what = f"a question of {taken[room.argmin()]} tokens leaves no room for its passage"
            fix = "Set a larger max_length or a smaller query_length"
            raise SystemFailureError(what, where=source.name, fix=fix)
        distinct, passage_of = unique(contexts)
        passages = tokenize(source.tokenizer, distinct, spans=True)
        examples, begins, lengths = window_bounds(passages.lengths[passage_of], room, stride)
        slices = TextSlices(passages.ids, passages.starts[passage_of][examples] + begins, lengths)
        return cls(passages, passage_of, examples, slices)

    def characters(self, positions: Ints, size: int) -> dict[str, Array]:
        """Return the characters of each sub-word of the windows; see `character_columns`."""
        return character_columns(self.passages.spans[slice_indices(*self.slices[1:])], positions, size)

    def widest(self) -> Array:
        """Return a mask of the sub-words of all windows: True in the window that gives one most context on its shorter
        side, with a hundredth of the window's length added, as in SQuAD's reference; the first of several equal ones.
        """
        begins, lengths = self.slices.begins, self.slices.lengths
        rows = np.repeat(np.arange(len(begins)), lengths)
        at = slice_indices(np.zeros(len(lengths), np.int64), lengths)
        context = np.minimum(at, lengths[rows] - 1 - at) + 0.01 * lengths[rows]
        # A sub-word's place in its passage identifies it among the windows of an example.
        order = np.lexsort((rows, -context, begins[rows] + at, self.examples[rows]))
        places = np.stack([self.examples[rows], begins[rows] + at])[:, order]
        is_first = np.append(True, (places[:, 1:] != places[:, :-1]).any(axis=0))[: len(order)]
        widest = np.zeros(len(rows), np.bool_)
        widest[order[is_first]] = True
        return widest

    def locate(self, answers: Ints, *, covered: bool = False) -> tuple[Ints, Ints, Array]:
        """Return the first and last sub-word of each window's answer, a half-open character span, (examples, 2), and a
        mask of windows that contain the whole answer (with `covered`, all of its characters).
        """
        owners = np.repeat(np.arange(len(self.passages.starts) - 1), self.passages.lengths)
        begins, ends = answers.T
        first, last = locate_spans(owners, self.passages.spans, self.passage_of, begins, ends)
        low, high = (edge[self.examples] - self.slices.begins for edge in (first, last))
        whole = (last >= 0)[self.examples] & (low >= 0) & (high < self.slices.lengths)
        if covered:
            spans = np.append(self.passages.spans, [[0, -1]], axis=0)  # index -1: no sub-word
            whole &= ((spans[first, 0] <= begins) & (spans[last, 1] >= ends))[self.examples]
        return low, high, whole


def window_bounds(lengths: Ints, room: Ints, stride: int) -> tuple[Ints, Ints, Ints]:
    """Return the passage, start and length of every window over passages of the given lengths."""
    step = np.clip(stride, 1, room)  # a longer stride would leave gaps between windows
    counts = 1 + np.maximum(0, -((room - lengths) // step))  # one, plus one per step started beyond the room
    passages = np.repeat(np.arange(len(lengths)), counts)
    begins = slice_indices(np.zeros(len(counts), np.int64), counts) * step[passages]
    return passages, begins, np.minimum(room[passages], lengths[passages] - begins)
