"""Administration of a board: its verbs, backups between databases, and upgrades."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, select, text
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, answers, make_board, new_database, send, team_client, work_all, zip_of
from board.server.verbs import run
from isogloss.board.server.backup import back_up, restore
from isogloss.board.server.board import OpenBoard, open_board, read_settings
from isogloss.board.server.database import BoardTable, Submission, migrate, reading, writing
from isogloss.board.server.serve import create_app
from isogloss.errors import DataError, IsoglossError
from isogloss.results.metadata import read_metadata


def rows(board: OpenBoard) -> dict[str, list[Any]]:
    with board.engine.connect() as connection:
        return {
            table.name: list(connection.execute(select(table).order_by(table.c.id)))
            for table in BoardTable.metadata.sorted_tables
            if "id" in table.c
        }


def filled(board: OpenBoard) -> dict[str, str]:
    """Fill a board and return the team's authorization header."""
    client = team_client(board)
    for seed in range(3):
        send(client, zip_of(answers(seed)), publish=seed > 0, name=f"S{seed} é")
    send(client, b"no archive")
    work_all(board)
    send(client, zip_of(answers(7)))
    return {"Authorization": client.headers["Authorization"]}


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_backup_and_restore(target: str, board: OpenBoard, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    token = filled(board)
    assert back_up(board, tmp_path / "backup.tar") == 5
    url = "" if target == "sqlite" else new_database(request.getfixturevalue("postgresql"))
    assert restore(tmp_path / "backup.tar", tmp_path / "again", url) == 5
    again = open_board(tmp_path / "again")
    assert rows(again) == rows(board)
    assert again.pepper == board.pepper
    # Tokens, queue and ids continue after the restore.
    work_all(again)
    client = TestClient(create_app(again), headers=token)
    assert send(client, zip_of(answers(8))).status_code == 201
    work_all(again)
    states = [submission["state"] for submission in client.get("/api/v1/submissions").json()["submissions"]]
    assert states == ["preview", "preview", "rejected", "published", "published", "preview"]
    assert (again.folder / "pepper.key").stat().st_mode & 0o077 == 0
    again.engine.dispose()


def test_restore_overwrites_nothing(board: OpenBoard, tmp_path: Path, database_url: str) -> None:
    filled(board)
    back_up(board, tmp_path / "backup.tar")
    with pytest.raises(DataError, match="not empty"):
        restore(tmp_path / "backup.tar", board.folder)
    if database_url:
        with pytest.raises(DataError, match="is not empty"):
            restore(tmp_path / "backup.tar", tmp_path / "again")
    (tmp_path / "x.tar").write_bytes((tmp_path / "backup.tar").read_bytes()[:2_000])
    with pytest.raises(DataError, match="backup"):
        restore(tmp_path / "x.tar", tmp_path / "third")


def test_migrations_match_the_models(board: OpenBoard) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with board.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), BoardTable.metadata) == []


def as_the_first_version_wrote(system: dict[str, Any]) -> dict[str, Any]:
    """Return metadata in the first version's units."""
    new = ("parallel_tokens", "pretraining_tokens", "date", "notes", "unparsed", "tokens", "cost")
    old = {name: value for name, value in system.items() if name not in new}
    return old | {
        "parameters": 270_000_000,
        "pretraining_data": 6_000_000_000,
        "pretraining_data_reported": "2.5 TB",
        "parallel_data": 0,
        "parallel_data_reported": "not disclosed",
        "translated_data": "translate-train",
        "translated_data_source": "not disclosed",
    }


def first_version(folder: Path, url: str) -> tuple[OpenBoard, dict[str, list[dict[str, Any]]]]:
    """Create a filled board with first-version tables; return it and its rows by table."""
    made = make_board(folder, database=url)
    filled(made)
    source = MetaData()
    with made.engine.connect() as connection:
        source.reflect(connection)
        kept = [table for table in source.sorted_tables if "id" in table.c]
        old = {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(table.c.id)).mappings()]
            for table in kept
        }
    for row in old["submissions"]:
        row["system"] = json.dumps(as_the_first_version_wrote(json.loads(row["system"])))
    for row in old["scores"]:
        record = json.loads(row["record"])
        row["record"] = json.dumps({**record, "system": as_the_first_version_wrote(record["system"])})
    source.drop_all(made.engine)
    migrate(made.engine, made.folder, "0001")
    with made.engine.begin() as connection:
        there = MetaData()
        there.reflect(connection)
        assert set(there.tables) == {*old, "alembic_version"}
        for table in there.sorted_tables:
            if rows_there := old.get(table.name):
                connection.execute(table.insert(), rows_there)
                if url:  # as if the database had numbered the rows
                    last = {"name": table.name, "n": rows_there[-1]["id"]}
                    connection.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :n)"), last)
    return made, old


def check_upgraded(board: OpenBoard, old: dict[str, list[dict[str, Any]]]) -> None:
    """Check that all rows are unchanged, except for the converted metadata."""
    new = {name: [row._asdict() for row in table] for name, table in rows(board).items()}
    for name, table in old.items():
        for before, after in zip(table, new[name], strict=True):
            changed = {key for key in before if before[key] != after[key]}
            assert changed <= {"submissions": {"system"}, "scores": {"record"}}.get(name, set())
    for row in new["submissions"]:
        read, problems = read_metadata(json.loads(row["system"]))
        assert problems == []
        assert read is not None
        assert (read["parameters"], read["parameters_active"]) == (270.0, "not disclosed")
        assert (read["pretraining_tokens"], read["pretraining_data"]) == (6_000_000_000, "2.5 TB")
        assert (read["parallel_tokens"], read["parallel_data"]) == (0, False)
        assert read["translated_data"] == "translate-train"
    for before, after in zip(old["scores"], new["scores"], strict=True):
        were, are = json.loads(before["record"]), json.loads(after["record"])
        assert are.pop("system")["parameters"] == were.pop("system")["parameters"] / 1e6
        assert are == were


def test_upgrade_from_the_first_version(
    tmp_path: Path, database_url: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """A first-version board is refused with a fix, can be backed up, and is upgraded without loss."""
    folder = tmp_path / "board"
    board, old = first_version(folder, database_url)
    board.engine.dispose()
    assert run("board", "serve", folder, "--port", 1) == 1
    captured = capsys.readouterr()
    assert "the tables have version 0001" in captured.err
    assert "isogloss board admin migrate" in captured.err
    assert run("board", "admin", "backup", folder, "--out", tmp_path / "old.tar") == 0
    assert run("board", "admin", "migrate", folder) == 0
    assert run("board", "admin", "migrate", folder) == 0
    upgraded = open_board(folder)
    check_upgraded(upgraded, old)
    # Restoring the old backup upgrades it.
    other = new_database(request.getfixturevalue("postgresql")) if database_url else ""
    restore(tmp_path / "old.tar", tmp_path / "again", other)
    again = open_board(tmp_path / "again")
    check_upgraded(again, old)
    # Waiting submissions are scored, and the pages show the same systems.
    work_all(upgraded)
    client = TestClient(create_app(upgraded))
    assert len(client.get("/api/v1/systems").json()["systems"]) == 2
    data = json.loads(client.get("/data.js").text.partition(" = ")[2].rpartition(";")[0])
    assert 270_000_000 in [system[data["system_fields"].index("parameters")] for system in data["systems"]]
    for each in (upgraded, again):
        each.engine.dispose()


def test_tables_of_another_version_are_refused(board: OpenBoard) -> None:
    with writing(board.engine) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DataError, match="have version 9999"):
        open_board(board.folder)
    with pytest.raises(DataError, match="unknown table version"):
        migrate(board.engine, board.folder)


def test_a_suite_file_is_found_from_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.toml").write_text('title = "Mine"\ntasks = ["mini-xnli"]\n', encoding="utf-8")
    assert run("board", "admin", "create", "mine", "--suite", "suite.toml") == 0
    monkeypatch.chdir("/")
    assert read_settings(tmp_path / "mine").suite == str(tmp_path / "suite.toml")


def test_verbs(tmp_path: Path, database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "board"
    admin = ("board", "admin")
    assert run(*admin, "create", folder, "--suite", "mini", "--database", database_url) == 0
    assert run(*admin, "create", folder) == 1
    assert run(*admin, "create", tmp_path / "other", "--suite", "nothing") == 2
    assert run(*admin, "team", folder, "Team", "--monthly", 7) == 0
    assert run(*admin, "team", folder, "Team") == 1
    capsys.readouterr()
    assert run(*admin, "token", folder, "--team", "Team", "--scopes", "read") == 0
    token = capsys.readouterr().out.strip()
    assert token.startswith("isogloss_")
    assert run(*admin, "token", folder, "--team", "Taem") == 2
    assert run(*admin, "token", folder, "--team", "Team", "--scopes", "everything") == 2
    assert run(*admin, "token", folder, "--revoke", token.split("_")[1]) == 0
    board = open_board(folder)
    filled(board)
    with reading(board.engine) as session:
        key = session.scalars(select(Submission.key).where(Submission.state == "preview")).one()
        rejected = session.scalars(select(Submission.key).where(Submission.state == "rejected")).one()
    assert run(*admin, "publish", folder, key) == 0
    assert run(*admin, "publish", folder, rejected) == 1
    assert run(*admin, "withdraw", folder, key) == 0
    assert run(*admin, "rescore", folder) == 0
    assert run(*admin, "rescore", folder, rejected) == 0
    assert run(*admin, "publish", folder, "0" * 12) == 2
    assert run(*admin, "backup", folder, "--out", tmp_path / "b.tar") == 0
    assert (
        run(
            *admin,
            "restore",
            tmp_path / "b.tar",
            tmp_path / "again",
            "--database",
            "sqlite:///" + str(tmp_path / "x.db"),
        )
        == 0
    )
    assert run(*admin, "migrate", folder) == 0
    capsys.readouterr()
    for verb in ("team", "token", "audit"):
        assert run(*admin, verb, folder) == 0
    shown = capsys.readouterr().out
    assert token not in shown
    for words in ("revoke token", "published", "withdrawn", "retry", "add team"):
        assert words in shown
    assert run("board", "serve", tmp_path / "nowhere") == 1
    assert "not a board folder" in capsys.readouterr().err
    board.engine.dispose()


def test_settings_are_checked(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board")
    path = board.folder / "board.toml"
    whole = path.read_text()
    faults = {
        'files = "many"': "files = 'many' is not a whole number",
        "monthly_submission = 1": "unknown board setting 'monthly_submission'. Did you mean monthly_submissions",
        "lease_seconds = -1": "lease_seconds = -1 is not a number of at least 0",
        "job_seconds = inf": "job_seconds = inf is not a number of at least 0",
        'trusted_proxies = "::1"': "trusted_proxies = '::1' is not a list of strings",
        "suite =": "not TOML",
    }
    for line, message in faults.items():
        path.write_text(f"{whole}\n{line}\n")
        with pytest.raises(IsoglossError) as caught:
            open_board(board.folder)
        assert str(caught.value).startswith(f"{path}: {message}")
    path.write_text(whole.replace('database = ""', 'database = "postgresql://nobody@127.0.0.1:1/x"'))
    with pytest.raises(DataError, match="database unavailable"):
        open_board(board.folder)
    path.write_text(whole.replace('database = ""', 'database = "oracle://x"'))
    with pytest.raises(DataError, match="unsupported database URL"):
        open_board(board.folder)


def test_server_packages_are_optional(tmp_path: Path) -> None:
    """Only the server needs them, not the client or other verbs."""
    code = (
        "import sys, json\nfor name in ('fastapi', 'sqlalchemy', 'uvicorn', 'alembic'): sys.modules[name] = None\n"
        "import isogloss.board.client\nfrom isogloss.cli.main import main\n"
        f"main(['board', 'admin', 'create', {json.dumps(str(tmp_path / 'b'))}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[board]'" in done.stderr


def test_make_board_is_typed(boards: MakeBoard) -> None:
    assert boards(title="A <b>board</b>").settings.title == "A <b>board</b>"
