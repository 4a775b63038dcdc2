"""A board: its folder, settings, database and secret, opened together."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from isogloss.board.server.database import check_version, open_database
from isogloss.board.server.settings import BoardSettings, read_settings
from isogloss.board.server.tokens import read_pepper
from isogloss.version import __version__


def scorer_version() -> str:
    """What a score is a score of: another version may give another number."""
    return f"isogloss {__version__}"


@dataclass(frozen=True)
class OpenBoard:
    """A board that is open.

    Attributes:
        folder: all its files; several servers and workers share it.
        settings: what `board.toml` says.
        engine: its database.
        pepper: the secret that its tokens are hashed with.
    """

    folder: Path
    settings: BoardSettings
    engine: Engine
    pepper: bytes

    @property
    def incoming(self) -> Path:
        """Uploads that have not arrived in full."""
        return self.folder / "incoming"

    @property
    def work(self) -> Path:
        """Archives unpacked by workers, for as long as they are scored."""
        return self.folder / "work"

    @property
    def site(self) -> Path:
        """The built pages: `current` leads to the newest."""
        return self.folder / "site"

    def archive_path(self, sha256: str) -> Path:
        """Where an uploaded archive is kept, by its content."""
        return self.folder / "archives" / sha256[:2] / sha256


def open_board(folder: Path, *, any_version: bool = False) -> OpenBoard:
    """Open a board; on an empty database its tables are made.

    Args:
        folder: the board's folder.
        any_version: whether tables of another version are taken as they are, as for a backup before an upgrade.

    Raises:
        DataError: the folder is no board, or its database cannot be used by this version.
    """
    folder = folder.resolve()
    settings = read_settings(folder)
    engine = open_database(settings.database, folder)
    check_version(engine, folder, any_version=any_version)
    board = OpenBoard(folder, settings, engine, read_pepper(folder))
    for place in (board.incoming, board.work, board.site):
        place.mkdir(exist_ok=True)
    return board
