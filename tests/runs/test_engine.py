"""What executes a grid is behind one interface: another engine fills the same grid, to the byte."""

import json
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs import locks
from isogloss.runs.engine import CellsJob, InProcessEngine
from isogloss.runs.grid import fill, run_plan
from isogloss.runs.plan import Plan
from isogloss.runs.processes import ProcessEngine
from isogloss.scoring.cells import Request
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot

__all__ = ["mini_cache", "mini_data"]


class ThreadEngine(AbstractContextManager["ThreadEngine"]):
    """Executes jobs in threads, each of which gets its job as another machine would: as bytes."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.submitted: list[CellsJob] = []
        self.at_a_time = 0
        self._pool = ThreadPoolExecutor(slots)
        self._running: set[Future[int]] = set()

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def submit(self, job: CellsJob) -> "Future[int]":
        self.submitted.append(job)
        packed = pickle.dumps(job)
        future = self._pool.submit(lambda: pickle.loads(packed).execute())  # noqa: S301
        self._running = {each for each in (*self._running, future) if not each.done()}
        self.at_a_time = max(self.at_a_time, len(self._running))
        return future

    def wait(self, seconds: float) -> None:
        if self._running:
            wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED)
            self._running = {each for each in self._running if not each.done()}
        else:
            threading.Event().wait(seconds)


@pytest.fixture(autouse=True)
def small_world(mini_data: Path) -> None:
    """The suite mini, and the system `fake`."""


def planned(out: Path, seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=["mini-xquad", "mini-xnli", "mini-tatoeba"], languages=["de", "fi", "sw"])
    return Plan.of("fake", out, request, seeds=seeds)


def test_another_engine_fills_the_same_grid(tmp_path: Path) -> None:
    alone, threads = planned(tmp_path / "alone"), planned(tmp_path / "threads")
    expected = run_plan(alone)
    with_threads = ThreadEngine(3)
    told: list[str] = []
    assert run_plan(threads, engine=with_threads, on_progress=told.append) == expected
    assert 1 < with_threads.at_a_time <= 3
    assert told
    assert scores(threads) == scores(alone)
    assert snapshot(threads.root) == snapshot(alone.root)
    assert leftovers(threads.root) == []


def test_a_job_that_is_executed_twice_does_nothing_more(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=1)
    job = CellsJob(plan, plan.groups[0])
    assert job.execute() == len(job.group.cells)
    before = {cell: plan.record_path(cell).read_bytes() for cell in job.group.cells}
    assert job.execute() == CellsJob(plan, job.group, help_others=True).execute() == 0
    assert {cell: plan.record_path(cell).read_bytes() for cell in job.group.cells} == before


def test_a_group_that_another_process_has_is_left_to_it_unless_help_is_wanted(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=1)
    group = plan.groups[0]
    with locks.acquire(plan.group_lock_path(group)):  # type: ignore[union-attr]
        assert CellsJob(plan, group).execute() == 0
        assert CellsJob(plan, group, help_others=True).execute() == len(group.cells)


@pytest.mark.parametrize("make", [lambda plan: InProcessEngine(plan.build_system()), lambda plan: ThreadEngine(2)])
def test_nobody_is_idle_while_another_machine_has_the_groups(
    tmp_path: Path, make: Callable[[Plan], InProcessEngine | ThreadEngine]
) -> None:
    """All groups are somebody's, who is far away and slow: their cells are filled all the same."""
    plan = planned(tmp_path, seeds=1)
    for group in plan.groups:
        far = locks.Owner("elsewhere", 1, "1", f"token-{group.task}")
        path = plan.group_lock_path(group)
        path.parent.mkdir(parents=True)
        path.write_bytes(json.dumps({name: getattr(far, name) for name in far.__struct_fields__}).encode())
    with make(plan) as engine:
        fill(plan, engine)
    assert plan.missing(plan.cells) == []
    scores(plan)


def test_an_exception_of_a_job_ends_the_run(tmp_path: Path) -> None:
    class Broken(ThreadEngine):
        def submit(self, job: CellsJob) -> "Future[int]":
            failed: Future[int] = Future()
            failed.set_exception(IsoglossError("the cluster is gone"))
            return failed

    with pytest.raises(IsoglossError, match="the cluster is gone"):
        run_plan(planned(tmp_path), engine=Broken(1))
    assert leftovers(tmp_path) == []


def test_processes_that_cannot_begin_end_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Spawned processes have no system `fake` here: they die, one after the other, and the run says so."""
    plan = planned(tmp_path, seeds=1)
    with pytest.raises(IsoglossError, match=r"the processes of fake die \(exit code 1\) before they fill a cell"):
        run_plan(plan, engine=ProcessEngine(plan, 2))
    said = capfd.readouterr().err
    assert "error: unknown system" in said
    assert "Traceback" not in said
    assert leftovers(tmp_path) == []


def test_a_plan_travels_without_its_system(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    first = plan.build_system()
    assert plan.build_system() is not first  # the one it was named after is given away once
    travelled: Plan = pickle.loads(pickle.dumps(planned(tmp_path)))  # noqa: S301
    assert travelled == plan
    assert "_built" not in vars(travelled)
