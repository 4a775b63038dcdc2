"""The queue: no job is lost or scored twice, despite crashes and clock changes."""

import os
import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from board.server.made_board import LANGUAGES, MakeBoard, answers, send, team_client, work_all, zip_of
from isogloss.board.server import worker
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import AuditEntry, ScoreRecord, ScoringJob, Submission, reading, writing
from isogloss.board.server.pages import rebuild_pages
from isogloss.board.server.queue import JobClaims, LostJobError, beat, enqueue, put_back
from isogloss.board.server.scoring import score_submission
from isogloss.board.server.serve import prepare, running_workers
from isogloss.tasks.registry import task


def counts(board: OpenBoard) -> tuple[int, int, int]:
    """Return the numbers of submissions, scores, and audit entries of scoring."""
    with reading(board.engine) as session:
        scored = select(func.count()).where(AuditEntry.action == "score")
        return tuple(  # type: ignore[return-value]
            session.scalar(query) or 0
            for query in (
                select(func.count()).select_from(Submission),
                select(func.count()).select_from(ScoreRecord),
                scored,
            )
        )


def submit_many(board: OpenBoard, count: int, publish: bool = False, languages: Sequence[str] = LANGUAGES) -> list[str]:
    client = team_client(board)
    return [
        send(client, zip_of(answers(seed, languages)), publish=publish, name=f"S{seed}").json()["key"]
        for seed in range(count)
    ]


def test_many_workers_take_each_job_once(boards: MakeBoard) -> None:
    board = boards(writes_per_minute=1_000)
    submit_many(board, 12)
    with ThreadPoolExecutor(6) as pool:
        claims = [JobClaims(board) for _ in range(6)]
        taken = list(pool.map(lambda number: claims[number % 6].claim(), range(24)))
    jobs = [job.id for job in taken if job is not None]
    assert len(jobs) == len(set(jobs)) == 12


def test_job_of_a_dead_worker_is_taken_over(boards: MakeBoard) -> None:
    board = boards(lease_seconds=0.3)
    submit_many(board, 1)
    dead = JobClaims(board).claim()
    assert dead is not None
    second = JobClaims(board)
    assert second.claim() is None
    # Heartbeats keep the lease.
    time.sleep(0.2)
    assert beat(board, dead)
    assert second.claim() is None
    time.sleep(0.2)
    assert second.claim() is None
    time.sleep(0.2)
    taken = second.claim()
    assert taken is not None
    assert (taken.id, taken.attempts) == (dead.id, 2)
    # Late results of the previous owner are refused.
    assert not beat(board, dead)
    with pytest.raises(LostJobError):
        score_submission(board, dead)
    with pytest.raises(LostJobError):
        put_back(board, dead, counts=True)
    score_submission(board, taken)
    assert counts(board) == (1, 1, 1)
    assert work_all(board) == 0  # no jobs left; only leftovers are removed
    assert list(board.work.iterdir()) == []


@pytest.mark.parametrize("jump", [-(10**8), 10**8])
def test_clock_jumps(jump: int, boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting the clock neither ends nor extends a lease."""
    board = boards(lease_seconds=0.3)
    submit_many(board, 1)
    alive, watcher = JobClaims(board), JobClaims(board)
    job = alive.claim()
    assert job is not None
    assert watcher.claim() is None
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    assert watcher.claim() is None
    time.sleep(0.35)
    taken = watcher.claim()
    assert taken is not None
    score_submission(board, taken)
    assert counts(board) == (1, 1, 1)


def test_submission_that_kills_workers_is_rejected(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(attempts=3)
    [key] = submit_many(board, 1)

    def crash(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "score_submission", crash)
    assert work_all(board) == 4
    shown = team_client(board).get(f"/api/v1/submissions/{key}").json()
    assert shown["state"] == "rejected"
    assert "failed 3 times" in shown["problems"][0]["what"]


def test_machine_failures_do_not_use_up_attempts(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(attempts=1)
    submit_many(board, 1)
    failures = iter([OSError(28, "No space left on device")] * 3)
    real = score_submission

    def full(*words: Any) -> None:
        for error in failures:
            raise error
        real(*words)

    monkeypatch.setattr(worker, "score_submission", full)
    monkeypatch.setattr(worker, "_RETRY", 0)
    assert work_all(board) == 4
    assert counts(board) == (1, 1, 1)


def test_late_builds_do_not_replace_newer_pages(boards: MakeBoard) -> None:
    board = boards()
    jobs = []
    for _ in range(2):
        with writing(board.engine) as session:
            enqueue(session, "site")
        jobs.append(JobClaims(board).claim())
    early, late = jobs
    assert early is not None and late is not None
    (board.work / f"{early.id}-left").mkdir()  # left by a dead worker
    rebuild_pages(board, late)
    rebuild_pages(board, early)
    assert (board.site / "current").readlink().name == f"site-{late.id}"
    assert list(board.work.iterdir()) == []
    assert jobs_in(board, "done") == 2


def test_abandoned_uploads_are_removed(boards: MakeBoard, tmp_path: Path) -> None:
    board = boards()
    old, young, gone = (board.incoming / f"{name}.part" for name in ("old", "young", "gone"))
    for path in (old, young):
        path.touch()
    os.utime(old, (0, 0))
    gone.symlink_to(tmp_path / "arrived-meanwhile")
    prepare(board)
    assert sorted(board.incoming.iterdir()) == [gone, young]


@pytest.mark.slow
@pytest.mark.database("postgresql")
def test_workers_killed_at_any_time(boards: MakeBoard, request: pytest.FixtureRequest) -> None:
    """Workers are killed at random; every submission is scored once and shown on the pages."""
    board = boards(lease_seconds=1.0, attempts=1_000, writes_per_minute=1_000)
    number = request.config.getoption("--board-submissions")
    submit_many(board, number, True, task("mini-xnli").languages)
    rng = random.Random(7)
    deadline = time.monotonic() + 60 + 6 * number
    with running_workers(board.folder, 2) as workers:
        kills = 0
        while jobs_in(board, "queued", "running"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
            if kills < number // 3 and jobs_in(board, "running"):
                time.sleep(rng.uniform(0, 0.3))
                victim = rng.choice(workers)
                kills += victim.poll() is None
                victim.kill()
    assert kills >= number // 4
    assert counts(board) == (number, number, number)
    assert list(board.work.iterdir()) == []
    names = re.findall(r'"(S\d+)"', (board.site / "current/data.js").read_text())
    assert len(set(names)) == number
    assert not [path for path in board.site.iterdir() if path.name.startswith(".site")]


def jobs_in(board: OpenBoard, *states: str) -> int:
    with reading(board.engine) as session:
        return session.scalar(select(func.count()).where(ScoringJob.state.in_(states))) or 0


def test_workers_end_with_the_server(boards: MakeBoard, tmp_path: Path) -> None:
    """A terminated worker requeues its job and exits."""
    board = boards()
    with writing(board.engine) as session:
        enqueue(session, "site")
    deadline = time.monotonic() + 60
    with running_workers(board.folder, 1) as workers:
        while jobs_in(board, "queued"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert workers[0].poll() is None
    assert workers[0].poll() is not None
    assert jobs_in(board, "running") == 0
