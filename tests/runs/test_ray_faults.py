"""Failures of a cluster: dead workers and nodes, full disks, slow nodes, repeated jobs."""

import os
import random
import signal
import time
from collections import Counter, defaultdict
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs.grid import run_plan
from isogloss.runs.jobs import CellsJob, execute_job
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.scoring.request import Request
from isogloss.workers import MOST_DEATHS, Resources
from runs.grid_fake import leftovers, mini_cache, mini_data, same, scores
from runs.ray_nodes import Nodes, eventually, forget_place, started, until_begun

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.slow

LANGUAGES = "ar de fi sw".split()


def planned(out: Path, system: str = "fake", tasks: str = "mini-xquad mini-xnli", seeds: int = 2) -> Plan:
    return Plan.of(system, out, Request.of("mini", tasks=tasks.split(), languages=LANGUAGES), seeds=seeds)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    (tmp_path / "log").touch()
    return tmp_path / "log"


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that holds all cells except those of the first language."""
    monkeypatch.setenv("FAKE_HOLD", str(tmp_path / "hold"))
    (tmp_path / "hold").write_text(LANGUAGES[0])
    return tmp_path / "hold"


def test_killed_workers_and_nodes_change_no_byte(
    two_nodes: Nodes, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    """Kill a worker from the log, or all processes of a node, at random times."""
    undisturbed = planned(tmp_path / "undisturbed")
    run_plan(undisturbed)
    monkeypatch.setenv("FAKE_SLEEP", "1000")
    place, rng, killed = two_nodes.toml(tmp_path / "place.toml"), random.Random(0), Counter[str]()
    for number in count():
        plan = planned(tmp_path / f"killed-{number}")
        log.write_text("")
        process = started(plan, place)
        until_begun(plan, process)
        while process.poll() is None and killed.total() < pytestconfig.getoption("--cluster-kills"):
            time.sleep(rng.uniform(0.1, 0.5))
            if rng.random() < 0.4:
                two_nodes.lose_node()
                two_nodes.repair()
                killed["node"] += 1
            else:
                with suppress(ProcessLookupError):  # the last one was killed, and none has started since
                    os.kill(int(log.read_text().split()[-1]), signal.SIGKILL)
                    killed["worker"] += 1
        _, complaints = process.communicate(timeout=300)
        assert process.returncode in (0, 1), complaints
        if process.returncode:  # a cell was killed MOST_DEATHS times; running the command again retries it
            assert f"died {MOST_DEATHS} times" in complaints
            run_plan(plan)
        forget_place(plan)
        same(plan, undisturbed)
        if killed.total() >= pytestconfig.getoption("--cluster-kills"):
            print(f"killed {dict(killed)}, {number + 1} grids")  # noqa: T201
            break


def test_only_the_cell_that_kills_its_workers_fails(
    two_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "kill@0-mini-xnli/de")
    monkeypatch.setattr("isogloss.runs.dispatch.MOST_DEATHS", 2)
    plan = planned(tmp_path, tasks="mini-xnli", seeds=1)
    assert run_plan(plan, place=two_nodes.place()).cells == {"done": 3, "failed": 1, "skipped": 0, "missing": 0}
    record = read_record(plan.record_path(CellKey(0, "mini-xnli", "de")))
    assert record is not None
    assert record.reason.startswith("the worker died 2 times, most recently: The worker died unexpectedly")
    assert leftovers(plan.root) == []


def test_a_node_with_a_full_disk_is_avoided(
    two_nodes: Nodes, log: Path, hold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, undisturbed = (planned(tmp_path / name, "troubled", seeds=1) for name in ("full", "enough"))
    monkeypatch.delenv("FAKE_HOLD")
    run_plan(undisturbed)
    # The cluster avoids it by Ray's node name.
    monkeypatch.setenv("FAKE_FULL", two_nodes.other.node_id)
    monkeypatch.setenv("FAKE_HOLD", str(hold))

    def release(waiting: str, answering: CellKey | None = None) -> None:
        # Otherwise the head could finish everything before the other node starts a process.
        if "full" in log.read_text():
            hold.unlink(missing_ok=True)

    with pytest.warns(
        UserWarning, match=r"gets no more jobs; other nodes take over: .* cannot be written \(File too large"
    ):
        # Jobs with GPUs do not help each other.
        run_plan(plan, place=two_nodes.place(resources=Resources(gpus=1)), on_progress=release)
    same(plan, undisturbed)


def test_full_disks_on_all_nodes_end_the_run(two_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path / "full", "troubled", seeds=1)
    monkeypatch.setenv("FAKE_FULL", "*")
    with pytest.warns(UserWarning), pytest.raises(IsoglossError, match="cannot be written"):
        # With GPUs, because Ray ends such processes, and with them the limit on their files.
        run_plan(plan, place=two_nodes.place(resources=Resources(gpus=1)))
    assert leftovers(plan.root) == []
    monkeypatch.delenv("FAKE_FULL")
    run_plan(plan)
    scores(plan)


def test_other_nodes_help_a_slow_node(two_nodes: Nodes, log: Path, hold: Path, tmp_path: Path) -> None:
    """Idle nodes fill cells of the group of a slow node."""
    plan = planned(tmp_path / "slow", "troubled", tasks="mini-xnli")

    def release(waiting: str, answering: CellKey | None = None) -> None:
        workers = defaultdict(set)
        for _, cell, worker in (line.split() for line in log.read_text().splitlines() if line.startswith("predict")):
            workers[cell.partition("/")[0]].add(worker)
        if len(set().union(*workers.values())) > 1:  # both nodes have begun
            hold.write_text(two_nodes.cluster.head_node.node_id)
        if any(len(group) > 1 for group in workers.values()):
            hold.unlink(missing_ok=True)
            helped.append(workers)

    helped: list[object] = []
    hold.write_text("")
    assert run_plan(plan, place=two_nodes.place(), on_progress=release).cells["done"] == len(plan.cells)
    assert helped


def test_a_job_submitted_three_times_fills_each_cell_once(two_nodes: Nodes, log: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path, tasks="mini-xnli", seeds=1)
    [group] = plan.groups
    job = CellsJob(plan, group, help_others=True)
    with two_nodes.place().workers() as workers:
        ends = [workers.submit(partial(execute_job, job, f"job-{number}")) for number in range(3)]
        assert sum(end.result().filled for end in ends) == len(LANGUAGES)
    scores(plan)
    assert len([line for line in log.read_text().splitlines() if line.startswith("predict")]) == len(LANGUAGES)


def test_slots_follow_the_number_of_nodes(two_nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.runs.ray_workers.LOOK", 0)
    with two_nodes.place().workers() as workers:
        assert workers.slots == 2
        two_nodes.lose_node()
        eventually(lambda: workers.slots == workers.nodes == 1)
        two_nodes.repair()
        eventually(lambda: workers.slots == 2)


def hears_ctrl_c() -> None:
    """Restore Ctrl-C, which background shells ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_the_cluster(two_nodes: Nodes, hold: Path, tmp_path: Path) -> None:
    plan = planned(tmp_path / "stopped", seeds=1)
    process = started(plan, two_nodes.toml(tmp_path / "place.toml"), preexec_fn=hears_ctrl_c)
    until_begun(plan, process)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=300)
    assert process.returncode == 130, complaints
    assert "Run the same command to resume." in said
    assert "Traceback" not in complaints
    assert 0 < len(plan.missing(plan.cells)) < len(plan.cells)
    assert leftovers(plan.root) == []


def test_ctrl_c_detaches_from_the_cluster(two_nodes: Nodes, hold: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "detached", seeds=1), planned(tmp_path / "undisturbed", seeds=1)
    place = two_nodes.toml(tmp_path / "place.toml", on_interrupt="detach")
    process = started(plan, place, preexec_fn=hears_ctrl_c)
    until_begun(plan, process)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=300)
    assert process.returncode == 130, complaints
    assert "The cluster keeps running; run the same command to reattach." in said
    left = len(plan.missing(plan.cells))
    assert left
    hold.write_text(" ".join(LANGUAGES[:2]))
    eventually(lambda: len(plan.missing(plan.cells)) < left)  # without this command
    hold.unlink()
    attached = started(plan, place)
    said, complaints = attached.communicate(timeout=300)
    assert attached.returncode == 0, complaints
    run_plan(undisturbed)
    forget_place(plan)
    same(plan, undisturbed)
