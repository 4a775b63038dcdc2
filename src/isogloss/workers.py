"""Calls executed elsewhere: in other processes of this machine, or on a cluster, behind one small interface.

A call is anything that can be pickled and called without arguments: `partial(function, item)`, say. Whoever has work
takes `Workers` and neither knows nor asks what is behind them; `isogloss.runs.place.Place` opens the ones a user means.
"""

import os
import socket
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Protocol, TypeVar

from isogloss.errors import IsoglossError

T = TypeVar("T")
Item = TypeVar("Item")

# Where an engine names its nodes itself, the processes it starts find the name of theirs here.
NODE_VARIABLE = "ISOGLOSS_NODE"


@dataclass(frozen=True)
class Resources:
    """What a call needs on its node.

    Attributes:
        cpus: cores.
        gpus: accelerators; below 1 a share of one; None for one where the nodes have any.
        memory: bytes, 0 for no promise.
        hours: the longest it may take, 0 for what the site allows.
    """

    cpus: float = 1.0
    gpus: float | None = None
    memory: int = 0
    hours: float = 0.0


ONE_CORE = Resources(gpus=0)


class WorkerDiedError(IsoglossError):
    """The process or the node that executed a call is gone, and nobody knows how far it had come."""


class Workers(AbstractContextManager["Workers"], Protocol):
    """Executes calls somewhere. They are entered before the first call; on leaving them, nothing of theirs runs."""

    @property
    def slots(self) -> int:
        """How many calls like the last one they execute at a time now; it may change as a cluster does."""

    @property
    def nodes(self) -> int:
        """How many nodes there are now."""

    def submit(
        self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[T]":
        """Have a call executed once; the future ends by itself.

        Args:
            call: what can be pickled, and called.
            resources: what it needs.
            avoid: nodes, by their `node_name`, that are not to execute it.

        Returns:
            What the call returns or raises; a `WorkerDiedError` where its process or node has died.
        """


def node_name() -> str:
    """The node that this process runs on, as `Workers.submit` may be told to avoid it."""
    return os.environ.get(NODE_VARIABLE) or socket.gethostname()


def in_parallel(
    workers: Workers, function: Callable[[Item], T], items: Iterable[Item], resources: Resources = ONE_CORE
) -> Iterator[T]:
    """The results of a function over items, in their order; no more are under way than there are slots.

    A call whose worker died is executed once more.

    Args:
        workers: who executes it; they are entered already.
        function: what can be pickled: a function of a module, or a `partial` of one.
        items: what it is called with.
        resources: what each call needs.

    Raises:
        WorkerDiedError: the workers of one item died twice.
        Exception: what the function raises.
    """
    under_way: deque[tuple[Callable[[], T], Future[T]]] = deque()

    def oldest() -> T:
        call, future = under_way.popleft()
        try:
            return future.result()
        except WorkerDiedError:
            return workers.submit(call, resources).result()

    for item in items:
        call = partial(function, item)
        under_way.append((call, workers.submit(call, resources)))
        while len(under_way) >= max(1, workers.slots):
            yield oldest()
    while under_way:
        yield oldest()


class LocalWorkers(AbstractContextManager["LocalWorkers"]):
    """Executes calls in processes of this machine, which are started as they are needed and used again."""

    nodes = 1

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        # Spawned, not forked: libraries with threads or an accelerator do not survive a fork.
        return ProcessPoolExecutor(self.slots, mp_context=get_context("spawn"))

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def submit(
        self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[T]":
        """Have a call executed in a process."""
        try:
            inner = self._pool.submit(call)
        except BrokenProcessPool:
            self._pool = self._new_pool()
            inner = self._pool.submit(call)
        ended: Future[T] = Future()
        inner.add_done_callback(partial(_hand_on, ended))
        return ended


def _hand_on(ended: "Future[T]", inner: "Future[T]") -> None:
    error = inner.exception()
    if isinstance(error, BrokenProcessPool):
        died = WorkerDiedError("a process died, perhaps for want of memory", fix="Give fewer --jobs")
        ended.set_exception(died)
    elif error is not None:
        ended.set_exception(error)
    else:
        ended.set_result(inner.result())
