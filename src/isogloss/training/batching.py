"""Batch schedules: batches of similar length, in an order that depends only on the seed, prepared ahead of their use.

Each epoch is shuffled and cut into chunks of several batches. Items within a chunk are sorted by width, which keeps
padding low; the sort is stable, so items of equal width stay in random order. The batches of a chunk are shuffled, so
each chunk covers all lengths. The incomplete batch of an epoch holds random items and comes last. A recipe that counts
tokens makes updates of many items in several batches.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from queue import Queue
from threading import Thread
from typing import TypeVar

import numpy as np

from isogloss.training import processes
from isogloss.training.objective import Arrays, Ints, TrainingObjective
from isogloss.training.recipes import Recipe

T = TypeVar("T")

# Widths are rounded up to limit the number of shapes (each is captured once); short rows use finer steps.
_GRANULES, _COARSEST = ((32, 2), (64, 4), (128, 8), (256, 16)), 32
# Tokens per batch for recipes that count tokens: enough to keep a device busy.
_FILLING = 8192
_AHEAD = 8  # updates or batches prepared ahead


def widths(lengths: Ints) -> Ints:
    """Return each item's padded width: its length, rounded up to a multiple of 2, 4, 8, 16 or 32."""
    granules = np.select([lengths <= longest for longest, _ in _GRANULES], [by for _, by in _GRANULES], _COARSEST)
    rounded: Ints = -(-np.maximum(lengths, 1) // granules) * granules
    return rounded


@dataclass(frozen=True)
class Batch:
    """Items that pass through a model together, each padded to `width` tokens, and together to `size` items."""

    items: Ints
    width: int
    size: int


@dataclass(frozen=True, kw_only=True)
class BatchSchedule:
    """All updates of a training run, addressable by number so that a resumed run sees the same batches."""

    lengths: Ints  # tokens per item
    rows: int  # rows of tokens per item
    recipe: Recipe
    seed: int
    splittable: bool = True  # items of an update may be spread over several batches

    @cached_property
    def _widths(self) -> Ints:
        if self.recipe.padding == "full":
            return np.full(len(self.lengths), max(self.recipe.max_length, int(self.lengths.max())))
        return widths(self.lengths)

    @cached_property
    def per_epoch(self) -> int:
        """Number of updates per epoch."""
        if not self.recipe.tokens:
            return math.ceil(len(self.lengths) / self.recipe.batch)
        return min(len(self.lengths), math.ceil(int(self._widths.sum()) * self.rows / self.recipe.tokens))

    @cached_property
    def _batches_per_update(self) -> int:
        return max(1, self.recipe.tokens // _FILLING) if self.splittable else 1

    @cached_property
    def steps(self) -> int:
        """Total number of updates."""
        return self.recipe.steps or max(1, round(self.recipe.epochs * self.per_epoch))

    @cached_property
    def checkpoints(self) -> frozenset[int]:
        """Updates followed by a checkpoint: at regular intervals set by the recipe, and after the last update."""
        share = self.recipe.checkpoints / 100
        count = math.ceil(1 / share) if share else 1
        shares = (max(1, round(self.steps * share * number)) for number in range(1, count + 1))
        return frozenset({*(min(self.steps, step) for step in shares), self.steps})

    def updates(self, start: int = 0) -> Iterator[list[Batch]]:
        """Yield the batches of every update from `start` on: one batch, or several if the recipe counts tokens."""
        for step in range(start, self.steps):
            epoch, index = divmod(step, self.per_epoch)
            if index == 0 or step == start:
                items = self._epoch(epoch)
            if self.recipe.tokens and self.splittable:
                yield list(self._filling(items[index]))
                continue
            size = len(items[index]) if self.recipe.tokens else min(self.recipe.batch, len(self.lengths))
            yield [Batch(items[index], int(self._widths[items[index][-1]]), size)]

    def _epoch(self, epoch: int) -> list[Ints]:
        """Return the items of every update of an epoch, sorted by width."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        begins = self._begins(order, self.per_epoch)
        # First update of each chunk, and the end; an incomplete batch is a chunk of its own.
        full = self.per_epoch if self.recipe.tokens else len(self.lengths) // self.recipe.batch
        per_chunk = max(1, self.recipe.chunk // self._batches_per_update)
        chunks = sorted({*range(0, full, per_chunk), full, self.per_epoch})
        updates: list[Ints] = []
        for first, last in pairwise(chunks):
            chunk = order[begins[first] : begins[last]]
            chunk = chunk[np.argsort(self._widths[chunk], kind="stable")]
            parts = np.split(chunk, self._begins(chunk, last - first)[1:-1])
            updates += [parts[index] for index in random.permutation(len(parts))]
        return updates

    def _begins(self, items: Ints, count: int) -> Ints:
        """Return the starts of `count` updates in `items`, and the end; updates have equal items or equal tokens."""
        ranks = np.arange(count + 1)
        if not self.recipe.tokens:
            return np.minimum(ranks * self.recipe.batch, len(items))
        tokens = np.cumsum(self._widths[items])
        shares = np.searchsorted(tokens, tokens[-1] * ranks / count, side="right")
        # No update is empty, however wide a single item is.
        begins: Ints = np.minimum(np.maximum.accumulate(shares - ranks), len(items) - count) + ranks
        return begins

    def _filling(self, items: Ints) -> Iterator[Batch]:
        """Yield batches of similar token counts, widest first, with few sizes per width to limit the shapes."""
        # A quarter more than the share, so that items of nearly one width need no extra batch for the rest.
        tokens = self.recipe.tokens // self.rows // self._batches_per_update * 5 // 4
        while len(items):
            width = int(self._widths[items[-1]])
            full = max(1, tokens // width)
            eighth = -(-full // 8)
            yield Batch(items[-full:], width, min(full, -(-len(items) // eighth) * eighth))
            items = items[:-full]


def by_cost(lengths: Ints, tokens: int, least: int) -> Iterator[Batch]:
    """Yield every item once, in batches of similar length and at most `tokens` tokens, minimising total time.

    A batch costs its tokens including padding, and at least `least` tokens, the time the host needs to launch the next.
    The longest come first, so that memory errors appear early and estimates of the remaining time are conservative.
    """
    padded_to = widths(lengths)
    order = np.argsort(-lengths, kind="stable")  # groups rows that fill their width and need no mask
    start = 0
    for width, count in _cheapest_groups(padded_to, tokens, least):
        most = max(1, tokens // width)
        for items in np.array_split(order[start : start + count], -(-count // most)):
            yield Batch(items, width, len(items))
        start += count


def _cheapest_groups(padded_to: Ints, tokens: int, least: int) -> list[tuple[int, int]]:
    """Return (width, number of items) groups of least total cost, widest first."""
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


@dataclass(frozen=True)
class PreparedUpdate:
    """An update, ready to run: batches over all processes, and inputs of this process's passes."""

    batches: list[Batch]
    passes: list[Arrays]
    items: Ints  # of all batches


def prepared_updates(schedule: BatchSchedule, objective: TrainingObjective, begin: int) -> Iterator[PreparedUpdate]:
    """Yield the updates of a schedule from `begin` on, each prepared while earlier ones run."""

    def passes(batch: Batch) -> Iterator[Arrays]:
        """Yield this process's part of a batch, in passes of at most `micro` items."""
        mine = np.array_split(batch.items, processes.world())[processes.rank()]
        size = -(-batch.size // processes.world())
        micro = min(schedule.recipe.micro or size, size) if objective.splittable else size
        # Every process runs the same number of passes, even if some hold only padding.
        for start in range(0, size, micro):
            yield objective.batch(mine[start : start + micro], batch.width, micro)

    def prepared(batches: list[Batch]) -> PreparedUpdate:
        arrays, items = chain.from_iterable(map(passes, batches)), [batch.items for batch in batches]
        return PreparedUpdate(batches, list(arrays), np.concatenate(items))

    return made_ahead(map(prepared, schedule.updates(begin)))


def made_ahead(made: Iterator[T]) -> Iterator[T]:
    """Iterate in a background thread that prepares items ahead of their use."""
    queue: Queue[T | BaseException | None] = Queue(maxsize=_AHEAD)
    stopped = False

    def make() -> None:
        try:
            for item in made:
                if stopped:
                    return
                queue.put(item)
            queue.put(None)
        except BaseException as error:  # re-raised in the consumer
            queue.put(error)

    thread = Thread(target=make, daemon=True, name="batches")
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped = True
        while thread.is_alive():
            while not queue.empty():
                queue.get()
            thread.join(timeout=0.05)
