"""The queue: no job is lost or scored twice, despite crashes and clock changes."""

import os
import random
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from sqlalchemy import func, select

from board.server.made_board import LANGUAGES, MakeBoard, answers, send, team_client, work_all, zip_of
from isogloss.board.server import archives, queue, worker
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import AuditEntry, ScoreRecord, ScoringJob, Submission, reading, writing
from isogloss.board.server.pages import rebuild_pages
from isogloss.board.server.queue import ClaimedJob, JobClaims, LostJobError, beat, enqueue, owned, put_back
from isogloss.board.server.scoring import score_submission
from isogloss.board.server.serve import prepare, running_workers
from isogloss.tasks.registry import task

# Instead of the process, an exception ends the thread that wants to exit.
ends_threads = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


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


def queue_jobs(board: OpenBoard, *teams: str) -> None:
    """Queue one submission per entry, in this order; "" queues a build of the pages."""
    clients = {team: team_client(board, team) for team in {*teams} - {""}}
    for seed, team in enumerate(teams):
        if team:
            assert send(clients[team], zip_of(answers(seed, ["en"])), name=f"S{seed}").status_code == 201
        else:
            with writing(board.engine) as session:
                enqueue(session, "site")


def team_of(board: OpenBoard, job: ClaimedJob | None) -> str:
    assert job is not None
    with reading(board.engine) as session:
        submission = session.get(Submission, job.submission_id) if job.submission_id else None
        return submission.team.name if submission else ""


@pytest.mark.parametrize(
    ("workers", "queue", "order"),
    [
        # One worker: teams take turns, and the pages are a team.
        (1, ["A", "A", "A", "A", "B", "B", "C"], ["A", "B", "C", "A", "B", "A", "A"]),
        (1, ["A", "A", "A", "", "B"], ["A", "", "B", "A", "A"]),
        # Three workers that never finish: first the team with the fewest running jobs, then the one that the worker
        # has not served, then the oldest job.
        (3, ["A", "A", "A", "B", "", "B"], ["A", "B", "", "B", "A", "A"]),
        (3, ["A", "A", "A", "B", "C", "B"], ["A", "B", "C", "B", "A", "A"]),
        (3, ["A", "A", "B"], ["A", "B", "A"]),
    ],
)
def test_teams_take_turns(workers: int, queue: list[str], order: list[str], boards: MakeBoard) -> None:
    board = boards(writes_per_minute=1_000)
    queue_jobs(board, *queue)
    claims = [JobClaims(board) for _ in range(workers)]
    taken = []
    for number in range(len(queue)):
        job = claims[number % workers].claim()
        taken.append(team_of(board, job))
        if workers == 1 and job is not None:
            with writing(board.engine) as session:
                owned(session, job).state = "done"
    assert taken == order
    assert claims[0].claim() is None


def test_dead_workers_do_not_count_as_running(boards: MakeBoard) -> None:
    """A team must not wait because its own job has a dead worker."""
    board = boards(lease_seconds=0.0)
    queue_jobs(board, "A", "B")
    assert team_of(board, JobClaims(board).claim()) == "A"
    watcher = JobClaims(board)
    assert [team_of(board, watcher.claim()) for _ in range(2)] == ["A", "B"]


def test_queue_positions_follow_the_turns(boards: MakeBoard) -> None:
    board = boards(writes_per_minute=1_000)
    queue_jobs(board, "A", "A", "A", "B", "B")
    shown = {team: team_client(board, team).get("/api/v1/submissions").json()["submissions"] for team in ("A", "B")}
    positions = {team: [entry["queue_position"] for entry in entries[::-1]] for team, entries in shown.items()}
    assert positions == {"A": [1, 3, 5], "B": [2, 4]}
    queue = team_client(board).get("/api/v1/queue").json()
    assert (queue["waiting"], [entry["position"] for entry in queue["entries"]]) == (5, [1, 2, 3, 4, 5])


def test_job_without_space_waits_behind_others(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first archive needs more space than there is; others are scored, and it follows once there is space."""
    board = boards(attempts=1, unpacked_bytes=200 << 20)
    free = 100 << 20
    monkeypatch.setattr(archives, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(queue, "DEFERRED_SECONDS", 0.0)
    large = zip_of(answers(0, ["en"]) | {"README.md": random.Random(0).randbytes(2 << 20)})
    client = team_client(board)
    key = send(client, large, name="large").json()["key"]
    queue_jobs(board, "B", "")
    claims = JobClaims(board)
    for _ in range(5):
        assert worker.work_once(claims)
    with reading(board.engine) as session:
        job = session.scalars(select(ScoringJob).order_by(ScoringJob.id)).first()
        assert job is not None
        assert (job.state, job.attempts, job.deferrals) == ("queued", 0, 3)
    assert jobs_in(board, "done") == 2, "the jobs of others are not blocked"
    assert list(board.work.iterdir()) == []
    free = 300 << 20
    assert worker.work_once(claims)
    assert client.get(f"/api/v1/submissions/{key}").json()["state"] == "preview"
    assert jobs_in(board, "done") == 3


def test_disk_that_fills_up_while_unpacking_defers_the_job(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(attempts=1)
    queue_jobs(board, "A", "B")
    real, failures = archives._write, iter([OSError(28, "No space left on device")])

    def write(*words: Any) -> None:
        for error in failures:
            raise archives.DiskError(error.errno, error.strerror)
        real(*words)

    monkeypatch.setattr(archives, "_write", write)
    monkeypatch.setattr(queue, "DEFERRED_SECONDS", 0.0)
    claims = JobClaims(board)
    finished = []
    while worker.work_once(claims):
        with reading(board.engine) as session:
            done = select(ScoringJob.deferrals).where(ScoringJob.state == "done").order_by(ScoringJob.id)
            finished.append(session.scalars(done).all())
    assert finished == [[], [0], [1, 0]], "the job of B goes first"
    assert counts(board) == (2, 2, 2)


def test_deferred_job_is_skipped_for_a_while(boards: MakeBoard) -> None:
    """One worker with one deferred job must not try it without pause."""
    board = boards()
    queue_jobs(board, "A")
    claims = JobClaims(board)
    job = claims.claim()
    assert job is not None
    claims.defer(job)
    assert claims.claim() is None
    assert JobClaims(board).claim() is not None, "another machine may have space"
    with pytest.raises(LostJobError):
        claims.defer(job)


@ends_threads
def test_job_over_its_time_is_rejected(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(job_seconds=0.01, lease_seconds=0.1, attempts=2)
    [key] = submit_many(board, 1)
    codes: list[int] = []

    def exit_process(code: int) -> NoReturn:
        codes.append(code)
        over.set()
        raise SystemExit  # ends the thread

    monkeypatch.setattr(worker.os, "_exit", exit_process)
    monkeypatch.setattr(worker, "score_submission", lambda *_: over.wait(60))
    states = []
    for _ in range(2):
        over = threading.Event()
        assert worker.work_once(JobClaims(board))
        states.append(team_client(board).get(f"/api/v1/submissions/{key}").json()["state"])
    assert codes == [75, 75]
    assert states == ["received", "rejected"]
    [problem] = team_client(board).get(f"/api/v1/submissions/{key}").json()["problems"]
    assert (problem["what"], problem["code"]) == ("scoring takes longer than 0 seconds", "not-scored")
    assert JobClaims(board).claim() is None


@ends_threads
def test_orphaned_worker_requeues_its_job(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job did not cause the end of the server, so it loses no attempt."""
    board = boards(lease_seconds=0.1)
    submit_many(board, 1)
    over = threading.Event()

    def exit_process(_: int) -> NoReturn:
        over.set()
        raise SystemExit

    monkeypatch.setattr(worker.os, "_exit", exit_process)
    monkeypatch.setattr(worker, "score_submission", lambda *_: over.wait(60))
    assert worker.work_once(JobClaims(board), parent=-1)
    job = JobClaims(board).claim()
    assert job is not None
    assert job.attempts == 1


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
    monkeypatch.setattr(queue, "DEFERRED_SECONDS", 0.0)
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
    board = boards(lease_seconds=1.0, attempts=1_000, writes_per_minute=100_000)
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
