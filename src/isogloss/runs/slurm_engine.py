"""The engine of a SLURM site: it keeps jobs in the queue that take part in filling the grid.

A job of the site is not one job of the grid but a worker (`SlurmWorker`): it takes whatever nobody works on, one group
after the other, and leaves when nothing is left to take. So the queue, and the start of Python, are waited for once and
not for every fit; workers need nobody to give them work, so the command that started them may end or die before they
do; and the command issued again finds them by their name. What they have done is in the records alone.
"""

import concurrent.futures
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from warnings import warn

from isogloss.errors import IsoglossError
from isogloss.runs.deaths import DeathCounts, held_cells
from isogloss.runs.engine import CellsJob
from isogloss.runs.locks import is_free, release_all
from isogloss.runs.place import Place
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.slurm_queue import JOBS, QueuedJob, SlurmQueue, SlurmSilentError, site_nodes
from isogloss.runs.slurm_resources import fits_together, sbatch_parameters
from isogloss.runs.slurm_worker import SlurmWorker
from isogloss.systems.base import SystemFailureError
from isogloss.workers import MOST_DEATHS

# Seconds between two questions to SLURM, …
LOOK = 5.0
# … and between two looks at the records that are waited for.
GLANCE = 1.0


class SlurmEngine(AbstractContextManager["SlurmEngine"]):
    """Keeps as many workers in a site's queue as there are groups to fill, and no more than it may."""

    def __init__(self, plan: Plan, place: Place, jobs: int = 0) -> None:
        self.plan = plan
        self.slots = min(jobs or place.jobs or JOBS, len(plan.groups))
        self.detaches = place.on_interrupt == "detach"
        resources = place.resources_of(plan.system)
        nodes = site_nodes(place.partition)
        if resources.gpus is None:
            resources = replace(resources, gpus=float(any("gpu" in gres for gres in nodes.values())))
        name = f"isogloss-{plan.root.parent.name}-{plan.root.name}-{sha256(str(plan.root).encode()).hexdigest()[:8]}"
        self.queue = SlurmQueue(name, plan.root / ".slurm", sbatch_parameters(place, resources))
        self.worker = SlurmWorker(plan, fits_together(resources))
        self._awaited: dict[Future[int], list[CellKey]] = {}
        self._workers: set[str] = set()
        self._deaths = DeathCounts(plan)
        self._said: set[str] = set()
        self._nodes = len(nodes)
        self._bad_nodes: set[str] = set()
        self._idle_deaths = 0
        self._missing = 0
        self._next_look = self._next_glance = 0.0
        # A controller that is down lets one wait for an answer, but not the records.
        self._asker = ThreadPoolExecutor(1)
        self._answer: Future[dict[str, QueuedJob]] | None = None

    def __enter__(self) -> "SlurmEngine":
        # Workers of another command may still be at work.
        self._workers = {job.number for job in self.queue.jobs().values() if not job.has_ended}
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._asker.shutdown(wait=False, cancel_futures=True)
        if kind is not None and issubclass(kind, KeyboardInterrupt) and self.detaches:
            return
        self.queue.end()
        for number in self._workers:
            release_all(self.plan.root, number)

    def submit(self, job: CellsJob) -> "Future[int]":
        """Wait for the cells of a job: there are, or will be, workers that take it."""
        future: Future[int] = Future()
        self._awaited[future] = self.plan.missing(job.group.cells)
        return future

    def wait(self, seconds: float) -> None:
        """Wait a while, see to it that there are workers, and see which jobs have all their records.

        Raises:
            IsoglossError: SLURM refuses the workers, or they die before they begin with a cell.
        """
        if self._answer is None and time.monotonic() >= self._next_look:
            self._answer = self._asker.submit(self._jobs_if_known)
            concurrent.futures.wait([self._answer], seconds)
        if self._answer is not None and self._answer.done():
            self._look(self._answer.result())
            self._answer, self._next_look = None, time.monotonic() + LOOK
        time.sleep(seconds)
        if time.monotonic() >= self._next_glance:
            self._next_glance = time.monotonic() + GLANCE
            for future, cells in list(self._awaited.items()):
                if not self.plan.missing(cells):
                    del self._awaited[future]
                    future.set_result(len(cells))

    def _jobs_if_known(self) -> dict[str, QueuedJob]:
        try:
            return self.queue.jobs()
        except SlurmSilentError as silent:
            self._say_once(str(silent))
            return {number: QueuedJob(number, "UNKNOWN") for number in self._workers}

    def _say_once(self, what: str, words: str = "") -> None:
        if what not in self._said:
            self._said.add(what)
            warn(words or what, stacklevel=2)

    def _look(self, jobs: Mapping[str, QueuedJob]) -> None:
        """Take note of the workers that have ended, and replace them where there is something left to take."""
        missing = self.plan.missing_groups()
        left = sum(len(group.languages) for group in missing)
        if left < self._missing:
            self._idle_deaths = 0
        self._missing = left
        for number in sorted(self._workers):
            job = jobs.get(number, QueuedJob(number))
            if job.waits_for_somebody:
                self._say_once(job.reason, f"{job}: it may wait for long")
            if job.has_ended:
                self._workers.remove(number)
                self._see_off(job)
        wanted = self._wanted(missing)
        if wanted > 0:
            self._start(wanted)

    def _see_off(self, job: QueuedJob) -> None:
        """Blame the cells that a worker died over, fail those it is too often, and let others have them."""
        if job.state == "NODE_FAIL":
            return  # on a node out of reach it may be alive: its locks become stale if it is not
        held = self.plan.missing(held_cells(self.plan, lambda owner: owner.job == job.number))
        if held:
            release_all(self.plan.root, job.number)
        if job.state == "PREEMPTED":
            return
        if held:
            self._deaths.add(held, str(job), self.queue.last_words(job.number))
        elif job.state not in ("", "COMPLETED"):
            self._ended_idle(job)

    def _ended_idle(self, job: QueuedJob) -> None:
        """Take note of a worker that ended before its time, though no cell is to blame.

        Raises:
            SystemFailureError: it is not the first, and none fills a cell.
        """
        if job.state == "FAILED":
            # For a full disk, say, which another node may not have.
            self._bad_nodes.add(job.node)
        self._idle_deaths += 1
        if self._idle_deaths >= MOST_DEATHS:
            what = f"the jobs of {self.plan.system} end before they fill a cell, at last {job}"
            fix = self.queue.last_words(job.number) or f"Their logs, if any, are in {self.queue.folder}"
            raise SystemFailureError(what, fix=fix)

    def _wanted(self, missing: list[FitGroup]) -> int:
        """How many workers to start: one for each group that nobody works on, less those that will take one."""
        if len(self._workers) >= min(self.slots, len(missing)):
            return 0
        free = sum(self._is_free(group) for group in missing)
        without_group = max(0, len(self._workers) - (len(missing) - free))
        return min(self.slots - len(self._workers), free - without_group)

    def _is_free(self, group: FitGroup) -> bool:
        fit_lock = self.plan.fit_lock_path(group)
        return is_free(self.plan.group_lock_path(group)) and (not fit_lock.exists() or is_free(fit_lock))

    def _start(self, count: int) -> None:
        """Start workers, or as many as the site takes; more are tried for at the next look."""
        avoid = self._bad_nodes if len(self._bad_nodes) < self._nodes else ()
        try:
            self._workers.update(self.queue.submit([self.worker] * count, avoid))
        except IsoglossError:
            if not self._workers:
                raise
