"""Job queue in the database: one worker processes a job, and another takes over if it dies.

No clocks are compared. A heartbeat is an increasing number; a worker that sees it unchanged for a whole lease, by its
own clock, takes the job over. Late results of the previous owner are refused: only the current owner can finish a job,
in the transaction that stores its result.
"""

import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import WAITING, ScoringJob, Submission, reading, writing

# Seconds until a worker tries a job again that its machine failed.
DEFERRED_SECONDS = 5.0
# Number of teams of which a worker remembers the last turn.
_REMEMBERED_TEAMS = 200
# Team of a job; 0 for the pages, which belong to the whole board.
_TEAM = func.coalesce(Submission.team_id, 0)


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
    """One worker's view of the queue: when it first saw each current heartbeat, and the order of teams it served."""

    board: OpenBoard
    owner: str = field(default_factory=lambda: secrets.token_hex(12))
    _seen: dict[tuple[int, str, int], float] = field(default_factory=dict)
    _turns: dict[int, int] = field(default_factory=dict)  # number of this worker's last turn, by team
    _deferred: dict[int, float] = field(default_factory=dict)  # time of deferral, by job

    def claim(self) -> ClaimedJob | None:
        """Claim the next job that is waiting or has a dead worker; None if there are none.

        Deferred jobs come last. The others are taken from the team with the fewest running jobs, then from the one
        this worker served least recently, so that a long queue of one team never blocks another; the oldest job
        first. The pages count as a team.
        """
        now = time.monotonic()
        self._deferred = {job: since for job, since in self._deferred.items() if now - since < DEFERRED_SECONDS}
        is_queued = and_(ScoringJob.state == "queued", ScoringJob.id.not_in(self._deferred))
        with reading(self.board.engine) as session:
            has_waiting = session.scalar(select(ScoringJob.id).where(is_queued).limit(1)) is not None
            running = session.scalars(select(ScoringJob).where(ScoringJob.state == "running")).all()
        beats = [(job.id, job.owner, job.beats) for job in running]
        self._seen = {beat: self._seen.get(beat, now) for beat in beats}
        dead = [beat for beat, since in self._seen.items() if now - since >= self.board.settings.lease_seconds][:50]
        if not has_waiting and not dead:
            return None
        is_free = or_(is_queued, and_(ScoringJob.state == "running", _beat_of(ScoringJob).in_(dead)))
        query = (
            select(ScoringJob, _TEAM)
            .outerjoin(Submission, Submission.id == ScoringJob.submission_id)
            .where(is_free)
            .order_by(ScoringJob.deferrals, _running_jobs(dead), self._last_turn(), ScoringJob.id)
            .limit(1)
        )
        with writing(self.board.engine) as session:
            claimed = session.execute(query.with_for_update(of=ScoringJob, skip_locked=True)).first()
            if claimed is None:
                return None
            row, team = claimed
            row.state, row.owner, row.attempts, row.beats = "running", self.owner, row.attempts + 1, 0
            self._take_turn(team)
            return ClaimedJob(
                id=row.id, kind=row.kind, submission_id=row.submission_id, owner=self.owner, attempts=row.attempts
            )

    def defer(self, job: ClaimedJob) -> None:
        """Requeue a job that this machine fails, e.g. for lack of disk space, behind all others; skip it for a while.

        Raises:
            LostJobError: another worker owns the job now.
        """
        self._deferred[job.id] = time.monotonic()
        with writing(self.board.engine) as session:
            row = owned(session, job)
            row.state, row.attempts, row.deferrals = "queued", row.attempts - 1, row.deferrals + 1

    def _last_turn(self) -> ColumnElement[int]:
        return case(self._turns, value=_TEAM, else_=0) if self._turns else literal(0)

    def _take_turn(self, team: int) -> None:
        turn = max(self._turns.values(), default=0) + 1
        self._turns.pop(team, None)
        self._turns[team] = turn
        if len(self._turns) > _REMEMBERED_TEAMS:
            del self._turns[next(iter(self._turns))]


def _beat_of(job: Any) -> Any:
    return tuple_(job.id, job.owner, job.beats)


def _running_jobs(dead: Sequence[tuple[int, str, int]]) -> Any:
    """Return the number of jobs of the same team that a living worker runs, as a column of the query for the next."""
    other, submission = aliased(ScoringJob), aliased(Submission)
    return (
        select(func.count())
        .select_from(other)
        .outerjoin(submission, submission.id == other.submission_id)
        .where(other.state == "running", _beat_of(other).not_in(dead), func.coalesce(submission.team_id, 0) == _TEAM)
        .correlate(Submission)
        .scalar_subquery()
    )


class WaitingSubmission(NamedTuple):
    """A submission that is waiting or being scored."""

    id: int
    state: str
    since: str


def waiting_submissions(session: Session) -> list[WaitingSubmission]:
    """Return the submissions that are waiting or being scored, in their probable order.

    Teams take turns; the exact order depends on the workers.
    """
    turn = func.row_number().over(partition_by=Submission.team_id, order_by=Submission.id)
    query = select(Submission.id, Submission.state, Submission.changed_at).where(Submission.state.in_(WAITING))
    return [WaitingSubmission(*row) for row in session.execute(query.order_by(turn, Submission.id))]


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
