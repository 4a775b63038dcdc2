"""The whole board in one file, and back: from either database into either."""

import io
import re
import tarfile
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, MetaData, Table, select, text

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import migrate, open_database
from isogloss.board.server.models import Submission
from isogloss.board.server.settings import FILE, read_settings
from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.runs.toml import to_toml
from isogloss.version import __version__

_HEAD = "backup.json"
_FILES = re.compile(r"board\.toml|pepper\.key|archives/[0-9a-f]{2}/[0-9a-f]{64}")
_TABLE = re.compile(r"tables/([a-z]+)\.jsonl")


class BackupHead(msgspec.Struct, frozen=True):
    """What a backup is of: the version of the tables, and of the package that wrote it."""

    revision: str
    isogloss: str


def back_up(board: OpenBoard, out: Path) -> int:
    """Write everything that a board is to a tar file, while it runs; gives the number of submissions in it.

    The tables are of one moment, and may be those of an older version. Archives never change, so that those they name
    can be read afterwards.

    Raises:
        DataError: the file cannot be written, or an archive is missing.
    """
    with atomic_write(out) as stream, tarfile.open(fileobj=stream.buffer, mode="w") as archive:
        with _snapshot(board.engine) as connection:
            revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
            _add(archive, _HEAD, msgspec.json.encode(BackupHead(str(revision), __version__)))
            for table in _kept_tables(connection):
                rows = connection.execute(select(table).order_by(table.c.id)).mappings()
                _add(
                    archive,
                    f"tables/{table.name}.jsonl",
                    b"".join(msgspec.json.encode(dict(row)) + b"\n" for row in rows),
                )
            sent = connection.scalars(select(Submission.archive)).all()
        for name in (FILE, "pepper.key"):
            archive.add(board.folder / name, name)
        for sha256 in sorted(set(sent)):
            path = board.archive_path(sha256)
            if not path.is_file():
                raise DataError("an archive is missing", where=str(path), fix="Restore it from an older backup")
            archive.add(path, f"archives/{sha256[:2]}/{sha256}")
    return len(sent)


def _snapshot(engine: Engine) -> AbstractContextManager[Connection]:
    """A transaction that sees one state, as every one of SQLite does."""
    is_sqlite = engine.dialect.name == "sqlite"
    return (engine if is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")).begin()


def _kept_tables(connection: Connection) -> list[Table]:
    """The tables with the board's own rows, as they are there, which may be of an older version than the models.

    The migrations' own version and counts of a minute have no ids.
    """
    there = MetaData()
    there.reflect(connection)
    return [table for table in there.sorted_tables if "id" in table.c]


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = len(content), int(time.time()), 0o600
    archive.addfile(info, io.BytesIO(content))


def restore(backup: Path, folder: Path, database: str | None = None) -> int:
    """Make a board of a backup, in a new folder and an empty database; gives the number of submissions.

    Args:
        backup: what `back_up` wrote.
        folder: a folder that does not exist yet, or is empty.
        database: another database than the one it had: a URL, or "" for SQLite in the folder.

    Raises:
        DataError: the folder or the database is not empty, or the file is no backup.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError("is not empty", where=str(folder), fix="Restore into a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, bytes] = {}
    try:
        with tarfile.open(backup) as archive:
            for info in archive:
                _take(archive, info, folder, tables)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"is no whole backup ({error})", where=str(backup)) from error
    if _HEAD not in tables or not (folder / FILE).is_file():
        raise DataError("is no backup of a board", where=str(backup))
    head: BackupHead = decode_json(tables.pop(_HEAD), str(backup), BackupHead)
    settings = _with_database(folder, database)
    engine = open_database(settings, folder.resolve())
    migrate(engine, folder, head.revision)
    with engine.execution_options(writing=True).begin() as connection:
        count = _fill(connection, tables, str(backup))
    migrate(engine, folder)
    return count


def _take(archive: tarfile.TarFile, info: tarfile.TarInfo, folder: Path, tables: dict[str, bytes]) -> None:
    stream = archive.extractfile(info) if info.isreg() else None
    if stream is None:
        return
    if info.name == _HEAD or _TABLE.fullmatch(info.name):
        tables[info.name] = stream.read()
    elif _FILES.fullmatch(info.name):
        path = folder / info.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            while chunk := stream.read(1 << 20):
                out.write(chunk)
        path.chmod(0o600)


def _with_database(folder: Path, database: str | None) -> str:
    path = folder / FILE
    if database is not None:
        line = to_toml({"database": database}).rstrip()
        changed, found = re.subn(r"(?m)^database\s*=.*$", lambda _: line, path.read_text(encoding="utf-8"))
        path.write_text(changed if found else f"{line}\n{changed}", encoding="utf-8")
    return read_settings(folder).database


def _fill(connection: Connection, tables: dict[str, bytes], where: str) -> int:
    """Put the rows into tables that must be empty."""
    count = 0
    for table in _kept_tables(connection):
        name = table.name
        if connection.execute(select(table.c.id).limit(1)).first() is not None:
            raise DataError(f"the database has a table {name} with rows", fix="Restore into an empty database")
        lines = tables.get(f"tables/{name}.jsonl", b"").splitlines()
        rows = [decode_json(line, where, dict[str, Any]) for line in lines]
        if rows:
            connection.execute(table.insert(), rows)
        if connection.dialect.name == "postgresql" and rows:
            largest = max(row["id"] for row in rows)
            connection.execute(
                text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :n)"), {"name": name, "n": largest}
            )
        count += len(rows) if name == Submission.__tablename__ else 0
    return count
