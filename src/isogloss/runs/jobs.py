"""Jobs of a grid: one fit and the cells that it serves.

A job can be pickled and executed in any process on any machine that sees the grid's folder; its outcome is the records
it writes there. Executing a job twice, or in two processes, costs time only: every cell is filled under its lock.
"""

import random
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from isogloss.errors import IsoglossError
from isogloss.runs.cells import LockLostError, fill_cell
from isogloss.runs.fit import FitJob, FitResult, fit_group, keeps_fits, read_ahead, training_identity, training_key
from isogloss.runs.locks import acquire, is_free, on_behalf_of, releasing_on_interrupt, wait_for_lock
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.systems.base import FurtherFit, System
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.training.processes import broadcast, is_main
from isogloss.workers import node_name, settle


class OnProgress(Protocol):
    """Callback for the progress of a grid."""

    def __call__(self, waiting: str, answering: CellKey | None = None) -> None:
        """Report what the run waits for, "" for nothing, and the cell that this process predicts now, if any."""


def no_progress(waiting: str, answering: CellKey | None = None) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class CellsJob:
    """Unit of work: fit for a group, then fill its cells that are missing and unlocked.

    With `help_others`, it shares a group that another process works on: both fit, and divide the cells.
    """

    plan: Plan
    group: FitGroup
    help_others: bool = False

    def execute(self, system: System | None = None, on_progress: OnProgress = no_progress) -> int:
        """Execute the job in this process, with the plan's system, and return the number of cells filled."""
        if self.help_others:
            # In random order, the two processes rarely reach the same cell.
            shuffled = tuple(random.sample(self.group.languages, len(self.group.languages)))
            return self._fill(replace(self.group, languages=shuffled), system, on_progress)
        lock = acquire(self.plan.group_lock_path(self.group))
        if lock is None:
            return 0
        with lock:
            if not is_free(self.plan.fit_lock_path(self.group)):  # another task's training may serve this one too
                return 0
            return self._fill(self.group, system, on_progress)

    def _fill(self, group: FitGroup, system: System | None, on_progress: OnProgress) -> int:
        plan = self.plan
        # Cells stay unlocked during the fit: other processes may have filled them all by now.
        if not any(is_free(plan.lock_path(cell)) for cell in plan.missing(group.cells)):
            return 0
        fit_result = _fit(plan, group, system or plan.build_system(), on_progress)
        filled = 0
        for cell in group.cells:
            lock = acquire(plan.lock_path(cell)) if plan.missing([cell]) else None
            if lock is None:
                continue
            with lock:
                if plan.missing([cell]):  # another process may have finished it just before we got the lock
                    on_progress("", answering=cell)
                    try:
                        fill_cell(plan, cell, fit_result, lock)
                    except LockLostError:
                        return filled  # the dispatcher has given up this worker
                    filled += 1
        on_progress("")
        return filled


def _fit(plan: Plan, group: FitGroup, system: System, on_progress: OnProgress) -> FitResult:
    """Fit for a group, together with the processes that follow this one; skip the fit if no cell has examples."""
    inputs, cell_outcomes = read_ahead(plan, group)
    if not inputs:
        return FitResult.without_examples(FitJob.of(plan, group), system, cell_outcomes)
    with ExitStack() as locks:
        others = None
        if keeps_fits(system):
            # It writes to the group's folder: one process trains there at a time, and the next finds the result.
            waiting = f"another process is training {group}"
            locks.enter_context(wait_for_lock(plan.fit_lock_path(group), on_progress, waiting))
            others = partial(further_fits, plan, group, system, locks)
        broadcast(group)
        return fit_group(plan, group, system, inputs, others)


class SharedTrainings:
    """Groups of a plan that share a training run in the fit's folder, determined without reading training sets."""

    def __init__(self, plan: Plan, system: System) -> None:
        names = plan.request.tasks
        # Other systems keep the last fit in memory, so that their groups can be fitted at the same time.
        keys = {name: training_key(system, task(name)) if keeps_fits(system) else name for name in names}
        first: dict[object, str] = {}
        self._first = {name: first.setdefault(key, name) for name, key in keys.items()}

    def of(self, group: FitGroup) -> tuple[int, str, str]:
        """Return the training run of a group: its seed, target language and first task."""
        return group.seed, group.target, self._first[group.task]


def further_fits(plan: Plan, group: FitGroup, system: System, locks: ExitStack, train: Examples) -> list[FurtherFit]:
    """Return the fits of other groups with missing cells and the same training set, which a training run also serves.

    No other process trains in their folders, and `locks` keeps it so.
    """
    trainings, fits = SharedTrainings(plan, system), []
    for other in plan.missing_groups():
        if other.task == group.task or trainings.of(other) != trainings.of(group):
            continue
        job = FitJob.of(plan, other)
        try:
            own, (inputs, _) = job.training(system), read_ahead(plan, other)
        except Exception:  # noqa: S112 - such as a damaged file, which that group's cells report
            continue
        if own is None or not inputs or training_identity(own) != training_identity(train):
            continue
        lock = acquire(plan.fit_lock_path(other))
        if lock is not None:
            locks.enter_context(lock)
            fits.append(FurtherFit(job.task, own, job.context(system)))
    return fits


@dataclass(frozen=True)
class JobEnd:
    """Outcome of a job: its node, the number of cells filled, and an error that no cell caused, such as a full disk.

    `files` are the files it wrote, by path below the grid's root, if the node does not see that folder.
    """

    node: str
    filled: int = 0
    error: IsoglossError | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of_error(cls, error: IsoglossError | OSError) -> "JobEnd":
        """Return the outcome of an error on this process's node."""
        return cls(node_name(), error=error if isinstance(error, IsoglossError) else IsoglossError(str(error)))


def nothing_done() -> Future[JobEnd]:
    """Return the outcome of a job that was not submitted."""
    return settle(Future(), JobEnd(""), None)


# The system this thread built last, and its name and settings, for the next job of the same grid.
_LAST = threading.local()


def execute_job(
    job: CellsJob, name: str, processes: int = 1, system: System | None = None, on_progress: OnProgress = no_progress
) -> JobEnd:
    """Execute a job in this process, or in several processes that fit together; its locks carry `name`.

    By default, the system is the one this process built for the job before.
    """
    if processes > 1:
        from isogloss.runs.job_process import call_together

        return call_together(partial(_execute_in_step, job, name), processes)
    with on_behalf_of(name), releasing_on_interrupt(job.plan.root):
        try:
            if system is None:
                plan, key = job.plan, (job.plan.system, job.plan.settings, job.plan.given)
                if getattr(_LAST, "key", None) != key:
                    _LAST.system, _LAST.key = plan.build_system(), key
                system = _LAST.system
            return JobEnd(node_name(), job.execute(system, on_progress))
        except (IsoglossError, OSError) as error:
            return JobEnd.of_error(error)


def _execute_in_step(job: CellsJob, name: str) -> JobEnd:
    """Execute a job with the other processes of this fit: the first fills cells, the others fit with it."""
    if not is_main():
        follow(job.plan, job.plan.build_system())
        return JobEnd(node_name())
    with leading():
        return execute_job(job, name)


@contextmanager
def leading() -> Iterator[None]:
    """Lead the processes that fit with this one, if any, until nothing is left to fit."""
    try:
        yield
    except Exception:
        broadcast(None)
        raise
    broadcast(None)  # not after Ctrl-C, which they receive as well


def follow(plan: Plan, system: System) -> None:
    """Fit what the first process fits until nothing is left; only the first process fills cells."""
    while (group := broadcast(None)) is not None:
        fit_group(plan, group, system)
