"""Dispatch to a cluster, simulated by threads: deaths, faulty nodes, GPUs, shipped files."""

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
from isogloss.runs.dispatch import DeathCounts, Dispatcher
from isogloss.runs.grid import run_plan
from isogloss.runs.jobs import CellsJob, JobEnd
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.runs.records import read_record
from isogloss.runs.shipping import Parcel, execute_shipped, pack, unpack
from isogloss.scoring.request import Request
from isogloss.workers import MOST_DEATHS, ONE_CORE, Resources, WorkerDiedError
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot

__all__ = ["mini_cache", "mini_data"]


class ThreadWorkers(AbstractContextManager["ThreadWorkers"]):
    """Workers that execute calls in threads; the functions in `first` replace the first calls."""

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
    """Die on another machine during a job, which leaves fresh locks."""
    job, name = call.args
    cell = job.plan.missing(job.group.cells)[0]
    far = locks.Owner(machine="elsewhere", pid=1, started="1", token=f"token-{name}", job=name)
    for path in (job.plan.group_lock_path(job.group), job.plan.lock_path(cell)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(json.dumps({each: getattr(far, each) for each in far.__struct_fields__}).encode())
    raise WorkerDiedError("lightning")


def full(call: Any, node: str) -> JobEnd:
    return JobEnd(node, error=IsoglossError("no space left"))


@pytest.fixture(autouse=True)
def small_world(mini_data: Path) -> None:
    """The suite mini and the system `fake`."""


def planned(out: Path, seeds: int = 1) -> Plan:
    request = Request.of("mini", tasks=["mini-xquad"], languages=["de", "fi", "sw"])
    return Plan.of("fake", out, request, seeds=seeds)


def dispatch(plan: Plan, workers: ThreadWorkers, **settings: Any) -> Dispatcher:
    return Dispatcher(plan, workers, Place(engine_name="ray", **settings))


def test_a_remote_death_changes_no_byte(tmp_path: Path) -> None:
    """The dispatcher notices the death before the locks expire."""
    plan, undisturbed = planned(tmp_path / "died"), planned(tmp_path / "undisturbed")
    run_plan(undisturbed)
    run_plan(plan, dispatcher=dispatch(plan, ThreadWorkers(die, die)))
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_a_cell_fails_after_repeated_deaths(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    workers = ThreadWorkers(*[die] * MOST_DEATHS)
    workers.slots = 1  # else two jobs may die over two cells
    summary = run_plan(plan, dispatcher=dispatch(plan, workers))
    assert summary.cells == {"done": 2, "failed": 1, "skipped": 0, "missing": 0}
    record = read_record(plan.record_path(plan.cells[0]))
    assert record is not None
    assert record.reason == f"the worker died {MOST_DEATHS} times, most recently: lightning"
    assert leftovers(plan.root) == []


def test_a_locked_cell_is_not_marked_as_failed(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    held, free = plan.cells[:2]
    lock = locks.acquire(plan.lock_path(held))
    assert lock is not None
    with lock:
        assert DeathCounts(plan, most=1).add([held, free], "lightning") == [free]
    assert plan.missing([held, free]) == [held]
    assert DeathCounts(plan, most=1).add([held, free], "lightning") == [held]
    assert leftovers(plan.root) == []


def test_a_faulty_node_is_avoided(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    workers = ThreadWorkers(partial(full, node="a"))
    workers.slots = 1  # else another job may fill all cells meanwhile
    with pytest.warns(UserWarning, match="node a gets no more jobs; other nodes take over: no space left"):
        run_plan(plan, dispatcher=dispatch(plan, workers))
    assert workers.avoided == {"a"}
    scores(plan)


def test_faults_on_all_nodes_end_the_run(tmp_path: Path) -> None:
    workers = ThreadWorkers(*(partial(full, node=node) for node in "abc"))
    with pytest.warns(UserWarning), pytest.raises(IsoglossError, match="no space left"):
        run_plan(plan := planned(tmp_path), dispatcher=dispatch(plan, workers))
    assert leftovers(tmp_path) == []


def test_gpu_jobs_do_not_help(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    job = CellsJob(plan, plan.groups[0], help_others=True)
    for gpus, filled in ((1, 0), (0.5, 0), (0, 3)):
        with dispatch(plan, ThreadWorkers(), resources=Resources(gpus=gpus)) as entered:
            future = entered.submit(job)
            while not future.done():
                entered.wait(0.1)
        assert future.result() == filled


def test_a_job_has_one_process_per_gpu(tmp_path: Path) -> None:
    processes = []

    def look(call: Any) -> JobEnd:
        processes.append(call.keywords["processes"])
        return JobEnd("node")

    for gpus in (0, 0.5, 1, 2):
        plan = planned(tmp_path / str(gpus))
        with dispatch(plan, ThreadWorkers(look), resources=Resources(gpus=gpus)) as entered:
            future = entered.submit(CellsJob(plan, plan.groups[0]))
            while not future.done():
                entered.wait(0.1)
    assert processes == [1, 1, 1, 2]


def test_packed_folders_keep_modification_times(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_bytes(b"a")
    (source / "b.lock").touch()
    (source / "linked").symlink_to(source / "deep", target_is_directory=True)
    unpack(pack(source), tmp_path / "copy")
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*.*")}
    assert copied == {"deep/a.txt", "linked/a.txt"}
    assert (tmp_path / "copy/deep/a.txt").stat().st_mtime_ns == (source / "deep/a.txt").stat().st_mtime_ns


def test_a_path_outside_the_folder_is_rejected(tmp_path: Path) -> None:
    for name in ("../b.txt", "a/../../b.txt", str(tmp_path / "b.txt")):
        with pytest.raises(IsoglossError, match="is outside its folder"):
            unpack(msgspec.msgpack.encode([[name, 0, b""]]), tmp_path / "copy")
    assert not (tmp_path / "b.txt").exists()


def test_a_parcel_on_a_full_disk_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Threads that store bytes for many calls."""

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


def test_an_unfinished_fit_is_shipped_once_and_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan, undisturbed = planned(tmp_path / "far"), planned(tmp_path / "home")
    run_plan(undisturbed)
    for each in (plan, undisturbed):
        (each.fit_folder(each.groups[0])).mkdir(parents=True)
        (each.fit_folder(each.groups[0]) / "state").write_text("half")
    workers = SharingThreads()
    workers.slots = 1
    run_plan(plan, dispatcher=dispatch(plan, workers, files="ship"))
    assert len(workers.shared) == 1
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_work_of_other_processes_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command finishes a cell just before we get its lock, and trains in the fit's folder."""
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
    with dispatch(plan, SharingThreads(), files="ship") as dispatcher:
        ended = dispatcher.submit(CellsJob(plan, group))
        while not ended.done():
            dispatcher.wait(1)
    assert ended.result() == 2
    assert (theirs.read_text(), state.read_text()) == ("theirs", "more")
    assert not plan.predictions_path(group.cells[0]).exists()
    assert not plan.missing(group.cells)
    [lock] = others
    lock.release()
    assert leftovers(plan.root) == []


def test_a_fit_of_another_process_is_not_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "")
    plan, workers = planned(tmp_path), SharingThreads()
    [group] = plan.groups
    with locks.wait_for_lock(plan.fit_lock_path(group)):
        with dispatch(plan, workers, files="ship") as dispatcher:
            ended = dispatcher.submit(CellsJob(plan, group))
            dispatcher.wait(0)
        assert (ended.result(), workers.shared) == (0, [])
        assert [*plan.root.rglob("fit*.lock")] == [plan.fit_lock_path(group)]


def test_a_complete_grid_needs_no_cluster(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    expected = run_plan(plan)
    assert run_plan(plan, place=Place(engine_name="ray", address="127.0.0.1:1")) == expected


def test_a_parcel_is_fetched_once_per_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job's folder is removed at its end, and its files are returned."""
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
