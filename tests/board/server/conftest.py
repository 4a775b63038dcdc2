"""A board on each of the two databases; PostgreSQL is a real server of this test session."""

import gc
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
from caches import new_cache
from isogloss.board.server.board import OpenBoard


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Cache for the built-in suite, shared with worker processes."""
    folder = new_cache(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOGLOSS_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def restored_umask() -> Iterator[None]:
    """Undo the verbs' change of the process's umask."""
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    os.umask(umask)


@pytest.fixture(scope="module", autouse=True)
def dropped_connections() -> Iterator[None]:
    """Collect connections that a module left open: their warnings must not fail a later test of another package."""
    yield
    gc.collect()


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, which Debian keeps off the PATH."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    programs += [Path(path) for name in ("initdb",) if (path := shutil.which(name))]
    return programs[0].parent if programs else None


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """URL of a server, without a database name."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is missing (Debian package postgresql)")
    # PostgreSQL refuses to run as root; use the user of Debian's package then.
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
    """URL of an empty database of each kind; "" is SQLite in the board's folder."""
    return "" if request.param == "sqlite" else new_database(request.getfixturevalue("postgresql"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run tests that name one database on that one only, unless asked for every database."""
    if config.getoption("--every-database"):
        return
    for item in items:
        marker, call = item.get_closest_marker("database"), getattr(item, "callspec", None)
        if marker and call and call.params.get("database_url") != marker.args[0]:
            item.add_marker(pytest.mark.skip(reason="--every-database runs it"))


@pytest.fixture
def boards(database_url: str, tmp_path: Path) -> Iterator[MakeBoard]:
    """Factory of boards with custom settings."""
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
    """Test client of the board, authenticated as a team."""
    with team_client(board) as made:
        yield made
