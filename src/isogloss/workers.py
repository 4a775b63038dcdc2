"""Run calls elsewhere: in this process, in other processes of this machine, on Ray or on SLURM.

A call is anything that can be pickled and called without arguments, such as `partial(function, item)`. Code with work
to distribute takes `Workers`; `isogloss.runs.place.Place` creates the ones a user names.
"""

import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from isogloss.errors import IsoglossError, check_count

T = TypeVar("T")
Item = TypeVar("Item")

# Environment variable with the node's name, for clusters that name their nodes themselves.
NODE_VARIABLE = "ISOGLOSS_NODE"
# Worker deaths after which a call, or a cell, is given up.
MOST_DEATHS = 4
# Seconds between two checks that a cluster is still up.
LOOK = 2.0
# Seconds that an interrupted process has to end before it is killed.
GRACE = 10.0
# Exit code of a process ended by Ctrl-C.
INTERRUPTED = 130


@dataclass(frozen=True)
class Resources:
    """Cores, GPUs, bytes of memory and hours that a call needs on its node; 0 for no reservation or the site's limit.

    A fraction of a GPU below 1 shares one; None is one GPU if the nodes have any.
    """

    cpus: float = 1.0
    gpus: float | None = None
    memory: int = 0
    hours: float = 0.0


ONE_CORE = Resources(gpus=0)
_DEVICES = "CUDA_VISIBLE_DEVICES"


class WorkerDiedError(IsoglossError):
    """The process or node that executed a call died."""


class ClusterGoneError(IsoglossError):
    """The head of a cluster no longer answers; its workers may still be running."""


class Workers(AbstractContextManager["Workers"], Protocol):
    """Executor of calls. Enter it before the first call; after it exits, none of its calls is running."""

    @property
    def slots(self) -> int:
        """Number of calls like the last one that can run at the same time; changes with the cluster."""

    @property
    def nodes(self) -> int:
        """Current number of nodes."""

    def submit(self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()) -> Future[T]:
        """Execute a picklable call once, on none of the nodes to avoid (by their `node_name`).

        The exception is the call's, or a `WorkerDiedError` if its process or node died.
        """


def node_name() -> str:
    """Return the name of this process's node, as `Workers.submit` takes it in `avoid`."""
    return os.environ.get(NODE_VARIABLE) or socket.gethostname()


def gpu_count() -> int:
    """Return the number of CUDA devices that this process may use; 0 without torch."""
    if find_spec("torch") is None:
        return 0
    import torch

    return int(torch.cuda.device_count())


def visible_gpus() -> list[str]:
    """Return the CUDA devices that this process may use, by their names in CUDA_VISIBLE_DEVICES."""
    listed = [name.strip() for name in os.environ.get(_DEVICES, "").split(",") if name.strip()]
    return (listed or [str(number) for number in range(gpu_count())])[: gpu_count()]


def attempt(call: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """Return the value and the exception of a call: clusters would wrap an exception and lose its attributes."""
    try:
        return call(*arguments), None
    except Exception as error:
        return None, error


def settle(future: Future[T], value: T, error: BaseException | None) -> Future[T]:
    """Set the outcome of a call, and return its future."""
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
    return future


def in_parallel(
    workers: Workers | None, function: Callable[[Item], T], items: Iterable[Item], resources: Resources = ONE_CORE
) -> Iterator[T]:
    """Yield the results of a picklable function over items, in order, with at most `workers.slots` calls running.

    Without workers, the calls run in this process. The first item that raises decides the exception. Calls are retried
    when their worker dies, a few times.
    """
    if workers is None:
        yield from map(function, items)
        return
    pending: deque[_RetriedCall[T]] = deque()

    def wait_for_slots() -> int:
        # With a timeout: the futures of a lost cluster may never end, but its `slots` raise.
        wait([call.future for call in pending if call.is_running()], LOOK, FIRST_COMPLETED)
        return max(1, workers.slots)

    for item in items:
        pending.append(_RetriedCall(workers, partial(function, item), resources))
        slots = max(1, workers.slots)
        while sum(call.is_running() for call in pending) >= slots:
            slots = wait_for_slots()
        while pending and not pending[0].is_running():
            yield pending.popleft().future.result()
    while pending:
        while pending[0].is_running():
            wait_for_slots()
        yield pending.popleft().future.result()


class _RetriedCall(Generic[T]):
    """A call that is submitted again when its worker dies."""

    def __init__(self, workers: Workers, call: Callable[[], T], resources: Resources) -> None:
        self._submit = partial(workers.submit, call, resources)
        self._deaths = 0
        self.future: Future[T] = self._submit()

    def is_running(self) -> bool:
        """Return True if there is no final result yet."""
        if not self.future.done():
            return True
        if self._deaths >= MOST_DEATHS or not isinstance(self.future.exception(), WorkerDiedError):
            return False
        self._deaths += 1
        self.future = self._submit()
        return True


class InProcessWorkers(AbstractContextManager["InProcessWorkers"]):
    """Workers that execute each call in this process, during `submit`."""

    slots = nodes = 1

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()) -> Future[T]:
        """Execute a call; Ctrl-C raises here."""
        return settle(Future(), *attempt(call))


class ProcessWorkers(AbstractContextManager["ProcessWorkers"]):
    """Workers that execute calls in processes of this machine; a process that dies ends only its own call.

    One thread per process sends it calls and waits for their results. Ctrl-C interrupts the processes as well. If calls
    need a GPU and there are several, each process sees one of them: that with the fewest other processes.
    """

    nodes = 1

    def __init__(self, jobs: int) -> None:
        self.slots = jobs
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="process")
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._processes: set[_Process] = set()
        self._starting = threading.Lock()
        self._closed = False
        self._variables: list[str] = []

    def __enter__(self) -> "ProcessWorkers":
        # Divide the cores among the processes, unless the user has set the number of threads.
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        self._variables = [name for name in names if name not in os.environ]
        os.environ.update(dict.fromkeys(self._variables, str(max(1, (os.cpu_count() or 1) // self.slots))))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self._threads.shutdown(wait=False, cancel_futures=True)
            with self._starting:
                self._closed = True
            for process in list(self._processes):
                if kind is not None:
                    process.interrupt()
            self._threads.shutdown()  # processes at work have ended their calls, or have been killed
            for process in list(self._processes):
                process.close()
        finally:
            for name in self._variables:
                del os.environ[name]

    def submit(self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()) -> Future[T]:
        """Execute a call in an idle process; start one if there is none."""
        return self._threads.submit(self._execute, call, resources.gpus != 0)

    def _execute(self, call: Callable[[], T], on_gpu: bool = False) -> T:
        packed = _pickled(call)
        try:
            process = self._idle.get_nowait()
        except Empty:
            with self._starting:
                if self._closed:
                    raise KeyboardInterrupt from None
                process = self._started(visible_gpus() if on_gpu else [])
        try:
            value, error = process.execute(packed)
        except BaseException:
            self._processes.discard(process)
            raise
        self._idle.put(process)
        if error is not None:
            raise error
        result: T = value
        return result

    def _started(self, gpus: Sequence[str]) -> "_Process":
        """Start a process with one of several GPUs."""
        used = Counter(process.gpu for process in self._processes)
        gpu = min(gpus, key=used.__getitem__) if len(gpus) > 1 else ""
        before = os.environ.get(_DEVICES)
        if gpu:
            os.environ[_DEVICES] = gpu
        try:
            process = _Process(gpu)
        finally:
            if gpu and before is None:
                del os.environ[_DEVICES]
            elif gpu and before is not None:
                os.environ[_DEVICES] = before
        self._processes.add(process)
        return process


class _Process:
    """A process that executes one call after another, on a GPU if it has one of its own."""

    def __init__(self, gpu: str = "") -> None:
        self.gpu = gpu
        # Spawned, not forked: threads and accelerators do not survive a fork.
        context = get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_serve, args=(other,))
        self._killer: threading.Timer | None = None
        # Starting the tracker, which the first process needs, would unblock Ctrl-C below.
        resource_tracker.ensure_running()
        # The process inherits the mask and unblocks Ctrl-C when it can handle it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()

    def execute(self, packed: bytes) -> tuple[Any, Exception | None]:
        """Return the result and the exception of a pickled call; raise a WorkerDiedError if the process died."""
        try:
            self._connection.send_bytes(packed)
            return pickle.loads(self._connection.recv_bytes())  # type: ignore[no-any-return]  # noqa: S301 - our own bytes
        except (EOFError, OSError):
            self._connection.close()
            # The pipe closes shortly before the process ends; another thread may collect its exit code first.
            while self._process.exitcode is None:
                self._process.join(0.1)
        if self._process.exitcode == INTERRUPTED:
            raise KeyboardInterrupt
        code = self._process.exitcode
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        if code == -signal.SIGKILL:
            cause = "SIGKILL, perhaps out of memory"
        raise WorkerDiedError(f"the process died: {cause}", fix="Use fewer --jobs")

    def interrupt(self) -> None:
        """Interrupt the process; kill it if it does not end in time."""
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGINT)
            self._killer = threading.Timer(GRACE, self._process.kill)
            self._killer.daemon = True
            self._killer.start()

    def close(self) -> None:
        """Let the process end, and wait for it."""
        self._connection.close()
        self._process.join()
        if self._killer is not None:
            self._killer.cancel()


def _serve(connection: "Connection[bytes, bytes]") -> None:
    """Execute calls in a started process until the connection closes."""
    try:
        signal.signal(signal.SIGINT, _interrupt_once)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=_end_with_parent, daemon=True).start()
        while True:
            try:
                packed = connection.recv_bytes()
            except (EOFError, OSError):
                return
            connection.send_bytes(_attempt(packed))
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(INTERRUPTED)


def _pickled(value: object) -> bytes:
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        what = f"cannot pickle an object defined outside a module: {error}"
        raise IsoglossError(what, fix="Run with --jobs 1") from error


def _attempt(packed: bytes) -> bytes:
    """Return the pickled result and exception of a pickled call."""
    try:
        value = pickle.loads(packed)()  # noqa: S301 - our own bytes
        return _pickled((value, None))
    except Exception as error:
        if not isinstance(error, IsoglossError):
            error.add_note(traceback.format_exc())
        try:
            return pickle.dumps((None, error))
        except Exception:  # an exception may hold anything
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt for the first signal only: the next must not disturb the clean-up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(GRACE)
        os._exit(INTERRUPTED)


def local_workers(jobs: int) -> AbstractContextManager[Workers | None]:
    """Return a worker pool, or None to run in this process.

    Raises:
        IsoglossError: `jobs` is not a positive whole number.
    """
    check_count("jobs", jobs, 1)
    return ProcessWorkers(jobs) if jobs > 1 else nullcontext()
