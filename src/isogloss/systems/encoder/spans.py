"""Named entities from raw text, without given words: characters in, spans of characters out.

The text is tokenised as it is. A sub-word that has characters of an entity is labelled B- or I-, one that is only
the mark of a blank is passed over, and what is labelled becomes [start, end, type] again, in code points of the text.
A text that is too long for one row goes on in another, from a word after a blank where there is one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from isogloss.metrics import spans
from isogloss.systems.encoder.adapter import EncoderAdapter
from isogloss.systems.encoder.tagging import LabelledSubwords, best_labels, split_into_rows
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.targets import label_ids
from isogloss.systems.tokens.inputs import InputRows
from isogloss.systems.tokens.subwords import Subwords, TextSlices, character_columns, locate_spans, tokenize
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded
from isogloss.training.objective import Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import nn


class EncoderEntitySpans(EncoderAdapter):
    """WikiANN from its raw text."""

    name = "encoder entity spans"
    auto_class = "AutoModelForTokenClassification"

    def _objective(self, train: Examples) -> TrainingObjective:
        gold = spans.from_sentences(train[train.gold], train["offsets"], dialect=self.task.dialect)
        flat = [(text, *span) for text, found in enumerate(gold) for span in found]
        rows = self._rows(train)
        owners, places, solid = _characters(rows.encoded)
        texts, begins, ends = np.array([span[:3] for span in flat], np.int64).reshape(-1, 3).T
        first, last = locate_spans(owners, places, texts, begins, ends)
        labels = np.where(solid, label_ids(self.task, ["O"], train), IGNORED).astype(np.int16)
        inside, begun = (label_ids(self.task, [f"{part}-{kind}" for *_, kind in flat], train) for part in "IB")
        for low, high, label in zip(first.tolist(), last.tolist(), inside.tolist(), strict=True):
            labels[low : high + 1][solid[low : high + 1]] = label
        labels[first[last >= 0]] = begun[last >= 0]
        whole = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        whole[rows.encoded.aligned["begin"] >= 0] = labels
        return LabelledSubwords(rows, whole)

    def predict(self, model: "nn.Module", examples: Examples) -> list[list[spans.Span]]:
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

    def _rows(self, examples: Examples) -> InputRows:
        texts, longest = examples["text"], self.recipe.max_length
        encoded = self._tokenised(texts, (longest,), lambda: self._encoded(texts))
        return self.inputs.rows_for(examples, encoded, encoded.columns["text"])

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        room = self.inputs.room(self.inputs.single, self.recipe.max_length)
        subwords = tokenize(self.inputs.tokenizer, texts, spans=True)
        begins, owners = _rows_of(subwords, room)
        bounds = np.append(begins, len(subwords.ids))
        token_rows = self.inputs.single.add_to(TextSlices(subwords.ids, bounds[:-1], np.diff(bounds)))
        characters = character_columns(subwords.spans, token_rows.places[0], len(token_rows.ids))
        return self.inputs.encoded(token_rows, characters, {"text": owners})


def _rows_of(subwords: Subwords, room: int) -> tuple[Ints, Ints]:
    """The first sub-word of each row and its text: cut before words, and inside only those that are too long."""
    begins_text = np.zeros(len(subwords.ids) + 1, np.bool_)
    begins_text[subwords.starts] = True
    after_blank = np.ones(len(subwords.ids), np.bool_)
    after_blank[1:] = subwords.spans[1:, 0] > subwords.spans[:-1, 1]
    words = np.flatnonzero(begins_text[:-1] | after_blank)
    sizes = np.diff(np.append(words, len(subwords.ids)))
    long = np.repeat(sizes > room, sizes)
    units = np.flatnonzero(begins_text[:-1] | after_blank | long)
    sizes = np.diff(np.append(units, len(subwords.ids)))
    begins, owners = split_into_rows(sizes, np.searchsorted(units, subwords.starts), room)
    return units[begins], owners


def _characters(encoded: Encoded) -> tuple[Ints, Array, Array]:
    """The text of each sub-word that is not a special token, its characters, and whether it has any."""
    text = encoded.aligned["begin"] >= 0
    owners = np.repeat(encoded.columns["text"], encoded.lengths)[text]
    places = np.stack([encoded.aligned["begin"][text], encoded.aligned["end"][text]], axis=1)
    return owners, places, places[:, 1] > places[:, 0]
