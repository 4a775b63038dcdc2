"""An open board: folder, settings, database and secret."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from isogloss.board.server.database import check_version, open_database
from isogloss.board.server.settings import BoardSettings, read_settings
from isogloss.board.server.tokens import read_pepper
from isogloss.version import __version__


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
