"""A board on each of the two databases; PostgreSQL is a real one, of this test session alone."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, make_board, new_database, team_client
from isogloss.board.server.board import OpenBoard
from isogloss.tasks.mini import make


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache for the embedded suite that workers in other processes share."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOGLOSS_CACHE", str(folder))
        make.folder.cache_clear()
        make.folder()
        yield folder
    make.folder.cache_clear()


def _programs() -> Path | None:
    """Where the server's programs are; Debian keeps them out of the way."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    found += [Path(path) for name in ("initdb",) if (path := shutil.which(name))]
    return found[0].parent if found else None


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server, without the name of a database."""
    programs = _programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL server here: Debian's package postgresql has one")
    # It will not run as root; where we are, it runs as the user that Debian's package makes.
    user: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user:
        shutil.chown(folder, "postgres")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def call(*words: object) -> None:
        subprocess.run([str(word) for word in words], check=True, capture_output=True, cwd=folder, **user)

    data = folder / "data"
    call(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
    call(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}"
    finally:
        call(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind: "" is SQLite in the board's folder."""
    return "" if request.param == "sqlite" else new_database(request.getfixturevalue("postgresql"))


@pytest.fixture
def boards(database_url: str, tmp_path: Path) -> Iterator[MakeBoard]:
    """Makes the board of a test, with settings of its own."""
    made: list[OpenBoard] = []

    def new(**settings: Any) -> OpenBoard:
        made.append(make_board(tmp_path / "board", database=database_url, **settings))
        return made[-1]

    yield new
    for board in made:
        board.engine.dispose()


@pytest.fixture
def board(boards: MakeBoard) -> OpenBoard:
    return boards()


@pytest.fixture
def client(board: OpenBoard) -> Iterator[TestClient]:
    """The board's application, spoken to as by a team's client."""
    with team_client(board) as made:
        yield made
