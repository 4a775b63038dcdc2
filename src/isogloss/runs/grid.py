"""Filling a grid of cells: by any number of processes, on any number of machines, that know each other by files only.

Every process goes through the groups (a task and a seed) that no other works on, and has an engine fit the system and
fill the languages that are missing. When all groups are taken it helps where most is missing. A cell is filled under
its lock and is finished when its record exists: a kill at any instant loses the cell in flight, and issuing the command
again does what is missing.

The processes that torchrun starts count as one: the first of them does all of the above, the others fit with it.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from isogloss.errors import IsoglossError
from isogloss.runs.engine import CellsJob, Engine, InProcessEngine, OnProgress, no_progress
from isogloss.runs.fit import fit_group
from isogloss.runs.locks import POLL, acquire, holder, releasing_on_interrupt, wait_for_lock
from isogloss.runs.place import HERE, Place
from isogloss.runs.plan import FitGroup, Plan
from isogloss.runs.prepare import prepare
from isogloss.runs.sharing import SharedTrainings
from isogloss.runs.summary import RunSummary, count_cells, write_results
from isogloss.systems.base import System
from isogloss.training.processes import broadcast, is_main, world


def run_plan(
    plan: Plan,
    *,
    jobs: int = 0,
    force: bool = False,
    on_progress: OnProgress = no_progress,
    place: Place = HERE,
    engine: Engine | None = None,
) -> RunSummary:
    """Fill what is missing of a grid, then score every seed and sum up over the seeds.

    Args:
        plan: the grid.
        jobs: the most jobs at a time; 0 for one where this machine's processes do them, and as many as there is room
            for elsewhere. One job on this machine is done in this process.
        force: forget all cells of the grid first.
        on_progress: called when it begins, and now and then (at the latest after each cell), with what is being waited
            for, "" for nothing.
        place: where the jobs are executed.
        engine: what executes them, instead of the engine of that place.

    Raises:
        IsoglossError: processes that share a fit are to share cells too; or what `prepare` refuses.
        KeyboardInterrupt: the user's; every process has ended and all locks are released.
    """
    in_process = place.is_here and (jobs or place.jobs) <= 1
    if not in_process and world() > 1:
        what = f"{world()} processes that fit together cannot each have {jobs or 'some'} of their own"
        raise IsoglossError(what, fix="Give --jobs 1 and no --on, or start it without torchrun")
    system = plan.build_system()
    if not is_main():
        follow(plan, system)
        return count_cells(plan)
    with leading(), releasing_on_interrupt(plan.root):
        configuration = system.configuration  # a model that is not there says so before any folder is made for it
        waiting = "another process prepares or sums up these runs"
        with wait_for_lock(plan.run_lock_path, on_progress, waiting):
            prepare(plan, system, configuration, force=force, on_waiting=on_progress)
            place.describe(plan.seed_folders)
        on_progress("")
        if not plan.missing_groups():
            pass  # there is no need to ask a cluster, which may be gone by now
        elif engine is None and place.fills_by_itself:
            from isogloss.runs.ray_detached import fill_detached

            fill_detached(plan, place, jobs, on_progress)
        else:
            here = InProcessEngine(system, on_progress) if in_process and engine is None else None
            with engine or here or place.engine(plan, jobs) as entered:
                fill(plan, entered, on_progress, SharedTrainings(plan, system))
        on_progress("")
        with wait_for_lock(plan.run_lock_path, on_progress, waiting):
            return write_results(plan)


@contextmanager
def leading() -> Iterator[None]:
    """Lead the processes that fit with this one, if there are any, until nothing is left to fit."""
    try:
        yield
    except Exception:
        broadcast(None)
        raise
    broadcast(None)  # but not after Ctrl-C, which they have had as well


def follow(plan: Plan, system: System) -> None:
    """Fit what the first process fits, until it says that nothing is left; it alone fills cells."""
    while (group := broadcast(None)) is not None:
        fit_group(plan, group, system)


def take_part(plan: Plan) -> None:
    """Fill in this process what nobody works on, in a grid that another has prepared; then leave.

    Who finds it complete sums it up, for the one who prepared it may have left.
    """
    system = plan.build_system()
    if not is_main():
        follow(plan, system)
        return
    with leading(), releasing_on_interrupt(plan.root):
        fill(plan, InProcessEngine(system), trainings=SharedTrainings(plan, system), wait_for_others=False)
        lock = None if plan.missing_groups() else acquire(plan.run_lock_path)
        if lock is not None:
            with lock:
                write_results(plan)


def fill(
    plan: Plan,
    engine: Engine,
    on_progress: OnProgress = no_progress,
    trainings: SharedTrainings | None = None,
    *,
    wait_for_others: bool = True,
) -> None:
    """Have an engine fill cells until none is missing.

    Of groups that learn the same, it is given one at a time: that job may train for the others as well.

    Args:
        plan: the grid.
        engine: what executes the jobs.
        on_progress: called now and then, with what is being waited for.
        trainings: which groups learn the same.
        wait_for_others: whether to help, and to wait for, other processes that work on groups; else it ends when all
            the groups that are left are theirs.
    """
    submitted = _SubmittedJobs(trainings)

    def wait(waiting: str = "") -> None:
        engine.wait(POLL)
        on_progress(waiting)
        submitted.collect()

    for job in _jobs(plan, submitted, wait_for_others=wait_for_others):
        if job is None:
            wait(_held_by_others(plan))
        else:
            submitted.running[engine.submit(job)] = job
            submitted.collect()
        while len(submitted.running) >= engine.slots:
            wait()
    while submitted.running:
        wait()


def _held_by_others(plan: Plan) -> str:
    """Which missing cell another process has, and which process; "" where none has any."""
    for group in plan.missing_groups():
        for cell in group.cells:
            if owner := holder(plan.lock_path(cell)):
                return f"another process fills {cell}: {plan.lock_path(cell)} is held by {owner}"
    return ""


@dataclass
class _SubmittedJobs:
    """The jobs that an engine executes now, and how many cells it has filled so far."""

    trainings: SharedTrainings | None
    running: "dict[Future[int], CellsJob]" = field(default_factory=dict)
    filled: int = 0

    def collect(self) -> None:
        """Take out the jobs that have ended."""
        for future in [future for future in self.running if future.done()]:
            del self.running[future]
            self.filled += future.result()

    def work_on(self, group: FitGroup) -> bool:
        """Whether one of them is for a group."""
        return any(str(job.group) == str(group) for job in self.running.values())

    def train_for(self, group: FitGroup) -> bool:
        """Whether one of them, for another group, may be training for this one."""
        if self.trainings is None:
            return False
        of = self.trainings.of
        return any(of(job.group) == of(group) and job.group.task != group.task for job in self.running.values())


def _jobs(plan: Plan, submitted: _SubmittedJobs, *, wait_for_others: bool) -> Iterator[CellsJob | None]:
    """The jobs of a grid, one by one; None where there is nothing to do but wait.

    First the groups that nobody works on, in order; then, while these fill nothing, help where most is missing.
    """
    while missing := plan.missing_groups():
        before = submitted.filled
        for group in missing:
            if not submitted.work_on(group) and not submitted.train_for(group):
                yield CellsJob(plan, group)
        if not wait_for_others and submitted.filled == before and not submitted.running:
            return
        for group in sorted(plan.missing_groups(), key=lambda group: -len(group.languages)):
            if wait_for_others and submitted.filled == before and not submitted.train_for(group):
                yield CellsJob(plan, group, help_others=True)
        if submitted.filled == before:
            yield None
