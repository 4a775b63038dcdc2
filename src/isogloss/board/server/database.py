"""A board's database, SQLite in its folder or PostgreSQL by URL: its tables, transactions, migrations and audit log.

Times are strings such as `2026-11-16T09:00:00Z`, for information. Months of quotas and retention periods depend on the
database's clock, which all servers share; nothing else depends on clocks.
"""

import getpass
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock
from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, MetaData, String, Text, UniqueConstraint
from sqlalchemy.exc import ArgumentError, DatabaseError, InternalError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from isogloss.errors import DataError
from isogloss.escaping import printable

# Seconds a writer waits for another; SQLite allows one at a time.
_BUSY_SECONDS = 30
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# States of a submission: it waits and is then scored or `rejected`. Workers set `validating` and `scoring`; only the
# team sees a preview. A deleted submission has no content left, but still counts against the team's quotas.
WAITING = ("received", "validating", "scoring")
SCORED = ("preview", "published", "withdrawn", "deleted")
STATES = (*WAITING, *SCORED, "rejected")

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
            url or f"sqlite:///{folder / 'board.sqlite'}", connect_args={"timeout": _BUSY_SECONDS}, hide_parameters=True
        )
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    else:
        engine = _open_postgresql(url)
    sa.event.listen(engine, "handle_error", _as_unavailable)
    return engine


def _open_postgresql(url: str) -> sa.Engine:
    fix = "Use postgresql://USER:PASSWORD@HOST/NAME, or omit it for SQLite"
    try:
        # Without a driver name, SQLAlchemy would choose psycopg2.
        parsed = sa.make_url(url.replace("postgresql://", "postgresql+psycopg://", 1))
        if "@" in (parsed.host or ""):
            raise ValueError
        return sa.create_engine(parsed, pool_pre_ping=True, hide_parameters=True)
    except ValueError:  # the reason would quote a part of the password
        fix += "; write special characters of the password as %40 (@), %2F (/), %3A (:)"
        raise DataError("invalid database URL", where="database", fix=fix) from None
    except ImportError as error:
        from isogloss.installation import install_command

        fix = f"Run {install_command('postgresql')} for postgresql://…, or omit the URL for SQLite"
        raise DataError(f"unsupported database URL ({error})", where="database", fix=fix) from None
    except ArgumentError:
        raise DataError("unsupported database URL", where="database", fix=fix) from None


def _as_unavailable(context: sa.engine.ExceptionContext) -> OperationalError | None:
    """Report a damaged database like an unavailable one, which servers, workers and verbs handle."""
    error = context.sqlalchemy_exception
    if type(error) is DatabaseError or isinstance(error, InternalError):
        return OperationalError(error.statement, error.params, context.original_exception, hide_parameters=True)
    return None


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


@contextmanager
def clear_errors(engine: sa.Engine) -> Iterator[None]:
    """Turn failures of the database into DataErrors, for verbs; servers and workers retry instead."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _unavailable(engine, error) from error


def database_time(session: Session) -> datetime:
    """Return the time of the database's clock, in UTC; servers with wrong clocks then agree on the month."""
    now = session.scalars(sa.select(sa.func.now())).one()
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)


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


def board_lock(folder: Path) -> FileLock:
    """Return the lock of changes that only one of several starting processes may make."""
    return FileLock(folder / ".migrate.lock", mode=0o600)


def migrate(engine: sa.Engine, folder: Path, revision: str = "head") -> None:
    """Upgrade the tables to this version, keeping their rows; raise DataError if unavailable or newer."""
    from alembic import command
    from alembic.util import CommandError

    with board_lock(folder):
        try:
            with clear_errors(engine), engine.execution_options(writing=True).begin() as connection:
                command.upgrade(_config(connection), revision)
        except CommandError as error:
            what = f"unknown table version ({error})"
            raise DataError(what, where=database_name(engine), fix="Install the newest isogloss") from None


def table_version(engine: sa.Engine) -> tuple[str | None, str | None]:
    """Return the version of the tables, None if there are none, and the version that this isogloss needs."""
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    with clear_errors(engine), engine.connect() as connection:
        if not sa.inspect(connection).has_table("submissions"):
            current = None
        else:
            current = MigrationContext.configure(connection).get_current_revision()
        return current, ScriptDirectory.from_config(_config(connection)).get_current_head()


def check_version(engine: sa.Engine, folder: Path, *, any_version: bool = False) -> None:
    """Create the tables in an empty database; raise DataError for another version, unless `any_version`."""
    current, newest = table_version(engine)
    if current is None:
        migrate(engine, folder)
    elif current != newest and not any_version:
        what = f"the tables have version {current}, this isogloss needs {newest}"
        fix = f"Back up and run isogloss board admin migrate {folder}, or install the matching isogloss"
        raise DataError(what, where=database_name(engine), fix=fix)


def database_name(engine: sa.Engine) -> str:
    """Return the URL without its password."""
    return engine.url.render_as_string(hide_password=True)


def _unavailable(engine: sa.Engine, error: SQLAlchemyError) -> DataError:
    cause = getattr(error, "orig", None)
    lines = str(cause or error).strip().splitlines() or [type(error).__name__]
    password = str(engine.url.password or "")
    reason = "***".join(lines[0].split(password)) if password else lines[0]
    if isinstance(cause, sqlite3.DatabaseError) and cause.sqlite_errorcode & 0xFF in _DAMAGED:
        fix = "Stop the server and restore the newest backup with isogloss board admin restore BACKUP NEW-FOLDER"
        return DataError(f"the database is damaged ({reason})", where=database_name(engine), fix=fix)
    fix = "Check that the database runs and its file or address is accessible"
    return DataError(f"database unavailable ({reason})", where=database_name(engine), fix=fix)
