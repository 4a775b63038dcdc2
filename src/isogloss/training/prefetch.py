"""Batches as arrays, made by a thread before they are needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from queue import Queue
from threading import Thread
from typing import TypeVar

import numpy as np

from isogloss.training import processes
from isogloss.training.batching import Batch, BatchSchedule
from isogloss.training.objective import Arrays, Ints, TrainingObjective

T = TypeVar("T")

_AHEAD = 8  # updates, or batches, made before they are needed


@dataclass(frozen=True)
class PreparedUpdate:
    """An update, ready to be computed.

    Attributes:
        batches: its batches, over all processes.
        passes: what this process computes, one forward and backward pass after the other.
    """

    batches: list[Batch]
    passes: list[Arrays]

    @cached_property
    def items(self) -> Ints:
        """The numbers of all its items."""
        return np.concatenate([batch.items for batch in self.batches])


def prepared_updates(schedule: BatchSchedule, objective: TrainingObjective, begin: int) -> Iterator[PreparedUpdate]:
    """The updates of a schedule from one on, each made while those before it are computed."""
    return made_ahead(
        PreparedUpdate(batches, [arrays for batch in batches for arrays in _passes(batch, objective, schedule)])
        for batches in schedule.updates(begin)
    )


def _passes(batch: Batch, objective: TrainingObjective, schedule: BatchSchedule) -> Iterator[Arrays]:
    """The part of a batch that is this process's, in passes of at most `micro` items."""
    mine = np.array_split(batch.items, processes.world())[processes.rank()]
    size = -(-batch.size // processes.world())
    micro = min(schedule.recipe.micro or size, size) if objective.splittable else size
    # Every pass is there in every process, though it may be padding, so that all do the same.
    for start in range(0, size, micro):
        yield objective.batch(mine[start : start + micro], batch.width, micro)


def made_ahead(made: Iterator[T]) -> Iterator[T]:
    """The same, made by a thread before they are needed."""
    queue: Queue[T | BaseException | None] = Queue(maxsize=_AHEAD)
    stopped = False

    def make() -> None:
        try:
            for item in made:
                if stopped:
                    return
                queue.put(item)
            queue.put(None)
        except BaseException as error:  # raised where the next batch is taken
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
