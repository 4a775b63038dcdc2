"""The n-gram system: a model per form of answer, and retrieval by cosine between vectors of weighted n-grams."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from isogloss.metrics.search import normalize_rows, search
from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.ngram.classification import NgramClassifier, NgramMultipleChoice
from isogloss.systems.ngram.hashing import char_ngrams
from isogloss.systems.ngram.linear_model import Floats
from isogloss.systems.ngram.qa import NgramReader
from isogloss.systems.ngram.tagging import NgramTagger
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.registry import canonical
from isogloss.tasks.task import Task
from isogloss.version import __version__


class _Model(Protocol):
    together: int  # examples predicted at a time, to bound the memory; 0 for all

    def predict(self, examples: Examples) -> Sequence[Any]: ...


_LEARNERS: dict[str, Callable[[Task, Examples, int], _Model]] = {
    "label": NgramClassifier,
    "option": NgramMultipleChoice,
    "tags": NgramTagger,
    "answer": NgramReader,
}


class NgramSystem(System):
    """Hashed character n-grams and linear models: a baseline that measures what surface cues alone achieve.

    Deterministic: the seed decides the order of the training examples and the reader's rival spans.

    Args:
        train_on: task of the training set; default: the task's own choice.
    """

    name = "ngram"

    def __init__(self, *, train_on: str = "") -> None:
        self._model: _Model | None = None
        if train_on:
            self.train_on = canonical(train_on)
            self.name = f"ngram-on-{self.train_on}"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, version of Isogloss, and description."""
        facts = {"name": self.name, "version": __version__, "description": "hashed character n-grams, linear models"}
        return {**facts, **({"train_on": self.train_on} if self.train_on else {})}

    def refusal(self, task: Task) -> str:
        """Refuse bitext mining, which needs gold pairs to set a threshold, and unknown forms of answers."""
        form, train_task = kind_of(task).form, self.learns_from(task)
        if form in _LEARNERS and kind_of(train_task).form != form:
            return f"{self.name} cannot learn {task.id} from {train_task.id}: its answers have another form"
        if form == "pairs":
            return f"{self.name} cannot mine pairs: setting the threshold requires gold pairs"
        known = form in _LEARNERS or form == "ranking"
        return "" if known else f"{self.name} has no model for the {form} of {task.id}"

    def needs_training(self, task: Task) -> bool:
        """Return True for every task except retrieval."""
        return kind_of(task).form in _LEARNERS

    def training_key(self, task: Task) -> Hashable | None:
        """Return one key for all question answering tasks: the reader depends on its training set only."""
        return "answer" if kind_of(task).form == "answer" and not self.refusal(task) else None

    def fit(self, task: Task, train: Examples | None, seed: int) -> "NgramSystem":
        """Learn a task, replacing the previous one."""
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        kind = kind_of(task)
        if kind.form == "ranking":
            # LAReQA's single-target metrics look deeper than others.
            self._model = NgramRetriever(30 if kind.shared_pool else 20)
            return self
        if train is None or not len(train) or not train.has_gold:
            problem = "missing" if train is None else "empty" if not len(train) else "without gold labels"
            what = f"{self.name} needs training, but the training set is {problem}"
            raise SystemFailureError(what, where=task.id, fix="Use a training split with gold labels")
        self._model = _LEARNERS[kind.form](task, train, seed)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """Return one answer per example; never abstains."""
        if self._model is None:
            raise SystemFailureError(f"{self.name} is not fitted", fix="Call fit first")
        together, count = self._model.together, len(examples)
        if not together:
            return self._model.predict(examples)
        parts = (examples.keep(range(start, min(start + together, count))) for start in range(0, count, together))
        return [answer for part in parts for answer in self._model.predict(part)]


_SHORTEST, _LONGEST = 2, 5
_BITS = 20  # n-grams are distinguished and weighted by rarity at this resolution,
_DIMENSION = 2048  # and then folded, with random signs, into vectors of this dimension
_SAMPLE = 1 << 15  # candidates used to estimate the rarity
_BLOCK = 1 << 14  # candidate vectors in memory
_TEXTS = 256  # texts with their n-grams in memory


class NgramRetriever:
    """Ranks `depth` candidates of the pool by cosine; n-grams are weighted by (1 + log tf) x idf in the pool."""

    together = 0

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._last: tuple[Sequence[str], Floats, Floats] | None = None

    def predict(self, examples: Examples) -> list[list[str]]:
        """Return the nearest candidates of every query, best first, without duplicates."""
        pool = pool_of(examples)
        if self._last is None or self._last[0] != pool.text:  # languages often share a pool
            rarity = _rarity(pool.text[:: -(-len(pool) // _SAMPLE)])
            self._last = pool.text, rarity, _vectors(pool.text[:_BLOCK], rarity)
        _, rarity, beginning = self._last
        queries = _vectors(examples["text"], rarity)
        depth = min(self.depth, len(pool))
        rows, scores = search(queries, beginning, min(depth, len(beginning)))
        for start in range(_BLOCK, len(pool), _BLOCK):
            block_rows, cosines = search(queries, _vectors(pool.text[start : start + _BLOCK], rarity), depth)
            rows, scores = np.hstack([rows, block_rows + start]), np.hstack([scores, cosines])
            order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
            rows, scores = np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
        ids = pool.ids
        return [[ids[row] for row in ranked] for ranked in rows.tolist()]


def _counts(texts: Sequence[str]) -> tuple[IntArray, IntArray, Floats]:
    """Return the row, bucket and number of occurrences of the n-grams of some texts."""
    rows, hashes = char_ngrams(texts, _SHORTEST, _LONGEST)
    keys = rows << _BITS | (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
    keys, counts = np.unique(keys, return_counts=True)
    return keys >> _BITS, keys & ((1 << _BITS) - 1), counts.astype(np.float32)


def _rarity(texts: Sequence[str]) -> Floats:
    """Return log((1 + n) / (1 + df)) + 1 of each bucket over n texts."""
    frequency = np.zeros(1 << _BITS, np.int64)
    for start in range(0, len(texts), _TEXTS):
        frequency += np.bincount(_counts(texts[start : start + _TEXTS])[1], minlength=1 << _BITS)
    return (np.log((1 + len(texts)) / (1 + frequency)) + 1).astype(np.float32)


def _vectors(texts: Sequence[str], rarity: Floats) -> Floats:
    """Return unit vectors; a text without n-grams is zero."""
    vectors = np.empty((len(texts), _DIMENSION), np.float32)
    for start in range(0, len(texts), _TEXTS):
        part = texts[start : start + _TEXTS]
        rows, gram_buckets, counts = _counts(part)
        # The lowest bits choose the dimension, the next one the sign, so that collisions cancel on average.
        signs = 1 - 2 * (gram_buckets // _DIMENSION % 2)
        weights = signs * (1 + np.log(counts)) * rarity[gram_buckets]
        cells = np.bincount(rows * _DIMENSION + gram_buckets % _DIMENSION, weights, len(part) * _DIMENSION)
        vectors[start : start + _TEXTS] = cells.reshape(len(part), _DIMENSION)
    unit: Floats = normalize_rows(vectors)
    return unit
