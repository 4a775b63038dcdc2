"""A grid on SLURM: each job fills groups that no other process works on, one after another.

A SLURM job waits in the queue and starts Python once, not once per fit. Jobs need no further instructions, so the
command that submitted them may end first, and the same command finds them by name. Their outcome is the records.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass, replace
from hashlib import sha256
from types import FrameType

from isogloss.errors import IsoglossError
from isogloss.runs.dispatch import DeathCounts, held_cells
from isogloss.runs.grid import take_part
from isogloss.runs.jobs import OnProgress
from isogloss.runs.locks import POLL, is_free, on_behalf_of, release_all
from isogloss.runs.place import Place
from isogloss.runs.plan import FitGroup, Plan
from isogloss.runs.slurm_workers import JOBS, QueuedJob, SlurmJobDiedError, SlurmWorkers, fits_together, site_nodes
from isogloss.systems.base import SystemFailureError
from isogloss.workers import MOST_DEATHS, Resources

# Restarts after which a job that reaches its time limit is not queued again.
MOST_RESTARTS = 10
# Seconds between two decisions on the number of jobs.
LOOK = 5.0


class TimeLimitError(IsoglossError):
    """A fit or a cell that exceeds the time limit of every job."""


@dataclass(frozen=True)
class GridCall:
    """A call that takes part in filling a grid; the job's tasks fit one system together, or each on its own."""

    plan: Plan
    fit_together: bool = False

    def __call__(self) -> None:
        """Take part, with locks that carry the job's number."""
        # On scancel or preemption, exit, releasing locks on the way.
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        signal.signal(signal.SIGUSR2, _requeue)
        if self.fit_together:
            # The variables by which torchrun tells torch the rank of a process. All tasks run on one node, which may
            # run several jobs.
            variables = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}
            os.environ.update({name: os.environ[slurm] for name, slurm in variables.items()})
            os.environ["MASTER_ADDR"] = "127.0.0.1"
            os.environ["MASTER_PORT"] = str(20_000 + int(os.environ["SLURM_JOB_ID"]) % 40_000)
        with on_behalf_of(job_number()):
            take_part(self.plan)


def job_number() -> str:
    """Return the number of this process's job, as squeue writes it."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array}_{os.environ['SLURM_ARRAY_TASK_ID']}" if array else os.environ.get("SLURM_JOB_ID", "")


def _requeue(number: int, frame: FrameType | None) -> None:
    """Return to the queue shortly before the time limit, a few times; training resumes from its last checkpoint."""
    restarts = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    if restarts >= MOST_RESTARTS:
        what = f"not done when SLURM job {job_number()} reached its time limit, after {restarts} restarts"
        raise TimeLimitError(what, fix="Allow more hours in [resources] of the place's TOML file")
    subprocess.run(["scontrol", "requeue", job_number()], check=False)  # noqa: S603, S607
    sys.exit(128 + number)


def fill_on_slurm(plan: Plan, place: Place, jobs: int, on_progress: OnProgress) -> None:
    """Keep jobs in the queue until no cell of a grid is missing; after Ctrl-C, they end, unless the place detaches."""
    place.check_installed()
    name = f"isogloss-{plan.folder_name}-{plan.root.name}-{sha256(str(plan.root).encode()).hexdigest()[:8]}"
    slots = min(jobs or place.jobs or JOBS, len(plan.groups))
    workers = SlurmWorkers(place, slots, name=name, folder=plan.root / ".slurm")
    grid_jobs: _GridJobs | None = None
    try:
        with workers:
            grid_jobs = _GridJobs(plan, place, workers)
            while plan.missing_groups():
                grid_jobs.update()
                time.sleep(POLL)
                on_progress("")
    finally:
        for number in (*workers.cancelled, *(grid_jobs.died_since() if grid_jobs else ())):
            release_all(plan.root, number)


class _GridJobs:
    def __init__(self, plan: Plan, place: Place, workers: SlurmWorkers) -> None:
        self.plan = plan
        self.workers = workers
        nodes = site_nodes(place.partition)
        self.resources: Resources = place.resources_for(plan.system, plan.fine_tunes)
        if self.resources.gpus is None:
            self.resources = replace(self.resources, gpus=float(any("gpu" in gres for gres in nodes.values())))
        self._call = GridCall(plan, fits_together(self.resources))
        self._nodes = len(nodes)
        self._bad_nodes: set[str] = set()
        self._deaths = DeathCounts(plan)
        self._idle_deaths = 0
        self._missing = 0
        self._next_look = 0.0
        # Jobs of an earlier command may still be running.
        self._running: set[Future[None]] = workers.adopted()

    def update(self) -> None:
        """Handle the jobs that have ended, and submit as many as there are groups to take."""
        ended = {future for future in self._running if future.done()}
        if not ended and time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK
        missing = self.plan.missing_groups()
        cells = sum(len(group.languages) for group in missing)
        if cells < self._missing:
            self._idle_deaths = 0
        self._missing = cells
        self._running -= ended
        for future in ended:
            error = future.exception()
            if isinstance(error, SlurmJobDiedError):
                self._add_death(error.job, error.fix)
            elif error is not None and not self._running:  # otherwise the site accepts more jobs later
                raise error
        avoid: Collection[str] = self._bad_nodes if len(self._bad_nodes) < self._nodes else ()
        for _ in range(self._wanted(missing)):
            self._running.add(self.workers.submit(self._call, self.resources, avoid, until_ended=True))

    def died_since(self) -> list[str]:
        """Return the numbers of jobs that died after the last update; other jobs may have filled their cells."""
        errors = [future.exception() for future in self._running if future.done() and not future.cancelled()]
        return [error.job.number for error in errors if isinstance(error, SlurmJobDiedError) and not error.job.is_lost]

    def _add_death(self, job: QueuedJob, log: str) -> None:
        """Count a death for the job's cells, and release their locks; several deaths without a cell are an error."""
        if job.is_lost:
            return
        held = held_cells(self.plan, lambda owner: owner.job == job.number)
        release_all(self.plan.root, job.number)
        if job.state == "PREEMPTED":
            return
        if held:
            self._deaths.add(self.plan.missing(held), str(job), log)  # other deaths may have failed them just before
            return
        if job.state == "FAILED":
            # Such as a full disk, which other nodes may not have.
            self._bad_nodes.add(job.node)
        self._idle_deaths += 1
        if self._idle_deaths >= MOST_DEATHS:
            what = f"the jobs of {self.plan.system} end before they fill a cell, most recently {job}"
            raise SystemFailureError(what, fix=log or f"Any logs are in {self.workers.folder}")

    def _wanted(self, missing: list[FitGroup]) -> int:
        """Return the number of jobs to submit: one per free group, less the jobs that will take one."""
        slots, plan = self.workers.slots, self.plan
        if len(self._running) >= min(slots, len(missing)):
            return 0
        free = sum(is_free(plan.group_lock_path(group)) and is_free(plan.fit_lock_path(group)) for group in missing)
        without_group = max(0, len(self._running) - (len(missing) - free))
        return max(0, min(slots - len(self._running), free - without_group))
