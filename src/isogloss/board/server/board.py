"""A board's folder: its settings in `board.toml`, database and secret."""

from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

from sqlalchemy import Engine

from isogloss.board.server.database import check_version, open_database
from isogloss.board.server.tokens import read_pepper
from isogloss.checked_settings import checked_settings
from isogloss.data.files import atomic_write, read_toml
from isogloss.errors import DataError
from isogloss.runs.toml import to_toml
from isogloss.tasks.suites import suite
from isogloss.version import __version__

FILE = "board.toml"

_HEAD = """\
# Settings of this board, read when `isogloss board serve` starts. The guide lists every key and its default.
"""


@dataclass(frozen=True, kw_only=True)
class BoardSettings:
    """The settings of a board.

    Attributes:
        title: title on the pages.
        suite: suite to score: a name from `isogloss list suites`, or a TOML file.
        database: URL of a PostgreSQL database; "" for a SQLite file in the board's folder.
        data: data folder; "" for ISOGLOSS_DATA or the user's cache.
        gold: label folder in XTREME's layout, used instead of the data folder; "" for none.
        upload_bytes: maximum size of an uploaded archive.
        unpacked_bytes: maximum unpacked size.
        unpacked_ratio: maximum ratio of unpacked to packed size, for more than 64 MiB.
        files: maximum number of files in an archive.
        depth: maximum depth of folders in an archive.
        name_length: maximum number of characters of a path in an archive.
        monthly_submissions: submissions scored per team and calendar month (UTC).
        rescore_on_upgrade: True to rescore published systems after a change of the scorer version.
        monthly_uploads: uploads per team and month, including rejected ones.
        lease_seconds: time without a heartbeat after which another worker takes over a job.
        job_seconds: maximum time to score one submission.
        attempts: number of workers that may die while scoring a submission before it is rejected.
        worker_bytes: memory limit of a worker; 0 for no limit.
        reads_per_minute: API requests per address.
        writes_per_minute: changes per team.
        failures_per_minute: invalid tokens per address.
        silence_seconds: time without data after which an unfinished request is aborted.
        trusted_proxies: addresses or networks of proxies with a trusted X-Forwarded-For header.
    """

    title: str = "Isogloss board"
    suite: str = "xtreme-r"
    database: str = ""
    data: str = ""
    gold: str = ""
    upload_bytes: int = 512 << 20
    unpacked_bytes: int = 4 << 30
    unpacked_ratio: int = 100
    files: int = 5_000
    depth: int = 6
    name_length: int = 200
    monthly_submissions: int = 5
    rescore_on_upgrade: bool = True
    monthly_uploads: int = 50
    lease_seconds: float = 20.0
    job_seconds: float = 3_600.0
    attempts: int = 5
    worker_bytes: int = 8 << 30
    reads_per_minute: int = 600
    writes_per_minute: int = 30
    failures_per_minute: int = 10
    silence_seconds: float = 20.0
    trusted_proxies: tuple[str, ...] = ()


def read_settings(folder: Path) -> BoardSettings:
    """Read a board's settings; raise DataError for another folder, and for invalid or unknown settings."""
    path = folder / FILE
    if not path.is_file():
        fix = f"Create a board with isogloss board admin create {folder}"
        raise DataError("not a board folder: missing board.toml", where=str(folder), fix=fix)
    types = get_type_hints(BoardSettings)
    values = checked_settings(read_toml(path), types, "board setting", str(path), error=DataError, least=0)
    settings = BoardSettings(**values)
    suite(settings.suite)
    return settings


def write_settings(folder: Path, settings: BoardSettings) -> None:
    """Write a new board's own settings, leaving the others at their defaults; an existing board raises DataError."""
    suite(settings.suite)
    if (folder / FILE).exists():
        raise DataError(
            "already contains a board", where=str(folder), fix="Edit its board.toml, or choose another folder"
        )
    own = ("title", "suite", "database", "data", "gold")
    with atomic_write(folder / FILE) as stream:
        stream.write(_HEAD + to_toml({name: getattr(settings, name) for name in own}))


def scorer_version() -> str:
    """Return the scorer's version; other versions may compute other scores."""
    return f"isogloss {__version__}"


@dataclass(frozen=True)
class OpenBoard:
    """An open board: a folder shared by all servers and workers, a database, and a secret for hashing tokens."""

    folder: Path
    settings: BoardSettings
    engine: Engine
    pepper: bytes

    @property
    def incoming(self) -> Path:
        """Folder of unfinished uploads."""
        return self.folder / "incoming"

    @property
    def work(self) -> Path:
        """Folder of archives unpacked for scoring."""
        return self.folder / "work"

    @property
    def site(self) -> Path:
        """Folder of the built pages; `current` links to the newest."""
        return self.folder / "site"

    def archive_path(self, sha256: str) -> Path:
        """Return the path of an uploaded archive, by its checksum."""
        return self.folder / "archives" / sha256[:2] / sha256


def open_board(folder: Path, *, any_version: bool = False) -> OpenBoard:
    """Open a board, creating the tables in an empty database.

    `any_version` accepts tables of another version, e.g. for a backup before an upgrade.

    Raises:
        DataError: not a board folder, or this version cannot use its database.
    """
    folder = folder.resolve()
    settings = read_settings(folder)
    engine = open_database(settings.database, folder)
    check_version(engine, folder, any_version=any_version)
    board = OpenBoard(folder, settings, engine, read_pepper(folder))
    for subfolder in (board.incoming, board.work, board.site):
        subfolder.mkdir(exist_ok=True)
    return board
