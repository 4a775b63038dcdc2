"""Open, migrate and audit a board's database: SQLite in its folder, or PostgreSQL by URL."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session

from isogloss.board.server.models import AuditEntry
from isogloss.errors import DataError
from isogloss.escaping import printable

# Seconds a writer waits for another; SQLite allows one at a time.
_BUSY_SECONDS = 30


def open_database(url: str, folder: Path) -> Engine:
    """Return an engine for a URL, or for the SQLite file in a board's folder if the URL is "".

    Raises:
        DataError: unsupported URL.
    """
    if not url or url.startswith("sqlite"):
        engine = create_engine(url or f"sqlite:///{folder / 'board.sqlite'}", connect_args={"timeout": _BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        # Without a driver name, SQLAlchemy would choose psycopg2.
        return create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), pool_pre_ping=True)
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


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Open a read-only transaction on a consistent state."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
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


def _config(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def migrate(engine: Engine, folder: Path, revision: str = "head") -> None:
    """Upgrade the tables to this version of the package, keeping their rows.

    Raises:
        DataError: the database is unavailable, or newer than this package.
    """
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


def check_version(engine: Engine, folder: Path, *, any_version: bool = False) -> None:
    """Create the tables in an empty database; otherwise require this version's tables, unless `any_version`.

    Raises:
        DataError: the tables have another version, or the database is unavailable.
    """
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    try:
        with engine.connect() as connection:
            is_empty = not inspect(connection).has_table("submissions")
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


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _unreachable(engine: Engine, error: SQLAlchemyError) -> DataError:
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return DataError(f"database unavailable ({reason})", where=_url(engine))
