"""The promise of the grid: killed at any instants, by any number of processes, it ends as if nothing had happened."""

import multiprocessing
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.scoring.cells import Request
from runs.grid_fake import command, kill_at_random, leftovers, mini_cache, mini_data, scores, snapshot

pytestmark = pytest.mark.slow

__all__ = ["mini_cache", "mini_data"]

# Forked, because a process that is to die after some milliseconds must not spend them on imports.
FORK = multiprocessing.get_context("fork")
KILLS = 50
TASKS = ("mini-xquad", "mini-xnli", "mini-tatoeba")
LANGUAGES = "ar de el es fi fr hi id ja ko ru sw ta th tr zh".split()


def planned(out: Path, languages: list[str] | None = None, seeds: int = 4) -> Plan:
    return Plan.of("fake", out, Request.of("mini", tasks=TASKS, languages=languages or LANGUAGES), seeds=seeds)


@pytest.fixture
def slow(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cells of up to 20 ms, and a log of what was predicted."""
    monkeypatch.setenv("FAKE_SLEEP", "20")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def predicted(log: Path) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith("predict"))


def test_killed_at_random_it_ends_like_an_undisturbed_run(slow: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "killed"), planned(tmp_path / "undisturbed")
    expected = run_plan(undisturbed)
    slow.unlink()

    def start() -> multiprocessing.context.ForkProcess:
        process = FORK.Process(target=run_plan, args=(plan,))
        process.start()
        return process

    kills = kill_at_random(start, plan.summary_path.exists, seed=1)
    assert kills >= KILLS
    assert run_plan(plan) == expected
    assert scores(plan) == scores(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == leftovers(undisturbed.root) == []
    # A kill costs the cell in flight and no other.
    assert sum(predicted(slow).values()) <= len(plan.cells) + kills


def test_two_processes_share_the_cells(slow: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "shared"), planned(tmp_path / "alone")
    both = [FORK.Process(target=run_plan, args=(plan,)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert set(predicted(slow).values()) == {1}
    assert len(predicted(slow)) == len(plan.cells)
    workers = Counter(line.split()[2] for line in slow.read_text().splitlines() if line.startswith("predict"))
    assert len(workers) == 2
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_two_processes_share_the_cells_while_they_are_killed(slow: Path, tmp_path: Path) -> None:
    plan, undisturbed = planned(tmp_path / "shared", seeds=2), planned(tmp_path / "alone", seeds=2)

    def start() -> multiprocessing.context.ForkProcess:
        process = FORK.Process(target=run_plan, args=(plan,))
        process.start()
        return process

    other = FORK.Process(target=kill_at_random, args=(start, plan.summary_path.exists, 2, 0.05))
    other.start()
    kill_at_random(start, plan.summary_path.exists, seed=3, first=0.05)
    other.join()
    run_plan(plan)
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert scores(plan) == scores(undisturbed)
    assert leftovers(plan.root) == []


def test_the_command_is_killed_and_its_processes_leave(slow: Path, tmp_path: Path) -> None:
    """SIGKILL to the command alone: its processes end with their cell, and the next command goes on."""
    plan, undisturbed = planned(tmp_path / "killed", seeds=2), planned(tmp_path / "alone", seeds=2)
    for share in (0.2, 0.5):
        process = subprocess.Popen(command(plan, jobs=2), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while len(plan.missing(plan.cells)) > (1 - share) * len(plan.cells):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
    workers = {int(line.split()[2]) for line in slow.read_text().splitlines()}
    deadline = time.monotonic() + 20
    while any(_alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_alive(pid) for pid in workers)
    assert plan.missing(plan.cells)
    finished = subprocess.run(command(plan, jobs=2), capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
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
    plan = planned(tmp_path / "stopped", seeds=2)
    monkeypatch.setenv("FAKE_SLEEP", "100")
    # A shell that runs the tests in the background has them ignore Ctrl-C; the command must not inherit that.
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
    said, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    missing = len(plan.missing(plan.cells))
    assert 0 < missing < len(plan.cells)
    assert f"interrupted: {len(plan.cells) - missing} done, {missing} missing cells" in said
    assert "Traceback" not in complaints
    assert leftovers(plan.root) == []
    monkeypatch.setenv("FAKE_SLEEP", "0")
    run_plan(plan)
    scores(plan)
    assert max(predicted(slow).values()) <= 2
    assert sum(predicted(slow).values()) <= len(plan.cells) + jobs
