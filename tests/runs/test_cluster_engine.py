"""The engine of any cluster, over workers that are threads here: deaths, faulty nodes, GPUs, files that travel."""

import errno
import json
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.errors import IsoglossError
from isogloss.runs import locks, shipping
from isogloss.runs.cluster_engine import ClusterEngine, JobEnd
from isogloss.runs.deaths import fail_cells
from isogloss.runs.engine import CellsJob
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.runs.records import read_record
from isogloss.runs.shipping import Parcel, ShippingEngine, execute_shipped, pack, unpack
from isogloss.scoring.cells import Request
from isogloss.workers import MOST_DEATHS, ONE_CORE, Resources, WorkerDiedError
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot

__all__ = ["mini_cache", "mini_data"]


class ThreadWorkers(AbstractContextManager["ThreadWorkers"]):
    """Executes calls in threads; what is in `first` is called instead of the calls that come first."""

    slots, nodes = 2, 3

    def __init__(self, *first: Callable[[Any], Any]) -> None:
        self.first = list(first)
        self.avoided: set[str] = set()
        self._pool = ThreadPoolExecutor(2)

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()

    def submit(
        self, call: Callable[[], Any], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[Any]":
        self.avoided |= {*avoid}
        return self._pool.submit(partial(self.first.pop(0), call) if self.first else call)


def die(call: Any) -> JobEnd:
    """Die on another machine in the middle of a job, whose locks are then fresh for minutes."""
    job, name, _ = call.args
    cell = job.plan.missing(job.group.cells)[0]
    far = locks.Owner("elsewhere", 1, "1", f"token-{name}", job=name)
    for path in (job.plan.group_lock_path(job.group), job.plan.lock_path(cell)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(json.dumps({each: getattr(far, each) for each in far.__struct_fields__}).encode())
    raise WorkerDiedError("lightning")


def full(call: Any, node: str) -> JobEnd:
    return JobEnd(node, error=IsoglossError("no space left"))


@pytest.fixture(autouse=True)
def small_world(mini_data: Path) -> None:
    """The suite mini, and the system `fake`."""


def planned(out: Path, seeds: int = 1) -> Plan:
    request = Request.of("mini", tasks=["mini-xquad"], languages=["de", "fi", "sw"])
    return Plan.of("fake", out, request, seeds=seeds)


def engine(plan: Plan, workers: ThreadWorkers, **settings: Any) -> ClusterEngine:
    return ClusterEngine(plan, Place("ray", **settings), workers)


def test_a_death_far_away_costs_nothing_but_its_work(tmp_path: Path) -> None:
    """The engine knows of it before the locks could tell."""
    plan, undisturbed = planned(tmp_path / "died"), planned(tmp_path / "undisturbed")
    run_plan(undisturbed)
    run_plan(plan, engine=engine(plan, ThreadWorkers(die, die)))
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_a_cell_over_which_workers_die_has_failed(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    workers = ThreadWorkers(*[die] * MOST_DEATHS)
    workers.slots = 1  # else two jobs may die over two cells
    summary = run_plan(plan, engine=engine(plan, workers))
    assert summary.cells == {"done": 2, "failed": 1, "skipped": 0, "missing": 0}
    record = read_record(plan.record_path(plan.cells[0]))
    assert record is not None
    assert record.reason == f"the worker died {MOST_DEATHS} times, at last: lightning"
    assert leftovers(plan.root) == []


def test_a_cell_that_another_fills_by_now_is_left_to_it(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    held, free = plan.cells[:2]
    lock = locks.acquire(plan.lock_path(held))
    assert lock is not None
    with lock:
        assert fail_cells(plan, [held, free], "lightning") == [free]
    assert plan.missing([held, free]) == [held]
    assert fail_cells(plan, [held, free], "lightning") == [held]
    assert leftovers(plan.root) == []


def test_a_faulty_node_is_avoided(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    workers = ThreadWorkers(partial(full, node="a"))
    workers.slots = 1  # else another job may fill all cells meanwhile
    with pytest.warns(UserWarning, match="node a gets no more jobs, others do its part: no space left"):
        run_plan(plan, engine=engine(plan, workers))
    assert workers.avoided == {"a"}
    scores(plan)


def test_faulty_nodes_everywhere_end_the_run(tmp_path: Path) -> None:
    workers = ThreadWorkers(*(partial(full, node=node) for node in "abc"))
    with pytest.warns(UserWarning), pytest.raises(IsoglossError, match="no space left"):
        run_plan(plan := planned(tmp_path), engine=engine(plan, workers))
    assert leftovers(tmp_path) == []


def test_gpus_are_not_kept_to_help(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    job = CellsJob(plan, plan.groups[0], help_others=True)
    for gpus, filled in ((1, 0), (0.5, 0), (0, 3)):
        with engine(plan, ThreadWorkers(), resources=Resources(gpus=gpus)) as entered:
            future = entered.submit(job)
            while not future.done():
                entered.wait(0.1)
        assert future.result() == filled


def test_folders_travel_with_their_times(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_bytes(b"a")
    (source / "b.lock").touch()
    (source / "linked").symlink_to(source / "deep", target_is_directory=True)
    unpack(pack(source), tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*.*")}
    assert copied == {"deep/a.txt", "linked/a.txt"}
    assert (tmp_path / "copy/deep/a.txt").stat().st_mtime_ns == (source / "deep/a.txt").stat().st_mtime_ns


def test_a_file_that_would_leave_its_folder_is_refused(tmp_path: Path) -> None:
    for name in ("../b.txt", "a/../../b.txt", str(tmp_path / "b.txt")):
        with pytest.raises(IsoglossError, match="outside of its folder"):
            unpack(msgspec.msgpack.encode([[name, 0, b""]]), tmp_path / "copy")
    assert not (tmp_path / "b.txt").exists()


def test_a_parcel_that_finds_no_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan = planned(tmp_path / "runs")

    def unpack_some(packed: bytes, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "some").touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shipping, "unpack", unpack_some)
    job = CellsJob(plan, plan.groups[0])
    end = execute_shipped(job, "job", 1, [Parcel("key", "data/xnli")], lambda: b"")
    assert "No space left" in str(end.error)
    assert [*(tmp_path / "cache" / "shipped").iterdir()] == []


class SharingThreads(ThreadWorkers):
    """Threads that hold bytes for many calls."""

    def __init__(self) -> None:
        super().__init__()
        self.shared: list[bytes] = []

    def share(self, content: bytes) -> bytes:
        self.shared.append(content)
        return content

    def submit(
        self,
        call: Callable[..., Any],
        resources: Resources = ONE_CORE,
        avoid: Collection[str] = (),
        shared: Sequence[bytes] = (),
    ) -> "Future[Any]":
        return super().submit(partial(call, *(partial(bytes, each) for each in shared)), resources, avoid)


def test_what_is_left_of_a_fit_travels_once_and_all_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan, undisturbed = planned(tmp_path / "far"), planned(tmp_path / "home")
    run_plan(undisturbed)
    for each in (plan, undisturbed):
        (each.fit_folder(each.groups[0])).mkdir(parents=True)
        (each.fit_folder(each.groups[0]) / "state").write_text("half")
    workers = SharingThreads()
    workers.slots = 1
    run_plan(plan, engine=ShippingEngine(plan, Place("ray", files="ship"), workers))
    assert len(workers.shared) == 1
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_what_others_did_meanwhile_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command finishes a cell just before we have its lock, and learns in the folder of the fit."""
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan = planned(tmp_path)
    group = plan.groups[0]
    state = plan.fit_folder(group) / "state"
    state.parent.mkdir(parents=True)
    state.write_text("half")
    theirs, others = plan.record_path(group.cells[0]), []

    def acquire_late(path: Path) -> locks.Lock | None:
        if path == plan.lock_path(group.cells[0]):
            theirs.write_text("theirs")
            state.write_text("more")
            others.append(locks.acquire(plan.fit_lock_path(group)))
        return locks.acquire(path)

    monkeypatch.setattr(shipping, "acquire", acquire_late)
    with ShippingEngine(plan, Place("ray", files="ship"), SharingThreads()) as engine:
        ended = engine.submit(CellsJob(plan, group))
        while not ended.done():
            engine.wait(1)
    assert ended.result() == 2
    assert (theirs.read_text(), state.read_text()) == ("theirs", "more")
    assert not plan.predictions_path(group.cells[0]).exists()
    assert not plan.missing(group.cells)
    [lock] = others
    lock.release()
    assert leftovers(plan.root) == []


def test_what_another_process_learns_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan, workers = planned(tmp_path), SharingThreads()
    [group] = plan.groups
    with locks.wait_for_lock(plan.fit_lock_path(group)):
        with ShippingEngine(plan, Place("ray", files="ship"), workers) as engine:
            ended = engine.submit(CellsJob(plan, group))
            engine.wait(0)
        assert (ended.result(), workers.shared) == (0, [])
        assert [*plan.root.rglob("fit*.lock")] == [plan.fit_lock_path(group)]


def test_a_grid_that_is_filled_needs_no_cluster(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    expected = run_plan(plan)
    assert run_plan(plan, place=Place("ray", address="127.0.0.1:1")) == expected


def test_a_parcel_is_fetched_once_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the job's own folder is gone when it ends; what it wrote is what it returns."""
    (tmp_path / "data" / "xnli").mkdir(parents=True)
    (tmp_path / "data" / "xnli" / "a.tsv").write_text("a")
    plan, fetched = planned(tmp_path / "runs"), []
    monkeypatch.setenv("ISOGLOSS_DATA", "")

    def fetch() -> bytes:
        fetched.append(1)
        return pack(tmp_path / "data" / "xnli")

    for _ in range(2):
        end = execute_shipped(
            CellsJob(plan, plan.groups[0]), "job", 1, [Parcel(f"key-{tmp_path.name}", "data/xnli")], fetch
        )
        assert end.error is None
        assert sorted(name for name in end.files if name.endswith(".jsonl")) == [
            f"seed-0/mini-xquad/{language}.jsonl" for language in ("de", "fi", "sw")
        ]
    assert len(fetched) == 1
    assert not plan.root.exists()
