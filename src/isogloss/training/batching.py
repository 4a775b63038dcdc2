"""Which items make a batch: batches of similar length, in an order that only the seed decides.

An epoch is shuffled and cut into chunks of some batches. The items of a chunk are sorted by width (stably, so that
which items of a width meet is random), so that little of a batch is padding, and its batches come in random order
before the next chunk does: the updates of a chunk have seen all lengths. What does not fill a batch is random, and the
last of an epoch. Where a recipe counts tokens, an update is many items, in several batches.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from isogloss.training.objective import Ints
from isogloss.training.recipes import Recipe

# Widths are rounded up so that few shapes occur (each is captured once), finer where a token is a larger share.
_GRANULES = (32, 2), (64, 4), (128, 8), (256, 16)
_COARSEST = 32
# Where tokens are counted: those of a batch, which is enough to keep a device busy.
_FILLING = 8192


def widths(lengths: Ints) -> Ints:
    """The width each item is padded to: its length, rounded up to a multiple of 2, 4, 8, 16 or 32."""
    granules = np.select([lengths <= longest for longest, _ in _GRANULES], [by for _, by in _GRANULES], _COARSEST)
    rounded: Ints = -(-np.maximum(lengths, 1) // granules) * granules
    return rounded


@dataclass(frozen=True)
class Batch:
    """Items that go through a model together.

    Attributes:
        items: their numbers.
        width: tokens every one of them is padded to.
        size: items the batch is padded to.
    """

    items: Ints
    width: int
    size: int


@dataclass(frozen=True)
class BatchSchedule:
    """All updates of a training run, each found by its number, so that a resumed run goes on with the same batches.

    Attributes:
        lengths: tokens of each item.
        rows: rows of tokens per item.
        recipe: says how many items or tokens make an update, and how many updates there are.
        seed: decides the order.
        splittable: whether the items of an update may be in several batches.
    """

    lengths: Ints
    rows: int
    recipe: Recipe
    seed: int
    splittable: bool = True

    @cached_property
    def _widths(self) -> Ints:
        return widths(self.lengths)

    @cached_property
    def per_epoch(self) -> int:
        """Updates in an epoch."""
        if not self.recipe.tokens:
            return math.ceil(len(self.lengths) / self.recipe.batch)
        return min(len(self.lengths), math.ceil(int(self._widths.sum()) * self.rows / self.recipe.tokens))

    @cached_property
    def _batches_per_update(self) -> int:
        return max(1, self.recipe.tokens // _FILLING) if self.splittable else 1

    @cached_property
    def _chunks(self) -> list[int]:
        """The updates that chunks begin with, and the end of the last; a batch that is not full is one of its own."""
        full = self.per_epoch if self.recipe.tokens else len(self.lengths) // self.recipe.batch
        together = max(1, self.recipe.chunk // self._batches_per_update)
        return sorted({*range(0, full, together), full, self.per_epoch})

    @cached_property
    def steps(self) -> int:
        """Updates in all."""
        return self.recipe.steps or max(1, round(self.recipe.epochs * self.per_epoch))

    @cached_property
    def checkpoints(self) -> frozenset[int]:
        """The updates after which there is a checkpoint: at every share that the recipe names, and after the last."""
        share = self.recipe.checkpoints / 100
        count = math.ceil(1 / share) if share else 1
        shares = (max(1, round(self.steps * share * number)) for number in range(1, count + 1))
        return frozenset({*(min(self.steps, step) for step in shares), self.steps})

    def updates(self, start: int = 0) -> Iterator[list[Batch]]:
        """The batches of every update from one on: one batch, or several where tokens are counted."""
        for step in range(start, self.steps):
            epoch, place = divmod(step, self.per_epoch)
            if place == 0 or step == start:
                items = self._epoch(epoch)
            yield self._batches(items[place])

    def _epoch(self, epoch: int) -> list[Ints]:
        """The items of every update of an epoch, sorted by width."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        begins = self._begins(order, self.per_epoch)
        updates: list[Ints] = []
        for first, last in pairwise(self._chunks):
            chunk = order[begins[first] : begins[last]]
            chunk = chunk[np.argsort(self._widths[chunk], kind="stable")]
            parts = np.split(chunk, self._begins(chunk, last - first)[1:-1])
            updates += [parts[place] for place in random.permutation(len(parts))]
        return updates

    def _begins(self, items: Ints, count: int) -> Ints:
        """Where each of `count` updates begins in a row of items, and the end: all full, or of as many tokens."""
        ranks = np.arange(count + 1)
        if not self.recipe.tokens:
            return np.minimum(ranks * self.recipe.batch, len(items))
        tokens = np.cumsum(self._widths[items])
        shares = np.searchsorted(tokens, tokens[-1] * ranks / count, side="right")
        # None is empty, however wide a single item is.
        begins: Ints = np.minimum(np.maximum.accumulate(shares - ranks), len(items) - count) + ranks
        return begins

    def _batches(self, items: Ints) -> list[Batch]:
        """The batches of one update, whose items are sorted by width."""
        if self.recipe.tokens and self.splittable:
            return list(self._filling(items))
        size = len(items) if self.recipe.tokens else min(self.recipe.batch, len(self.lengths))
        return [Batch(items, int(self._widths[items[-1]]), size)]

    def _filling(self, items: Ints) -> Iterator[Batch]:
        """Batches of about as many tokens each, the widest first, in few sizes of a width, so that few shapes occur."""
        # A quarter more than its share: what is nearly of one width should not need a further batch for the rest.
        tokens = self.recipe.tokens // self.rows // self._batches_per_update * 5 // 4
        while len(items):
            width = int(self._widths[items[-1]])
            full = max(1, tokens // width)
            eighth = -(-full // 8)
            yield Batch(items[-full:], width, min(full, -(-len(items) // eighth) * eighth))
            items = items[:-full]


def by_cost(lengths: Ints, tokens: int, least: int) -> Iterator[Batch]:
    """All items once, in batches of similar length with at most so many tokens, that take the least time together.

    A batch takes as long as its tokens, padding included, but no less than `least` tokens would, the time in which the
    host starts the next one. So items of different lengths share a batch only where it would be too small without.
    The longest come first, so that memory is taken at once, if it is short at all, and an estimate of the time left
    errs on the safe side.
    """
    padded_to = widths(lengths)
    order = np.argsort(-lengths, kind="stable")  # so that rows as long as their width, which need no mask, meet
    start = 0
    for width, count in _cheapest_groups(padded_to, tokens, least):
        most = max(1, tokens // width)
        for items in np.array_split(order[start : start + count], -(-count // most)):
            yield Batch(items, width, len(items))
        start += count


def _cheapest_groups(padded_to: Ints, tokens: int, least: int) -> list[tuple[int, int]]:
    """Widths, the largest first, and how many items are padded to each, at the least cost."""
    values, counts = np.unique(padded_to, return_counts=True)
    values, before = values[::-1], np.concatenate([[0], np.cumsum(counts[::-1])])
    cost, best_start = np.zeros(len(before)), np.zeros(len(before), np.int64)
    for end in range(1, len(before)):
        items = before[end] - before[:end]
        batches = -(-items // np.maximum(1, tokens // values[:end]))
        costs = cost[:end] + np.maximum(values[:end] * items, least * batches)
        best_start[end] = int(costs.argmin())
        cost[end] = costs[best_start[end]]
    groups: list[tuple[int, int]] = []
    end = len(before) - 1
    while end > 0:
        start = int(best_start[end])
        groups.append((int(values[start]), int(before[end] - before[start])))
        end = start
    return groups[::-1]
