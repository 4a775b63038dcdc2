"""Linear models over sparse rows: classifiers, a ranker and least squares, trained with Adagrad in small batches."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import IntArray

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SparseRows:
    """Sparse, non-empty rows: feature buckets and values, row after row, and the start of each row and the end."""

    starts: IntArray
    buckets: npt.NDArray[np.int32]
    values: Floats

    @classmethod
    def of(cls, count: int, owners: IntArray, buckets: npt.NDArray[np.int32], values: Floats) -> "SparseRows":
        """Build rows from (row, bucket, value) triples in any order, and add the bias."""
        every = np.arange(count)
        order = stable_order(np.concatenate([every, owners]))
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=count) + 1))
        filled = np.concatenate([np.zeros(count, np.int32), buckets])[order]
        return cls(starts, filled, np.concatenate([np.ones(count, np.float32), values])[order])

    @classmethod
    def table(cls, buckets: npt.NDArray[np.int32]) -> "SparseRows":
        """Build rows of equal width, with all values 1 / sqrt(width) and no bias."""
        count, width = buckets.shape
        return cls(np.arange(count + 1) * width, buckets.ravel(), np.full(buckets.size, width**-0.5, np.float32))

    def __len__(self) -> int:
        return len(self.starts) - 1


class LinearModel:
    """Scores = rows x weights, with the state of Adagrad, which suits features as rare as words: rates per weight."""

    def __init__(self, bits: int, outputs: int = 1, rate: float = 0.1) -> None:
        self.rate = np.float32(rate)
        self.weights: Floats = np.zeros((1 << bits, outputs), np.float32)
        self._squares: Floats = np.full_like(self.weights, 1e-6)

    def scores(self, rows: SparseRows) -> Floats:
        """Return the scores of every row, (n, outputs)."""
        parts = self.weights.take(rows.buckets, axis=0)
        parts *= rows.values[:, None]
        scores: Floats = np.add.reduceat(parts, rows.starts[:-1], axis=0)
        return scores

    def step(self, rows: SparseRows, gradients: Floats) -> None:
        """Apply one Adagrad step for gradients of the loss with respect to the scores, (n, outputs)."""
        owners = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
        order = stable_order(rows.buckets)
        sorted_buckets = rows.buckets[order]
        heads = np.flatnonzero(np.diff(sorted_buckets, prepend=-1))
        parts = gradients.take(owners[order], axis=0)
        parts *= rows.values[order][:, None]
        slopes = np.add.reduceat(parts, heads, axis=0)
        touched = sorted_buckets[heads]
        squares = self._squares[touched] + slopes * slopes
        self._squares[touched] = squares
        self.weights[touched] -= self.rate * slopes / np.sqrt(squares)

    def learn_classes(self, rows: SparseRows, gold: IntArray) -> None:
        """Apply one step of softmax regression with one output per class."""
        scores = self.scores(rows)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        gradients = scores / scores.sum(axis=1, keepdims=True)
        gradients[np.arange(len(gold)), gold] -= 1
        self.step(rows, gradients / np.float32(len(gold)))

    def learn_labels(self, rows: SparseRows, gold: Floats) -> None:
        """Apply one step of logistic regressions, one output per label; gold is 0 or 1, (n, labels)."""
        gradients = 1 / (1 + np.exp(-np.clip(self.scores(rows), -30, 30))) - gold
        self.step(rows, (gradients / len(gold)).astype(np.float32))

    def learn_numbers(self, rows: SparseRows, gold: Floats) -> None:
        """Apply one step of least squares with one output."""
        self.step(rows, (self.scores(rows) - gold[:, None]) / np.float32(len(gold)))

    def learn_choices(self, rows: SparseRows, begins: IntArray, right: IntArray) -> None:
        """Apply one step of a log-linear choice between rows, grouped by their begins, with one right row per group."""
        scores = self.scores(rows)[:, 0]
        sizes = np.diff(np.append(begins, len(rows)))
        scores = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begins), sizes))
        gradients = scores / np.repeat(np.add.reduceat(scores, begins), sizes)
        gradients[right] -= 1
        self.step(rows, (gradients / np.float32(len(begins)))[:, None])


def stable_order(numbers: npt.NDArray[np.integer]) -> IntArray:
    """Return the order of `np.argsort(numbers, kind="stable")`, several times faster.

    Sorting values is vectorised, so each number, from 0 to 2^31 - 1, is sorted together with its place.
    """
    keys = (numbers.astype(np.int64) << 32) | np.arange(len(numbers))
    keys.sort()
    order: IntArray = keys & 0xFFFFFFFF
    return order


def batches(count: int, seed: int, epochs: int, size: int) -> Iterator[IntArray]:
    """Yield the examples of every step; only their order is random."""
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        yield from np.split(random.permutation(count), range(size, count, size))
