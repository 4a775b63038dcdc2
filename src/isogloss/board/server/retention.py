"""Remove what a board no longer needs: archives of old submissions, deleted submissions and abandoned uploads."""

import logging
import re
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import delete, exists, select, text, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from isogloss.board.server.board import OpenBoard, scorer_version
from isogloss.board.server.database import (
    ScoreRecord,
    ScoringJob,
    Submission,
    database_time,
    record,
    timestamp,
    writing,
)
from isogloss.board.server.queue import enqueue

LOG = logging.getLogger("isogloss.board")
# Seconds without data after which an upload is abandoned; the server drops silent clients much earlier.
ABANDONED = 3600
_INTERVAL = 3600
_ARCHIVE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PurgeReport:
    """Submissions that lose their archives, and the number and size of files removed."""

    keys: list[str]
    files: int
    size: int


def purge(
    board: OpenBoard, actor: str, *, rejected_days: int | None, withdrawn_days: int | None, dry_run: bool = False
) -> PurgeReport:
    """Remove the archives of submissions that were rejected or withdrawn so many days ago; their records stay.

    Args:
        board: open board.
        actor: name in the audit log.
        rejected_days: age of rejected submissions; None to keep all.
        withdrawn_days: age of withdrawn submissions; None to keep all.
        dry_run: True to change nothing.

    Returns:
        What was removed, or would be. Archives that other submissions share are not.
    """
    with writing(board.engine) as session:
        expired = _expired(session, "rejected", rejected_days) + _expired(session, "withdrawn", withdrawn_days)
        for submission in [] if dry_run else expired:
            submission.archive_removed_at = timestamp()
            record(session, actor, "remove archive", submission.key, f"{submission.state}, {submission.archive}")
        keys, ids = [submission.key for submission in expired], {submission.id for submission in expired}
    files, size = remove_orphans(board, without=ids, dry_run=dry_run)
    return PurgeReport(keys, files, size)


def _expired(session: Session, state: str, days: int | None) -> list[Submission]:
    if days is None:
        return []
    before = (database_time(session) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    # A queued job still needs the archive.
    is_needed = exists().where(ScoringJob.submission_id == Submission.id, ScoringJob.state.in_(("queued", "running")))
    conditions = (Submission.state == state, Submission.changed_at <= before, Submission.archive_removed_at.is_(None))
    return list(session.scalars(select(Submission).where(*conditions, ~is_needed).with_for_update()))


def remove_orphans(board: OpenBoard, *, without: Collection[int] = (), dry_run: bool = False) -> tuple[int, int]:
    """Remove archives that no submission needs, ignoring the ids in `without`; return their number and total size."""
    stored = [path for path in board.folder.glob("archives/??/*") if _ARCHIVE.fullmatch(path.name)]
    count = size = 0
    with writing(board.engine) as session:
        if board.engine.dialect.name == "postgresql":
            # An upload is stored before its submission, under a lock on the team; wait for those, and exclude others.
            session.execute(text("LOCK TABLE teams IN EXCLUSIVE MODE"))
        rows = session.execute(select(Submission.id, Submission.archive).where(Submission.archive_removed_at.is_(None)))
        needed = {archive for submission_id, archive in rows if submission_id not in without}
        for path in stored:
            if path.name in needed:
                continue
            with suppress(FileNotFoundError):  # removed by another server
                size += path.stat().st_size
                count += 1
                if not dry_run:
                    path.unlink()
    return count, size


def delete_submission(session: Session, submission: Submission, actor: str) -> None:
    """Remove a submission's scores, problems and metadata; it still counts against the team's quotas.

    `remove_orphans` then removes its archive, unless another submission shares it.
    """
    was, jobs = submission.state, update(ScoringJob).where(ScoringJob.submission_id == submission.id)
    # The worker of a running job can then no longer finish it.
    session.execute(jobs.where(ScoringJob.state.in_(("queued", "running"))).values(state="done"))
    session.execute(delete(ScoreRecord).where(ScoreRecord.submission_id == submission.id))
    submission.problems = submission.flags = "[]"
    submission.system, submission.system_id = '{"name":"deleted"}', f"deleted-{submission.key}"
    submission.digest = f"deleted-{submission.key}"  # the same predictions may be submitted again
    submission.archive_removed_at = submission.archive_removed_at or timestamp()
    if was != "rejected":  # which counts differently
        submission.state, submission.changed_at = "deleted", timestamp()
    record(session, actor, "delete", submission.key, f"was {was}, archive {submission.archive}")
    if was == "published":
        enqueue(session, "site")


def not_rescorable(session: Session) -> list[str]:
    """Return the keys of submissions that need new scores, but have no archive any more."""
    is_scored = exists().where(ScoreRecord.submission_id == Submission.id, ScoreRecord.scorer == scorer_version())
    conditions = (Submission.state.in_(("preview", "published")), Submission.archive_removed_at.is_not(None))
    return list(session.scalars(select(Submission.key).where(*conditions, ~is_scored)))


def abandoned_uploads(board_folder: Path) -> list[Path]:
    """Return unfinished uploads without new data for a long time."""
    parts = []
    for part in (board_folder / "incoming").glob("*.part"):
        with suppress(FileNotFoundError):  # completed in the meantime
            if time.time() - part.stat().st_mtime > ABANDONED:
                parts.append(part)
    return parts


def clean_up(board: OpenBoard) -> None:
    """Remove abandoned uploads and apply the board's retention settings."""
    for part in abandoned_uploads(board.folder):
        part.unlink(missing_ok=True)
    settings = board.settings
    days = (settings.keep_rejected_days or None, settings.keep_withdrawn_days or None)
    report = purge(board, "server", rejected_days=days[0], withdrawn_days=days[1])
    if report.files:
        LOG.info("removed %d archives (%d bytes)", report.files, report.size)


@contextmanager
def cleaning_up(board: OpenBoard) -> Iterator[None]:
    """Clean up every hour, in a thread."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(_INTERVAL):
            try:
                clean_up(board)
            except (OSError, SQLAlchemyError) as error:
                LOG.warning("cannot clean up: %s", error)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
