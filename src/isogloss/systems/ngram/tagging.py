"""Tagging by substrings of each token and its neighbours, and for entities the best valid sequence."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import IntArray
from isogloss.systems.ngram.hashing import Hashes, Mask, Texts, buckets, character_classes, join, salted, shapes
from isogloss.systems.ngram.linear_model import Floats, LinearModel, SparseRows, batches
from isogloss.systems.targets import IGNORED, seen_labels, tag_ids
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

_BITS, _EPOCHS, _BATCH = 18, 6, 1024
_AFFIXES = 5


class NgramTagger:
    """Softmax over hashed features of a token and of two neighbours on either side."""

    together = 2048

    def __init__(self, task: Task, train: Examples, seed: int) -> None:
        numbers = tag_ids(task, train)
        tagged = numbers != IGNORED
        self.labels, gold = seen_labels(task, numbers[tagged], train)
        self.model = LinearModel(_BITS, len(self.labels))
        table = _features(train["tokens"])
        table = table if tagged.all() else table[tagged]
        for rows in batches(len(gold), seed, _EPOCHS, _BATCH):
            self.model.learn_classes(SparseRows.table(table[rows]), gold[rows])

    def predict(self, examples: Examples) -> list[list[str]]:
        """Return one tag per token."""
        sentences = examples["tokens"]
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        if not lengths.sum():
            return [[] for _ in sentences]
        scores = self.model.scores(SparseRows.table(_features(sentences)))
        follows = _followers(self.labels)
        best = scores.argmax(axis=1) if follows.all() else _best_sequences(scores, lengths, follows)
        names = np.array(self.labels, dtype=object)[best].tolist()
        ends = np.cumsum(lengths).tolist()
        return [names[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def _features(sentences: Sequence[Sequence[str]]) -> npt.NDArray[np.int32]:
    """Return the feature buckets of every token of every sentence, (tokens, features)."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    types = np.fromiter(map(numbers.__getitem__, chain.from_iterable(sentences)), np.int64)
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    ends = np.repeat(np.cumsum(lengths), lengths)
    position = np.arange(len(types))
    own = _type_features(list(numbers))

    def neighbour(name: str, distance: int) -> Hashes:
        """Return a feature of the token at a distance, or a placeholder hash outside the sentence."""
        other = position + distance
        inside = (other >= ends - np.repeat(lengths, lengths)) & (other < ends)
        return np.where(inside, own[name][types[np.where(inside, other, 0)]], np.uint64(distance + 8))

    word, shape, ending = (own[name][types] for name in ("lower", "shape", "suffix-3"))
    before, after = neighbour("lower", -1), neighbour("lower", 1)
    around = join(neighbour("shape", -1), shape, neighbour("shape", 1))
    size = np.minimum(np.repeat(lengths, lengths), 12).astype(np.uint64)
    index = np.minimum(position - (ends - np.repeat(lengths, lengths)), 3).astype(np.uint64)
    features = {name: hashes[types] for name, hashes in own.items()}
    for distance in (-2, -1, 1, 2):
        features |= {f"{name} {distance}": neighbour(name, distance) for name in ("lower", "shape")}
    features |= {f"suffix-3 {distance}": neighbour("suffix-3", distance) for distance in (-1, 1)}
    features |= {
        "before and word": join(before, word),
        "word and after": join(word, after),
        "before and ending": join(before, ending),
        "ending and after": join(ending, after),
        "shapes around": around,
        "shapes around and size": join(around, size),
        "shape and place": join(shape, index, size),
    }
    return np.stack([buckets(salted(hashes, name), _BITS) for name, hashes in features.items()], axis=1)


def _type_features(words: Sequence[str]) -> dict[str, Hashes]:
    """Return context-free features of each distinct token."""
    cased, lower = Texts(words), Texts([word.lower() for word in words])
    starts, ends = lower.bounds[:-1], lower.bounds[1:]
    features = {
        "word": cased.whole,
        "lower": lower.whole,
        "shape": shapes(character_classes(cased.codes), cased.bounds[:-1], cased.bounds[1:]),
        "length": np.minimum(ends - starts, 16).astype(np.uint64),
    }
    for n in range(1, _AFFIXES + 1):
        features[f"prefix-{n}"] = lower.hashes(starts, np.minimum(starts + n, ends))
        features[f"suffix-{n}"] = lower.hashes(np.maximum(ends - n, starts), ends)
    return features


def _followers(labels: Sequence[str]) -> Mask:
    """Return a mask of valid label transitions (IOB2, if used); the last row is the start of a sentence."""
    follows = np.ones((len(labels) + 1, len(labels)), np.bool_)
    for column, label in enumerate(labels):
        if label.startswith("I-"):
            follows[:, column] = [before[:2] in ("B-", "I-") and before[2:] == label[2:] for before in (*labels, "O")]
    return follows


def _best_sequences(scores: Floats, lengths: IntArray, follows: Mask) -> IntArray:
    """Return each sentence's valid label sequence with the highest total score (Viterbi, all sentences together)."""
    starts = np.cumsum(lengths) - lengths
    penalty = np.where(follows, np.float32(0), np.float32(-1e9))
    total = scores.copy()  # of the best sequence ending here with each label
    came_from = np.zeros(scores.shape, np.int64)
    some = starts[lengths > 0]
    total[some] += penalty[-1]
    for t in range(1, int(lengths.max())):
        here = starts[lengths > t] + t
        paths = total[here - 1][:, :, None] + penalty[None, :-1]
        came_from[here] = paths.argmax(axis=1)
        total[here] += paths.max(axis=1)
    best = np.zeros(len(scores), np.int64)
    last = (starts + lengths - 1)[lengths > 0]
    best[last] = total[last].argmax(axis=1)
    for t in range(int(lengths.max()) - 1, 0, -1):
        here = starts[lengths > t] + t
        best[here - 1] = came_from[here, best[here]]
    return best
