"""Tagging: a tag for every word, at its first piece.

Words are tokenised one by one. A sentence with more pieces than an input holds goes on in a further row, from the
first word that no longer fits; a word without pieces, or with more than a row holds, counts as the unknown token. So
every word has a first piece, and the tags found there, row after row, are those of the sentences.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from isogloss.systems.encoder.adapter import EncoderAdapter, arguments, cross_entropy
from isogloss.systems.neural.gold import tag_numbers
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.tokens.inputs import Rows
from isogloss.systems.tokens.special_tokens import Slices
from isogloss.systems.tokens.subwords import Pieces, encode, spread, unique
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, padded
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn


class Tagging(EncoderAdapter):
    """UD-POS and WikiANN."""

    auto = "AutoModelForTokenClassification"

    def _exercise(self, train: Examples) -> TrainingObjective:
        numbers = tag_numbers(self.task, train)
        rows = self._rows(train)
        labels = np.full(len(rows.encoded.input_ids), IGNORED, np.int16)
        labels[rows.encoded.aligned["first"]] = numbers
        return LabelledPieces(rows, labels)

    def answers(self, model: "nn.Module", examples: Examples) -> list[list[str]]:
        """The likeliest tag of each word."""
        rows = self._rows(examples)
        best = best_labels(model, rows)[rows.encoded.aligned["first"]]
        tags = np.array(self.task.labels, dtype=object)[best].tolist()
        ends = np.cumsum([len(words) for words in examples["tokens"]]).tolist()
        return [tags[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def _rows(self, examples: Examples) -> Rows:
        sentences, longest = examples["tokens"], self.recipe.max_length
        encoded = self._tokenised(sentences, (longest,), lambda: self._encoded(sentences))
        languages = self.inputs.language_ids(examples)
        return Rows(self.inputs, encoded, None if languages is None else languages[encoded.columns["sentence"]])

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> Encoded:
        room = self.inputs.room(self.inputs.single, self.recipe.max_length)
        words, which = unique(list(chain.from_iterable(sentences)))
        pieces = _fitting(encode(self.inputs.tokenizer, words), room, self.inputs.unknown)
        sizes = pieces.lengths[which]
        ends = np.concatenate([[0], np.cumsum(np.fromiter(map(len, sentences), np.int64, len(sentences)))])
        begins, owners = cuts(sizes, ends, room)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        flat = pieces.ids[spread(pieces.starts[which], sizes)]
        bounds = starts[np.append(begins, len(sizes))]
        framed = self.inputs.single.around(Slices(flat, bounds[:-1], np.diff(bounds)))
        first = np.zeros(len(framed.ids), np.bool_)
        first[framed.places[0][starts[:-1]]] = True
        return self.inputs.encoded(framed, {"first": first}, {"sentence": owners})


def _fitting(pieces: Pieces, room: int, unknown: int) -> Pieces:
    """Words that have no pieces, or too many for a row, as the unknown token."""
    lengths = pieces.lengths
    odd = (lengths == 0) | (lengths > room)
    starts = np.where(odd, len(pieces.ids), pieces.starts[:-1])
    lengths = np.where(odd, 1, lengths)
    ids = np.append(pieces.ids, np.int32(unknown))[spread(starts, lengths)]
    return Pieces(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), pieces.spans)


def cuts(sizes: Ints, ends: Ints, room: int) -> tuple[Ints, Ints]:
    """Where rows begin: with a sentence, and inside it with the first unit that the row before had no room for.

    Args:
        sizes: pieces of each unit (a word, or what is never cut), none larger than the room.
        ends: units before each sentence, and all of them.
        room: pieces in a row.

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


class LabelledPieces(TrainingObjective):
    """Rows with labels at some of their pieces."""

    def __init__(self, rows: Rows, labels: Array) -> None:
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
        logits = model(**arguments(batch)).logits
        return cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())


def best_labels(model: "nn.Module", rows: Rows) -> Ints:
    """The number of the likeliest label at every piece."""
    from isogloss.training.inference import outputs

    def forward(model: "nn.Module", given: Mapping[str, "Tensor"]) -> tuple["Tensor"]:
        return (model(**given).logits.argmax(-1),)

    best = np.zeros(len(rows.encoded.input_ids), np.int64)
    for items, (found,) in outputs(model, rows.lengths, rows.batch, forward):
        rows.scatter(items, found, best)
    return best
