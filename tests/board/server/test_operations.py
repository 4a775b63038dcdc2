"""Operation of a board: teams and their limits, the pepper, damaged databases, and failed authentications."""

import json
import logging
import re
import signal
from pathlib import Path

import pytest
from sqlalchemy import select, text
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, answers, make_board, make_token, send, team_client, work_all, zip_of
from board.server.served import served
from board.server.verbs import admin, run
from isogloss.board.client import BoardClient
from isogloss.board.server import access, intake
from isogloss.board.server.access import FailureLog
from isogloss.board.server.board import OpenBoard, bearer_of, open_board
from isogloss.board.server.database import AccessToken, AuditEntry, Submission, Team, reading, writing
from isogloss.board.server.pepper import PepperError, check_value, read_pepper
from isogloss.board.server.serve import create_app
from isogloss.errors import DataError


def test_limits_of_teams(board: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    """A second call changes an existing team; only the limits given change."""
    assert admin("team", board.folder, "Team", "--contact", "a@example.org") == 0
    assert admin("team", board.folder, "Team") == 1, "nothing to change"
    assert admin("team", board.folder, "Team", "--monthly", 7) == 0
    assert admin("team", board.folder, "Team", "--yearly", 20, "--publications", 3) == 0
    with reading(board.engine) as session:
        team = session.scalars(select(Team)).one()
        assert (team.monthly_submissions, team.yearly_submissions, team.yearly_publications) == (7, 20, 3)
        assert team.contact == "a@example.org"
    capsys.readouterr()
    admin("team", board.folder)
    assert capsys.readouterr().out.endswith("monthly 7, yearly 20, publications 3\n")
    assert (
        TestClient(create_app(board), headers={"Authorization": f"Bearer {make_token(board)}"})
        .get("/api/v1/team")
        .json()["monthly_submissions"]
        == 7
    )
    assert admin("team", board.folder, "Team", "--board-limits", "--yearly", 5) == 0
    admin("team", board.folder)
    assert "yearly 5\n" in capsys.readouterr().out
    admin("audit", board.folder)
    assert "change team Team monthly of the board, yearly 5, publications of the board" in capsys.readouterr().out
    assert admin("team", board.folder, "Taem", "--disable") == 2, "a misspelt name adds no team"


def test_disabled_team(board: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    client, other = team_client(board), team_client(board, "Other")
    key = send(client, zip_of(answers(1)), publish=True).json()["key"]
    work_all(board)
    assert admin("team", board.folder, "Team", "--disable") == 0
    refused = [
        client.get("/api/v1/team"),
        client.get(f"/api/v1/submissions/{key}"),
        client.post(f"/api/v1/submissions/{key}/withdraw"),
        send(client, zip_of(answers(2))),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4
    expected = {"what": "the team is disabled", "where": "", "fix": "Ask the board's administrator", "problems": []}
    assert all(answer.json() == expected for answer in refused)
    assert other.get("/api/v1/team").status_code == 200
    assert len(client.get("/api/v1/systems").json()["systems"]) == 1, "its system stays"
    admin("team", board.folder)
    assert re.search(r"Team disabled \d{4}-", capsys.readouterr().out)
    assert admin("team", board.folder, "Team", "--enable") == 0
    assert client.get("/api/v1/team").status_code == 200
    admin("audit", board.folder)
    shown = capsys.readouterr().out
    assert "disable team Team" in shown
    assert "enable team Team" in shown


@pytest.mark.database("sqlite")
def test_list_of_submissions(board: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    archive = zip_of(answers(1))
    first = send(team_client(board), archive, name="System A").json()["key"]
    second = send(team_client(board, "Other"), b"no archive", name="System B").json()["key"]
    work_all(board)
    with writing(board.engine) as session:
        flagged = session.scalars(select(Submission).where(Submission.key == first)).one()
        flagged.flags = json.dumps([{"code": "near-constant", "detail": "99 % of the answers in sw are equal"}])
    capsys.readouterr()

    def listed(*words: str) -> list[list[str]]:
        assert admin("submissions", board.folder, *words) == 0
        lines = [line.split("   ") for line in capsys.readouterr().out.splitlines()[4:] if line]
        return [[cell.strip() for cell in line if cell.strip()] for line in lines]

    one, two = listed()
    reason = "near-constant: 99 % of the answers in sw are equal"
    assert [*one[:4], *one[5:]] == [first, "preview", "Team", "System A", reason, f"{len(archive):,}"]
    assert [*two[:4], *two[5:]] == [second, "rejected", "Other", "System B", "10"]
    assert listed("--team", "Other") == listed("--state", "rejected") == listed("--last", "1") == [two]
    assert listed("--team", "Other", "--state", "preview") == []
    assert admin("submissions", board.folder, "--state", "rejcted") == 2
    assert admin("submissions", board.folder, "--team", "Taem") == 2


def test_lost_pepper_is_not_replaced_in_silence(
    board: OpenBoard, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = make_token(board)
    admin("backup", board.folder, "--out", tmp_path / "backup.tar")
    path = board.folder / "pepper.key"
    content = path.read_text()
    path.unlink()
    capsys.readouterr()
    for words in (("admin", "team", board.folder), ("serve", board.folder, "--port", 1), ("work", board.folder)):
        assert run("board", *words) == 1
        shown = capsys.readouterr().err
        assert "missing pepper" in shown
        assert f"tar -xf BACKUP -C {board.folder} pepper.key" in shown
        assert f"isogloss board admin new-pepper {board.folder}" in shown
    assert not path.exists()
    for other in ("0" * 64, "0" * 10, "no hex", ""):
        path.write_text(other)
        with pytest.raises(PepperError, match=r"not the pepper|invalid pepper"):
            open_board(board.folder)
    # The first fix: the old file. Then the second: a new pepper.
    path.write_text(content)
    open_board(board.folder).engine.dispose()
    path.unlink()
    assert admin("new-pepper", board.folder) == 0
    assert "revoked 1 tokens" in capsys.readouterr().out
    assert path.stat().st_mode & 0o077 == 0
    again = open_board(board.folder)
    with reading(again.engine) as session:
        assert bearer_of(session, old, again.pepper) is None
        assert bearer_of(session, old, board.pepper) is None, "a server that has not restarted refuses it too"
    token = make_token(again)
    with reading(again.engine) as session:
        assert bearer_of(session, token, again.pepper) is not None
        checks = session.scalars(select(AuditEntry.subject).where(AuditEntry.action == "pepper")).all()
    assert checks == [check_value(board.pepper), check_value(again.pepper)]
    again.engine.dispose()


@pytest.mark.database("sqlite")
def test_board_of_an_older_version_without_a_check_value(board: OpenBoard) -> None:
    """Its pepper is trusted once; if the file is missing, tokens show that there was one."""
    make_token(board)
    with writing(board.engine) as session:
        session.execute(text("DELETE FROM audit"))
    path = board.folder / "pepper.key"
    path.rename(path.with_name("moved"))
    with pytest.raises(PepperError, match="missing pepper"):
        open_board(board.folder)
    path.with_name("moved").rename(path)
    open_board(board.folder).engine.dispose()
    with reading(board.engine) as session:
        assert session.scalars(select(AuditEntry.subject)).all() == [check_value(read_pepper(board.folder))]


def damage(folder: Path, how: str) -> None:
    """Overwrite the database's tables, or all of it."""
    path = folder / "board.sqlite"
    content = path.read_bytes()
    path.write_bytes(b"no database " * 900 if how == "all" else content[:4096] + b"\xff" * (len(content) - 4096))
    for name in ("-wal", "-shm"):
        path.with_name(f"{path.name}{name}").unlink(missing_ok=True)


@pytest.mark.parametrize("how", ["all", "tables"])
def test_damaged_database(how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests get 503 in our format; verbs and workers get one line that says what to do."""
    board = make_board(tmp_path / "board")
    client = team_client(board)
    board.engine.dispose()
    damage(board.folder, how)
    for path in ("/api/v1/board", "/api/v1/systems", "/api/v1/team", "/api/v1/queue", "/healthz"):
        answer = client.get(path)
        assert answer.status_code == 503, path
        assert answer.json()["what"] == "the board's database is unavailable"
        assert answer.headers["Retry-After"] == "10"
    assert send(client, zip_of(answers(1))).status_code == 503
    board.engine.dispose()
    capsys.readouterr()
    verbs = [(verb, board.folder) for verb in ("team", "token", "audit", "submissions", "purge", "rescore", "migrate")]
    for words in (*verbs, ("backup", board.folder, "--out", tmp_path / "backup.tar"), ("new-pepper", board.folder)):
        assert admin(*words) == 1, words
        shown = capsys.readouterr().err
        assert shown.startswith("error: sqlite:///"), words
        assert "the database is damaged" in shown
        assert "isogloss board admin restore BACKUP" in shown
    assert not (tmp_path / "backup.tar").exists()
    assert run("board", "serve", board.folder, "--port", 1) == 1
    before = signal.getsignal(signal.SIGINT)
    assert run("board", "work", board.folder) == 1
    assert signal.getsignal(signal.SIGINT) is before  # a worker that does not start changes nothing in its process
    assert run("board", "doctor", board.folder) == 1
    assert "Traceback" not in capsys.readouterr().err
    with pytest.raises(DataError, match="damaged"):
        open_board(board.folder)


@pytest.mark.database("sqlite")
def test_failed_authentications_are_logged(
    boards: MakeBoard, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    board = boards(failures_per_minute=4)
    token = make_token(board)
    app = create_app(board)
    identifier, secret = token.split("_", 2)[1:]
    with writing(board.engine) as session:
        session.scalars(select(AccessToken)).one().revoked_at = "2026-01-01T00:00:00Z"
    sent = [token, f"isogloss_{identifier}_{'A' * 43}", "my password", "x\x85y"]
    with caplog.at_level(logging.WARNING, "isogloss.board"):
        for credentials in [*sent, *sent]:
            TestClient(app, client=("203.0.113.9", 1)).get(
                "/api/v1/team", headers={"Authorization": f"Bearer {credentials}".encode("latin-1")}
            )
        TestClient(app).get("/api/v1/team")
    start = "failed authentication from 203.0.113.9: unknown or revoked token"
    known, malformed = f"{start} (token {identifier})", f"{start} (token malformed)"
    assert caplog.messages == [known, known, malformed, malformed], "the rest is over the limit"
    assert secret not in caplog.text
    assert "my password" not in caplog.text


def test_log_of_failures_is_bounded(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = [1000.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    log = FailureLog()
    with caplog.at_level(logging.WARNING, "isogloss.board"):
        for number in range(1000):
            log.add(f"2001:db8::{number:x}\r\nforged line", "x", "unknown token")
        now[0] += 61
        log.add("192.0.2.1", "x", "unknown token")
    assert len(caplog.messages) == 62
    assert caplog.messages[-2:] == [
        "940 more failed authentications",
        "failed authentication from 192.0.2.1: unknown token (token malformed)",
    ]
    assert all("\n" not in message for message in caplog.messages)


@pytest.mark.database("sqlite")
def test_limits_count_a_whole_ipv6_network(boards: MakeBoard) -> None:
    app = create_app(boards(reads_per_minute=3))
    statuses = [
        TestClient(app, client=(address, 1)).get("/api/v1/queue").status_code
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8::3:4", "2001:db8::5", "2001:db8:0:1::1", "192.0.2.1")
    ]
    assert statuses == [200, 200, 200, 429, 200, 200]


def test_months_follow_the_clock_of_the_database(board: OpenBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with a wrong clock counts in the same month as the others."""
    monkeypatch.setattr("isogloss.board.server.database.timestamp", lambda: "1999-01-01T00:00:00Z")
    monkeypatch.setattr(intake, "timestamp", lambda: "1999-01-01T00:00:00Z", raising=False)
    client = team_client(board)
    send(client, zip_of(answers(1)))
    with reading(board.engine) as session:
        assert session.scalars(select(Submission.month)).one() > "2026"
    assert client.get("/api/v1/team").json()["used"] == 1


@pytest.mark.slow
def test_verbs_take_effect_on_a_running_server(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board")
    token = make_token(board)
    with served(board.folder) as server:
        client = BoardClient(server.address, token)
        assert client.team()["monthly_submissions"] == 1000
        admin("team", board.folder, "Team", "--monthly", 2)
        assert client.team()["monthly_submissions"] == 2
        admin("team", board.folder, "Team", "--disable")
        with pytest.raises(Exception, match="the team is disabled"):
            client.team()
        admin("team", board.folder, "Team", "--enable")
        assert client.team()["left"] == 2
        admin("new-pepper", board.folder)
        with pytest.raises(Exception, match="unknown or revoked token"):
            client.team()
    board.engine.dispose()
