"""The tables of a board.

Times are strings such as `2026-11-16T09:00:00Z`, for information only; no logic depends on clocks.
"""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

# States of a submission: it waits and is then scored or `rejected`. Workers set `validating` and `scoring`; only the
# team sees a preview.
WAITING = ("received", "validating", "scoring")
SCORED = ("preview", "published", "withdrawn")

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def timestamp() -> str:
    """Return the current UTC time, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class BoardTable(DeclarativeBase):
    """Base of all tables; names constraints, as migrations require."""

    metadata = MetaData(naming_convention=_NAMES)


class Team(BoardTable):
    """A team; `monthly_submissions` overrides the board's quota if not None."""

    __tablename__ = "teams"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(120), unique=True)
    contact: Mapped[str] = mapped_column(String(320), default="")
    monthly_submissions: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class AccessToken(BoardTable):
    """An access token of a team; the secret itself is not stored."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(16), unique=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    salt: Mapped[str] = mapped_column(String(64))
    digest: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)
    revoked_at: Mapped[str | None] = mapped_column(String(20))

    team: Mapped[Team] = relationship()


class Submission(BoardTable):
    """A submission; `digest` is unique per team, to detect duplicates."""

    __tablename__ = "submissions"
    __table_args__ = (UniqueConstraint("team_id", "digest"), Index(None, "team_id", "month"))

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(16), unique=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    digest: Mapped[str] = mapped_column(String(64))
    month: Mapped[str] = mapped_column(String(7))
    state: Mapped[str] = mapped_column(String(12), default="received", index=True)
    system_id: Mapped[str] = mapped_column(String(80), unique=True)
    system: Mapped[str] = mapped_column(Text)
    archive: Mapped[str] = mapped_column(String(64))
    archive_bytes: Mapped[int] = mapped_column(BigInteger)
    publish_when_scored: Mapped[bool] = mapped_column(default=False)
    problems: Mapped[str] = mapped_column(Text, default="[]")
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)
    changed_at: Mapped[str] = mapped_column(String(20), default=timestamp)
    published_at: Mapped[str | None] = mapped_column(String(20))

    team: Mapped[Team] = relationship()
    scores: Mapped[list["ScoreRecord"]] = relationship(order_by="ScoreRecord.id")


class ScoreRecord(BoardTable):
    """Scores of a submission by one scorer version: the full result record without examples."""

    __tablename__ = "scores"
    __table_args__ = (UniqueConstraint("submission_id", "scorer"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    scorer: Mapped[str] = mapped_column(String(40))
    overall: Mapped[float | None] = mapped_column(Float)
    record: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class ScoringJob(BoardTable):
    """A job.

    `kind` is "score", or "site" to rebuild the pages. `beats` increases while the `owner` is alive; after a lease
    without change another worker may take over, and the previous owner can no longer finish the job.
    """

    __tablename__ = "jobs"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(8))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"), index=True)
    state: Mapped[str] = mapped_column(String(8), default="queued", index=True)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    owner: Mapped[str] = mapped_column(String(40), default="")
    beats: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class RateCount(BoardTable):
    """Requests of a client in the minute that `started` at this second of the database's clock."""

    __tablename__ = "rate_counts"

    asker: Mapped[str] = mapped_column(String(200), primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger, index=True)
    count: Mapped[int] = mapped_column(Integer)


class AuditEntry(BoardTable):
    """An entry of the audit log; entries are never changed or removed."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[str] = mapped_column(String(20), default=timestamp)
    actor: Mapped[str] = mapped_column(String(200))
    action: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = mapped_column(Text, default="")
