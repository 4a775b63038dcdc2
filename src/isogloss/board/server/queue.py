"""Job queue in the database: one worker processes a job, and another takes over if it dies.

No clocks are compared. A heartbeat is an increasing number; a worker that sees it unchanged for a whole lease, by its
own clock, takes the job over. Late results of the previous owner are refused: only the current owner can finish a job,
in the transaction that stores its result.
"""

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import and_, or_, select, tuple_, update
from sqlalchemy.orm import Session

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import ScoringJob, reading, writing


class LostJobError(Exception):
    """Another worker has taken over the job; discard the result."""


@dataclass(frozen=True, kw_only=True)
class ClaimedJob:
    """A job claimed by a worker; `attempts` includes this one."""

    id: int
    kind: str
    submission_id: int | None
    owner: str
    attempts: int


def enqueue(session: Session, kind: str, submission_id: int | None = None) -> None:
    """Add a job in the current transaction, unless the same job is already waiting."""
    waiting = select(ScoringJob.id).where(
        ScoringJob.kind == kind, ScoringJob.state == "queued", ScoringJob.submission_id == submission_id
    )
    if session.scalar(waiting.limit(1)) is None:
        session.add(ScoringJob(kind=kind, submission_id=submission_id))


@dataclass
class JobClaims:
    """One worker's view of the queue: when it first saw each current heartbeat."""

    board: OpenBoard
    owner: str = field(default_factory=lambda: secrets.token_hex(12))
    _seen: dict[tuple[int, str, int], float] = field(default_factory=dict)

    def claim(self) -> ClaimedJob | None:
        """Claim the oldest job that is waiting or has a dead worker; None if there are none."""
        with reading(self.board.engine) as session:
            has_waiting = session.scalar(select(ScoringJob.id).where(ScoringJob.state == "queued").limit(1)) is not None
            running = session.scalars(select(ScoringJob).where(ScoringJob.state == "running")).all()
        now = time.monotonic()
        beats = [(job.id, job.owner, job.beats) for job in running]
        self._seen = {beat: self._seen.get(beat, now) for beat in beats}
        dead = [beat for beat, since in self._seen.items() if now - since >= self.board.settings.lease_seconds]
        if not has_waiting and not dead:
            return None
        is_dead = tuple_(ScoringJob.id, ScoringJob.owner, ScoringJob.beats).in_(dead[:50])
        is_free = or_(ScoringJob.state == "queued", and_(ScoringJob.state == "running", is_dead))
        query = select(ScoringJob).where(is_free).order_by(ScoringJob.id).limit(1)
        with writing(self.board.engine) as session:
            row = session.scalar(query.with_for_update(skip_locked=True))
            if row is None:
                return None
            row.state, row.owner, row.attempts, row.beats = "running", self.owner, row.attempts + 1, 0
            return ClaimedJob(
                id=row.id, kind=row.kind, submission_id=row.submission_id, owner=self.owner, attempts=row.attempts
            )


def beat(board: OpenBoard, job: ClaimedJob) -> bool:
    """Send a heartbeat; return False if another worker has taken over."""
    with writing(board.engine) as session:
        mine = (ScoringJob.id == job.id, ScoringJob.owner == job.owner, ScoringJob.state == "running")
        done = session.execute(
            update(ScoringJob).where(*mine).values(beats=ScoringJob.beats + 1).returning(ScoringJob.id)
        )
        return done.first() is not None


def owned(session: Session, job: ClaimedJob) -> ScoringJob:
    """Return the job's row, locked until the transaction ends; raise LostJobError if another worker has taken over."""
    row = session.scalar(select(ScoringJob).where(ScoringJob.id == job.id).with_for_update())
    if row is None or row.owner != job.owner or row.state != "running":
        raise LostJobError
    return row


def put_back(board: OpenBoard, job: ClaimedJob, *, counts: bool) -> None:
    """Requeue a job; `counts` is True if the job itself failed, which uses up an attempt."""
    with writing(board.engine) as session:
        row = owned(session, job)
        row.state, row.attempts = "queued", row.attempts - (not counts)


@contextmanager
def scratch_folder(board: OpenBoard, job: ClaimedJob) -> Iterator[Path]:
    """Yield a new folder for a job, removing those of earlier workers."""
    for old in board.work.glob(f"{job.id}-*"):
        shutil.rmtree(old, ignore_errors=True)
    folder = Path(mkdtemp(prefix=f"{job.id}-", dir=board.work))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(board: OpenBoard) -> None:
    """Remove folders of finished jobs, left by workers that died."""
    folders = list(board.work.iterdir())
    if not folders:
        return
    with reading(board.engine) as session:
        jobs = session.scalars(select(ScoringJob.id).where(ScoringJob.state.in_(("queued", "running"))))
        active = {str(job) for job in jobs}
    for folder in folders:
        if folder.name.partition("-")[0] not in active:
            shutil.rmtree(folder, ignore_errors=True)
