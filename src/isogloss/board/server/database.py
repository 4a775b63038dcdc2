"""A board's database, SQLite in its folder or PostgreSQL by URL: its tables, transactions, migrations and audit log.

Times are strings such as `2026-11-16T09:00:00Z`, for information only; no logic depends on clocks.
"""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock
from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, MetaData, String, Text, UniqueConstraint
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from isogloss.errors import DataError
from isogloss.escaping import printable

# Seconds a writer waits for another; SQLite allows one at a time.
_BUSY_SECONDS = 30
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
    """A team; its own limits override the board's if not None. A disabled team keeps its data but loses its access."""

    __tablename__ = "teams"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(120), unique=True)
    contact: Mapped[str] = mapped_column(String(320), default="")
    monthly_submissions: Mapped[int | None] = mapped_column(Integer)
    yearly_submissions: Mapped[int | None] = mapped_column(Integer)
    yearly_publications: Mapped[int | None] = mapped_column(Integer)
    disabled_at: Mapped[str | None] = mapped_column(String(20))
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
    """A submission; `digest` is unique per team, to detect duplicates.

    `flags` lists reasons to suspect a probe of the labels, for the administrator only.
    """

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
    flags: Mapped[str] = mapped_column(Text, default="[]")
    archive_removed_at: Mapped[str | None] = mapped_column(String(20))
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)
    changed_at: Mapped[str] = mapped_column(String(20), default=timestamp)
    published_at: Mapped[str | None] = mapped_column(String(20))

    team: Mapped[Team] = relationship()
    scores: Mapped[list["ScoreRecord"]] = relationship(order_by="ScoreRecord.id")


class ScoreRecord(BoardTable):
    """Scores of a submission by one scorer version: the full result record without examples.

    On a board with a private part of the examples, `record` is of the public part and `private_record` of the private.
    """

    __tablename__ = "scores"
    __table_args__ = (UniqueConstraint("submission_id", "scorer"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    scorer: Mapped[str] = mapped_column(String(40))
    overall: Mapped[float | None] = mapped_column(Float)
    record: Mapped[str] = mapped_column(Text)
    private_record: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[str] = mapped_column(String(20), default=timestamp)


class ScoringJob(BoardTable):
    """A job.

    `kind` is "score", or "site" to rebuild the pages. `beats` increases while the `owner` is alive; after a lease
    without change another worker may take over, and the previous owner can no longer finish the job. `deferrals`
    counts how often it was put off for lack of space on the disk; jobs put off less often go first.
    """

    __tablename__ = "jobs"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(8))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"), index=True)
    state: Mapped[str] = mapped_column(String(8), default="queued", index=True)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    owner: Mapped[str] = mapped_column(String(40), default="")
    beats: Mapped[int] = mapped_column(Integer, default=0)
    deferrals: Mapped[int] = mapped_column(Integer, default=0)
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


def open_database(url: str, folder: Path) -> sa.Engine:
    """Return an engine for a URL, or for the SQLite file in a board's folder; unsupported URLs raise DataError."""
    if not url or url.startswith("sqlite"):
        engine = sa.create_engine(
            url or f"sqlite:///{folder / 'board.sqlite'}", connect_args={"timeout": _BUSY_SECONDS}
        )
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        # Without a driver name, SQLAlchemy would choose psycopg2.
        return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), pool_pre_ping=True)
    except (ArgumentError, ImportError) as error:
        fix = "Use postgresql://USER:PASSWORD@HOST/NAME and pip install 'psycopg[binary]', or omit it for SQLite"
        raise DataError(f"unsupported database URL ({error})", where="database", fix=fix) from None


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Stop the driver from beginning transactions itself, too late to be safe.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def reading(engine: sa.Engine) -> Iterator[Session]:
    """Open a read-only transaction on a consistent state."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing(engine: sa.Engine) -> Iterator[Session]:
    """Open a write transaction; in SQLite it excludes other writers from the start."""
    with Session(engine.execution_options(writing=True), expire_on_commit=False) as session, session.begin():
        yield session


def record(session: Session, actor: str, action: str, subject: str = "", detail: str = "") -> None:
    """Add an entry to the audit log, in the transaction of the change."""
    entry = AuditEntry(actor=printable(actor, 200), action=action, subject=printable(subject, 200), detail=detail)
    session.add(entry)


def administrator() -> str:
    """Return the log name of the user on the board's machine."""
    try:
        return f"admin {getpass.getuser()}"
    except (OSError, KeyError):  # a container may have no name for its user
        return "admin"


def _config(connection: sa.Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def migrate(engine: sa.Engine, folder: Path, revision: str = "head") -> None:
    """Upgrade the tables to this version, keeping their rows; raise DataError if unavailable or newer."""
    from alembic import command
    from alembic.util import CommandError

    with FileLock(folder / ".migrate.lock"):  # several servers may start together
        try:
            with engine.execution_options(writing=True).begin() as connection:
                command.upgrade(_config(connection), revision)
        except CommandError as error:
            what = f"unknown table version ({error})"
            raise DataError(what, where=_url(engine), fix="Install the newest isogloss") from None
        except SQLAlchemyError as error:
            raise _unreachable(engine, error) from error


def check_version(engine: sa.Engine, folder: Path, *, any_version: bool = False) -> None:
    """Create the tables in an empty database; raise DataError for another version, unless `any_version`."""
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    try:
        with engine.connect() as connection:
            is_empty = not sa.inspect(connection).has_table("submissions")
            current = MigrationContext.configure(connection).get_current_revision()
            newest = ScriptDirectory.from_config(_config(connection)).get_current_head()
    except SQLAlchemyError as error:
        raise _unreachable(engine, error) from error
    if is_empty:
        migrate(engine, folder)
    elif current != newest and not any_version:
        what = f"the tables have version {current}, this isogloss needs {newest}"
        fix = f"Back up and run isogloss board admin migrate {folder}, or install the matching isogloss"
        raise DataError(what, where=_url(engine), fix=fix)


def _url(engine: sa.Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _unreachable(engine: sa.Engine, error: SQLAlchemyError) -> DataError:
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return DataError(f"database unavailable ({reason})", where=_url(engine))
