"""Filling a grid of cells: by any number of processes, on any number of machines, that know each other by files only.

Every process does the same: it takes a group (a task and a seed) that nobody has, fits the system, and goes through
the languages that are missing. When all groups are taken it helps where most is missing. A cell is filled under its
lock and is settled when its record exists: a kill at any instant loses the cell in flight, and issuing the command
again does what is missing. `--jobs` only starts several such processes at once and looks after them.

Processes that torchrun started are another thing: together they are one of those, whose first does all of the above and
tells the others what to fit with it.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from isogloss.errors import IsoglossError
from isogloss.runs.cells import FitResult, Outcome, fill, fit, nothing_to_predict, write_outcome
from isogloss.runs.locks import Lock, acquire, owners, relinquish, sweep
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.prepare import prepare
from isogloss.runs.records import Provenance
from isogloss.runs.summary import Summary, standing, write_results
from isogloss.systems.base import System, SystemFailureError
from isogloss.training.processes import broadcast, is_main, world

# Seconds between two looks at what others are doing.
POLL = 0.2
# Seconds a process has to end by itself after Ctrl-C before it is told again, and before it is killed.
GRACE = (1.0, 10.0)

INTERRUPTED = 130

# Told what is being waited for, "" for nothing.
Look = Callable[[str], None]


def run(plan: Plan, *, jobs: int = 1, force: bool = False, look: Look = lambda waiting: None) -> Summary:
    """Fill what is missing of a grid, then score every seed and sum up over the seeds.

    Args:
        plan: the grid.
        jobs: processes to start; with one, everything happens in this one.
        force: forget all cells of the grid first.
        look: called when it begins, and now and then (at the latest after each cell), to show how things stand; with
            what is being waited for, "" for nothing.

    Raises:
        IsoglossError: processes that share a fit are to share cells too; or what `prepare` refuses.
        KeyboardInterrupt: the user's; every process has ended and all locks are released.
    """
    if jobs > 1 and world() > 1:
        what = f"{world()} processes that fit together cannot each have {jobs} of their own"
        raise IsoglossError(what, fix="Give --jobs 1, or start it without torchrun")
    system = plan.built()
    if not is_main():
        _follow(plan, system)
        return standing(plan)
    with _leading(), _leaving_no_lock(plan):
        metadata = system.metadata  # a model that is not there says so before any folder is made for it
        with _held(plan.run_lock):
            prepare(plan, system, metadata, force=force)
        look("")
        if jobs == 1:
            work(plan, system, look)
        elif plan.missing(plan.places):
            _supervise(plan, jobs, look)
        look("")
        with _held(plan.run_lock):
            return write_results(plan)


@contextmanager
def _leading() -> Iterator[None]:
    """Lead the processes that fit with this one, if there are any, until nothing is left to fit."""
    try:
        yield
    except Exception:
        broadcast(None)
        raise
    broadcast(None)  # but not after Ctrl-C, which they have had as well


@contextmanager
def _leaving_no_lock(plan: Plan) -> Iterator[None]:
    """Ctrl-C may come between a lock's file and whoever would release it."""
    try:
        yield
    except KeyboardInterrupt:
        relinquish(plan.root)
        raise


def _follow(plan: Plan, system: System) -> None:
    """Fit what the first process fits, for as long as it says so; cells are its alone."""
    while (group := broadcast(None)) is not None:
        fit(plan, group, system)


def _held(path: Path, look: Look = lambda waiting: None, waiting: str = "") -> Lock:
    """A lock, however long it takes."""
    while (lock := acquire(path)) is None:
        look(waiting)
        time.sleep(POLL)
    return lock


def work(plan: Plan, system: System, look: Look) -> None:
    """Fill cells until none is missing, waiting for those that others are at."""
    while missing := _missing(plan):
        filled = sum(_fill_alone(plan, group, system, look) for group in missing) or _help(plan, system, look)
        if not filled:
            look("")
            time.sleep(POLL)


def _missing(plan: Plan) -> list[FitGroup]:
    """The groups with missing cells, and only those cells."""
    remaining = ((group, plan.missing(group.places)) for group in plan.groups)
    return [replace(group, languages=tuple(p.language for p in places)) for group, places in remaining if places]


def _fill_alone(plan: Plan, group: FitGroup, system: System, look: Look) -> int:
    """Fill a group that nobody else is at; says how many cells were filled."""
    lock = acquire(plan.group_lock(group))
    if lock is None:
        return 0
    with lock:
        return _fill_group(plan, group, system, look)


def _help(plan: Plan, system: System, look: Look) -> int:
    """Fill cells of a group that somebody is at, in an order that rarely meets the other's."""
    for group in sorted(_missing(plan), key=lambda group: -len(group.languages)):
        scattered = tuple(random.sample(group.languages, len(group.languages)))
        if filled := _fill_group(plan, replace(group, languages=scattered), system, look):
            return filled
    return 0


def _fill_group(plan: Plan, group: FitGroup, system: System, look: Look) -> int:
    # No cell is held during the fit: who has fitted already may be done with all of them by then.
    if not any(_free(plan, place) for place in group.places):
        return 0
    ready = nothing_to_predict(plan, group, system) or _fit(plan, group, system, look)
    filled = 0
    for place in group.places:
        lock = acquire(plan.lock(place)) if plan.missing([place]) else None
        if lock is None:
            continue
        with lock:
            if plan.missing([place]):  # else another process settled it just before we had the lock
                fill(plan, place, ready)
                filled += 1
        look("")
    return filled


def _fit(plan: Plan, group: FitGroup, system: System, look: Look) -> FitResult:
    """Fit for a group, together with the processes that follow this one.

    A system with its own way to learn keeps what it learns in the group's folder: there one process learns at a time,
    and the next finds it done.
    """
    keeps = type(system).learn is not System.learn
    waiting = f"another process is learning {group}"
    with _held(plan.fit_folder(group) / "fit.lock", look, waiting) if keeps else nullcontext():
        broadcast(group)
        return fit(plan, group, system)


def _free(plan: Plan, place: CellKey) -> bool:
    """Whether a cell is missing and nobody is at it."""
    lock = acquire(plan.lock(place)) if plan.missing([place]) else None
    if lock is not None:
        lock.release()
    return lock is not None


def _supervise(plan: Plan, jobs: int, look: Look) -> None:
    """Have processes fill the grid; one that dies is replaced, and the cell it was at has failed."""
    with _cores_shared(jobs):
        workers: list[SpawnProcess] = []
        try:
            for _ in range(jobs):
                workers.append(_start(plan))
            while workers:
                wait([worker.sentinel for worker in workers], timeout=POLL)
                look("")
                for worker in [worker for worker in workers if not worker.is_alive()]:
                    workers.remove(worker)
                    if worker.exitcode == INTERRUPTED:
                        raise KeyboardInterrupt
                    if worker.exitcode and _blame(plan, worker):
                        workers.append(_start(plan))
                    elif worker.exitcode and not workers:
                        what = f"the processes of {plan.system} die ({_death(worker)}) before they fill a cell"
                        raise SystemFailureError(what, fix="With --jobs 1 it fails where one can see it")
        finally:
            _stop(workers)


def _start(plan: Plan) -> SpawnProcess:
    """A new process; Ctrl-C waits until it can answer it."""
    # Spawned, not forked: libraries with threads or an accelerator do not survive a fork.
    worker = get_context("spawn").Process(target=_serve, args=(plan,))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        worker.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return worker


def _serve(plan: Plan) -> None:
    """What a started process does."""
    try:
        with _leaving_no_lock(plan):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            work(plan, plan.built(), _leave_with_parent)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _leave_with_parent(waiting: str) -> None:
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        sys.exit(INTERRUPTED)


def _stop(workers: list[SpawnProcess]) -> None:
    """End processes as Ctrl-C does, which at a terminal they have had themselves; kill those that do not listen."""
    for seconds, act in ((GRACE[0], _interrupt), (GRACE[1], SpawnProcess.kill)):
        deadline = time.monotonic() + seconds
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
        for worker in [worker for worker in workers if worker.is_alive()]:
            act(worker)
    for worker in workers:
        worker.join()


def _interrupt(worker: SpawnProcess) -> None:
    if worker.pid is not None:
        os.kill(worker.pid, signal.SIGINT)


def _blame(plan: Plan, worker: SpawnProcess) -> list[CellKey]:
    """Record the cells that a dead process was at as failed: the one it filled, or all it was fitting for."""
    missing = plan.missing(plan.places)
    at = [place for place in missing if _was_at(worker, plan.lock(place))]
    if not at:
        fits = [group for group in plan.groups if _was_at(worker, plan.group_lock(group))]
        at = plan.missing([place for group in fits for place in group.places])
    reason = f"the process died: {_death(worker)}"
    for place in at:
        provenance = Provenance({}, datetime.now(UTC).isoformat(timespec="milliseconds"))
        write_outcome(plan, place, Outcome("failed", reason), provenance)
    sweep(plan.root)
    return at


def _was_at(worker: SpawnProcess, lock: Path) -> bool:
    return any(owner.pid == worker.pid for owner in owners(lock))


def _death(worker: SpawnProcess) -> str:
    code = worker.exitcode or 0
    if code == -signal.SIGKILL:
        return "SIGKILL, perhaps for want of memory"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


@contextmanager
def _cores_shared(jobs: int) -> Iterator[None]:
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
