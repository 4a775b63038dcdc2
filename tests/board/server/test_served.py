"""The running server: client and verbs, kills, and several servers on one database."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
import requests
from sqlalchemy import func, select

from board.server.made_board import METADATA, MakeBoard, answers, make_board, make_token, zip_of
from board.server.served import served
from isogloss.board.client import BoardClient, BoardError
from isogloss.board.server.database import AuditEntry, ScoreRecord, Submission, reading
from isogloss.cli.main import main


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    for name, content in answers(1).items():
        (tmp_path / "predictions" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "predictions" / name).write_bytes(content)
    (tmp_path / "predictions/.cells").mkdir()
    (tmp_path / "predictions/.cells/secret").write_text("of a run")
    return tmp_path / "predictions"


@pytest.mark.slow
@pytest.mark.parametrize("database_url", [""])
def test_client_and_verb(boards: MakeBoard, predictions: Path, tmp_path: Path) -> None:
    board = boards()
    token = make_token(board)
    with served(board.folder, workers=1) as server:
        client = BoardClient(server.address, token)
        assert client.board()["suite"] == "mini"
        sent = client.submit(predictions, METADATA)
        assert client.submit(predictions, METADATA)["key"] == sent["key"]
        submission = client.wait(sent["key"])
        assert submission["state"] == "preview"
        assert submission["problems"] == []
        assert client.publish(sent["key"])["state"] == "published"
        [system] = client.systems()
        assert client.system(system["id"])["scores"][-1]["tasks"] == submission["scores"][-1]["tasks"]
        with pytest.raises(BoardError, match=r"metadata\.year") as caught:
            client.submit(predictions, METADATA | {"year": -3, "name": ""})
        assert len(caught.value.problems) == 2
        assert client.team()["used"] == 1
        assert client.submissions()[0]["key"] == sent["key"]
        assert client.withdraw(sent["key"])["state"] == "withdrawn"
        (tmp_path / "system.toml").write_text(
            "\n".join(f"{name} = {json.dumps(value)}" for name, value in (METADATA | {"name": "By verb"}).items())
        )
        # Fields of the run in system.toml are not sent.
        written = (tmp_path / "system.toml").read_text() + '\nversion = "0.1.0"\nseed = 0\n[settings]\nsize = 1\n'
        (predictions / "system.toml").write_text(written)
        words = ["board", "submit", server.address, predictions, "--token", token]
        done = subprocess.run(
            [sys.executable, "-m", "isogloss", *map(str, words), "--publish"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert ": published" in done.stdout
        page = requests.get(f"{server.address}/data.js", timeout=5)
        deadline = time.monotonic() + 20
        while "By verb" not in page.text and time.monotonic() < deadline:
            time.sleep(0.1)
            page = requests.get(f"{server.address}/data.js", timeout=5)
        assert "By verb" in page.text
    with pytest.raises(BoardError, match="cannot connect"):
        client.board()


@pytest.mark.parametrize("problems", ['[{"where": "a", "what": "b", "later": 1}]', "3", '[{"title": "no board"}]'])
def test_errors_of_other_servers_are_reported(problems: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of a newer board, or of a server that is not a board."""
    answer = requests.Response()
    answer.status_code = 400
    answer._content = f'{{"what": "not today", "problems": {problems}}}'.encode()
    monkeypatch.setattr(requests.Session, "request", lambda *_, **__: answer)
    with pytest.raises(BoardError, match="not today") as caught:
        BoardClient("http://127.0.0.1:1").board()
    assert [problem.what for problem in caught.value.problems] == (["b"] if "later" in problems else [])


@pytest.mark.slow
@pytest.mark.database("sqlite")
def test_killed_server_loses_nothing(boards: MakeBoard, request: pytest.FixtureRequest) -> None:
    """Clients retry until acknowledged while server and workers are killed repeatedly."""
    board = boards(lease_seconds=1.0, attempts=1_000, writes_per_minute=100_000, reads_per_minute=100_000)
    token, number = make_token(board), request.config.getoption("--board-submissions")
    keys: dict[int, str] = {}
    archives = {seed: zip_of(answers(seed)) for seed in range(number)}

    with served(board.folder, workers=2) as server:

        def send_all(first: int) -> None:
            for seed in range(first, number, 3):
                fields = {"metadata": json.dumps(METADATA | {"name": f"S{seed}"}), "publish": "true"}
                headers = {"Authorization": f"Bearer {token}"}
                while seed not in keys:
                    try:
                        address = f"{server.address}/api/v1/submissions"
                        files = {"archive": archives[seed]}
                        answer = requests.post(address, data=fields, files=files, headers=headers, timeout=30)
                        assert answer.status_code in (200, 201), answer.text
                        keys[seed] = answer.json()["key"]
                    except requests.RequestException:
                        time.sleep(0.1)
                time.sleep(0.15)

        senders = [threading.Thread(target=send_all, args=(first,), daemon=True) for first in range(3)]
        for sender in senders:
            sender.start()
        rng, kills, wanted = random.Random(3), {"server": 0, "worker": 0}, max(2, number // 20)
        while any(sender.is_alive() for sender in senders) or min(kills.values()) < wanted:
            time.sleep(rng.uniform(0.1, 0.6))
            victims = workers_of(board.folder)
            if kills["worker"] < wanted and victims:
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(victims), signal.SIGKILL)
                    kills["worker"] += 1
            if kills["server"] < wanted and rng.random() < 0.5:
                server.kill()
                server.start()
                kills["server"] += 1
        for sender in senders:
            sender.join()
        deadline = time.monotonic() + 120 + 6 * number
        while scored(board) < number:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    # The workers of the killed servers have exited too.
    deadline = time.monotonic() + 20
    while workers_of(board.folder):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert len(set(keys.values())) == number
    with reading(board.engine) as session:
        assert set(session.scalars(select(Submission.key))) == set(keys.values())
        by_submission = select(func.count()).select_from(ScoreRecord).group_by(ScoreRecord.submission_id)
        assert set(session.scalars(by_submission)) == {1}
        scorings = select(func.count()).where(AuditEntry.action == "score")
        assert session.scalar(scorings) == number, "scored twice"
        assert set(session.scalars(select(Submission.state))) == {"published"}


@pytest.mark.slow
@pytest.mark.database("postgresql")
def test_several_servers_and_workers_on_one_database(boards: MakeBoard, database_url: str) -> None:
    """Two servers and two workers share one PostgreSQL database or SQLite file."""
    board = boards(writes_per_minute=12, monthly_submissions=10)
    token = make_token(board)
    with served(board.folder) as first, served(board.folder) as second:
        words = [sys.executable, "-m", "isogloss", "board", "work", str(board.folder)]
        workers = [subprocess.Popen(words) for _ in range(2)]
        try:
            clients = [BoardClient(server.address, token) for server in (first, second)]
            archives = [board.folder / f"{seed}.zip" for seed in range(4)]
            for seed, path in enumerate(archives):
                path.write_bytes(zip_of(answers(seed)))
            sent = [clients[seed % 2].submit(path, METADATA, publish=True)["key"] for seed, path in enumerate(archives)]
            assert [clients[seed % 2 - 1].wait(key)["state"] for seed, key in enumerate(sent)] == ["published"] * 4
            # An identical upload to the other server is a duplicate; counts are shared.
            assert clients[1].submit(archives[0], METADATA)["key"] == sent[0]
            assert [client.team()["used"] for client in clients] == [4, 4]
            assert len(list(clients[1].systems())) == 4
            heard = []
            for number in range(14):
                try:
                    clients[number % 2].withdraw(sent[0])
                    heard.append(200)
                except BoardError as error:
                    heard.append(error.status)
            assert 429 in heard
            assert heard.index(429) <= 12, "each server alone would have let 12 pass"
        finally:
            for worker in workers:
                worker.terminate()
                assert worker.wait(30) == 0
    assert scored(board) == 4


def workers_of(folder: Path) -> list[int]:
    """Return the processes of a board's workers."""
    workers = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes()
            if b"isogloss.board.server.worker" in line and str(folder).encode() in line:
                workers.append(int(path.parent.name))
    return workers


def scored(board: object) -> int:
    with reading(board.engine) as session:  # type: ignore[attr-defined]
        return session.scalar(select(func.count()).select_from(ScoreRecord)) or 0


def test_port_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One clear error, and no address is printed."""
    board = make_board(tmp_path / "board")
    with closing(socket.create_server(("127.0.0.1", 0))) as other, pytest.raises(SystemExit) as ended:
        main(["board", "serve", str(board.folder), "--port", str(other.getsockname()[1])])
    captured = capsys.readouterr()
    assert ended.value.code == 1
    assert captured.out == ""
    assert "address already in use" in captured.err
    assert "--port" in captured.err
    assert "Traceback" not in captured.err
    with pytest.raises(SystemExit):
        main(["board", "serve", str(board.folder), "--host", "192.0.2.1"])
    assert "cannot listen" in capsys.readouterr().err


def test_no_address_is_printed_for_an_invalid_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["board", "serve", str(tmp_path)])
    captured = capsys.readouterr()
    assert ended.value.code == 1
    assert "serving" not in captured.out + captured.err
    assert "not a board folder" in captured.err
