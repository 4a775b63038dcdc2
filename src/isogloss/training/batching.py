"""Which items make a batch: batches of similar length, in an order that only the seed decides.

An epoch is shuffled, sorted by width (stably, so that which items of a width meet is random), cut, and the batches
are shuffled. Where an epoch has many batches, little of them is padding, and the shapes are the same in every epoch.
Where a recipe counts tokens, an update is many items of several widths, in as many batches.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isogloss.training.objective import Ints
from isogloss.training.recipes import Recipe

# Widths are rounded up so that few shapes occur (each is captured once), finer where a token is a larger share.
_GRANULES = (32, 2), (64, 4), (128, 8), (256, 16)
_COARSEST = 32
# Where tokens are counted: the width of the narrowest item of a batch, as a share of the widest one's, and what part of
# the tokens a batch should have before that is looked at.
_NARROWEST, _SMALLEST = 0.95, 32
# How much longer attention with a mask takes a whole batch.
_MASK = 0.05


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
    def _cuts(self) -> Ints:
        """Where the updates of a sorted epoch begin, and the end of the last."""
        if not self.recipe.tokens:
            return np.append(np.arange(0, len(self.lengths), self.recipe.batch), len(self.lengths))
        ends = np.cumsum(np.sort(self._widths))
        cuts, done = [0], 0
        while cuts[-1] < len(ends):
            full = int(np.searchsorted(ends, done + self.recipe.tokens // self.rows, side="right"))
            cuts.append(max(cuts[-1] + 1, full))
            done = int(ends[cuts[-1] - 1])
        return np.array(cuts)

    @property
    def per_epoch(self) -> int:
        """Updates in an epoch."""
        return len(self._cuts) - 1

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
                order, sequence = self._epoch(epoch)
            cut = sequence[place]
            yield self._batches(order[self._cuts[cut] : self._cuts[cut + 1]])

    def _batches(self, items: Ints) -> list[Batch]:
        """The batches of one update, whose items are sorted by width."""
        if not self.recipe.tokens:
            return [Batch(items, int(self._widths[items[-1]]), min(self.recipe.batch, len(self.lengths)))]
        if self.splittable:
            return list(_rectangles(items[::-1], self._widths, self.recipe.tokens // self.rows))
        return [Batch(items, int(self._widths[items[-1]]), len(items))]

    def _epoch(self, epoch: int) -> tuple[Ints, Ints]:
        """Items sorted by width, and the order of the updates."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        order = order[np.argsort(self._widths[order], kind="stable")]
        return order, random.permutation(self.per_epoch)


def by_cost(lengths: Ints, tokens: int, least: int) -> Iterator[Batch]:
    """All items once, in batches of similar length with at most so many tokens, that take the least time together.

    A batch takes as long as its tokens, padding included, and a little longer where a mask has to tell these apart; but
    no less than `least` tokens would, the time in which the host starts the next one. So items of different lengths
    share a batch only where it would be too small without. The longest come first, so that memory is taken at once, if
    it is short at all, and an estimate of the time left errs on the safe side.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    for width, count in _cheapest_groups(np.maximum(lengths, 1), tokens, least):
        most = max(1, tokens // width)
        for items in np.array_split(order[start : start + count], -(-count // most)):
            yield Batch(items, width, len(items))
        start += count


def _cheapest_groups(lengths: Ints, tokens: int, least: int) -> list[tuple[int, int]]:
    """Widths, the largest first, and how many items are padded to each, at the least cost."""
    values, counts = np.unique(lengths, return_counts=True)
    values, before = values[::-1], np.concatenate([[0], np.cumsum(counts[::-1])])
    cost, best_start = np.zeros(len(before)), np.zeros(len(before), np.int64)
    for end in range(1, len(before)):
        items = before[end] - before[:end]
        batches = -(-items // np.maximum(1, tokens // values[:end]))
        computed = values[:end] * items * np.where(np.arange(end) < end - 1, 1 + _MASK, 1.0)
        costs = cost[:end] + np.maximum(computed, least * batches)
        best_start[end] = int(costs.argmin())
        cost[end] = costs[best_start[end]]
    groups: list[tuple[int, int]] = []
    end = len(before) - 1
    while end > 0:
        start = int(best_start[end])
        groups.append((int(values[start]), int(before[end] - before[start])))
        end = start
    return groups[::-1]


def _rectangles(order: Ints, padded_to: Ints, tokens: int) -> Iterator[Batch]:
    """Items, the widest first, in batches of at most so many tokens, none much narrower than the widest of its batch.

    A batch that would be too small to be worth a pass of its own takes narrower ones as well.
    """
    start = 0
    while start < len(order):
        width = int(padded_to[order[start]])
        near = order[start : start + max(1, tokens // width)]
        similar = int((padded_to[near] >= _NARROWEST * width).sum())
        items = near[: max(similar, tokens // _SMALLEST // width)]
        yield Batch(items, width, len(items))
        start += len(items)
