"""Jobs of a grid on any workers: submission, and recovery when a process, a node or a disk fails.

The grid's loop submits missing cells again, so a job that ends early only needs its locks released. A cell that was
being filled when its worker died is counted; after too many deaths it fails. An error that no cell causes, such as a
full disk, is attributed to the node, which receives no further jobs.
"""

import concurrent.futures
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import uuid4
from warnings import warn

from isogloss.errors import IsoglossError
from isogloss.runs.cells import write_outcome
from isogloss.runs.fit import CellOutcome
from isogloss.runs.jobs import CellsJob, JobEnd, OnProgress, execute_job, no_progress, nothing_done
from isogloss.runs.locks import Owner, acquire, owners, release_all
from isogloss.runs.place import HERE, Place
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.records import Provenance
from isogloss.systems.base import System, SystemFailureError
from isogloss.workers import MOST_DEATHS, ClusterGoneError, InProcessWorkers, WorkerDiedError, Workers

if TYPE_CHECKING:
    from isogloss.runs.ray_workers import RayWorkers
    from isogloss.runs.shipping import Shipping

# Number of failing nodes, such as nodes with a full disk, after which the run ends with their error.
MOST_NODES = 3


def held_cells(plan: Plan, is_dead: Callable[[Owner], bool], groups: Sequence[FitGroup] | None = None) -> list[CellKey]:
    """Return the cells that a dead lock owner worked on: the one it was filling, or all it was fitting for."""
    searched = plan.groups if groups is None else groups

    def was_held(lock: Path) -> bool:
        return any(is_dead(owner) for owner in owners(lock))

    filling = [cell for group in searched for cell in group.cells if was_held(plan.lock_path(cell))]
    fitting = [] if filling else [group for group in searched if was_held(plan.group_lock_path(group))]
    return filling or [cell for group in fitting for cell in group.cells]


class DeathCounts:
    """Number of workers that died while filling each cell; a cell fails after `most` deaths."""

    def __init__(self, plan: Plan, most: int = MOST_DEATHS) -> None:
        self.plan = plan
        self.most = most
        self._deaths: Counter[CellKey] = Counter()

    def add(self, cells: Sequence[CellKey], reason: str, log: str = "") -> list[CellKey]:
        """Count a death for some cells; record those that fail as a result, unless another process fills them."""
        self._deaths.update(cells)
        if self.most > 1:
            reason = f"the worker died {self.most} times, most recently: {reason}"
        failed = []
        for cell in cells:
            lock = acquire(self.plan.lock_path(cell)) if self._deaths[cell] >= self.most else None
            if lock is None:
                continue
            with lock:
                if self.plan.missing([cell]):
                    provenance = Provenance(config={}, started=datetime.now(UTC).isoformat(timespec="milliseconds"))
                    outcome = CellOutcome(status="failed", reason=reason, traceback=log)
                    write_outcome(self.plan, cell, outcome, provenance)
                    failed.append(cell)
        return failed


@dataclass(frozen=True)
class _SubmittedJob:
    job: CellsJob
    name: str
    ended: Future[int]


class Dispatcher(AbstractContextManager["Dispatcher"]):
    """Submits jobs to workers and returns the number of cells each has filled or failed."""

    def __init__(self, plan: Plan, workers: Workers, place: Place = HERE) -> None:
        self.plan = plan
        self.workers = workers
        self.resources = place.resources_for(plan.system, plan.fine_tunes)
        # On a cluster, workers also die for unrelated reasons; on this machine, the call is the cause.
        self._is_here = place.is_here
        self._deaths = DeathCounts(plan, most=1 if place.is_here else MOST_DEATHS)
        self._idle_deaths = 0
        processes = 1 if place.is_here else max(1, int(self.resources.gpus or 0))
        self._execute: Callable[[CellsJob, str], JobEnd] = partial(execute_job, processes=processes)
        self._shipping: Shipping | None = None
        if place.files == "ship":
            from isogloss.runs import shipping

            self._shipping = shipping.Shipping(plan, cast("RayWorkers", workers), processes)
        self._running: dict[Future[JobEnd], _SubmittedJob] = {}
        self._faults: Counter[str] = Counter()
        self._faulty_nodes: set[str] = set()

    @classmethod
    def in_process(cls, plan: Plan, system: System, on_progress: OnProgress = no_progress) -> "Dispatcher":
        """Return a dispatcher that executes each job in this process, with a built system."""
        dispatcher = cls(plan, InProcessWorkers())
        # Unnamed: the locks keep the name of the SLURM job that this process is in, if any.
        dispatcher._execute = lambda job, name: execute_job(job, "", system=system, on_progress=on_progress)
        return dispatcher

    @property
    def slots(self) -> int:
        """Number of jobs that can be submitted now."""
        return max(1, self.workers.slots)

    def __enter__(self) -> "Dispatcher":
        self.workers.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self.workers.__exit__(kind, *error)  # type: ignore[arg-type]  # forwarded unchanged
        finally:
            if kind is None or not issubclass(kind, ClusterGoneError):  # its workers may still be filling cells
                for submitted in self._running.values():
                    release_all(self.plan.root, submitted.name)
            if self._shipping is not None:
                self._shipping.release()

    def submit(self, job: CellsJob) -> Future[int]:
        """Execute a job; the future ends during `wait`, and its exception ends the run."""
        submitted = _SubmittedJob(job, uuid4().hex, Future())
        if self._shipping is not None:
            sent = self._shipping.submit(job, submitted.name, self.resources, self._faulty_nodes)
        elif job.help_others and self.resources.gpus != 0 and not self._is_here:
            sent = nothing_done()  # repeating the fit of a slow node would occupy a GPU that others need
        else:
            call = partial(self._execute, job, submitted.name)
            sent = self.workers.submit(call, self.resources, self._faulty_nodes)
        self._running[sent] = submitted
        return submitted.ended

    def wait(self, seconds: float) -> None:
        """Wait until a job has ended, or for at most some seconds."""
        if not self._running:
            time.sleep(seconds)
        for inner in concurrent.futures.wait(self._running, seconds, FIRST_COMPLETED).done:
            submitted = self._running[inner]
            try:
                submitted.ended.set_result(self._collect(submitted, inner))
            except IsoglossError as error:
                submitted.ended.set_exception(error)
            del self._running[inner]

    def _collect(self, submitted: _SubmittedJob, inner: Future[JobEnd]) -> int:
        """Return the number of cells that an ended job filled or failed."""
        job, name = submitted.job, submitted.name
        try:
            end = inner.result()
            if end.error is not None:
                self._faulty_nodes.add(end.node)
                self._faults[str(job.group)] += 1
                # Without another node, the run ends.
                if len(self._faulty_nodes) >= self.workers.nodes or self._faults[str(job.group)] >= MOST_NODES:
                    raise end.error
                warn(f"node {end.node} gets no more jobs; other nodes take over: {end.error}", stacklevel=2)
            return end.filled if self._shipping is None else self._shipping.receive(job.group, end.files)
        except WorkerDiedError as error:
            return self._add_death(job, name, error)
        finally:
            if self._shipping is not None:
                self._shipping.release(name)

    def _add_death(self, job: CellsJob, name: str, error: WorkerDiedError) -> int:
        """Release a dead worker's locks and return the number of cells that fail as a result."""
        held = held_cells(self.plan, lambda owner: owner.job == name, [job.group])
        if not self._is_here:  # else another process could take the cell before it has failed
            release_all(self.plan.root, name)
        if held or not self._is_here:
            # The death of a worker without locks is attributed to its job.
            failed = self._deaths.add(self.plan.missing(held or job.group.cells), error.what)
            release_all(self.plan.root, name)
            return len(failed)
        self._idle_deaths += 1
        if self._idle_deaths >= self.slots:
            what = f"the processes of {self.plan.system} die before they fill a cell: {error.what}"
            raise SystemFailureError(what, fix="Run with --jobs 1 to see the traceback")
        return 0
