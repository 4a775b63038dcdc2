"""Named entities from raw text, without anybody's words: characters in, spans of characters out.

The text is tokenised as it stands. A piece that has characters of an entity is labelled B- or I-, pieces that are only
the mark of a blank are passed over, and what is labelled becomes [start, end, type] again, in code points of the text.
A text that is too long for one row goes on in another, from a word after a blank where there is one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from isogloss.metrics import spans
from isogloss.systems.encoder.adapter import EncoderAdapter
from isogloss.systems.encoder.tagging import LabelledPieces, best_labels, cuts
from isogloss.systems.neural.gold import label_numbers
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.tokens.inputs import Rows
from isogloss.systems.tokens.special_tokens import Slices
from isogloss.systems.tokens.subwords import Pieces, encode, located
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded
from isogloss.training.objective import Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import nn


class RawEntities(EncoderAdapter):
    """WikiANN from its raw text."""

    auto = "AutoModelForTokenClassification"

    def _exercise(self, train: Examples) -> TrainingObjective:
        gold = spans.from_sentences(train[train.gold], train["offsets"], dialect=self.task.dialect)
        flat = [(text, *span) for text, found in enumerate(gold) for span in found]
        rows = self._rows(train)
        owners, places, solid = _characters(rows.encoded)
        texts, begins, ends = np.array([span[:3] for span in flat], np.int64).reshape(-1, 3).T
        first, last = located(owners, places, texts, begins, ends)
        labels = np.where(solid, label_numbers(self.task, ["O"], train), IGNORED).astype(np.int16)
        inside, begun = (label_numbers(self.task, [f"{part}-{kind}" for *_, kind in flat], train) for part in "IB")
        for low, high, label in zip(first.tolist(), last.tolist(), inside.tolist(), strict=True):
            labels[low : high + 1][solid[low : high + 1]] = label
        labels[first[last >= 0]] = begun[last >= 0]
        whole = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        whole[rows.encoded.aligned["begin"] >= 0] = labels
        return LabelledPieces(rows, whole)

    def answers(self, model: "nn.Module", examples: Examples) -> list[list[spans.Span]]:
        """The entities of each text."""
        rows = self._rows(examples)
        owners, places, solid = _characters(rows.encoded)
        best = best_labels(model, rows)[rows.encoded.aligned["begin"] >= 0][solid]
        bounds = np.searchsorted(owners[solid], np.arange(len(examples) + 1))
        tags = np.array(self.task.labels, dtype=object)[best]
        tagged, offsets = ([part.tolist() for part in np.split(flat, bounds[1:-1])] for flat in (tags, places[solid]))
        if not len(examples):
            return []
        return spans.from_sentences(tagged, offsets, dialect=self.task.dialect)

    def _rows(self, examples: Examples) -> Rows:
        texts, longest = examples["text"], self.recipe.max_length
        encoded = self._tokenised(texts, (longest,), lambda: self._encoded(texts))
        languages = self.inputs.language_ids(examples)
        return Rows(self.inputs, encoded, None if languages is None else languages[encoded.columns["text"]])

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        room = self.inputs.room(self.inputs.single, self.recipe.max_length)
        pieces = encode(self.inputs.tokenizer, texts, spans=True)
        begins, owners = _rows_of(pieces, room)
        bounds = np.append(begins, len(pieces.ids))
        framed = self.inputs.single.around(Slices(pieces.ids, bounds[:-1], np.diff(bounds)))
        aligned: dict[str, Array] = {}
        for column, name in enumerate(("begin", "end")):
            aligned[name] = np.full(len(framed.ids), -1, np.int32)
            aligned[name][framed.places[0]] = pieces.spans[:, column]
        return self.inputs.encoded(framed, aligned, {"text": owners})


def _rows_of(pieces: Pieces, room: int) -> tuple[Ints, Ints]:
    """The first piece of each row, and the text it is of: cut before words, and only those that are too long inside."""
    begins_text = np.zeros(len(pieces.ids) + 1, np.bool_)
    begins_text[pieces.starts] = True
    after_blank = np.ones(len(pieces.ids), np.bool_)
    after_blank[1:] = pieces.spans[1:, 0] > pieces.spans[:-1, 1]
    words = np.flatnonzero(begins_text[:-1] | after_blank)
    sizes = np.diff(np.append(words, len(pieces.ids)))
    long = np.repeat(sizes > room, sizes)
    units = np.flatnonzero(begins_text[:-1] | after_blank | long)
    sizes = np.diff(np.append(units, len(pieces.ids)))
    begins, owners = cuts(sizes, np.searchsorted(units, pieces.starts), room)
    return units[begins], owners


def _characters(encoded: Encoded) -> tuple[Ints, Array, Array]:
    """The text of each piece that is not a special token, its characters, and whether it has any."""
    text = encoded.aligned["begin"] >= 0
    owners = np.repeat(encoded.columns["text"], encoded.lengths)[text]
    places = np.stack([encoded.aligned["begin"][text], encoded.aligned["end"][text]], axis=1)
    return owners, places, places[:, 1] > places[:, 0]
