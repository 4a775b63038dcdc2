"""Tagging: one tag per word, at its first sub-word; or named entities in raw text, without word boundaries."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from isogloss.metrics import spans
from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, best_label
from isogloss.systems.pretrained import Model
from isogloss.systems.targets import IGNORED, label_ids, tag_ids
from isogloss.systems.tokens import subwords as tokens
from isogloss.systems.tokens.inputs import InputRows, SpecialTokens
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Arrays, Encoded, Ints, TrainingObjective, padded


class EncoderTagger(EncoderAdapter):
    """UD-POS and WikiANN.

    Words are tokenised one by one. A sentence with too many sub-words continues in another row, from the first word
    that does not fit; a word without sub-words, or with more than fit a row, becomes the unknown token. Every word
    therefore has a first sub-word, and the tags at those, row after row, are those of the sentences.
    """

    name = "encoder tagging"
    auto_class = "AutoModelForTokenClassification"
    columns: ClassVar[tuple[str, str]] = "tokens", "sentence"  # of the texts, and of each row's text

    @property
    def _special_tokens(self) -> SpecialTokens:
        """Special tokens around a sentence; if the recipe says so, two separators at its end, as inside a pair."""
        single, pair = self.inputs.single, self.inputs.pair
        if not self.recipe.extra_separator or len(pair.groups[1]) < 2:
            return single
        before, after = single.groups
        return replace(single, groups=(before, (*after, after[-1])))

    def _objective(self, train: Examples) -> TrainingObjective:
        numbers = tag_ids(self.task, train)
        rows = self._rows(train)
        labels = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        labels[rows.encoded.aligned["first"]] = numbers
        return LabelledSubwords(rows, labels)

    def predict(self, model: Model, examples: Examples) -> list[list[Any]]:
        """Return the most likely tag of each word."""
        rows = self._rows(examples)
        best = best_labels(model, rows)[rows.encoded.aligned["first"]]
        tags = np.array(self.task.labels, dtype=object)[best].tolist()
        ends = np.cumsum([len(words) for words in examples["tokens"]]).tolist()
        return [tags[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def _rows(self, examples: Examples) -> InputRows:
        texts, owner = examples[self.columns[0]], self.columns[1]
        settings = self.recipe.max_length, self._special_tokens.count
        encoded = self._tokenised(texts, settings, lambda: self._encoded(texts))
        return self.inputs.rows_for(examples, encoded, encoded.columns[owner])

    def _encoded(self, texts: Sequence[Any]) -> Encoded:
        room = self.inputs.room(self._special_tokens, self.recipe.max_length)
        words, which = tokens.unique(list(chain.from_iterable(texts)))
        subwords = tokens.tokenize(self.source.tokenizer, words)
        unusable = (subwords.lengths == 0) | (subwords.lengths > room)
        unknown = self.source.tokenizer.unk_token_id  # missing in byte vocabularies
        ids = np.append(subwords.ids, np.int32(self.inputs.padding if unknown is None else unknown))
        word_begins = np.where(unusable, len(subwords.ids), subwords.starts[:-1])
        sizes = np.where(unusable, 1, subwords.lengths)[which]
        ends = tokens.row_starts(np.fromiter(map(len, texts), np.int64, len(texts)))
        begins, owners = split_into_rows(sizes, ends, room)
        starts = tokens.row_starts(sizes)
        flat = ids[tokens.slice_indices(word_begins[which], sizes)]
        bounds = starts[np.append(begins, len(sizes))]
        token_rows = self._special_tokens.add_to(tokens.TextSlices(flat, bounds[:-1], np.diff(bounds)))
        first = np.zeros(len(token_rows.ids), np.bool_)
        first[token_rows.positions[0][starts[:-1]]] = True
        return self.inputs.encoded(token_rows, {"first": first}, {"sentence": owners})


class EncoderEntitySpans(EncoderTagger):
    """WikiANN from its raw text, tokenised as one string.

    Sub-words that overlap an entity are labelled B- or I-, bare whitespace markers are skipped, and labels converted
    back to [start, end, type] in code points. A text too long for one row continues in another, at a word if possible.
    """

    name = "encoder entity spans"
    columns = "text", "text"

    def _objective(self, train: Examples) -> TrainingObjective:
        gold = spans.from_sentences(train[train.gold], train["offsets"], dialect=self.task.dialect)
        flat = [(text, *span) for text, entities in enumerate(gold) for span in entities]
        rows = self._rows(train)
        owners, characters, solid = _characters(rows.encoded)
        texts, begins, ends = np.array([span[:3] for span in flat], np.int64).reshape(-1, 3).T
        first, last = tokens.locate_spans(owners, characters, texts, begins, ends)
        labels = np.where(solid, label_ids(self.task, ["O"], train), IGNORED).astype(np.int16)
        inside, begun = (label_ids(self.task, [f"{part}-{kind}" for *_, kind in flat], train) for part in "IB")
        for low, high, label in zip(first.tolist(), last.tolist(), inside.tolist(), strict=True):
            labels[low : high + 1][solid[low : high + 1]] = label
        labels[first[last >= 0]] = begun[last >= 0]
        whole = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        whole[rows.encoded.aligned["begin"] >= 0] = labels
        return LabelledSubwords(rows, whole)

    def predict(self, model: Model, examples: Examples) -> list[list[Any]]:
        """Return the entities of each text."""
        rows = self._rows(examples)
        owners, characters, solid = _characters(rows.encoded)
        best = best_labels(model, rows)[rows.encoded.aligned["begin"] >= 0][solid]
        bounds = np.searchsorted(owners[solid], np.arange(len(examples) + 1))
        tags = np.array(self.task.labels, dtype=object)[best]
        if not len(examples):
            return []
        flat = tags, characters[solid]
        tagged, offsets = ([part.tolist() for part in np.split(array, bounds[1:-1])] for array in flat)
        return spans.from_sentences(tagged, offsets, dialect=self.task.dialect)

    def _encoded(self, texts: Sequence[Any]) -> Encoded:
        room = self.inputs.room(self._special_tokens, self.recipe.max_length)
        subwords = tokens.tokenize(self.source.tokenizer, texts, spans=True)
        # Rows are cut before words, and inside words that are too long.
        begins_word = np.ones(len(subwords.ids) + 1, np.bool_)
        begins_word[1:-1] = subwords.spans[1:, 0] > subwords.spans[:-1, 1]
        begins_word[subwords.starts] = True
        words = np.flatnonzero(begins_word)
        sizes = np.diff(words)
        units = np.flatnonzero(begins_word[:-1] | np.repeat(sizes > room, sizes))
        sizes = np.diff(np.append(units, len(subwords.ids)))
        begins, owners = split_into_rows(sizes, np.searchsorted(units, subwords.starts), room)
        bounds = np.append(units[begins], len(subwords.ids))
        token_rows = self._special_tokens.add_to(tokens.TextSlices(subwords.ids, bounds[:-1], np.diff(bounds)))
        characters = tokens.character_columns(subwords.spans, token_rows.positions[0], len(token_rows.ids))
        return self.inputs.encoded(token_rows, characters, {"text": owners})


def split_into_rows(sizes: Ints, ends: Ints, room: int) -> tuple[Ints, Ints]:
    """Return the first unit (a word, or anything never cut) of each row, and its sentence, if that has units.

    `sizes` are the sub-words per unit, at most `room`; `ends` the units before each sentence, and in all.
    """
    total = tokens.row_starts(sizes)
    filled = np.flatnonzero(np.diff(ends))
    rows = list(zip(ends[filled].tolist(), filled.tolist(), strict=True))
    for sentence in np.flatnonzero(np.diff(total[ends]) > room).tolist():
        at, end = int(ends[sentence]), int(ends[sentence + 1])
        while total[end] - total[at] > room:
            at = int(np.searchsorted(total, total[at] + room, side="right")) - 1
            rows.append((at, sentence))
    begins, owners = np.array(sorted(rows), np.int64).reshape(-1, 2).T
    return begins, owners


def _characters(encoded: Encoded) -> tuple[Ints, Array, Array]:
    """Return, for each sub-word except special tokens, its text, its characters, and a mask of non-empty ones."""
    text = encoded.aligned["begin"] >= 0
    owners = np.repeat(encoded.columns["text"], encoded.lengths)[text]
    characters = np.stack([encoded.aligned["begin"][text], encoded.aligned["end"][text]], axis=1)
    return owners, characters, characters[:, 1] > characters[:, 0]


class LabelledSubwords(LabelledItems):
    """Rows with labels at some of their sub-words."""

    def __init__(self, rows: InputRows, labels: Array) -> None:
        super().__init__(rows, {})
        self.labels = labels
        self._labelled = np.diff(tokens.row_starts(labels != IGNORED)[rows.encoded.starts])

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return rows with their labels."""
        labels = padded(self.labels, self.items.encoded.starts, items, width, size, IGNORED)
        return {**super().batch(items, width, size), "labels": labels.astype(np.int64)}

    def weight(self, items: Ints) -> float:
        """Return the number of labels."""
        return float(self._labelled[items].sum())


def best_labels(model: Model, rows: InputRows) -> Ints:
    """Return the index of the most likely label of every sub-word."""
    from isogloss.training.inference import outputs

    best = np.zeros(len(rows.encoded.input_ids), np.int64)
    starts, lengths = rows.encoded.starts, rows.lengths
    for items, (labels,) in outputs(model, lengths, rows.batch, best_label):
        inside = np.arange(labels.shape[1]) < lengths[items, None]
        best[tokens.slice_indices(starts[items], lengths[items])] = labels[inside]
    return best
