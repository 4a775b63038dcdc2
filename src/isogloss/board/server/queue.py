"""The queue in the database: every job is done by one worker, and by another if that one dies.

There is no clock in it. A worker's heartbeat is a number that grows; whoever sees it stand still for a whole lease, by
the time that passes for itself, takes the job over. What the one before does afterwards is refused: a job is ended
in the same transaction that stores its outcome, and only by its present owner.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading, writing
from isogloss.board.server.models import ScoringJob


class LostJobError(Exception):
    """The job is another worker's by now; whatever was made of it is thrown away."""


@dataclass(frozen=True)
class ClaimedJob:
    """A job in the hands of a worker; `attempts` counts this one."""

    id: int
    kind: str
    submission_id: int | None
    owner: str
    attempts: int


def enqueue(session: Session, kind: str, submission_id: int | None = None) -> None:
    """Have something done, if the transaction is kept; what waits already is not asked for twice."""
    waiting = select(ScoringJob.id).where(
        ScoringJob.kind == kind, ScoringJob.state == "queued", ScoringJob.submission_id == submission_id
    )
    if session.scalar(waiting.limit(1)) is None:
        session.add(ScoringJob(kind=kind, submission_id=submission_id))


@dataclass
class JobClaims:
    """One worker's view of the queue: what it may take, and how long it has seen each heartbeat stand still."""

    board: OpenBoard
    owner: str = field(default_factory=lambda: secrets.token_hex(12))
    _seen: dict[tuple[int, str, int], float] = field(default_factory=dict)

    def claim(self) -> ClaimedJob | None:
        """The oldest job that waits, or whose worker is dead; None where there is none."""
        with reading(self.board.engine) as session:
            waits = session.scalar(select(ScoringJob.id).where(ScoringJob.state == "queued").limit(1)) is not None
            running = session.scalars(select(ScoringJob).where(ScoringJob.state == "running")).all()
        dead = self._standing_still([(job.id, job.owner, job.beats) for job in running])
        if not waits and not dead:
            return None
        with writing(self.board.engine) as session:
            return self._take(session, dead)

    def _standing_still(self, beats: Sequence[tuple[int, str, int]]) -> list[tuple[int, str, int]]:
        now = time.monotonic()
        self._seen = {beat: self._seen.get(beat, now) for beat in beats}
        return [beat for beat, since in self._seen.items() if now - since >= self.board.settings.lease_seconds]

    def _take(self, session: Session, dead: list[tuple[int, str, int]]) -> ClaimedJob | None:
        free = [
            and_(
                ScoringJob.id == job,
                ScoringJob.owner == owner,
                ScoringJob.beats == beats,
                ScoringJob.state == "running",
            )
            for job, owner, beats in dead[:50]
        ]
        query = select(ScoringJob).where(or_(ScoringJob.state == "queued", *free)).order_by(ScoringJob.id).limit(1)
        job = session.scalar(query.with_for_update(skip_locked=True))
        if job is None:
            return None
        job.state, job.owner, job.attempts, job.beats = "running", self.owner, job.attempts + 1, 0
        return ClaimedJob(job.id, job.kind, job.submission_id, self.owner, job.attempts)


def beat(board: OpenBoard, job: ClaimedJob) -> bool:
    """Show that the worker lives; False if the job is another's by now."""
    with writing(board.engine) as session:
        mine = (ScoringJob.id == job.id, ScoringJob.owner == job.owner, ScoringJob.state == "running")
        done = session.execute(
            update(ScoringJob).where(*mine).values(beats=ScoringJob.beats + 1).returning(ScoringJob.id)
        )
        return done.first() is not None


def owned(session: Session, job: ClaimedJob) -> ScoringJob:
    """The job's row, which nobody else can change before the transaction ends.

    Raises:
        LostJobError: it is another worker's.
    """
    row = session.scalar(select(ScoringJob).where(ScoringJob.id == job.id).with_for_update())
    if row is None or row.owner != job.owner or row.state != "running":
        raise LostJobError
    return row


def put_back(board: OpenBoard, job: ClaimedJob, *, counts: bool) -> None:
    """Leave a job to another worker; `counts` says whether it was the job's own fault."""
    with writing(board.engine) as session:
        row = owned(session, job)
        row.state, row.attempts = "queued", row.attempts - (not counts)
