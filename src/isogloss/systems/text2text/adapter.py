"""What all tasks have in common when they are put to a model as text to be rewritten."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.task_adapter import IGNORED, TaskAdapter
from isogloss.systems.text2text.vocabulary import Frame, Row, Vocabulary, encoded, joined
from isogloss.systems.tokens.inputs import check_length, language_codes
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn

_GRANULE = 4  # written texts are padded to a multiple of this


class TextAdapter(TaskAdapter):
    """A task as text to be rewritten: what is read, what is written, and how that is an answer."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """How the model writes texts."""
        return Vocabulary(self.source)

    def open(self, seed: int) -> "nn.Module":
        """The pretrained model, which needs no head."""
        model: nn.Module = self.source.open("AutoModelForSeq2SeqLM", seed)
        return model

    def _exercise(self, train: Examples) -> TrainingObjective:
        return Rewriting(self.pairs(train), self.vocabulary.pad)

    def check(self, examples: Examples) -> None:
        """Languages that the model must be told."""
        self.frames(examples)

    @abstractmethod
    def pairs(self, train: Examples) -> Encoded:
        """What is read and what is written, in turn; the column `start` has the decoder's first piece of each pair."""

    def frames(self, examples: Examples) -> list[Frame]:
        """The frame of every example, which for some models names the language."""
        return [self.vocabulary.frame(code) for code in language_codes(examples)]

    def beginnings(self, examples: Examples) -> tuple[Ints, Ints]:
        """What a decoder is given before it writes, (examples, pieces), and the piece that ends what it writes."""
        frames = self.frames(examples)
        given = [[frame.start, *frame.opening.tolist()] for frame in frames]
        openings = np.array(given, np.int64) if given else np.empty((0, 1), np.int64)
        return openings, np.array([frame.closing[0] for frame in frames], np.int64)

    def sources(self, examples: Examples, fields: Sequence[Sequence[str]]) -> list[Row]:
        """Rows to be read: the fields of every example one after the other, cut to what fits."""
        texts = [text for row in fields for text in row]
        pieces = iter(self.vocabulary.pieces(texts))
        return [
            frame.read(joined([next(pieces) for _ in row], self.room(frame)))
            for frame, row in zip(self.frames(examples), fields, strict=True)
        ]

    def room(self, frame: Frame) -> int:
        """Pieces of text that fit a row.

        Raises:
            SystemFailureError: none fits.
        """
        longest = self.recipe.max_length
        if longest <= frame.size:
            what = f"max_length is {longest}, and special tokens alone take {frame.size}"
            raise SystemFailureError(what, where=self.source.name, fix="Set a larger max_length")
        return longest - frame.size

    def written(self, frame: Frame, text: Row) -> Row:
        """A text as a model writes it; one that is too long for a row is cut, as those that are read are."""
        room = self.recipe.max_length - len(frame.opening) - len(frame.closing)
        return frame.written(text[: max(room, 1)])

    def paired(self, examples: Examples, read: Sequence[Row], written: Sequence[Row]) -> Encoded:
        """Rows that are read and texts that are written, one a row, in turn."""
        frames = self.frames(examples)
        rows = [
            row
            for source, target, frame in zip(read, written, frames, strict=True)
            for row in (source, self.written(frame, target))
        ]
        return encoded(rows, start=np.array([frame.start for frame in frames], np.int64))

    def tokenised(self, what: str, examples: Examples, contents: Sequence[Any], make: Callable[[], Encoded]) -> Encoded:
        """Rows that are read, or pairs: what `make` gives for columns of examples.

        Raises:
            SystemFailureError: the model has fewer positions than a row may have pieces.
        """
        recipe = self.recipe
        check_length(self.source, recipe.max_length)
        lengths = recipe.max_length, recipe.stride, recipe.query_length, recipe.answer_length
        model = self.source.config.decoder_start_token_id, self.vocabulary.positions
        settings = (what, *model, " ".join(self.task.labels), *lengths)
        return self._tokenised([language_codes(examples), *contents], settings, make)


class Rewriting(TrainingObjective):
    """Texts to be rewritten as other texts; the loss is that of the written pieces.

    Args:
        pairs: texts that are read and texts that are written, in turn.
        pad: the piece that fills up.
    """

    def __init__(self, pairs: Encoded, pad: int) -> None:
        self.pairs, self.pad = pairs, pad
        self._written = pairs.lengths[1::2]
        self.lengths = np.maximum(pairs.lengths[0::2], self._written)
        order = np.argsort(self.lengths, kind="stable")
        self._sorted, self._longest = self.lengths[order], np.maximum.accumulate(self._written[order])

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Texts that are read, and as labels the texts that are written."""
        flat, starts = self.pairs.input_ids, self.pairs.starts
        labels = padded(flat, starts, 2 * items + 1, self._room(width), size, IGNORED).astype(np.int64)
        begins = np.full(size, self.pad, np.int64)
        begins[: len(items)] = self.pairs.columns["start"][items]
        given = shifted(labels, begins, self.pad)
        return {**masked(self.pairs, 2 * items, width, size, self.pad), "given": given, "labels": labels}

    def _room(self, width: int) -> int:
        """The longest written text of any item that fits a width: so a width has one shape only."""
        place = int(np.searchsorted(self._sorted, width, side="right")) - 1
        return -(-int(self._longest[max(place, 0)]) // _GRANULE) * _GRANULE

    def weight(self, items: Ints) -> float:
        """The number of written pieces."""
        return float(self._written[items].sum())

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The summed cross-entropy of the written pieces."""
        from isogloss.systems.text2text.loss import written_loss

        return written_loss(model, batch)


def shifted(labels: Array, begins: Ints, pad: int) -> Array:
    """What a decoder is given to write labels: its first piece, then all labels but the last."""
    given = np.roll(np.where(labels == IGNORED, pad, labels), 1, axis=-1)
    given[..., 0] = begins.reshape(-1, *[1] * (labels.ndim - 2))
    return given
