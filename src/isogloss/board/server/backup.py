"""Back up a board to one file and restore it, with either database."""

import io
import os
import re
import shutil
import tarfile
import time
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, MetaData, Table, select, text

from isogloss.board.server.board import DATABASE_VARIABLE, FILE, OpenBoard, connect, read_settings
from isogloss.board.server.database import Submission, clear_errors, migrate
from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.runs.toml import to_toml
from isogloss.version import __version__

_HEAD = "backup.json"
_FILES = re.compile(r"board\.toml|pepper\.key|archives/[0-9a-f]{2}/[0-9a-f]{64}")
_TABLE = re.compile(r"tables/([a-z]+)\.jsonl")


class BackupHead(msgspec.Struct, frozen=True):
    """Versions of the tables and of the package in a backup."""

    revision: str
    isogloss: str


def back_up(board: OpenBoard, out: Path) -> int:
    """Write a running board to a tar file that only its owner can read; return the number of submissions.

    The tables are a consistent snapshot and may be of an older version. Archives never change, so they are read later.
    Removed archives are left out.
    """
    output = atomic_write(out, private=True)
    with clear_errors(board.engine), output as stream, tarfile.open(fileobj=stream.buffer, mode="w") as archive:
        # A transaction on a consistent snapshot, the default in SQLite.
        is_sqlite = board.engine.dialect.name == "sqlite"
        options = {} if is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with board.engine.execution_options(**options).begin() as connection:
            revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
            _add(archive, _HEAD, msgspec.json.encode(BackupHead(str(revision), __version__)))
            for table in _board_tables(connection):
                rows = connection.execute(select(table).order_by(table.c.id)).mappings()
                lines = b"".join(msgspec.json.encode(dict(row)) + b"\n" for row in rows)
                _add(archive, f"tables/{table.name}.jsonl", lines)
            submissions = _archives(connection)
        for name in (FILE, "pepper.key"):
            archive.add(board.folder / name, name)
        for sha256 in sorted({sha256 for sha256 in submissions if sha256 is not None}):
            _add_archive(board, archive, sha256)
    return len(submissions)


def _archives(connection: Connection) -> list[str | None]:
    """Return the archive of every submission, None if it was removed; tables before version 3 have no such column."""
    table = next(table for table in _board_tables(connection) if table.name == Submission.__tablename__)
    rows = connection.execute(select(table)).mappings()
    return [None if row.get("archive_removed_at") else row["archive"] for row in rows]


def _add_archive(board: OpenBoard, archive: tarfile.TarFile, sha256: str) -> None:
    path = board.archive_path(sha256)
    try:
        archive.add(path, f"archives/{sha256[:2]}/{sha256}")
    except FileNotFoundError:
        with board.engine.connect() as connection:
            if sha256 not in _archives(connection):  # removed since the snapshot
                return
        fix = (
            f"Restore it from an older backup, or delete its submission; isogloss board doctor {board.folder} lists it"
        )
        raise DataError("missing archive", where=str(path), fix=fix) from None


def _board_tables(connection: Connection) -> list[Table]:
    """Return the tables with ids, reflected because they may be older than the models."""
    metadata = MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if "id" in table.c]


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = len(content), int(time.time()), 0o600
    archive.addfile(info, io.BytesIO(content))


def restore(backup: Path, folder: Path, database: str | None = None) -> int:
    """Restore a backup into a new folder and an empty database; return the number of submissions.

    Args:
        backup: file written by `back_up`.
        folder: new or empty folder.
        database: URL of another database, "" for SQLite in the folder, None for the original one.

    Raises:
        DataError: the folder or the database is not empty, or the backup is invalid.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError("not empty", where=str(folder), fix="Restore into a new folder")
    if database is not None and os.environ.get(DATABASE_VARIABLE):
        fix = f"Unset {DATABASE_VARIABLE}, or omit --database"
        raise DataError("two databases given", where=DATABASE_VARIABLE, fix=fix)
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, bytes] = {}
    try:
        with tarfile.open(backup) as archive:
            for info in filter(tarfile.TarInfo.isreg, archive):
                stream = archive.extractfile(info)
                if stream is not None and (info.name == _HEAD or _TABLE.fullmatch(info.name)):
                    tables[info.name] = stream.read()
                elif stream is not None and _FILES.fullmatch(info.name):
                    path = folder / info.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                        shutil.copyfileobj(stream, out)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"incomplete backup ({error})", where=str(backup)) from error
    if _HEAD not in tables or not (folder / FILE).is_file():
        raise DataError("not a backup of a board", where=str(backup))
    head: BackupHead = decode_json(tables.pop(_HEAD), str(backup), BackupHead)
    if database is not None:
        path, line = folder / FILE, to_toml({"database": database}).rstrip()
        others = re.sub(r"(?m)^database(_file)?\s*=.*\n?", "", path.read_text(encoding="utf-8"))
        path.write_text(f"{line}\n{others}", encoding="utf-8")
    engine = connect(folder.resolve(), read_settings(folder))
    migrate(engine, folder, head.revision)
    with clear_errors(engine), engine.execution_options(writing=True).begin() as connection:
        count = _fill(connection, tables, str(backup))
    migrate(engine, folder)
    return count


def _fill(connection: Connection, tables: dict[str, bytes], where: str) -> int:
    count = 0
    for table in _board_tables(connection):
        name = table.name
        if connection.execute(select(table.c.id).limit(1)).first() is not None:
            raise DataError(f"table {name} of the database is not empty", fix="Restore into an empty database")
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
