"""Linear models over sparse rows: a softmax classifier and a ranker, trained with Adagrad in small batches.

Adagrad because features are as rare as words are: each weight has its own pace, and nothing must be tuned per task.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import IntArray

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SparseRows:
    """Sparse rows, none of them empty.

    Attributes:
        starts: (n + 1,) where each row begins in `buckets`, and the end.
        buckets: the feature buckets, row after row.
        values: the features' values.
    """

    starts: IntArray
    buckets: npt.NDArray[np.int32]
    values: Floats

    @classmethod
    def of(cls, count: int, owners: IntArray, buckets: npt.NDArray[np.int32], values: Floats) -> "SparseRows":
        """Rows from (row, bucket, value) triples in any order; the bias is added."""
        every = np.arange(count)
        order = np.argsort(np.concatenate([every, owners]), kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=count) + 1))
        filled = np.concatenate([np.zeros(count, np.int32), buckets])[order]
        return cls(starts, filled, np.concatenate([np.ones(count, np.float32), values])[order])

    @classmethod
    def table(cls, buckets: npt.NDArray[np.int32]) -> "SparseRows":
        """Rows of equal width, each feature with value 1 / sqrt(width); no bias is added."""
        count, width = buckets.shape
        return cls(np.arange(count + 1) * width, buckets.ravel(), np.full(buckets.size, width**-0.5, np.float32))

    def __len__(self) -> int:
        return len(self.starts) - 1


class LinearModel:
    """Scores = rows x weights, with the state of Adagrad."""

    def __init__(self, bits: int, outputs: int = 1, rate: float = 0.1) -> None:
        self.rate = np.float32(rate)
        self.weights: Floats = np.zeros((1 << bits, outputs), np.float32)
        self._squares: Floats = np.full_like(self.weights, 1e-6)

    def scores(self, rows: SparseRows) -> Floats:
        """The scores of every row, (n, outputs)."""
        parts = self.weights.take(rows.buckets, axis=0)
        parts *= rows.values[:, None]
        scores: Floats = np.add.reduceat(parts, rows.starts[:-1], axis=0)
        return scores

    def step(self, rows: SparseRows, gradients: Floats) -> None:
        """Move the weights against the gradients of the loss by the scores, (n, outputs)."""
        owners = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
        order = np.argsort(rows.buckets, kind="stable")
        sorted_buckets = rows.buckets[order]
        heads = np.flatnonzero(np.diff(sorted_buckets, prepend=-1))
        parts = gradients.take(owners[order], axis=0)
        parts *= rows.values[order][:, None]
        slopes = np.add.reduceat(parts, heads, axis=0)
        touched = sorted_buckets[heads]
        squares = self._squares[touched] + slopes * slopes
        self._squares[touched] = squares
        self.weights[touched] -= self.rate * slopes / np.sqrt(squares)


def train_classifier(
    model: LinearModel, rows_of: Callable[[IntArray], SparseRows], gold: IntArray, *, seed: int, epochs: int, batch: int
) -> None:
    """Fit softmax regression, one output a class; only the order of the examples is random.

    `rows_of` makes the rows of some examples when they are needed, so that memory stays flat.
    """
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(len(gold))
        for start in range(0, len(gold), batch):
            chosen = order[start : start + batch]
            rows = rows_of(chosen)
            scores = model.scores(rows)
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            gradients = scores / scores.sum(axis=1, keepdims=True)
            gradients[np.arange(len(chosen)), gold[chosen]] -= 1
            model.step(rows, gradients / np.float32(len(chosen)))


def train_ranker(
    model: LinearModel,
    groups_of: Callable[[IntArray], tuple[SparseRows, IntArray, IntArray]],
    count: int,
    *,
    seed: int,
    epochs: int,
    batch: int,
) -> None:
    """Fit a log-linear choice between the candidates of each example.

    `groups_of` gives, for some examples, the rows of their candidates, where each example's candidates begin, and the
    row of the right one.
    """
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(count)
        for start in range(0, count, batch):
            rows, begins, right = groups_of(order[start : start + batch])
            scores = model.scores(rows)[:, 0]
            sizes = np.diff(np.append(begins, len(rows)))
            scores = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begins), sizes))
            gradients = scores / np.repeat(np.add.reduceat(scores, begins), sizes)
            gradients[right] -= 1
            model.step(rows, (gradients / np.float32(len(begins)))[:, None])
