"""Classification of texts and text pairs, and multiple choice."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.systems.ngram.hashing import Mask, Texts, buckets, char_ngrams, join, salted
from isogloss.systems.ngram.linear_model import Floats, LinearModel, SparseRows, batches
from isogloss.systems.targets import (
    choice_indices,
    gold_numbers,
    label_ids,
    label_table,
    premises_and_questions,
    seen_labels,
)
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

_Group = tuple[IntArray, npt.NDArray[np.int32], Floats]  # row, bucket and value of each feature

_BITS, _EPOCHS, _BATCH = 20, 4, 64
_LONGEST = 5
_STEPS = 8  # features for a share in [0, 1]


class NgramClassifier:
    """Multinomial logistic regression over the n-grams of a text, or of two texts and their overlap."""

    together = 512

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        self.labels, gold = seen_labels(task, label_ids(task, train[train.gold], train), train)
        self.model = LinearModel(_BITS, len(self.labels))
        for rows in batches(len(gold), seed, _EPOCHS, _BATCH):
            self.model.learn_classes(_text_features(train.keep(rows.tolist())), gold[rows])

    def predict(self, examples: Examples) -> list[str]:
        """Return one label per example."""
        best = self.model.scores(_text_features(examples)).argmax(axis=1)
        return [self.labels[code] for code in best.tolist()]


class NgramMultipleChoice:
    """A log-linear ranker over (premise, choice), with separate features for cause and effect questions."""

    together = 512

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        labels = choice_indices(train)
        self.model = LinearModel(_BITS)
        for rows in batches(len(train), seed, _EPOCHS, _BATCH):
            features, begins = _choice_features(train.keep(rows.tolist()))
            self.model.learn_choices(features, begins, begins + labels[rows])

    def predict(self, examples: Examples) -> list[int]:
        """Return the index of each example's best choice; the first wins a tie."""
        features, begins = _choice_features(examples)
        scores = self.model.scores(features)[:, 0]
        return [int(part.argmax()) for part in np.split(scores, begins[1:])]


class NgramLabelSets:
    """One logistic regression per label over the same features as for a single label."""

    together = 512

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        self.labels, gold = task.labels, label_table(task, train).astype(np.float32)
        self.model = LinearModel(_BITS, len(self.labels))
        for rows in batches(len(gold), seed, _EPOCHS, _BATCH):
            self.model.learn_labels(_text_features(train.keep(rows.tolist())), gold[rows])

    def predict(self, examples: Examples) -> list[list[str]]:
        """Return the labels that are more likely than not."""
        likely = self.model.scores(_text_features(examples)) > 0
        return [[label for label, given in zip(self.labels, row, strict=True) if given] for row in likely.tolist()]


class NgramRegressor:
    """Least squares over the features of a text or a pair; predictions stay within the training numbers."""

    together = 512

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        gold = gold_numbers(train)
        self.low, self.high = float(gold.min()), float(gold.max())
        self.middle, self.spread = float(gold.mean()), float(gold.std()) or 1.0
        self.model = LinearModel(_BITS)
        targets = ((gold - self.middle) / self.spread).astype(np.float32)
        for rows in batches(len(targets), seed, _EPOCHS, _BATCH):
            self.model.learn_numbers(_text_features(train.keep(rows.tolist())), targets[rows])

    def predict(self, examples: Examples) -> list[float]:
        """Return one number per example."""
        scores = self.model.scores(_text_features(examples))[:, 0].astype(np.float64)
        numbers: list[float] = np.clip(self.middle + self.spread * scores, self.low, self.high).tolist()
        return numbers


def _text_features(examples: Examples) -> SparseRows:
    if "text" in examples.columns:
        return SparseRows.of(len(examples), *_group(_Grams(examples["text"]), "text"))
    return _pair_rows(examples["text_a"], examples["text_b"])


def _choice_features(examples: Examples) -> tuple[SparseRows, IntArray]:
    """Return the feature rows of every choice, and the start of each example's choices."""
    choices = examples["choices"]
    sizes = [len(texts) for texts in choices]
    premises, questions = (np.repeat(np.array(texts, object), sizes) for texts in premises_and_questions(examples))
    features = _pair_rows(premises.tolist(), list(chain.from_iterable(choices)), questions.tolist())
    return features, np.append(0, np.cumsum(sizes)[:-1])


class _Grams:
    """The distinct character n-grams, words and pairs of neighbouring words of some texts, sorted by (text, hash)."""

    def __init__(self, texts: Sequence[str]) -> None:
        rows, hashes = char_ngrams(texts, 1, _LONGEST)
        split = [text.lower().split() for text in texts]
        words = Texts([word for words in split for word in words]).whole
        word_rows = np.repeat(np.arange(len(split)), np.fromiter(map(len, split), np.int64, len(split)))
        first = word_rows[:-1] == word_rows[1:]
        pairs = salted(join(words[:-1], words[1:]), "words")[first]
        self.count = len(texts)
        rows = np.concatenate([rows, word_rows, word_rows[:-1][first]])
        hashes = np.concatenate([hashes, salted(words, "word"), pairs])
        order = np.lexsort((hashes, rows))
        rows, hashes = rows[order], hashes[order]
        new = (np.diff(rows, prepend=-1) != 0) | (np.diff(hashes, prepend=np.uint64(0)) != 0)
        self.rows, self.hashes = rows[new], hashes[new]

    def sizes(self, chosen: Mask | None = None) -> FloatArray:
        """Return the number of n-grams (of those chosen) per text."""
        rows = self.rows if chosen is None else self.rows[chosen]
        return np.bincount(rows, minlength=self.count).astype(np.float64)

    def within(self, other: "_Grams") -> Mask:
        """Return a mask of the n-grams that the corresponding text of `other` has too."""
        rows = np.concatenate([self.rows, other.rows])
        hashes = np.concatenate([self.hashes, other.hashes])
        order = np.lexsort((hashes, rows))
        same = (np.diff(rows[order]) == 0) & (np.diff(hashes[order]) == 0)
        shared = np.zeros(len(rows), np.bool_)
        shared[order[:-1][same]] = True  # the stable sort puts ours first
        return shared[: len(self.rows)]


def _group(grams: _Grams, role: str, chosen: Mask | None = None) -> _Group:
    """Return n-grams in a role as (row, bucket, value), with unit length per row."""
    rows, hashes = (grams.rows, grams.hashes) if chosen is None else (grams.rows[chosen], grams.hashes[chosen])
    values = 1 / np.sqrt(grams.sizes(chosen)[rows])
    return rows, buckets(salted(hashes, role), _BITS), values.astype(np.float32)


def _pair_rows(firsts: Sequence[str], seconds: Sequence[str], roles: Sequence[str] | None = None) -> SparseRows:
    """Return features of text pairs: shared n-grams, n-grams of one text only, and their shares, which mean the same in
    every language. With `roles`, shares and the second text's n-grams are also features of the pair's role.
    """
    first, second = _Grams(firsts), _Grams(seconds)
    shared, in_second = second.within(first), first.within(second)
    groups = [_group(first, "first"), _group(second, "second"), _group(second, "shared", shared)]
    groups += [_group(second, "only second", ~shared), _group(first, "only first", ~in_second)]
    every = np.arange(len(firsts))
    kinds = Texts(roles if roles is not None else [""] * len(firsts)).whole
    lengths = [np.fromiter(map(len, texts), np.float64, len(texts)) for texts in (firsts, seconds)]
    shares = {
        "shared of second": second.sizes(shared) / np.maximum(second.sizes(), 1),
        "shared of first": first.sizes(in_second) / np.maximum(first.sizes(), 1),
        "length": lengths[1] / np.maximum(lengths[0] + lengths[1], 1),
    }
    steps = {name: np.floor(share * (_STEPS - 1e-6)).astype(np.uint64) for name, share in shares.items()}
    both = join(*steps.values())
    for name, hashes in {**steps, "all shares": both}.items():
        groups.append((every, buckets(salted(join(hashes, kinds), name), _BITS), np.ones(len(every), np.float32)))
    if roles is not None:
        values = (1 / np.sqrt(second.sizes()))[second.rows].astype(np.float32)
        groups.append((second.rows, buckets(join(kinds[second.rows], second.hashes), _BITS), values))
    owners, columns, values = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return SparseRows.of(len(firsts), owners, columns, values)
