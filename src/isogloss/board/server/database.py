"""The database of a board: SQLite in its folder, or PostgreSQL by URL; opened, and brought to this version's tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session

from isogloss.board.server.file_lock import file_lock
from isogloss.errors import DataError

# Seconds that a writer waits for another one; SQLite has one at a time.
_BUSY_SECONDS = 30


def open_database(url: str, folder: Path) -> Engine:
    """An engine for a URL, or for the SQLite file in a board's folder where the URL is "".

    Raises:
        DataError: the URL is none of these.
    """
    if not url or url.startswith("sqlite"):
        engine = create_engine(url or f"sqlite:///{folder / 'board.sqlite'}", connect_args={"timeout": _BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        # Named without its driver, SQLAlchemy would take an older one.
        return create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), pool_pre_ping=True)
    except (ArgumentError, ImportError) as error:
        fix = "postgresql://USER:PASSWORD@HOST/NAME, with pip install 'psycopg[binary]'; or leave it out for SQLite"
        raise DataError(f"no database can be opened by this URL ({error})", where="database", fix=fix) from None


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver would begin transactions by itself, and too late to be safe.
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
    """A transaction that changes nothing and sees one state of the database."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """A transaction that is kept whole or not at all; in SQLite no other writer comes between its statements."""
    with Session(engine.execution_options(writing=True), expire_on_commit=False) as session, session.begin():
        yield session


def _config(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def migrate(engine: Engine, folder: Path, revision: str = "head") -> None:
    """Bring the tables to this version of the package, keeping what is in them.

    Raises:
        DataError: the database cannot be reached, or a newer version of the package made it.
    """
    from alembic import command
    from alembic.util import CommandError

    with file_lock(folder / ".migrate.lock"):  # several servers may start at once
        try:
            with engine.execution_options(writing=True).begin() as connection:
                command.upgrade(_config(connection), revision)
        except CommandError as error:
            what = f"its tables are of a version that is unknown here ({error})"
            raise DataError(what, where=_place(engine), fix="Install the newest isogloss") from None
        except SQLAlchemyError as error:
            raise _unreachable(engine, error) from error


def check_version(engine: Engine, folder: Path, *, any_version: bool = False) -> None:
    """Make the tables of an empty database; refuse one whose tables are not those of this version, unless any will do.

    Raises:
        DataError: the tables are older or newer, or the database cannot be reached.
    """
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    try:
        with engine.connect() as connection:
            is_empty = not inspect(connection).has_table("submissions")
            found = MigrationContext.configure(connection).get_current_revision()
            newest = ScriptDirectory.from_config(_config(connection)).get_current_head()
    except SQLAlchemyError as error:
        raise _unreachable(engine, error) from error
    if is_empty:
        migrate(engine, folder)
    elif found != newest and not any_version:
        what = f"its tables are of version {found}, this isogloss needs {newest}"
        fix = f"Back up, then isogloss board admin migrate {folder}; or install the isogloss that made it"
        raise DataError(what, where=_place(engine), fix=fix)


def _place(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _unreachable(engine: Engine, error: SQLAlchemyError) -> DataError:
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    return DataError(f"the database cannot be used ({reason})", where=_place(engine))
