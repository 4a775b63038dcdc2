"""Only the board's user can read its files, and no message shows the database's password."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from board.server.made_board import METADATA, answers, make_board, make_token, new_database, zip_of
from board.server.served import served
from board.server.verbs import admin
from isogloss.board.client import BoardClient
from isogloss.board.server.backup import back_up, restore
from isogloss.board.server.board import DATABASE_VARIABLE, BoardSettings, connect, database_url, open_board
from isogloss.board.server.database import database_name
from isogloss.data.files import atomic_write
from isogloss.errors import DataError


def exposed(folder: Path) -> list[str]:
    """Return the files and folders that other users have access to."""
    paths = [folder, *folder.rglob("*")]
    return [str(path) for path in paths if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.slow
def test_server_workers_and_verbs_write_private_files(tmp_path: Path) -> None:
    """With the most permissive umask, everything is private: database, journal, uploads, pages, backup and copy."""
    folder, again, backup = tmp_path / "board", tmp_path / "again", tmp_path / "backup.tar"

    def verb(*words: object) -> str:
        code = "import os; os.umask(0); from isogloss.cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, "board", "admin", *map(str, words)], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    verb("create", folder, "--suite", "mini")
    verb("team", folder, "Team")
    token = verb("token", folder, "--team", "Team")
    (tmp_path / "answers.zip").write_bytes(zip_of(answers(1)))
    with served(folder, workers=1, setup="import os; os.umask(0)") as server:
        client = BoardClient(server.address, token)
        sent = client.submit(tmp_path / "answers.zip", METADATA, publish=True)
        assert client.wait(sent["key"])["state"] == "published"
        verb("backup", folder, "--out", backup)
        verb("restore", backup, again)
        for wal in ("board.sqlite", "board.sqlite-wal", "board.sqlite-shm"):
            assert (folder / wal).is_file()
        assert list(folder.glob("archives/*/*"))
        assert exposed(folder) == []
    assert exposed(again) == []
    assert exposed(backup) == []


def test_backup_replaces_a_readable_file_by_a_private_one(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board")
    out = tmp_path / "backup.tar"
    out.write_bytes(b"")
    out.chmod(0o644)
    back_up(board, out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert stat.S_IMODE((board.folder / "pepper.key").stat().st_mode) == 0o600
    board.engine.dispose()


def test_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    os.umask(0)
    with atomic_write(tmp_path / "secret", private=True) as stream:
        stream.write("x")
        assert exposed(tmp_path) == []
    with atomic_write(tmp_path / "public") as stream:
        stream.write("x")
    assert exposed(tmp_path) == [str(tmp_path / "public")]


def test_database_url_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment precedes the file, which precedes nothing: two sources in the settings are an error."""
    monkeypatch.delenv(DATABASE_VARIABLE, raising=False)
    path = tmp_path / "database.url"
    assert database_url(BoardSettings(), tmp_path) == ""
    assert database_url(BoardSettings(database="postgresql://a"), tmp_path) == "postgresql://a"
    settings = BoardSettings(database_file="database.url")
    with pytest.raises(DataError, match="cannot be read"):
        database_url(settings, tmp_path)
    path.write_text("postgresql://b\n")
    path.chmod(0o604)
    with pytest.raises(DataError, match="all users can read this secret"):
        database_url(settings, tmp_path)
    path.chmod(0o600)
    assert database_url(settings, tmp_path) == "postgresql://b"
    with pytest.raises(DataError, match="both database and database_file"):
        database_url(BoardSettings(database="x", database_file="database.url"), tmp_path)
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql://c")
    assert database_url(settings, tmp_path) == "postgresql://c"


@pytest.mark.parametrize("source", ["environment", "file"])
def test_board_with_its_password_outside_board_toml(
    source: str, tmp_path: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database(postgresql).replace("postgres@", "postgres:s3cret-pass@")
    path, folder = tmp_path / "database.url", tmp_path / "board"
    path.write_text(url)
    path.chmod(0o600)
    if source == "environment":
        monkeypatch.setenv(DATABASE_VARIABLE, url)
    assert admin("create", folder, "--suite", "mini", *(["--database-file", path] * (source == "file"))) == 0
    assert "s3cret-pass" not in (folder / "board.toml").read_text()
    board = open_board(folder)
    assert board.engine.dialect.name == "postgresql"
    assert "s3cret-pass" not in repr(board)
    make_token(board)
    back_up(board, tmp_path / "backup.tar")
    board.engine.dispose()
    if source == "environment":
        with pytest.raises(DataError, match="two databases given"):
            restore(tmp_path / "backup.tar", tmp_path / "again", "")
        monkeypatch.delenv(DATABASE_VARIABLE)
    # A database given for the copy replaces the file.
    assert restore(tmp_path / "backup.tar", tmp_path / "again", "") == 0
    assert "database_file" not in (tmp_path / "again/board.toml").read_text()
    copy = open_board(tmp_path / "again")
    assert copy.engine.dialect.name == "sqlite"
    copy.engine.dispose()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret-pass@127.0.0.1:1/x",
        "postgresql://u:s3cret-pass@127.0.0.1:s3cret-pass/x",
        "postgresql://u:a@s3cret-pass@host/x",
        "postgresql://u:a/s3cret-pass@host/x",
        "postgresql://u:s3cret-pass@[::1/x",
        "oracle://u:s3cret-pass@host/x",
        "s3cret-pass",
        "postgresql:s3cret-pass@host",
    ],
)
def test_no_message_shows_the_password(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_board(tmp_path / "board").engine.dispose()
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    for verb in ("team", "audit", "migrate", "new-pepper", "purge"):
        assert admin(verb, tmp_path / "board") == 1
    text = "".join(capsys.readouterr())
    assert "database" in text
    assert "s3cret" not in text
    assert "Traceback" not in text


def test_database_name_hides_the_password(tmp_path: Path) -> None:
    engine = connect(tmp_path, BoardSettings(database="postgresql://u:s3cret@h/x"))
    assert database_name(engine) == "postgresql+psycopg://u:***@h/x"
