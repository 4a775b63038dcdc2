"""Tagging: words are numbered where they are read, and every number is written with a tag after it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isogloss.systems.neural.gold import tag_numbers
from isogloss.systems.text2text.adapter import TextAdapter
from isogloss.systems.text2text.tag_format import TagFormat
from isogloss.systems.text2text.vocabulary import Frame, Row, encoded
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, masked
from isogloss.training.objective import Arrays, Ints

if TYPE_CHECKING:
    from torch import Tensor, nn


class _Part(NamedTuple):
    """Some of the words of a sentence, as many as fit a row."""

    sentence: int
    begin: int
    end: int


class Tagging(TextAdapter):
    """UD-POS and WikiANN; a sentence that does not fit a row is split into several, whose tags are joined again."""

    @cached_property
    def format(self) -> TagFormat:
        """How tags are written."""
        return TagFormat(self.vocabulary, self.task.labels)

    def pairs(self, train: Examples) -> Encoded:
        """Numbered words are read, numbered tags are written."""
        bounds = np.cumsum([len(words) for words in train["tokens"]])
        tags = [part.tolist() for part in np.split(tag_numbers(self.task, train), bounds[:-1])]

        def make() -> Encoded:
            rows, starts = [], []
            frames = self.frames(train)
            for part, source in self._parts(train):
                frame = frames[part.sentence]
                rows += [source, frame.written(self.format.write(tags[part.sentence][part.begin : part.end]))]
                starts.append(frame.start)
            return encoded(rows, start=np.array(starts, np.int64))

        return self.tokenised("pairs", train, [list(map(list, train["tokens"])), tags], make)

    def answers(self, model: "nn.Module", examples: Examples) -> list[list[str]]:
        """One tag a token."""
        from isogloss.training.inference import outputs

        rows = self._asked(examples)
        answers = [[""] * len(tokens) for tokens in examples["tokens"]]
        sentences, begins, words = (rows.columns[name] for name in ("sentence", "begin", "words"))
        openings, closings = self.beginnings(examples)

        def batch(items: Ints, width: int, size: int) -> Arrays:
            of = np.zeros(size, np.int64)
            of[: len(items)] = sentences[items]
            counts = np.ones(size, np.int64)
            counts[: len(items)] = words[items]
            asked = masked(rows, items, width, size, self.vocabulary.pad)
            return {**asked, "given": openings[of], "closing": closings[of], "words": counts}

        for items, (written,) in outputs(model, rows.lengths, batch, self._written()):
            for row, pieces in zip(items.tolist(), written.tolist(), strict=True):
                tags = self.format.parse(pieces, int(words[row]))
                begin = int(begins[row])
                answers[int(sentences[row])][begin : begin + len(tags)] = [self.format.tags[tag] for tag in tags]
        return answers

    def _written(self) -> "Callable[[nn.Module, Mapping[str, Tensor]], tuple[Tensor]]":
        from isogloss.systems.text2text.decoding import write
        from isogloss.systems.text2text.tag_constraint import TagConstraint

        def forward(model: "nn.Module", batch: "Mapping[str, Tensor]") -> "tuple[Tensor]":
            constraint = TagConstraint(self.format, batch["words"], batch["closing"], self.vocabulary.pad)
            longest = int(batch["words"].max()) * self.format.longest + 1
            return (write(model, batch, constraint, longest),)

        return forward

    def _asked(self, examples: Examples) -> Encoded:
        def make() -> Encoded:
            parts = list(self._parts(examples))
            where_from = np.array([part for part, _ in parts], np.int64).reshape(-1, 3)
            sentence, begin, end = where_from.T
            return encoded([row for _, row in parts], sentence=sentence, begin=begin, words=end - begin)

        return self.tokenised("read", examples, [list(map(list, examples["tokens"]))], make)

    def _parts(self, examples: Examples) -> Iterator[tuple[_Part, Row]]:
        """Rows of numbered words, each as many words of a sentence as fit; a word too long for a row is cut."""
        pieces = iter(self.vocabulary.pieces([token for tokens in examples["tokens"] for token in tokens]))
        for sentence, (tokens, frame) in enumerate(zip(examples["tokens"], self.frames(examples), strict=True)):
            room, most = self.room(frame), self._most(frame) or len(tokens)
            words = [next(pieces)[: room - 1] for _ in tokens]
            begin = taken = 0
            for end, word in enumerate(words):
                if taken + 1 + len(word) > room or end - begin == most:
                    yield _Part(sentence, begin, end), frame.read(self.format.numbered(words[begin:end]))
                    begin, taken = end, 0
                taken += 1 + len(word)
            if words:
                yield _Part(sentence, begin, len(words)), frame.read(self.format.numbered(words[begin:]))

    def _most(self, frame: Frame) -> int:
        """Words whose tags fit the positions a model has, whatever they are; 0 where there is no end to them."""
        free = self.vocabulary.positions - len(frame.opening) - len(frame.closing)
        return max(1, free // self.format.longest) if self.vocabulary.positions else 0
