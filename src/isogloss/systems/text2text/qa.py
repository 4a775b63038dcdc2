"""Question answering: a stretch of the passage is written, copied piece by piece."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.gold import answer_places, left_out, where
from isogloss.systems.text2text.adapter import TextAdapter
from isogloss.systems.text2text.vocabulary import Frame, Row, encoded
from isogloss.systems.tokens.subwords import encode, unique
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn

_NOTHING = np.empty(0, np.int32)


class _Window(NamedTuple):
    """A question with as much of its passage as fits.

    Attributes:
        example: its number.
        head: question and the words before the passage, in pieces.
        pieces: of the passage.
        spans: the characters of each of them.
    """

    example: int
    frame: Frame
    head: Row
    pieces: Row
    spans: Array

    @property
    def row(self) -> Row:
        """As it is read."""
        return self.frame.read(np.concatenate([self.head, self.pieces]))

    @property
    def places(self) -> Array:
        """The characters of every piece of the row; -1 for those that are not of the passage."""
        around = (len(self.frame.before) + len(self.head), len(self.frame.after)), (0, 0)
        return np.pad(self.spans, around, constant_values=-1)

    def stretch(self, begin: int, end: int) -> Row:
        """The pieces that some characters of the passage are in; none where they are not all in the window."""
        inside = np.flatnonzero((self.spans[:, 1] > begin) & (self.spans[:, 0] < end))
        if not len(inside) or self.spans[inside[0], 0] > begin or self.spans[inside[-1], 1] < end:
            return _NOTHING
        return self.pieces[inside[0] : inside[-1] + 1]


class Reading(TextAdapter):
    """XQuAD, MLQA and TyDiQA: `question: … context: …` is read, the answer is written.

    Only what stands in the passage may be written, so that every answer is a stretch of it, to the character, and none
    is in another language. Of a passage that does not fit a row, several windows are read; those without the answer
    write nothing, and the likeliest answer is taken.
    """

    def _exercise(self, train: Examples) -> TrainingObjective:
        objective = super()._exercise(train)
        usable = sum(begin >= 0 for begin, _ in answer_places(train))
        objective.notes = left_out(train, usable, "their answer is not in their passage")
        return objective

    def pairs(self, train: Examples) -> Encoded:
        """The first gold answer is written, from the window it lies in; nothing from others."""
        places = answer_places(train)

        def make() -> Encoded:
            rows, starts = [], []
            for window in self._windows(train):
                begin, end = places[window.example]
                if begin >= 0:
                    rows += [window.row, self._answer(window.frame, window.stretch(begin, end))]
                    starts.append(window.frame.start)
            return encoded(rows, start=np.array(starts, np.int64))

        contents = [list(train["question"]), list(train["context"]), places]
        return self.tokenised("pairs", train, contents, make)

    def _answer(self, frame: Frame, answer: Row) -> Row:
        """An answer as it is written: one that is too long is not ended."""
        if len(answer) > self.recipe.answer_length:
            return np.concatenate([frame.opening, answer[: self.recipe.answer_length]])
        return frame.written(answer)

    def answers(self, model: "nn.Module", examples: Examples) -> list[str]:
        """A stretch of the passage of each; empty only where the passage is."""
        from isogloss.training.inference import outputs

        rows = self._asked(examples)
        best = np.full(len(examples), -np.inf)
        answers = [""] * len(examples)
        of = rows.columns["example"]
        openings, closings = self.beginnings(examples)

        def batch(items: Ints, width: int, size: int) -> Arrays:
            asker = np.zeros(size, np.int64)
            asker[: len(items)] = of[items]
            begin, end = (padded(rows.aligned[name], rows.starts, items, width, size, -1) for name in ("begin", "end"))
            asked = masked(rows, items, width, size, self.vocabulary.pad)
            places = {"inside": begin >= 0, "solid": end > begin}
            return {**asked, **places, "given": openings[asker], "closing": closings[asker]}

        for items, (first, last, score) in outputs(model, rows.lengths, batch, self._copied):
            for row, begin, end, value in zip(items, first.tolist(), last.tolist(), score.tolist(), strict=True):
                if end >= begin and value > best[of[row]]:
                    best[of[row]] = value
                    start = rows.starts[row]
                    span = rows.aligned["begin"][start + begin], rows.aligned["end"][start + end]
                    answers[of[row]] = examples["context"][of[row]][span[0] : span[1]].rstrip()
        return answers

    def _copied(self, model: "nn.Module", batch: "Mapping[str, Tensor]") -> "tuple[Tensor, ...]":
        """The first and the last piece of the answer in every row, and its log-probability."""
        from isogloss.systems.text2text.copy_constraint import CopyConstraint
        from isogloss.systems.text2text.decoding import write

        constraint = CopyConstraint(batch["input_ids"], batch["inside"], batch["solid"], batch["closing"])
        write(model, batch, constraint, self.recipe.answer_length)
        return constraint.first, constraint.last, constraint.score

    def _asked(self, examples: Examples) -> Encoded:
        def make() -> Encoded:
            windows = list(self._windows(examples))
            places = np.concatenate([window.places for window in windows] or [np.empty((0, 2), np.int32)])
            return encoded(
                [window.row for window in windows],
                {"begin": places[:, 0], "end": places[:, 1]},
                example=np.array([window.example for window in windows], np.int64),
            )

        return self.tokenised("read", examples, [list(examples["question"]), list(examples["context"])], make)

    def _windows(self, examples: Examples) -> Iterator[_Window]:
        """Every question with every window of its passage; each begins the recipe's stride after the one before.

        A stride that is longer than a window is as long as one, so that nothing is passed over.
        """
        contexts, which = unique(examples["context"])
        passages = encode(self.vocabulary.tokenizer, contexts, spans=True)
        asked, before = self.vocabulary.pieces(["question:", "context:"])
        questions = self.vocabulary.pieces([f"question: {question}" for question in examples["question"]])
        for example, (question, frame) in enumerate(zip(questions, self.frames(examples), strict=True)):
            head = np.concatenate([question[: len(asked) + self.recipe.query_length], before])
            room = self.room(frame) - len(head)
            if room < 1:
                fix = "Set a larger max_length, or a smaller query_length"
                what = f"a question of {len(head)} pieces leaves no room for its passage"
                raise SystemFailureError(what, where=where(examples), fix=fix)
            begin, end = passages.starts[which[example]], passages.starts[which[example] + 1]
            step = min(max(self.recipe.stride, 1), room)
            for start in range(begin, max(begin + 1, end - room + step), step):
                part = slice(start, min(start + room, end))
                yield _Window(example, frame, head, passages.ids[part], passages.spans[part])
