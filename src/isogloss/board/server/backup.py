"""Back up a board to one file and restore it, with either database."""

import io
import re
import shutil
import tarfile
import time
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, MetaData, Table, select, text

from isogloss.board.server.board import FILE, OpenBoard, read_settings
from isogloss.board.server.database import Submission, migrate, open_database
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
    """Write a running board to a tar file; return the number of submissions.

    The tables are a consistent snapshot and may be of an older version. Archives never change, so they are read later.
    """
    with atomic_write(out) as stream, tarfile.open(fileobj=stream.buffer, mode="w") as archive:
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
            archives = connection.scalars(select(Submission.archive)).all()
        for name in (FILE, "pepper.key"):
            archive.add(board.folder / name, name)
        for sha256 in sorted(set(archives)):
            path = board.archive_path(sha256)
            if not path.is_file():
                raise DataError("missing archive", where=str(path), fix="Restore it from an older backup")
            archive.add(path, f"archives/{sha256[:2]}/{sha256}")
    return len(archives)


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
                    with path.open("wb") as out:
                        shutil.copyfileobj(stream, out)
                    path.chmod(0o600)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"incomplete backup ({error})", where=str(backup)) from error
    if _HEAD not in tables or not (folder / FILE).is_file():
        raise DataError("not a backup of a board", where=str(backup))
    head: BackupHead = decode_json(tables.pop(_HEAD), str(backup), BackupHead)
    if database is not None:
        path, line = folder / FILE, to_toml({"database": database}).rstrip()
        changed, count = re.subn(r"(?m)^database\s*=.*$", lambda _: line, path.read_text(encoding="utf-8"))
        path.write_text(changed if count else f"{line}\n{changed}", encoding="utf-8")
    engine = open_database(read_settings(folder).database, folder.resolve())
    migrate(engine, folder, head.revision)
    with engine.execution_options(writing=True).begin() as connection:
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
