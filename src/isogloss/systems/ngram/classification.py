"""Classification of texts and of pairs of texts, and the choice between two texts."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from isogloss.metrics.statistics import IntArray
from isogloss.systems.ngram.linear_model import LinearModel, SparseRows, train_classifier, train_ranker
from isogloss.systems.ngram.text_features import pair_rows, text_rows
from isogloss.systems.targets import choice_indices, label_ids, seen_labels
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

_BITS = 20
_EPOCHS = 4
_BATCH = 64
_TOGETHER = 512  # examples answered together: bounds the memory


class NgramClassifier:
    """Multinomial logistic regression over the n-grams of a text, or of two and what they share."""

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        self.labels, gold = seen_labels(task, label_ids(task, train[train.gold], train), train)
        self.model = LinearModel(_BITS, len(self.labels))
        train_classifier(
            self.model, lambda rows: _text_features(train, rows), gold, seed=seed, epochs=_EPOCHS, batch=_BATCH
        )

    def predict(self, examples: Examples) -> list[str]:
        """A label for every example."""
        found: list[str] = []
        for start in range(0, len(examples), _TOGETHER):
            rows = np.arange(start, min(start + _TOGETHER, len(examples)))
            best = self.model.scores(_text_features(examples, rows)).argmax(axis=1)
            found += [self.labels[code] for code in best.tolist()]
        return found


def _text_features(examples: Examples, rows: IntArray) -> SparseRows:
    def column(name: str) -> list[str]:
        values = examples[name]
        return [values[row] for row in rows.tolist()]

    if "text" in examples.columns:
        return text_rows(column("text"), _BITS)
    return pair_rows(column("text_a"), column("text_b"), _BITS)


class NgramMultipleChoice:
    """A log-linear ranker over (premise, choice), told apart by what is asked for: the cause or the effect."""

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        labels = choice_indices(train)
        self.model = LinearModel(_BITS)

        def groups(rows: IntArray) -> tuple[SparseRows, IntArray, IntArray]:
            features, begins = _choice_features(train, rows.tolist())
            return features, begins, begins + labels[rows]

        train_ranker(self.model, groups, len(train), seed=seed, epochs=_EPOCHS, batch=_BATCH)

    def predict(self, examples: Examples) -> list[int]:
        """The index of the better choice for every example, the first of equals."""
        found: list[int] = []
        for start in range(0, len(examples), _TOGETHER):
            features, begins = _choice_features(examples, range(start, min(start + _TOGETHER, len(examples))))
            scores = self.model.scores(features)[:, 0]
            found += [int(part.argmax()) for part in np.split(scores, begins[1:])]
        return found


def _choice_features(examples: Examples, rows: Sequence[int]) -> tuple[SparseRows, IntArray]:
    """The rows of every choice of the chosen examples, and where each example's choices begin."""
    premises, questions, choices = examples["premise"], examples["question"], examples["choices"]
    sizes = [len(choices[row]) for row in rows]
    repeated = [row for row, size in zip(rows, sizes, strict=True) for _ in range(size)]
    features = pair_rows(
        [premises[row] for row in repeated],
        list(chain.from_iterable(choices[row] for row in rows)),
        _BITS,
        [questions[row] for row in repeated],
    )
    return features, np.append(0, np.cumsum(sizes)[:-1])
