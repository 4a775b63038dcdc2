"""Which items are learnt together: batches of similar length, in an order that only the seed decides.

An epoch is shuffled, sorted by width (stably, so that which items of a width meet is random), cut, and the batches
are shuffled. Where an epoch has many batches, padding is then next to nothing, and the multiset of shapes is the same
in every epoch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isogloss.training.exercise import Ints
from isogloss.training.recipes import Recipe

__all__ = ["Batch", "Timetable", "by_tokens", "padding", "widths"]

# Widths are rounded up so that few shapes occur (each is captured once), finer where a piece is a larger share.
_GRANULES = (32, 2), (64, 4), (128, 8), (256, 16)
_COARSEST = 32


def widths(lengths: Ints) -> Ints:
    """The width each item is padded to: its length, rounded up to a multiple of 2, 4, 8, 16 or 32."""
    granules = np.select([lengths <= longest for longest, _ in _GRANULES], [by for _, by in _GRANULES], _COARSEST)
    rounded: Ints = -(-np.maximum(lengths, 1) // granules) * granules
    return rounded


@dataclass(frozen=True)
class Batch:
    """Items that are learnt together.

    Attributes:
        items: their numbers.
        width: pieces every one of them is padded to.
        size: items the batch is padded to.
    """

    items: Ints
    width: int
    size: int


@dataclass(frozen=True)
class Timetable:
    """All updates of a training run, each found by its number: whoever resumes at one goes on with the same batches.

    Attributes:
        lengths: pieces of each item.
        rows: rows of pieces per item.
        recipe: says how many items or pieces make a batch, and how many updates there are.
        seed: decides the order.
    """

    lengths: Ints
    rows: int
    recipe: Recipe
    seed: int

    @cached_property
    def _widths(self) -> Ints:
        return widths(self.lengths)

    @cached_property
    def _cuts(self) -> Ints:
        """Where the batches of a sorted epoch begin, and the end of the last."""
        if not self.recipe.tokens:
            return np.append(np.arange(0, len(self.lengths), self.recipe.batch), len(self.lengths))
        cuts, ordered = [0], np.sort(self._widths)
        while cuts[-1] < len(ordered):
            cuts.append(_full(ordered, cuts[-1], self.recipe.tokens // self.rows))
        return np.array(cuts)

    @property
    def per_epoch(self) -> int:
        """Updates in an epoch."""
        return len(self._cuts) - 1

    @cached_property
    def steps(self) -> int:
        """Updates in all."""
        return self.recipe.steps or max(1, round(self.recipe.epochs * self.per_epoch))

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """The batches from an update on."""
        for step in range(start, self.steps):
            epoch, place = divmod(step, self.per_epoch)
            if place == 0 or step == start:
                order, sequence = self._epoch(epoch)
            cut = sequence[place]
            items = order[self._cuts[cut] : self._cuts[cut + 1]]
            width = int(self._widths[items].max())
            yield Batch(items, width, max(len(items), min(self._size(width), len(self.lengths))))

    def _size(self, width: int) -> int:
        """Items of this width that a full batch has."""
        return self.recipe.tokens // (self.rows * width) if self.recipe.tokens else self.recipe.batch

    def _epoch(self, epoch: int) -> tuple[Ints, Ints]:
        """Items sorted by width, and the order of the batches."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        order = order[np.argsort(self._widths[order], kind="stable")]
        return order, random.permutation(self.per_epoch)


def _full(ordered: Ints, start: int, tokens: int) -> int:
    """Where a batch that begins at `start` is full: its widest item times their number just fits."""
    count = max(1, tokens // int(ordered[start]))
    while count > 1:
        last = min(start + count, len(ordered)) - 1
        fits = max(1, tokens // int(ordered[last]))
        if fits >= last + 1 - start:
            return last + 1
        count = fits
    return start + 1


def by_tokens(lengths: Ints, tokens: int) -> Iterator[Batch]:
    """All items once, in batches of similar length with at most so many pieces, the longest first.

    The longest first, so that memory is taken at once, if it is short at all, and an estimate of the time left errs on
    the safe side.
    """
    padded_to = widths(lengths)
    order = np.argsort(-padded_to, kind="stable")
    start = 0
    while start < len(order):
        width = int(padded_to[order[start]])
        size = max(1, tokens // width)
        items = order[start : start + size]
        yield Batch(items, width, len(items))
        start += len(items)


def padding(lengths: Ints, batches: Sequence[Batch]) -> float:
    """The share of positions that hold no piece."""
    positions = sum(batch.width * batch.size for batch in batches)
    return 1 - sum(int(lengths[batch.items].sum()) for batch in batches) / positions
