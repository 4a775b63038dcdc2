"""Tagging: a tag for every word, at its first sub-word.

Words are tokenised one by one. A sentence with more subwords than an input holds goes on in a further row, from the
first word that no longer fits; a word without subwords, or with more than a row holds, counts as the unknown token. So
every word has a first sub-word, and the tags found there, row after row, are those of the sentences.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from isogloss.systems.encoder.adapter import EncoderAdapter, best_label, cross_entropy, model_arguments
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.targets import tag_ids
from isogloss.systems.tokens.inputs import InputRows
from isogloss.systems.tokens.subwords import Subwords, TextSlices, row_starts, slice_indices, tokenize, unique
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, padded
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn


class EncoderTagger(EncoderAdapter):
    """UD-POS and WikiANN."""

    name = "encoder tagging"
    auto_class = "AutoModelForTokenClassification"

    def _objective(self, train: Examples) -> TrainingObjective:
        numbers = tag_ids(self.task, train)
        rows = self._rows(train)
        labels = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        labels[rows.encoded.aligned["first"]] = numbers
        return LabelledSubwords(rows, labels)

    def predict(self, model: "nn.Module", examples: Examples) -> list[list[str]]:
        """The likeliest tag of each word."""
        rows = self._rows(examples)
        best = best_labels(model, rows)[rows.encoded.aligned["first"]]
        tags = np.array(self.task.labels, dtype=object)[best].tolist()
        ends = np.cumsum([len(words) for words in examples["tokens"]]).tolist()
        return [tags[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def _rows(self, examples: Examples) -> InputRows:
        sentences, longest = examples["tokens"], self.recipe.max_length
        encoded = self._tokenised(sentences, (longest,), lambda: self._encoded(sentences))
        return self.inputs.rows_for(examples, encoded, encoded.columns["sentence"])

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> Encoded:
        room = self.inputs.room(self.inputs.single, self.recipe.max_length)
        words, which = unique(list(chain.from_iterable(sentences)))
        subwords = _fitting(tokenize(self.inputs.tokenizer, words), room, self.inputs.unknown)
        sizes = subwords.lengths[which]
        ends = row_starts(np.fromiter(map(len, sentences), np.int64, len(sentences)))
        begins, owners = split_into_rows(sizes, ends, room)
        starts = row_starts(sizes)
        flat = subwords.ids[slice_indices(subwords.starts[which], sizes)]
        bounds = starts[np.append(begins, len(sizes))]
        token_rows = self.inputs.single.add_to(TextSlices(flat, bounds[:-1], np.diff(bounds)))
        first = np.zeros(len(token_rows.ids), np.bool_)
        first[token_rows.places[0][starts[:-1]]] = True
        return self.inputs.encoded(token_rows, {"first": first}, {"sentence": owners})


def _fitting(subwords: Subwords, room: int, unknown: int) -> Subwords:
    """Words that have no subwords, or too many for a row, as the unknown token."""
    lengths = subwords.lengths
    unusable = (lengths == 0) | (lengths > room)
    starts = np.where(unusable, len(subwords.ids), subwords.starts[:-1])
    lengths = np.where(unusable, 1, lengths)
    ids = np.append(subwords.ids, np.int32(unknown))[slice_indices(starts, lengths)]
    return Subwords(ids, row_starts(lengths), subwords.spans)


def split_into_rows(sizes: Ints, ends: Ints, room: int) -> tuple[Ints, Ints]:
    """Where rows begin: with a sentence, and inside it with the first unit that the row before had no room for.

    Args:
        sizes: subwords of each unit (a word, or what is never cut), none larger than the room.
        ends: units before each sentence, and all of them.
        room: subwords in a row.

    Returns:
        The first unit of each row, and the sentence it is of; sentences without units have no row.
    """
    total = np.concatenate([[0], np.cumsum(sizes)])
    begins, owners = ends[:-1], np.arange(len(ends) - 1)
    filled = np.diff(ends) > 0
    long = np.flatnonzero(total[ends[1:]] - total[ends[:-1]] > room)
    further: list[tuple[int, int]] = []
    for sentence in long.tolist():
        at, end = int(ends[sentence]), int(ends[sentence + 1])
        while total[end] - total[at] > room:
            at = int(np.searchsorted(total, total[at] + room, side="right")) - 1
            further.append((at, sentence))
    more = np.array(further, np.int64).reshape(-1, 2)
    begins = np.concatenate([begins[filled], more[:, 0]])
    order = np.argsort(begins, kind="stable")
    return begins[order], np.concatenate([owners[filled], more[:, 1]])[order]


class LabelledSubwords(TrainingObjective):
    """Rows with labels at some of their subwords."""

    def __init__(self, rows: InputRows, labels: Array) -> None:
        self._rows, self.labels = rows, labels
        self.lengths = rows.lengths
        before = np.concatenate([[0], np.cumsum(labels != IGNORED)])
        self._labelled = np.diff(before[rows.encoded.starts])

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Rows with their labels."""
        labels = padded(self.labels, self._rows.encoded.starts, items, width, size, IGNORED)
        return {**self._rows.batch(items, width, size), "labels": labels.astype(np.int64)}

    def weight(self, items: Ints) -> float:
        """The number of labels."""
        return float(self._labelled[items].sum())

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The cross entropy of the labels."""
        logits = model(**model_arguments(batch)).logits
        return cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())


def best_labels(model: "nn.Module", rows: InputRows) -> Ints:
    """The number of the likeliest label at every sub-word."""
    from isogloss.training.inference import outputs

    best = np.zeros(len(rows.encoded.input_ids), np.int64)
    starts, lengths = rows.encoded.starts, rows.lengths
    for items, (labels,) in outputs(model, lengths, rows.batch, best_label):
        inside = np.arange(labels.shape[1]) < lengths[items, None]
        best[slice_indices(starts[items], lengths[items])] = labels[inside]
    return best
