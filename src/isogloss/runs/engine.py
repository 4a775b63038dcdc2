"""What executes the jobs of a grid: the interface, the job, and the engine that does everything in this process.

A job is a fit and the cells that it serves. It can be pickled, and executed in any process on any machine that sees the
folder of the grid; its outcome is the records it writes there. Who executes a job twice, or at the same time in two
places, loses time and nothing else: every cell is filled under its lock. An engine therefore needs to know neither
cells nor records. It takes jobs and says when they have ended.
"""

import random
import time
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from isogloss.runs.cells import fill_cell
from isogloss.runs.fit import FitResult, fit_group, nothing_to_predict, read_ahead
from isogloss.runs.locks import acquire, is_free, wait_for_lock
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.sharing import further_fits
from isogloss.systems.base import System
from isogloss.training.processes import broadcast


class OnProgress(Protocol):
    """Is called now and then while a grid is filled."""

    def __call__(self, waiting: str, answering: CellKey | None = None) -> None:
        """Take notice.

        Args:
            waiting: what is being waited for, "" for nothing.
            answering: the cell that the system of this process answers now, None while it does not.
        """


def no_progress(waiting: str, answering: CellKey | None = None) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class CellsJob:
    """A unit of work: fit for a group, then fill those of its cells that are missing and that nobody works on.

    Attributes:
        plan: the grid.
        group: the cells.
        help_others: whether to do it even if another process works on the group: both fit then, and share the cells.
    """

    plan: Plan
    group: FitGroup
    help_others: bool = False

    def execute(self, system: System | None = None, on_progress: OnProgress = no_progress) -> int:
        """Do it in this process, with the plan's system if there is one already; gives how many cells were filled."""
        if self.help_others:
            # In an order that rarely meets the other's.
            scattered = tuple(random.sample(self.group.languages, len(self.group.languages)))
            return self._fill(replace(self.group, languages=scattered), system, on_progress)
        lock = acquire(self.plan.group_lock_path(self.group))
        if lock is None:
            return 0
        with lock:
            fit_lock = self.plan.fit_lock_path(self.group)
            if fit_lock.exists() and not is_free(fit_lock):  # the training of another task may be this one's too
                return 0
            return self._fill(self.group, system, on_progress)

    def _fill(self, group: FitGroup, system: System | None, on_progress: OnProgress) -> int:
        plan = self.plan
        # No cell is locked during the fit: another process may have filled all of them by then.
        if not any(is_free(plan.lock_path(cell)) for cell in plan.missing(group.cells)):
            return 0
        fit_result = _fit(plan, group, system or plan.build_system(), on_progress)
        filled = 0
        for cell in group.cells:
            lock = acquire(plan.lock_path(cell)) if plan.missing([cell]) else None
            if lock is None:
                continue
            with lock:
                if plan.missing([cell]):  # else another process finished it just before we had the lock
                    on_progress("", answering=cell)
                    fill_cell(plan, cell, fit_result)
                    filled += 1
        on_progress("")
        return filled


def _fit(plan: Plan, group: FitGroup, system: System, on_progress: OnProgress) -> FitResult:
    """Fit for a group, together with the processes that follow this one; not at all if no cell has examples.

    A system that overrides `learn` keeps what it learns in the group's folder: there one process learns at a time, and
    the next finds it done. So it may do for other groups that learn the same.
    """
    inputs, cell_outcomes = read_ahead(plan, group)
    if not inputs:
        return nothing_to_predict(plan, group, system, cell_outcomes)
    with ExitStack() as locks:
        others = None
        if type(system).learn is not System.learn:
            waiting = f"another process is learning {group}"
            locks.enter_context(wait_for_lock(plan.fit_lock_path(group), on_progress, waiting))
            others = partial(further_fits, plan, group, system, locks)
        broadcast(group)
        return fit_group(plan, group, system, inputs, others)


class Engine(AbstractContextManager["Engine"], Protocol):
    """Executes jobs somewhere. It is entered before the first job; on leaving it, nothing of it runs any more."""

    @property
    def slots(self) -> int:
        """How many jobs it executes at a time now; it is never given more."""

    def submit(self, job: CellsJob) -> "Future[int]":
        """Have a job executed; the result is what `CellsJob.execute` returns.

        A job whose process died has ended too: the engine records the cells it worked on as failed, and counts them.
        An exception as the result ends the whole run.
        """

    def wait(self, seconds: float) -> None:
        """Return when a job has ended, or after some seconds; where nothing runs, after the seconds."""


class InProcessEngine(AbstractContextManager["InProcessEngine"]):
    """Executes every job in this process, while it is submitted."""

    slots = 1

    def __init__(self, system: System, on_progress: OnProgress = no_progress) -> None:
        self.system = system
        self.on_progress = on_progress

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, job: CellsJob) -> "Future[int]":
        """Execute a job."""
        ended: Future[int] = Future()
        ended.set_result(job.execute(self.system, self.on_progress))
        return ended

    def wait(self, seconds: float) -> None:
        """Let other processes work: nothing runs here between two jobs."""
        time.sleep(seconds)
