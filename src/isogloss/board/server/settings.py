"""What a board is told in its folder's `board.toml`: the suite, where its labels are, and every limit."""

from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

from isogloss.checked_settings import checked_settings
from isogloss.data.files import atomic_write, read_toml
from isogloss.errors import DataError
from isogloss.runs.toml import to_toml
from isogloss.tasks.suites import suite

FILE = "board.toml"

_HEAD = """\
# The settings of this board; `isogloss board serve` reads them at its start. Every key and its default is in the guide.
"""


@dataclass(frozen=True)
class BoardSettings:
    """The settings of a board.

    Attributes:
        title: what the board is called on its pages.
        suite: what is scored: a name of `isogloss list suites`, or a TOML file.
        database: URL of a PostgreSQL database; "" for a SQLite file in the board's folder.
        data: the data folder; "" for ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder; "" for none.
        upload_bytes: the most an uploaded archive may have.
        unpacked_bytes: the most it may unpack to.
        unpacked_ratio: how many times its size it may unpack to, once that is more than 64 MiB.
        files: the most files an archive may have.
        depth: the most folders one inside another.
        name_length: the most characters of a file's path in it.
        monthly_submissions: how many submissions a team may have scored in a calendar month (UTC).
        monthly_uploads: how many it may send in all, rejected ones too.
        lease_seconds: a worker that gives no sign for so long is dead, and its work is done by another.
        job_seconds: the longest that scoring one submission may take.
        attempts: how many workers may die of a submission before it is given up.
        worker_bytes: the memory that a worker may take; 0 for all there is.
        reads_per_minute: how often one address may ask the API.
        writes_per_minute: how often one team may change something.
        failures_per_minute: how many wrong tokens one address may try.
        silence_seconds: a client that sends nothing for so long in the middle of a request is cut off.
        trusted_proxies: addresses or networks of web servers in front, whose X-Forwarded-For is believed.
        rescore_on_upgrade: whether published systems are scored again when the scorer's version has changed.
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
    rescore_on_upgrade: bool = True


def read_settings(folder: Path) -> BoardSettings:
    """The settings in a board's folder.

    Raises:
        DataError: the folder is no board, or a setting is of the wrong type or negative.
        UnknownNameError: no such setting or suite.
    """
    path = folder / FILE
    if not path.is_file():
        fix = f"isogloss board admin create {folder} makes a board"
        raise DataError("this folder is no board: it has no board.toml", where=str(folder), fix=fix)
    types = get_type_hints(BoardSettings)
    found = checked_settings(read_toml(path), types, "setting of a board", str(path), error=DataError, least=0)
    settings = BoardSettings(**found)
    suite(settings.suite)
    return settings


def write_settings(folder: Path, settings: BoardSettings) -> None:
    """Write the settings that every board has of its own; all others keep their defaults.

    Raises:
        DataError: the folder is a board already.
        UnknownNameError: no such suite.
    """
    suite(settings.suite)
    if (folder / FILE).exists():
        raise DataError("is a board already", where=str(folder), fix="Edit its board.toml, or take another folder")
    own = ("title", "suite", "database", "data", "gold")
    with atomic_write(folder / FILE) as stream:
        stream.write(_HEAD + to_toml({name: getattr(settings, name) for name in own}))
