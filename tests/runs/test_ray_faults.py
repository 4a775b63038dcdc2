"""What may happen to a cluster: workers, nodes and the head die, a disk is full, a node is slow, work is done twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs.cluster_engine import execute_job
from isogloss.runs.engine import CellsJob
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.scoring.cells import Request
from isogloss.workers import MOST_DEATHS, Resources
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot, untimed_records
from runs.ray_nodes import Nodes

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.slow

LANGUAGES = "ar de el es fi fr hi id".split()


def planned(out: Path, system: str = "fake", tasks: str = "mini-xquad mini-xnli", seeds: int = 2) -> Plan:
    return Plan.of(system, out, Request.of("mini", tasks=tasks.split(), languages=LANGUAGES), seeds=seeds)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    (tmp_path / "log").touch()
    return tmp_path / "log"


def forget_place(plan: Plan) -> None:
    """Remove what says where a grid was filled, which is not the same everywhere."""
    for folder in plan.seed_folders:
        (folder / "place.toml").unlink()


def same(plan: Plan, undisturbed: Plan) -> None:
    """Two grids are the same to the byte, but for the times in records, and nothing else is left."""
    assert scores(plan) == scores(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert untimed_records(plan.root) == untimed_records(undisturbed.root)
    assert leftovers(plan.root) == []


def test_killed_workers_and_nodes_change_no_byte(
    three_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    """A worker, as the log names them, or all processes of a node are killed now and then."""
    undisturbed = planned(tmp_path / "undisturbed")
    run_plan(undisturbed)
    monkeypatch.setenv("FAKE_SLEEP", "1000")
    place, rng, killed = three_nodes.toml(tmp_path / "place.toml"), random.Random(0), Counter[str]()
    for number in count():
        plan = planned(tmp_path / f"killed-{number}")
        log.write_text("")
        process = started(plan, place)
        until_begun(plan, process)
        while process.poll() is None and killed.total() < pytestconfig.getoption("--cluster-kills"):
            time.sleep(rng.uniform(0.2, 1))
            if rng.random() < 0.4:
                three_nodes.lose_node()
                three_nodes.repair()
                killed["node"] += 1
            else:
                with suppress(ProcessLookupError):  # the last one that was killed, and none has begun since
                    os.kill(int(log.read_text().split()[-1]), signal.SIGKILL)
                    killed["worker"] += 1
        _, complaints = process.communicate(timeout=300)
        assert process.returncode in (0, 1), complaints
        if process.returncode:  # a cell was killed MOST_DEATHS times, which issuing the command again mends
            assert f"died {MOST_DEATHS} times" in complaints
            run_plan(plan)
        forget_place(plan)
        same(plan, undisturbed)
        if killed.total() >= pytestconfig.getoption("--cluster-kills"):
            print(f"killed {dict(killed)}, {number + 1} grids")  # noqa: T201
            break


def test_a_cell_that_kills_its_workers_has_failed_and_no_other(
    three_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "kill@0-mini-xnli/de")
    plan = planned(tmp_path, tasks="mini-xnli", seeds=1)
    assert run_plan(plan, place=three_nodes.place()).cells == {"done": 7, "failed": 1, "skipped": 0, "missing": 0}
    record = read_record(plan.record_path(CellKey(0, "mini-xnli", "de")))
    assert record is not None
    assert record.reason.startswith(f"the worker died {MOST_DEATHS} times, at last: The worker died unexpectedly")
    assert leftovers(plan.root) == []


def test_a_full_disk_is_its_nodes_trouble(three_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, undisturbed = planned(tmp_path / "full", "troubled"), planned(tmp_path / "enough", "troubled")
    run_plan(undisturbed)
    # The cluster avoids them by the names that Ray gives them.
    monkeypatch.setenv("FAKE_FULL", " ".join(node.node_id for node in three_nodes.others))
    # All are slow, else the third might have done everything before a process of theirs has started.
    monkeypatch.setenv("FAKE_SLOW", "*")
    with pytest.warns(
        UserWarning, match=r"gets no more jobs, others do its part: .* cannot be written \(File too large"
    ):
        # With GPUs nobody helps.
        run_plan(plan, place=three_nodes.place(resources=Resources(gpus=1)))
    same(plan, undisturbed)


def test_full_disks_everywhere_end_the_run(three_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path / "full", "troubled")
    monkeypatch.setenv("FAKE_FULL", "*")
    with pytest.warns(UserWarning), pytest.raises(IsoglossError, match="cannot be written"):
        run_plan(plan, place=three_nodes.place())
    assert leftovers(plan.root) == []
    monkeypatch.delenv("FAKE_FULL")
    run_plan(plan)
    scores(plan)


def test_a_slow_node_is_helped(three_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells of a group that a slow node has begun are filled by others when these have nothing else to do."""
    monkeypatch.setenv("FAKE_SLOW", three_nodes.others[0].node_id)
    plan = planned(tmp_path / "slow", "troubled", tasks="mini-xnli", seeds=3)
    assert run_plan(plan, place=three_nodes.place()).cells["done"] == 24
    workers = defaultdict(set)
    for _, cell, worker in (line.split() for line in log.read_text().splitlines() if line.startswith("predict")):
        workers[cell.partition("/")[0]].add(worker)
    assert max(map(len, workers.values())) > 1


def test_work_that_is_done_twice_is_done_once(three_nodes: Nodes, log: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path, tasks="mini-xnli", seeds=1)
    [group] = plan.groups
    job = CellsJob(plan, group, help_others=True)
    with three_nodes.place().workers() as workers:
        ends = [workers.submit(partial(execute_job, job, f"job-{number}")) for number in range(3)]
        assert sum(end.result().filled for end in ends) == len(LANGUAGES)
    scores(plan)
    assert len([line for line in log.read_text().splitlines() if line.startswith("predict")]) == len(LANGUAGES)


def test_there_is_room_for_as_many_as_there_are_nodes(three_nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.runs.ray_engine.LOOK", 0)
    with three_nodes.place().workers() as workers:
        assert workers.slots == 3
        three_nodes.lose_node()
        eventually(lambda: workers.slots == workers.nodes == 2)
        three_nodes.repair()
        eventually(lambda: workers.slots == 3)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def started(plan: Plan, place: Path, **options: Any) -> "subprocess.Popen[str]":
    """The command that fills a grid on a cluster."""
    asked = plan.request
    words = ["run", "fake", "--suite", "mini", "--out", str(plan.root.parent.parent), "--seeds", str(plan.seeds)]
    words += ["--tasks", ",".join(asked.tasks), "--languages", ",".join(asked.languages or ()), "--on", str(place)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "isogloss", *words], text=True, **pipes, **options)  # type: ignore[call-overload,no-any-return]


def hears_ctrl_c() -> None:
    """A shell that runs the tests in the background has them ignore Ctrl-C; the command must not inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def until_begun(plan: Plan, process: "subprocess.Popen[str]") -> None:
    while len(plan.missing(plan.cells)) == len(plan.cells):
        assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
        time.sleep(0.02)


def test_ctrl_c_stops_the_cluster(
    three_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "2000")
    plan = planned(tmp_path / "stopped")
    process = started(plan, three_nodes.toml(tmp_path / "place.toml"), preexec_fn=hears_ctrl_c)
    until_begun(plan, process)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert "The same command goes on from here." in said
    assert "Traceback" not in complaints
    assert 0 < len(plan.missing(plan.cells)) < len(plan.cells)
    assert leftovers(plan.root) == []


def test_ctrl_c_leaves_the_cluster_at_work(
    three_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "1000")
    plan, undisturbed = planned(tmp_path / "detached"), planned(tmp_path / "undisturbed")
    place = three_nodes.toml(tmp_path / "place.toml", on_interrupt="detach")
    process = started(plan, place, preexec_fn=hears_ctrl_c)
    until_begun(plan, process)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert "The cluster goes on; the same command waits for it." in said
    left = len(plan.missing(plan.cells))
    assert left
    eventually(lambda: len(plan.missing(plan.cells)) < left)  # without us
    attached = started(plan, place)
    said, complaints = attached.communicate(timeout=120)
    assert attached.returncode == 0, complaints
    run_plan(undisturbed)
    forget_place(plan)
    same(plan, undisturbed)


def test_a_head_that_dies_loses_nothing(
    three_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends with a sentence, and another, without a cluster, does what is missing."""
    monkeypatch.setenv("FAKE_SLEEP", "2000")
    plan, undisturbed = planned(tmp_path / "beheaded"), planned(tmp_path / "undisturbed")
    process = started(plan, three_nodes.toml(tmp_path / "place.toml"))
    until_begun(plan, process)
    three_nodes.lose_head()
    _, complaints = process.communicate(timeout=120)
    assert process.returncode == 1, complaints
    assert f"error: the Ray cluster at {three_nodes.address} is gone. What is done is kept" in complaints
    assert "Traceback" not in complaints
    monkeypatch.setenv("FAKE_SLEEP", "0")
    assert plan.missing(plan.cells)
    run_plan(plan)
    run_plan(undisturbed)
    forget_place(plan)
    same(plan, undisturbed)
