"""Passages that are longer than an input, read in windows that overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isogloss.systems.tokens.subwords import (
    Int32,
    Subwords,
    TextSlices,
    character_columns,
    locate_spans,
    slice_indices,
    tokenize,
    unique,
)
from isogloss.training.encoded import Array
from isogloss.training.objective import Ints


class AnswerSpans(NamedTuple):
    """Where the answers are: half-open characters of each passage."""

    begins: Ints
    ends: Ints


@dataclass(frozen=True)
class Windows:
    """Stretches of passages, one a row, in order of the examples.

    Attributes:
        passages: the sub-words of every different passage, with their characters.
        passage_of: which of them each example has.
        examples: the example of each window.
        begins: the first sub-word of each window, counted from the beginning of its passage.
        lengths: sub-words of each window.
    """

    passages: Subwords
    passage_of: Ints
    examples: Ints
    begins: Ints
    lengths: Ints

    @classmethod
    def of(cls, tokenizer: Any, contexts: Sequence[str], room: Ints, stride: int) -> "Windows":
        """Windows over passages, each with room for so many sub-words, until one ends with the passage.

        Each begins `stride` sub-words after the one before, or where that one ends if the stride is longer.
        """
        distinct, passage_of = unique(contexts)
        passages = tokenize(tokenizer, distinct, spans=True)
        return cls(passages, passage_of, *window_bounds(passages.lengths[passage_of], room, stride))

    @property
    def slices(self) -> TextSlices:
        """The sub-words of each window."""
        first = self.passages.starts[self.passage_of][self.examples] + self.begins
        return TextSlices(self.passages.ids, first, self.lengths)

    def characters(self, places: Ints, size: int) -> dict[str, Array]:
        """The characters of each sub-word of the windows; see `character_columns`."""
        return character_columns(self.passages.spans[slice_indices(self.slices.begins, self.lengths)], places, size)

    def locate(self, answers: AnswerSpans) -> tuple[Ints, Ints, Array]:
        """The first and the last sub-word of the answer in each window, and whether the window has all of it."""
        first, last = self._located(answers)
        base = self.passages.starts[self.passage_of]
        low, high = ((place - base)[self.examples] - self.begins for place in (first, last))
        whole = (last >= 0)[self.examples] & (low >= 0) & (high < self.lengths)
        return low, high, whole

    def covers(self, answers: AnswerSpans) -> Array:
        """Whether the sub-words of an answer have all its characters, for each example."""
        first, last = self._located(answers)
        spans: Int32 = np.append(self.passages.spans, [[0, -1]], axis=0)  # -1 stands for no sub-word
        covered: Array = (spans[first, 0] <= answers.begins) & (spans[last, 1] >= answers.ends)
        return covered

    def _located(self, answers: AnswerSpans) -> tuple[Ints, Ints]:
        owners = np.repeat(np.arange(len(self.passages.starts) - 1), self.passages.lengths)
        return locate_spans(owners, self.passages.spans, self.passage_of, answers.begins, answers.ends)


def window_bounds(lengths: Ints, room: Ints, stride: int) -> tuple[Ints, Ints, Ints]:
    """The passage, the begin and the length of every window over passages of some lengths."""
    step = np.clip(stride, 1, room)  # a longer one would pass over what lies between two windows
    counts = 1 + np.maximum(0, -((room - lengths) // step))  # one, and one for every step begun beyond the room
    passages = np.repeat(np.arange(len(lengths)), counts)
    begins = slice_indices(np.zeros(len(counts), np.int64), counts) * step[passages]
    return passages, begins, np.minimum(room[passages], lengths[passages] - begins)
