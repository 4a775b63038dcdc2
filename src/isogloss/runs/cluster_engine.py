"""The engine of a cluster: any workers, and what becomes of jobs whose process, node or disk fails them.

The grid's own loop issues whatever is missing again, so a job that ends without its cells needs nothing but its locks
released. A cell that was in work when its worker died is counted; after a few times it has failed, as it has with a
local process. Errors that no cell is to blame for, a full disk say, are the node's: it is given no further jobs.
"""

import concurrent.futures
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4
from warnings import warn

from isogloss.errors import IsoglossError
from isogloss.runs.deaths import DeathCounts, held_cells
from isogloss.runs.engine import CellsJob
from isogloss.runs.grid import follow, leading
from isogloss.runs.locks import on_behalf_of, release_all, releasing_on_interrupt
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.systems.base import System
from isogloss.training.processes import is_main
from isogloss.workers import WorkerDiedError, Workers, node_name

# On how many nodes a job may find an error that is not its own before the run ends with it.
MOST_NODES = 3


@dataclass(frozen=True)
class JobEnd:
    """How a job ended.

    Attributes:
        node: where.
        filled: how many cells it filled.
        error: what kept it from going on, if anything did.
        files: what it wrote, by paths below the folder of the runs, where that folder is not the node's.
    """

    node: str
    filled: int = 0
    error: IsoglossError | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of_error(cls, error: IsoglossError | OSError) -> "JobEnd":
        """The end of a job by an error that is not a cell's, on the node of this process."""
        known = error if isinstance(error, IsoglossError) else IsoglossError(str(error))
        return cls(node_name(), error=known)


@dataclass(frozen=True)
class SubmittedJob:
    """A job with the name it has on the cluster, and the future that its end is told to."""

    job: CellsJob
    name: str
    ended: "Future[int]"


def nothing_done() -> "Future[JobEnd]":
    """The end of a job that nobody was given."""
    ended: Future[JobEnd] = Future()
    ended.set_result(JobEnd(""))
    return ended


class ClusterEngine(AbstractContextManager["ClusterEngine"]):
    """Executes jobs by the workers of a cluster, whose nodes come, go and fail."""

    def __init__(self, plan: Plan, place: Place, workers: Workers) -> None:
        self.plan = plan
        self.place = place
        self.workers = workers
        self.resources = place.resources_of(plan.system)
        # Those of one fit; each has a GPU.
        self.processes = max(1, int(self.resources.gpus or 0))
        self._running: dict[Future[JobEnd], SubmittedJob] = {}
        self._deaths = DeathCounts(plan)
        self._faults: Counter[str] = Counter()
        self._faulty_nodes: set[str] = set()

    @property
    def slots(self) -> int:
        """How many jobs the cluster has room for now."""
        return max(1, self.workers.slots)

    def __enter__(self) -> "ClusterEngine":
        self.workers.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self.workers.__exit__(kind, *error)  # type: ignore[arg-type]  # passed on as it came
        finally:
            for submitted in self._running.values():
                release_all(self.plan.root, submitted.name)

    def submit(self, job: CellsJob) -> "Future[int]":
        """Have a worker execute a job."""
        submitted = SubmittedJob(job, uuid4().hex, Future())
        self._running[self._send(submitted)] = submitted
        return submitted.ended

    def _send(self, submitted: SubmittedJob) -> "Future[JobEnd]":
        if submitted.job.help_others and self.resources.gpus != 0:
            # To fit again what a slow node fits, or to wait for it, would keep a GPU from others.
            return nothing_done()
        call = partial(execute_job, submitted.job, submitted.name, self.processes)
        return self.workers.submit(call, self.resources, self._faulty_nodes)

    def wait(self, seconds: float) -> None:
        """Wait until a job has ended."""
        if not self._running:
            time.sleep(seconds)
        for inner in concurrent.futures.wait(self._running, seconds, FIRST_COMPLETED).done:
            submitted = self._running.pop(inner)
            try:
                submitted.ended.set_result(self._filled(submitted, inner))
            except IsoglossError as error:
                submitted.ended.set_exception(error)

    def _filled(self, submitted: SubmittedJob, inner: "Future[JobEnd]") -> int:
        """How many cells a job that has ended filled, or failed."""
        try:
            end = inner.result()
        except WorkerDiedError as error:
            return self._died(submitted, error)
        if end.error is not None:
            self._fault(str(submitted.job.group), end.node, end.error)
        return end.filled

    def _died(self, submitted: SubmittedJob, error: WorkerDiedError) -> int:
        """Release what a dead worker held; gives how many cells have failed, for workers died over them too often."""
        held = held_cells(self.plan, lambda owner: owner.job == submitted.name, [submitted.job.group])
        release_all(self.plan.root, submitted.name)
        # Where it had no lock yet, it died over whatever it was given.
        cells = self.plan.missing(held or submitted.job.group.cells)
        return len(self._deaths.add(cells, str(error)))

    def _fault(self, group: str, node: str, error: IsoglossError) -> None:
        """Take note of an error that is a node's.

        Raises:
            IsoglossError: that error, where no other node is left to do it.
        """
        self._faulty_nodes.add(node)
        self._faults[group] += 1
        if len(self._faulty_nodes) >= self.workers.nodes or self._faults[group] >= MOST_NODES:
            raise error
        warn(f"node {node} gets no more jobs, others do its part: {error}", stacklevel=2)


# The system that this process built last, for the next job of the same grid: its name, its settings, and itself.
_BUILT: list[tuple[str, Mapping[str, Any], System]] = []


def execute_job(job: CellsJob, name: str, processes: int = 1) -> JobEnd:
    """Execute a job in this process, a worker's, or in several that fit together; its locks bear the name of the job.

    Raises:
        WorkerDiedError: one of several processes died.
    """
    if processes > 1:
        from isogloss.runs.job_process import call_together

        return call_together(partial(_execute_in_step, job, name), processes)
    with on_behalf_of(name), releasing_on_interrupt(job.plan.root):
        try:
            return JobEnd(node_name(), job.execute(_system_of(job.plan)))
        except (IsoglossError, OSError) as error:
            return JobEnd.of_error(error)


def _execute_in_step(job: CellsJob, name: str) -> JobEnd:
    """Execute a job together with the other processes of this fit: the first fills cells, the others fit with it."""
    if not is_main():
        follow(job.plan, job.plan.build_system())
        return JobEnd(node_name())
    with leading():
        return execute_job(job, name)


def _system_of(plan: Plan) -> System:
    if not _BUILT or _BUILT[0][:2] != (plan.system, plan.settings):
        _BUILT[:] = [(plan.system, plan.settings, plan.build_system())]
    return _BUILT[0][2]
