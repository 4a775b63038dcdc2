"""Runs killed at random moments, by any number of processes, end like undisturbed runs."""

import multiprocessing
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from runs.grid_fake import command, kill_at_random, leftovers, mini_cache, mini_data, run_twice, scores, snapshot

pytestmark = pytest.mark.slow

__all__ = ["mini_cache", "mini_data"]

# Forked, because processes that are killed after milliseconds must not spend them on imports.
FORK = multiprocessing.get_context("fork")
KILLS = 15
TASKS = ("mini-xquad", "mini-xnli", "mini-tatoeba")
LANGUAGES = "ar de fi ja ru sw th zh".split()


def planned(out: Path, languages: list[str] | None = None, seeds: int = 2) -> Plan:
    return Plan.of("fake", out, Request.of("mini", tasks=TASKS, languages=languages or LANGUAGES), seeds=seeds)


@pytest.fixture
def slow(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cells of up to 20 ms, and a log of predictions."""
    monkeypatch.setenv("FAKE_SLEEP", "20")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def predicted(log: Path) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith("predict"))


def test_a_run_killed_at_random_ends_like_an_undisturbed_one(slow: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "killed"), planned(tmp_path / "undisturbed")
    expected = run_plan(undisturbed)
    slow.unlink()
    kills = kill_at_random(plan, seed=1)
    assert kills >= KILLS
    assert run_plan(plan) == expected
    assert scores(plan) == scores(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == leftovers(undisturbed.root) == []
    # A kill costs the cell in flight and no other.
    assert sum(predicted(slow).values()) <= len(plan.cells) + kills


def workers(log: Path) -> set[int]:
    lines = log.read_text().splitlines() if log.exists() else []
    return {int(line.split()[2]) for line in lines if line.startswith("predict")}


def test_two_processes_share_the_cells(slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, undisturbed = planned(tmp_path / "shared"), planned(tmp_path / "alone")
    hold = tmp_path / "hold"
    hold.touch()
    monkeypatch.setenv("FAKE_HOLD", str(hold))

    def release(both: Sequence[BaseProcess]) -> None:
        while len(workers(slow)) < 2:  # else one could finish before the other begins
            assert all(process.is_alive() for process in both)
            time.sleep(0.01)
        hold.unlink()

    run_twice(plan, release)
    assert set(predicted(slow).values()) == {1}
    assert len(predicted(slow)) == len(plan.cells)
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_two_processes_share_the_cells_while_they_are_killed(slow: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "shared", seeds=1), planned(tmp_path / "alone", seeds=1)
    other = FORK.Process(target=kill_at_random, args=(plan, 2, 0.05))
    other.start()
    kill_at_random(plan, seed=3, first=0.05)
    other.join()
    run_plan(plan)
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert scores(plan) == scores(undisturbed)
    assert leftovers(plan.root) == []


def test_processes_end_when_the_command_is_killed(slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL to the command: its processes end, and the next command resumes."""
    plan, undisturbed = planned(tmp_path / "killed"), planned(tmp_path / "alone")
    hold = tmp_path / "hold"
    hold.write_text(" ".join(LANGUAGES[:2]))
    monkeypatch.setenv("FAKE_HOLD", str(hold))
    process = subprocess.Popen(command(plan, jobs=2), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while len(workers(slow)) < 2 or len(plan.missing(plan.cells)) == len(plan.cells):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 300
    while any(_alive(pid) for pid in workers(slow)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert plan.missing(plan.cells)
    hold.unlink()
    run_plan(plan)
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_loses_nothing(slow: Path, tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path / "stopped")
    monkeypatch.setenv("FAKE_SLEEP", "100")
    # Restore Ctrl-C, which background shells ignore.
    process = subprocess.Popen(
        command(plan, jobs),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    while len(plan.missing(plan.cells)) > 0.9 * len(plan.cells):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=300)
    assert process.returncode == 130
    missing = len(plan.missing(plan.cells))
    assert 0 < missing < len(plan.cells)
    assert f"interrupted: {len(plan.cells) - missing} cells done, {missing} missing" in said
    assert "Traceback" not in complaints
    assert leftovers(plan.root) == []
    monkeypatch.setenv("FAKE_SLEEP", "0")
    run_plan(plan)
    scores(plan)
    assert max(predicted(slow).values()) <= 2
    assert sum(predicted(slow).values()) <= len(plan.cells) + jobs
