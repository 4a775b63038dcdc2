"""Calls executed elsewhere: in other processes of this machine, or on a cluster, behind one small interface.

A call is anything that can be pickled and called without arguments: `partial(function, item)`, say. Whoever has work
takes `Workers` and neither knows nor asks what is behind them; `isogloss.runs.place.Place` opens the ones a user means.
"""

import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pickle import PicklingError
from typing import Any, Generic, Protocol, TypeVar

from isogloss.errors import IsoglossError

T = TypeVar("T")
Item = TypeVar("Item")

# Where an engine names its nodes itself, the processes it starts find the name of theirs here.
NODE_VARIABLE = "ISOGLOSS_NODE"
# How often workers may die over a call, or a cell, before it is given up.
MOST_DEATHS = 4
# Seconds between two questions to workers whether they are still there.
LOOK = 2.0


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
    workers: Workers | None, function: Callable[[Item], T], items: Iterable[Item], resources: Resources = ONE_CORE
) -> Iterator[T]:
    """The results of a function over items, in their order; no more are under way than there are slots.

    What is raised is thus what the first item that raises anything raises, as it is without workers. A call whose
    worker died is executed again.

    Args:
        workers: who executes it; they are entered already. None for this process.
        function: what can be pickled: a function of a module, or a `partial` of one.
        items: what it is called with.
        resources: what each call needs.

    Raises:
        WorkerDiedError: the workers of one item died again and again.
        Exception: what the function raises.
    """
    if workers is None:
        yield from map(function, items)
        return
    under_way: deque[_RepeatedCall[T]] = deque()

    def slots() -> int:
        return max(1, workers.slots)

    def slots_later() -> int:
        # Nobody waits for ever: asked for its slots, a cluster that is gone says so, but its futures may never end.
        wait([call.future for call in under_way if call.is_running()], LOOK, FIRST_COMPLETED)
        return slots()

    for item in items:
        under_way.append(_RepeatedCall(workers, partial(function, item), resources))
        room = slots()
        while sum(call.is_running() for call in under_way) >= room:
            room = slots_later()
        while under_way and not under_way[0].is_running():
            yield under_way.popleft().future.result()
    while under_way:
        while under_way[0].is_running():
            slots_later()
        yield under_way.popleft().future.result()


class _RepeatedCall(Generic[T]):
    """A call that is executed again where its worker dies."""

    def __init__(self, workers: Workers, call: Callable[[], T], resources: Resources) -> None:
        self._submit = partial(workers.submit, call, resources)
        self._deaths = 0
        self.future: Future[T] = self._submit()

    def is_running(self) -> bool:
        """Whether there is no result yet."""
        if not self.future.done():
            return True
        if self._deaths >= MOST_DEATHS or not isinstance(self.future.exception(), WorkerDiedError):
            return False
        self._deaths += 1
        self.future = self._submit()
        return True


class LocalWorkers(AbstractContextManager["LocalWorkers"]):
    """Executes calls in processes of this machine, which are started as they are needed and used again."""

    nodes = 1

    def __init__(self, slots: int) -> None:
        self.slots = slots
        # A pool for each process: one that dies takes no other's call with it.
        self._pools: dict[ProcessPoolExecutor, Future[Any]] = {}
        self._exits = ExitStack()

    def __enter__(self) -> "LocalWorkers":
        self._exits.enter_context(cores_shared(self.slots))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._exits:
            for pool in self._pools:
                # Nobody waits for calls whose results are not wanted any more.
                for process in (pool._processes or {}).values() if kind is not None else ():
                    process.terminate()
            for pool in self._pools:
                pool.shutdown(cancel_futures=True)
            self._pools.clear()

    def submit(
        self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[T]":
        """Have a call executed in a process that has none."""
        idle = [pool for pool, last in self._pools.items() if last.done()]
        for pool in idle:
            try:
                return self._hand_over(pool, call)
            except BrokenProcessPool:
                del self._pools[pool]
        if len(self._pools) >= self.slots:
            return self._hand_over(next(iter(self._pools)), call)
        # Spawned, not forked: libraries with threads or an accelerator do not survive a fork.
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
        # Ctrl-C waits until the process can ignore it: it is this one's to answer.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._hand_over(pool, call)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _hand_over(self, pool: ProcessPoolExecutor, call: Callable[[], T]) -> "Future[T]":
        inner = pool.submit(call)
        self._pools[pool] = inner
        ended: Future[T] = Future()
        inner.add_done_callback(partial(_hand_on, ended))
        return ended


def local_workers(jobs: int) -> AbstractContextManager[Workers | None]:
    """So many processes of this machine to share work, None to enter where there is to be but one: this."""
    return LocalWorkers(jobs) if jobs > 1 else nullcontext()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def cores_shared(jobs: int) -> Iterator[None]:
    """Each process computes on its share of the cores, unless the user has said otherwise."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    added = [name for name in names if name not in os.environ]
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    os.environ.update(dict.fromkeys(added, share))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _hand_on(ended: "Future[T]", inner: "Future[T]") -> None:
    error = inner.exception()
    if isinstance(error, BrokenProcessPool):
        died = WorkerDiedError("a process died, perhaps for want of memory", fix="Give fewer --jobs")
        ended.set_exception(died)
    elif isinstance(error, PicklingError | AttributeError | TypeError) and "pickle" in str(error):
        what = f"something that is not a module's own cannot travel to another process: {error}"
        ended.set_exception(IsoglossError(what, fix="With --jobs 1 it need not"))
    elif error is not None:
        ended.set_exception(error)
    else:
        ended.set_result(inner.result())
