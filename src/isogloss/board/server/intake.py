"""Taking a submission in: its bytes go straight to disk, and it is acknowledged only when nothing can lose it."""

import hashlib
import os
import secrets
import unicodedata
from pathlib import Path

import msgspec
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from isogloss.board.facts import slug
from isogloss.board.metadata import SystemMetadata
from isogloss.board.server.audit import record
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import writing
from isogloss.board.server.models import SCORED, WAITING, Submission, Team, timestamp
from isogloss.board.server.queue import enqueue
from isogloss.board.server.scoring import publish as publish_scored
from isogloss.board.server.tokens import Bearer
from isogloss.errors import PredictionError


class UploadLimitError(PredictionError):
    """An archive of more bytes than the board takes."""


class MonthlyLimitError(PredictionError):
    """A team that has used up its month."""


class IncomingArchive:
    """An upload on its way to disk; `close` removes what has not been kept."""

    def __init__(self, board: OpenBoard) -> None:
        self._board = board
        self._path = board.incoming / f"{secrets.token_hex(8)}.part"
        self._stream = self._path.open("xb")
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Take more bytes.

        Raises:
            UploadLimitError: there are too many.
            OSError: the disk is full.
        """
        self.size += len(chunk)
        if self.size > self._board.settings.upload_bytes:
            raise too_large(self._board)
        self._digest.update(chunk)
        self._stream.write(chunk)

    def sync(self) -> str:
        """Make the whole archive safe from a power cut; gives its sha256."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        return self._digest.hexdigest()

    def keep(self) -> None:
        """Put it where archives are."""
        path = self._board.archive_path(self._digest.hexdigest())
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path.replace(path)
        _sync_folder(path.parent)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()
        self._path.unlink(missing_ok=True)


def too_large(board: OpenBoard) -> UploadLimitError:
    """The error for an archive of too many bytes."""
    what = f"the archive has more than {board.settings.upload_bytes:,} bytes"
    return UploadLimitError(what, where="archive", fix="Pack the predictions alone, as .tar.xz or .zip")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def accept(
    board: OpenBoard, bearer: Bearer, metadata: SystemMetadata, archive: IncomingArchive, *, publish: bool
) -> tuple[str, bool]:
    """Put a submission into the queue; gives its key, and whether it is new: the same is never taken twice.

    Args:
        board: where to.
        bearer: whose it is.
        metadata: of its system.
        archive: what has come in full; it is kept with the submission, and only then.
        publish: whether it goes to the board as soon as it is scored, without a preview; also one that was sent before.

    Raises:
        MonthlyLimitError: the team has used up its month.
        OSError: the disk is full.
    """
    sha256 = archive.sync()
    system = msgspec.json.encode(metadata, order="sorted").decode()
    digest = hashlib.sha256(f"{board.settings.suite}\n{sha256}\n{system}".encode()).hexdigest()
    with writing(board.engine) as session:
        # Submissions of one team come one after the other: its limit is counted and used in one step.
        team = session.scalars(select(Team).where(Team.id == bearer.team_id).with_for_update()).one()
        same = select(Submission).where(Submission.team_id == team.id, Submission.digest == digest)
        known, month = session.scalar(same), timestamp()[:7]
        if known is None:
            _check_month(session, board, team, month)
        archive.keep()
        if known is not None:
            if publish and known.state in WAITING:
                known.publish_when_scored = True
            elif publish and known.state == "preview":
                publish_scored(session, known, bearer.actor)
            return known.key, False
        key = secrets.token_hex(6)
        submission = Submission(
            key=key,
            team_id=team.id,
            digest=digest,
            month=month,
            system_id=_system_id(metadata.name, key),
            system=system,
            archive=sha256,
            archive_bytes=archive.size,
            publish_when_scored=publish,
        )
        session.add(submission)
        session.flush()
        enqueue(session, "score", submission.id)
        record(session, bearer.actor, "submit", key, f"archive {sha256}")
    return key, True


def submissions_in_month(session: Session, team_id: int, month: str) -> tuple[int, int]:
    """How many submissions of a team count against its limit in a month, and how many it sent in all."""
    of_month = select(func.count()).where(Submission.team_id == team_id, Submission.month == month)
    counted = session.scalar(of_month.where(Submission.state != "rejected")) or 0
    return counted, session.scalar(of_month) or 0


def queue_ids(session: Session) -> list[int]:
    """The ids of all submissions that wait or are being scored, the next first."""
    return list(session.scalars(select(Submission.id).where(Submission.state.in_(WAITING)).order_by(Submission.id)))


def monthly_limit(board: OpenBoard, team: Team) -> int:
    """How many submissions a team may have scored in a month."""
    own = team.monthly_submissions
    return board.settings.monthly_submissions if own is None else own


def scored_before(session: Session, submission: Submission) -> int:
    """How many submissions of its team had been scored when this one was, itself included: the best of how many."""
    earlier = select(func.count()).where(
        Submission.team_id == submission.team_id, Submission.id <= submission.id, Submission.state.in_(SCORED)
    )
    return session.scalar(earlier) or 0


def _check_month(session: Session, board: OpenBoard, team: Team, month: str) -> None:
    counted, sent = submissions_in_month(session, team.id, month)
    limit = monthly_limit(board, team)
    if counted >= limit:
        what = f"the team has used its {limit} submissions of {month}"
        raise MonthlyLimitError(what, fix="The next month begins with new ones; rejected submissions do not count")
    if sent >= max(board.settings.monthly_uploads, limit):
        what = f"the team has sent {sent} submissions in {month}, rejected ones included"
        raise MonthlyLimitError(what, fix="isogloss validate finds most problems before an upload")


def _system_id(name: str, key: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return f"{slug(plain) or 'system'}-{key[:6]}"
