"""Removal of archives that a board no longer needs, and of submissions that an administrator deletes."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from board.server.made_board import MakeBoard, answers, make_board, send, team_client, work_all, zip_of
from board.server.served import served
from board.server.verbs import admin
from isogloss.board.server import retention
from isogloss.board.server.backup import back_up, restore
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import AuditEntry, ScoringJob, Submission, Team, reading, writing
from isogloss.board.server.retention import ABANDONED, clean_up, delete_submission, purge, remove_orphans
from isogloss.board.server.scoring import StateError, retry, withdraw


def fill(board: OpenBoard) -> dict[str, str]:
    """Submit a published, a withdrawn and two rejected systems; return their keys."""
    client = team_client(board)
    keys = {}
    for seed, name in enumerate(("published", "withdrawn")):
        keys[name] = send(client, zip_of(answers(seed)), publish=True, name=name).json()["key"]
    keys["rejected"] = send(client, b"no archive", name="rejected").json()["key"]
    keys["other"] = send(client, b"another", name="other").json()["key"]
    work_all(board)
    client.post(f"/api/v1/submissions/{keys['withdrawn']}/withdraw")
    return keys


def age(board: OpenBoard, days: int, *keys: str) -> None:
    changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86_400))
    with writing(board.engine) as session:
        session.execute(update(Submission).where(Submission.key.in_(keys)).values(changed_at=changed))


def stored(board: OpenBoard) -> set[str]:
    """Return the keys of submissions with an archive."""
    with reading(board.engine) as session:
        rows = session.execute(select(Submission.key, Submission.archive)).all()
    return {key for key, archive in rows if board.archive_path(archive).is_file()}


def removed(board: OpenBoard) -> set[str]:
    with reading(board.engine) as session:
        return set(session.scalars(select(Submission.key).where(Submission.archive_removed_at.is_not(None))))


def test_default_retention(board: OpenBoard) -> None:
    """Rejected archives go after 30 days, and nothing else."""
    keys = fill(board)
    age(board, 31, keys["rejected"], keys["published"], keys["withdrawn"])
    age(board, 29, keys["other"])
    clean_up(board)
    assert removed(board) == {keys["rejected"]}
    assert stored(board) == set(keys.values()) - {keys["rejected"]}
    clean_up(board)
    with reading(board.engine) as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action == "remove archive")).all()
    assert [(entry.actor, entry.subject) for entry in entries] == [("server", keys["rejected"])]


@pytest.mark.database("sqlite")
def test_retention_settings(boards: MakeBoard) -> None:
    """0 days keep archives for ever."""
    board = boards(keep_rejected_days=0, keep_withdrawn_days=7)
    keys = fill(board)
    age(board, 8, *keys.values())
    clean_up(board)
    assert removed(board) == {keys["withdrawn"]}
    assert stored(board) == set(keys.values()) - {keys["withdrawn"]}


@pytest.mark.database("sqlite")
def test_purge_verb(board: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    keys = fill(board)
    age(board, 3, keys["rejected"], keys["withdrawn"])
    capsys.readouterr()
    assert admin("purge", board.folder, "--rejected-before", 2, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        keys["rejected"],
        "would remove 1 archives (10 bytes) of 1 submissions",
    ]
    assert removed(board) == set()
    assert stored(board) == set(keys.values())
    assert admin("purge", board.folder, "--rejected-before", 2, "--withdrawn-before", 0) == 0
    assert "removed 2 archives" in capsys.readouterr().out
    assert removed(board) == {keys["rejected"], keys["withdrawn"]}
    assert stored(board) == {keys["published"], keys["other"]}


def test_shared_archive_stays_while_one_submission_needs_it(board: OpenBoard) -> None:
    first, second = (
        send(team_client(board, team), b"no archive").json()["key"] for team in ("One team", "Another team")
    )
    work_all(board)
    age(board, 40, first)
    report = purge(board, "test", rejected_days=30, withdrawn_days=None)
    assert (report.keys, report.files) == ([first], 0)
    assert stored(board) == {first, second}, "they share a file"
    age(board, 40, second)
    assert purge(board, "test", rejected_days=30, withdrawn_days=None).files == 1
    assert stored(board) == set()


@pytest.mark.database("sqlite")
def test_archive_of_a_queued_job_stays(board: OpenBoard) -> None:
    keys = fill(board)
    with writing(board.engine) as session:
        submission = session.scalars(select(Submission).where(Submission.key == keys["withdrawn"])).one()
        session.add(ScoringJob(kind="score", submission_id=submission.id))
    assert purge(board, "test", rejected_days=None, withdrawn_days=0).keys == []


def test_without_their_archives(board: OpenBoard, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Submissions without archives can be neither rescored nor retried, and are in backups."""
    keys = fill(board)
    purge(board, "test", rejected_days=0, withdrawn_days=0)
    client = team_client(board)
    assert client.post(f"/api/v1/submissions/{keys['withdrawn']}/publish").status_code == 200
    with writing(board.engine) as session:
        rejected = session.scalars(select(Submission).where(Submission.key == keys["rejected"])).one()
        with pytest.raises(StateError, match="was removed at"):
            retry(session, rejected, "test")
        for submission in session.scalars(select(Submission).where(Submission.state == "published")):
            submission.scores[0].scorer = "isogloss 0.0"
    capsys.readouterr()
    assert admin("rescore", board.folder) == 0
    assert capsys.readouterr().out.splitlines() == [
        "submissions queued: 1",
        f"not rescored, because their archives were removed: {keys['withdrawn']}",
    ]
    work_all(board)
    assert back_up(board, tmp_path / "backup.tar") == 4
    assert restore(tmp_path / "backup.tar", tmp_path / "again", "") == 4
    again = open_board(tmp_path / "again")
    assert stored(again) == {keys["published"]}
    assert removed(again) == removed(board)
    again.engine.dispose()
    # The same upload again: its file is not needed by the rejected submission, and is removed again.
    assert send(client, b"no archive", name="rejected").json()["state"] == "rejected"
    assert remove_orphans(board) == (1, 10)


@pytest.mark.database("sqlite")
def test_backup_reports_an_archive_that_should_exist(board: OpenBoard, tmp_path: Path) -> None:
    keys = fill(board)
    with reading(board.engine) as session:
        archive = session.scalars(select(Submission.archive).where(Submission.key == keys["published"])).one()
    board.archive_path(archive).unlink()
    assert admin("backup", board.folder, "--out", tmp_path / "backup.tar") == 1


@pytest.mark.parametrize("name", ["published", "rejected", "waiting"])
def test_delete(name: str, board: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    """Content goes; the audit entry and the use of the quota stay."""
    keys, client = fill(board), team_client(board)
    keys["waiting"] = send(client, zip_of(answers(5)), name="waiting").json()["key"]
    quota = client.get("/api/v1/team").json()
    assert admin("delete", board.folder, keys[name]) == 0
    capsys.readouterr()
    assert admin("audit", board.folder, "--last", 1) == 0
    assert f" delete {keys[name]} was " in capsys.readouterr().out
    work_all(board)
    after = client.get("/api/v1/team").json()
    assert after["used"] == quota["used"]
    shown = client.get(f"/api/v1/submissions/{keys[name]}").json()
    assert shown["state"] == ("rejected" if name == "rejected" else "deleted")
    assert (shown["system"], shown["scores"], shown["problems"]) == ({"name": "deleted"}, [], [])
    assert keys[name] not in stored(board)
    assert len(client.get("/api/v1/systems").json()["systems"]) == (0 if name == "published" else 1)
    assert client.post(f"/api/v1/submissions/{keys[name]}/publish").status_code == 409
    # The team may submit the same predictions again.
    archive = {"published": zip_of(answers(0)), "rejected": b"no archive", "waiting": zip_of(answers(5))}[name]
    assert send(client, archive, name=name).status_code == 201
    assert admin("delete", board.folder, "0" * 12) == 2


def test_scores_of_a_running_job_are_discarded_after_deletion(board: OpenBoard) -> None:
    client = team_client(board)
    key = send(client, zip_of(answers(1))).json()["key"]
    is_deleted = threading.Event()
    original = OpenBoard.archive_path

    def delete_first(self: OpenBoard, sha256: str) -> Path:
        path = original(self, sha256)
        if not is_deleted.is_set():
            is_deleted.set()
            with writing(self.engine) as session:
                submission = session.scalars(select(Submission).where(Submission.key == key)).one()
                delete_submission(session, submission, "test")
        return path

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenBoard, "archive_path", delete_first)
        work_all(board)
    shown = client.get(f"/api/v1/submissions/{key}").json()
    assert (shown["state"], shown["scores"]) == ("deleted", [])


def test_orphan_removal_waits_for_uploads(board: OpenBoard) -> None:
    """An archive stored before its submission's row is not removed: removal and acceptance exclude each other."""
    client = team_client(board)
    send(client, zip_of(answers(1)))
    path = board.archive_path("0" * 64)
    path.parent.mkdir(parents=True)
    removal = threading.Thread(target=remove_orphans, args=(board,))
    with writing(board.engine) as session:
        session.scalars(select(Team).with_for_update()).one()
        path.write_bytes(b"just stored")
        removal.start()
        removal.join(0.3)  # long enough to remove the file, if it did not wait
        first = session.scalars(select(Submission)).one()
        same = {name: getattr(first, name) for name in ("team_id", "month", "system", "archive_bytes")}
        session.add(Submission(**same, key="1" * 12, digest="x", system_id="x", archive="0" * 64))
    removal.join()
    assert path.is_file()


STATES = ("rejected", "withdrawn", "published", "received", "preview")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(STATES), st.integers(0, 60), st.integers(0, 3)), max_size=8),
    days=st.tuples(st.none() | st.integers(0, 60), st.none() | st.integers(0, 60)),
)
def test_purge_removes_exactly_the_expired(
    rows: list[tuple[str, int, int]], days: tuple[int | None, int | None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Against a definition by sets: expired submissions by state and age, files that only they use."""
    board = make_board(tmp_path_factory.mktemp("purged") / "board")
    team_client(board)
    now = time.time()
    with writing(board.engine) as session:
        for number, (state, old, archive) in enumerate(rows):
            path = board.archive_path(f"{archive:064}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")
            changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - old * 86_400 - 60))
            values: dict[str, Any] = {"team_id": 1, "month": "2026-11", "system": "{}", "archive_bytes": 1}
            values |= {"key": str(number), "digest": str(number), "system_id": str(number)}
            session.add(Submission(**values, state=state, archive=f"{archive:064}", changed_at=changed))
    limits = dict(zip(("rejected", "withdrawn"), days, strict=True))
    expired = {
        str(number)
        for number, (state, old, _) in enumerate(rows)
        if (limit := limits.get(state)) is not None and old >= limit
    }
    kept = {archive for number, (_, _, archive) in enumerate(rows) if str(number) not in expired}
    report = purge(board, "test", rejected_days=days[0], withdrawn_days=days[1])
    assert set(report.keys) == expired == removed(board)
    assert {int(path.name) for path in board.folder.glob("archives/*/*")} == kept
    board.engine.dispose()


@pytest.mark.database("sqlite")
def test_abandoned_uploads_are_removed_by_age(board: OpenBoard) -> None:
    old, new = board.incoming / "a.part", board.incoming / "b.part"
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - ABANDONED - 5,) * 2)
    clean_up(board)
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.database("sqlite")
def test_withdrawn_again(board: OpenBoard) -> None:
    """Publishing and withdrawing again starts the period anew."""
    keys = fill(board)
    age(board, 10, keys["withdrawn"])
    client = team_client(board)
    client.post(f"/api/v1/submissions/{keys['withdrawn']}/publish")
    with writing(board.engine) as session:
        submission = session.scalars(select(Submission).where(Submission.key == keys["withdrawn"])).one()
        withdraw(session, submission, "test")
    assert purge(board, "test", rejected_days=None, withdrawn_days=5).keys == []


@pytest.mark.slow
def test_server_cleans_up_at_start(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board", keep_rejected_days=1)
    keys = fill(board)
    age(board, 2, keys["rejected"])
    part = board.incoming / "a.part"
    part.write_bytes(b"x")
    os.utime(part, (time.time() - ABANDONED - 5,) * 2)
    with served(board.folder):
        assert removed(board) == {keys["rejected"]}
        assert not part.exists()
    board.engine.dispose()


@pytest.mark.database("sqlite")
def test_server_cleans_up_periodically(board: OpenBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure, such as a database that is away for a moment, does not end it."""
    attempts = []
    third = threading.Event()

    def fail_first(cleaned: OpenBoard) -> None:
        attempts.append(cleaned)
        if len(attempts) == 3:
            third.set()
        raise OperationalError("x", {}, Exception()) if len(attempts) == 1 else OSError

    monkeypatch.setattr(retention, "_INTERVAL", 0.001)
    monkeypatch.setattr(retention, "clean_up", fail_first)
    with retention.cleaning_up(board):
        assert third.wait(60)
    assert attempts[0] is board
