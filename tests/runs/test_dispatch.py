"""Jobs and their dispatch: any workers fill the same grid, byte for byte."""

import json
import os
import pickle
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs import locks
from isogloss.runs.cells import writing_cell
from isogloss.runs.dispatch import Dispatcher
from isogloss.runs.grid import fill, run_plan
from isogloss.runs.jobs import CellsJob
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from isogloss.tasks.examples import Examples
from isogloss.workers import ONE_CORE, ProcessWorkers, Resources
from runs.grid_fake import FakeSystem, leftovers, mini_cache, mini_data, same, scores, snapshot

__all__ = ["mini_cache", "mini_data"]


class ThreadWorkers(AbstractContextManager["ThreadWorkers"]):
    """Workers that execute calls in threads, each of which gets its call as bytes, as another machine would."""

    nodes = 1

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.most_running = 0
        self._pool = ThreadPoolExecutor(slots)
        self._running: set[Future[Any]] = set()

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def submit(
        self, call: Callable[[], Any], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[Any]":
        packed = pickle.dumps(call)
        future = self._pool.submit(lambda: pickle.loads(packed)())  # noqa: S301, PLW0108  # unpickle in the thread
        self._running = {running for running in (*self._running, future) if not running.done()}
        self.most_running = max(self.most_running, len(self._running))
        return future


@pytest.fixture(autouse=True)
def small_world(mini_data: Path) -> None:
    """The suite mini and the system `fake`."""


def planned(out: Path, seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=["mini-xquad", "mini-xnli", "mini-tatoeba"], languages=["de", "fi", "sw"])
    return Plan.of("fake", out, request, seeds=seeds)


def test_threads_fill_the_same_grid(tmp_path: Path) -> None:
    alone, threads = planned(tmp_path / "alone"), planned(tmp_path / "threads")
    expected = run_plan(alone)
    workers = ThreadWorkers(3)
    messages: list[str] = []
    assert run_plan(threads, dispatcher=Dispatcher(threads, workers), on_progress=messages.append) == expected
    assert 1 < workers.most_running <= 3
    assert messages
    assert scores(threads) == scores(alone)
    assert snapshot(threads.root) == snapshot(alone.root)
    assert leftovers(threads.root) == []


def test_executing_a_job_twice_changes_nothing(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=1)
    job = CellsJob(plan, plan.groups[0])
    assert job.execute() == len(job.group.cells)
    before = {cell: plan.record_path(cell).read_bytes() for cell in job.group.cells}
    assert job.execute() == CellsJob(plan, job.group, help_others=True).execute() == 0
    assert {cell: plan.record_path(cell).read_bytes() for cell in job.group.cells} == before


def test_a_locked_group_is_skipped_unless_the_job_helps(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=1)
    group = plan.groups[0]
    with locks.acquire(plan.group_lock_path(group)):  # type: ignore[union-attr]
        assert CellsJob(plan, group).execute() == 0
        assert CellsJob(plan, group, help_others=True).execute() == len(group.cells)


@pytest.mark.parametrize(
    "make",
    [lambda plan: Dispatcher.in_process(plan, plan.build_system()), lambda plan: Dispatcher(plan, ThreadWorkers(2))],
)
def test_cells_are_filled_while_a_slow_machine_owns_all_groups(
    tmp_path: Path, make: Callable[[Plan], Dispatcher]
) -> None:
    plan = planned(tmp_path, seeds=1)
    for group in plan.groups:
        far = locks.Owner(machine="elsewhere", pid=1, started="1", token=f"token-{group.task}")
        path = plan.group_lock_path(group)
        path.parent.mkdir(parents=True)
        path.write_bytes(json.dumps({name: getattr(far, name) for name in far.__struct_fields__}).encode())
    with make(plan) as dispatcher:
        fill(plan, dispatcher)
    assert plan.missing(plan.cells) == []
    scores(plan)


def test_an_exception_of_a_job_ends_the_run(tmp_path: Path) -> None:
    class Broken(ThreadWorkers):
        def submit(self, *call: object) -> "Future[Any]":  # type: ignore[override]
            failed: Future[Any] = Future()
            failed.set_exception(IsoglossError("the cluster is gone"))
            return failed

    with pytest.raises(IsoglossError, match="the cluster is gone"):
        run_plan(plan := planned(tmp_path), dispatcher=Dispatcher(plan, Broken(1)))
    assert leftovers(tmp_path) == []


def test_a_system_that_processes_cannot_build_ends_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Spawned processes do not have the system `fake`."""
    plan = planned(tmp_path, seeds=1)
    with pytest.raises(IsoglossError, match="unknown system 'fake'"):
        run_plan(plan, dispatcher=Dispatcher(plan, ProcessWorkers(2)))
    assert "Traceback" not in capfd.readouterr().err
    assert leftovers(tmp_path) == []


def test_processes_that_die_before_they_take_a_cell_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path, seeds=1)
    dispatcher = Dispatcher(plan, ProcessWorkers(2))
    monkeypatch.setattr(dispatcher, "_execute", die)
    message = "the processes of fake die before they fill a cell: the process died: exit code 3"
    with pytest.raises(IsoglossError, match=message):
        run_plan(plan, dispatcher=dispatcher)
    assert leftovers(tmp_path) == []


def die(job: CellsJob, name: str) -> None:
    os._exit(3)


def test_a_plan_is_pickled_without_its_system(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    first = plan.build_system()
    assert plan.build_system() is not first  # the one built for its name is handed out once
    unpickled: Plan = pickle.loads(pickle.dumps(planned(tmp_path)))  # noqa: S301
    assert unpickled == plan
    assert not unpickled._groups  # every job carries the plan, and most need only one group
    assert unpickled.groups == plan.groups
    assert not unpickled._built
    assert not hasattr(plan, "__dict__")


def take_over(plan: Plan) -> None:
    """Fill a grid as a command does after another dispatcher has given up this worker."""
    locks.release_all(plan.root)
    run_plan(plan)


def test_a_worker_that_lost_its_lock_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, undisturbed = planned(tmp_path / "lost", seeds=1), planned(tmp_path / "undisturbed", seeds=1)
    run_plan(undisturbed)
    predict = FakeSystem.predict

    def predict_too_late(system: FakeSystem, examples: Examples) -> Any:
        monkeypatch.setattr(FakeSystem, "predict", predict)
        take_over(plan)
        return ["another answer"] * len(examples.ids)

    monkeypatch.setattr(FakeSystem, "predict", predict_too_late)
    assert CellsJob(plan, plan.groups[0]).execute() == 0
    same(plan, undisturbed)


def test_a_worker_that_lost_its_lock_removes_nothing(tmp_path: Path) -> None:
    """Ray ends the workers of a lost head by a signal, which may come while one is writing."""
    plan, undisturbed = planned(tmp_path / "lost", seeds=1), planned(tmp_path / "undisturbed", seeds=1)
    run_plan(undisturbed)
    cell = plan.cells[0]
    lock = locks.acquire(plan.lock_path(cell))
    assert lock is not None
    with pytest.raises(SystemExit), lock, writing_cell(plan, cell, lock):
        take_over(plan)
        raise SystemExit
    same(plan, undisturbed)
