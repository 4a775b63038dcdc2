"""Filling a grid of cells, by any number of processes on any number of machines, coordinated by files only.

Each process takes the groups (a task and a seed) that no other process works on, fits the system and fills the missing
languages. When all groups are taken, it helps where most cells are missing. A cell is filled under its lock and is
finished when its record exists: a kill at any moment loses only the cell in flight, and the same command resumes.

Processes started by torchrun count as one: the first does all of the above, the others fit with it.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field

from isogloss.errors import IsoglossError
from isogloss.runs.dispatch import Dispatcher
from isogloss.runs.jobs import CellsJob, OnProgress, SharedTrainings, follow, leading, no_progress
from isogloss.runs.locks import POLL, acquire, holder, releasing_on_interrupt, wait_for_lock
from isogloss.runs.place import HERE, Place
from isogloss.runs.plan import FitGroup, Plan
from isogloss.runs.prepare import prepare
from isogloss.runs.summary import RunSummary, summarize, write_results
from isogloss.training.processes import is_main, world


def run_plan(
    plan: Plan,
    *,
    jobs: int = 0,
    force: bool = False,
    on_progress: OnProgress = no_progress,
    place: Place = HERE,
    dispatcher: Dispatcher | None = None,
) -> RunSummary:
    """Fill the missing cells of a grid, then score every seed and summarize the seeds.

    Args:
        plan: grid.
        jobs: maximum number of jobs at a time; 0 for one on this machine and as many as fit on a cluster. A single
            job on this machine runs in this process.
        force: True to discard all cells of the grid first.
        on_progress: called at the start and at least after each cell.
        place: machine or cluster that executes the jobs, unless a dispatcher is passed.
        dispatcher: executor of the jobs.

    Raises:
        IsoglossError: several jobs are requested under torchrun, or `prepare` fails.
        KeyboardInterrupt: Ctrl-C; all processes have ended and all locks are released.
    """
    in_process = place.is_here and (jobs or place.jobs) <= 1
    if not in_process and world() > 1:
        what = f"{world()} processes that fit together cannot start {jobs or 'further'} jobs each"
        raise IsoglossError(what, fix="Use --jobs 1 without --on, or run without torchrun")
    system = plan.build_system()
    if not is_main():
        follow(plan, system)
        return summarize(plan)
    with leading(), releasing_on_interrupt(plan.root):
        configuration = system.configuration  # a missing model raises before any folder is created
        waiting = "another process is preparing or summarizing these runs"
        with wait_for_lock(plan.run_lock_path, on_progress, waiting):
            prepare(plan, system, configuration, force=force, on_waiting=on_progress)
            place.describe(plan.seed_folders)
        on_progress("")
        if not plan.missing_groups():
            pass  # no cluster is needed, and it may be gone
        elif dispatcher is None and place.engine_name == "slurm":
            from isogloss.runs.slurm_grid import fill_on_slurm

            fill_on_slurm(plan, place, jobs, on_progress)
        elif dispatcher is None and place.engine_name == "ray" and place.on_interrupt == "detach":
            from isogloss.runs.ray_workers import fill_detached

            fill_detached(plan, place, jobs, on_progress)
        else:
            if dispatcher is None and in_process:
                dispatcher = Dispatcher.in_process(plan, system, on_progress)
            with dispatcher or Dispatcher(plan, place.workers(jobs), place) as entered:
                fill(plan, entered, on_progress, SharedTrainings(plan, system))
        on_progress("")
        with wait_for_lock(plan.run_lock_path, on_progress, waiting):
            return write_results(plan)


def take_part(plan: Plan) -> None:
    """Fill cells of a prepared grid in this process, until others are working on all that remain.

    If the grid is complete, write the results: the process that prepared it may have ended.
    """
    system = plan.build_system()
    if not is_main():
        follow(plan, system)
        return
    with leading(), releasing_on_interrupt(plan.root):
        trainings = SharedTrainings(plan, system)
        fill(plan, Dispatcher.in_process(plan, system), trainings=trainings, wait_for_others=False)
        lock = None if plan.missing_groups() else acquire(plan.run_lock_path)
        if lock is not None:
            with lock:
                write_results(plan)


def fill(
    plan: Plan,
    dispatcher: Dispatcher,
    on_progress: OnProgress = no_progress,
    trainings: SharedTrainings | None = None,
    *,
    wait_for_others: bool = True,
) -> None:
    """Submit jobs until no cell is missing, or, without `wait_for_others`, until other processes have the rest.

    Groups that share a training run are submitted one at a time: the first job may train for the others as well.
    """
    submitted = _SubmittedJobs(trainings)

    def wait(waiting: str = "") -> None:
        dispatcher.wait(POLL)
        on_progress(waiting)
        submitted.collect()

    for job in _jobs(plan, submitted, wait_for_others=wait_for_others):
        if job is None:
            # A missing cell that another process fills, and that process.
            locks = {plan.lock_path(cell): cell for group in plan.missing_groups() for cell in group.cells}
            held = ((path, cell, owner) for path, cell in locks.items() if (owner := holder(path)))
            wait(next((f"another process is filling {cell}: {path} is held by {by}" for path, cell, by in held), ""))
        else:
            submitted.running[dispatcher.submit(job)] = job
            submitted.collect()
        while len(submitted.running) >= dispatcher.slots:
            wait()
    while submitted.running:
        wait()


@dataclass
class _SubmittedJobs:
    """Running jobs, and the number of cells filled so far."""

    trainings: SharedTrainings | None
    running: dict[Future[int], CellsJob] = field(default_factory=dict)
    filled: int = 0

    def collect(self) -> None:
        """Remove the jobs that have ended."""
        for future in [future for future in self.running if future.done()]:
            del self.running[future]
            self.filled += future.result()

    def train_for(self, group: FitGroup) -> bool:
        """Return True if a job for another group may be training for this one."""
        if self.trainings is None:
            return False
        training_id = self.trainings.of
        return any(
            training_id(job.group) == training_id(group) and job.group.task != group.task
            for job in self.running.values()
        )


def _jobs(plan: Plan, submitted: _SubmittedJobs, *, wait_for_others: bool) -> Iterator[CellsJob | None]:
    """Yield the jobs of a grid, or None to wait.

    Free groups come first, in order; then, while these fill nothing, help where most cells are missing.
    """
    while missing := plan.missing_groups():
        before = submitted.filled
        for group in missing:
            is_running = any(str(job.group) == str(group) for job in submitted.running.values())
            if not is_running and not submitted.train_for(group):
                yield CellsJob(plan, group)
        if not wait_for_others and submitted.filled == before and not submitted.running:
            return
        for group in sorted(plan.missing_groups(), key=lambda group: -len(group.languages)):
            if wait_for_others and submitted.filled == before and not submitted.train_for(group):
                yield CellsJob(plan, group, help_others=True)
        if submitted.filled == before:
            yield None
