"""The tables of a board.

Times are text, `2026-11-16T09:00:00Z`, for people to read: nothing that must be right depends on a clock.
"""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

# The life of a submission: it waits, and is then scored or `rejected`. `validating` and `scoring` are a worker's; a
# preview is seen by its team alone.
WAITING = ("received", "validating", "scoring")
SCORED = ("preview", "published", "withdrawn")

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def timestamp() -> str:
    """The time now, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class BoardTable(DeclarativeBase):
    """What all tables have: constraints with names, which migrations need."""

    metadata = MetaData(naming_convention=_NAMES)


class Team(BoardTable):
    """Who may submit; `monthly_submissions` is its own limit, None for the board's."""

    __tablename__ = "teams"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(120), unique=True)
    contact: Mapped[str] = mapped_column(String(320), default="")
    monthly_submissions: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class AccessToken(BoardTable):
    """What a team shows to be let in; the secret itself is nowhere."""

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
    """One upload; `digest` tells it from every other of its team, so that the same is never taken twice."""

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
    """What a submission was worth to one version of the scorer: the whole result record, without examples."""

    __tablename__ = "scores"
    __table_args__ = (UniqueConstraint("submission_id", "scorer"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    scorer: Mapped[str] = mapped_column(String(40))
    overall: Mapped[float | None] = mapped_column(Float)
    record: Mapped[str] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class ScoringJob(BoardTable):
    """Work that waits or is being done.

    `kind` is "score", or "site" for pages to be built anew. `beats` grows while its `owner` lives: whoever sees it
    stand still for a whole lease may take the job over, and the one before can no longer end it.
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
    """How often somebody did something in the minute that `started` at that second of the database's clock."""

    __tablename__ = "rate_counts"

    asker: Mapped[str] = mapped_column(String(200), primary_key=True)
    started: Mapped[int] = mapped_column(BigInteger, index=True)
    count: Mapped[int] = mapped_column(Integer)


class AuditEntry(BoardTable):
    """Who did what, and when; nothing ever changes or removes one."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[str] = mapped_column(String(20), default=timestamp)
    actor: Mapped[str] = mapped_column(String(200))
    action: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = mapped_column(Text, default="")
