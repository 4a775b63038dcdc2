"""The engine of local processes: it starts them, gives them jobs, and records why one died."""

import os
import signal
import sys
import time
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from isogloss.errors import IsoglossError
from isogloss.runs.deaths import fail_cells, held_cells
from isogloss.runs.engine import CellsJob
from isogloss.runs.locks import releasing_on_interrupt, remove_stale
from isogloss.runs.plan import CellKey, Plan
from isogloss.systems.base import System, SystemFailureError
from isogloss.workers import cores_shared

# Seconds a process has to end by itself after Ctrl-C before it is told again, and before it is killed.
GRACE = (1.0, 10.0)

# The exit code of a process that Ctrl-C ended.
INTERRUPTED = 130


class _Worker:
    """A process that executes one job after the other, until it is told that there are no more."""

    def __init__(self, plan: Plan) -> None:
        # Spawned, not forked: libraries with threads or an accelerator do not survive a fork.
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(plan, other))
        self.ended: Future[int] | None = None
        # Ctrl-C waits until the process can answer it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            other.close()

    def give(self, job: CellsJob) -> "Future[int]":
        """Have it execute a job."""
        self.ended = Future()
        with suppress(OSError):  # it has died, which `ProcessEngine.wait` will find
            self.connection.send(job)
        return self.ended

    def finish(self, filled: int | Exception) -> None:
        """Its job has ended, with some cells filled or with an error that is not a cell's."""
        if self.ended is None:
            return
        if isinstance(filled, Exception):
            self.ended.set_exception(filled)
        else:
            self.ended.set_result(filled)
        self.ended = None

    def result(self) -> int | Exception | None:
        """How many cells its job has filled, or what ended it; None while it works, or where it died."""
        try:
            found: int | Exception | None = self.connection.recv() if self.connection.poll() else None
            return found
        except (EOFError, OSError):
            self.process.join()  # the end of the pipe comes just before the end of the process
            return None

    def interrupt(self) -> None:
        """End it as Ctrl-C does."""
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGINT)


class ProcessEngine(AbstractContextManager["ProcessEngine"]):
    """Executes jobs in processes of this machine; one that dies is replaced, and the cells it worked on have failed."""

    def __init__(self, plan: Plan, jobs: int) -> None:
        self.plan = plan
        self.slots = jobs
        self._workers: list[_Worker] = []
        self._some_died = False
        self._exits = ExitStack()

    def __enter__(self) -> "ProcessEngine":
        self._exits.enter_context(cores_shared(self.slots))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._exits:
            for worker in self._workers:
                worker.connection.close()  # which says that there are no more jobs
            if kind is not None:
                _stop(self._workers)
            for worker in self._workers:
                worker.process.join()
        if self._some_died:
            # Not before: the lock of one that died meanwhile tells what it was at.
            remove_stale(self.plan.root)

    def submit(self, job: CellsJob) -> "Future[int]":
        """Give a job to a process that has none; one is started where there is none."""
        idle = (worker for worker in self._workers if worker.ended is None)
        worker = next(idle, None)
        if worker is None:
            worker = _Worker(self.plan)
            self._workers.append(worker)
        return worker.give(job)

    def wait(self, seconds: float) -> None:
        """Wait until a process has ended its job, or has died.

        Raises:
            KeyboardInterrupt: Ctrl-C ended a process.
            SystemFailureError: no process lives long enough to fill a cell.
        """
        watched = [each for worker in self._workers for each in (worker.connection, worker.process.sentinel)]
        wait(watched, timeout=seconds)
        for worker in list(self._workers):
            filled = worker.result()
            if filled is not None:
                worker.finish(filled)
            elif not worker.process.is_alive():
                self._workers.remove(worker)
                self._died(worker)

    def _died(self, worker: _Worker) -> None:
        if worker.process.exitcode == INTERRUPTED:
            raise KeyboardInterrupt
        self._some_died = True
        failed = _fail_cells_of(self.plan, worker.process)
        if failed is None:
            # It would die again: there is one process less.
            self.slots -= 1
            if not self.slots:
                what = f"the processes of {self.plan.system} die ({_cause(worker.process)}) before they fill a cell"
                raise SystemFailureError(what, fix="With --jobs 1 it fails where one can see it")
        worker.finish(len(failed or ()))


def _work(plan: Plan, connection: "Connection[int | Exception, CellsJob]") -> None:
    """What a started process does."""
    try:
        with releasing_on_interrupt(plan.root):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            system = plan.build_system()
            # At the end there are no more jobs, or nobody is left to give any.
            with suppress(EOFError, BrokenPipeError, ConnectionResetError):
                while True:
                    connection.send(_executed(connection.recv(), system))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except IsoglossError as error:  # a full disk, say: a sentence, as where there is one process
        sys.exit(f"error: {error}")


def _executed(job: CellsJob, system: System) -> int | Exception:
    """Execute a job; what keeps every process from going on, a full disk say, is told to the one that started it."""
    try:
        return job.execute(system, _leave_with_parent)
    except (IsoglossError, OSError) as error:
        return error


def _leave_with_parent(waiting: str, answering: CellKey | None = None) -> None:
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        sys.exit(INTERRUPTED)


def _stop(workers: list[_Worker]) -> None:
    """End processes as Ctrl-C does, which at a terminal they have had themselves; kill those that do not listen."""
    for seconds, act in ((GRACE[0], _Worker.interrupt), (GRACE[1], lambda worker: worker.process.kill())):
        deadline = time.monotonic() + seconds
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
        for worker in workers:
            if worker.process.is_alive():
                act(worker)


def _fail_cells_of(plan: Plan, process: SpawnProcess) -> list[CellKey] | None:
    """Record the cells that a dead process worked on as failed.

    Gives those that were not failed before: of two processes that died over one cell, the second has none. None if it
    had not begun with anything.
    """
    held = held_cells(plan, lambda owner: owner.pid == process.pid)
    return fail_cells(plan, held, f"the process died: {_cause(process)}") if held else None


def _cause(process: SpawnProcess) -> str:
    code = process.exitcode or 0
    if code == -signal.SIGKILL:
        return "SIGKILL, perhaps for want of memory"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
