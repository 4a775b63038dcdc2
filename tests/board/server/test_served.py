"""The server as it runs: the client and the verbs against it, killed in the middle, and clients that mean no good."""

import json
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
import requests
from sqlalchemy import func, select

from board.server.made_board import METADATA, MakeBoard, answers, make_board, make_token, zip_of
from board.server.served import served
from isogloss.board.client import BoardClient, BoardError
from isogloss.board.server.database import reading
from isogloss.board.server.models import ScoreRecord, Submission
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
def test_client_and_verb(boards: MakeBoard, predictions: Path, tmp_path: Path) -> None:
    board = boards()
    token = make_token(board)
    with served(board.folder, workers=1) as server:
        client = BoardClient(server.address, token)
        assert client.board()["suite"] == "mini"
        sent = client.submit(predictions, METADATA)
        assert client.submit(predictions, METADATA)["key"] == sent["key"]
        found = client.wait(sent["key"])
        assert found["state"] == "preview"
        assert found["problems"] == []
        assert client.publish(sent["key"])["state"] == "published"
        [system] = client.systems()
        assert client.system(system["id"])["scores"][-1]["tasks"] == found["scores"][-1]["tasks"]
        with pytest.raises(BoardError, match=r"metadata\.year") as caught:
            client.submit(predictions, METADATA | {"year": -3, "name": ""})
        assert len(caught.value.problems) == 2
        assert client.team()["used"] == 1
        assert client.submissions()[0]["key"] == sent["key"]
        assert client.withdraw(sent["key"])["state"] == "withdrawn"
        (tmp_path / "system.toml").write_text(
            "\n".join(f"{name} = {json.dumps(value)}" for name, value in (METADATA | {"name": "By verb"}).items())
        )
        # What a run says of itself there is no fact of the system, and stays here.
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
    with pytest.raises(BoardError, match="cannot be reached"):
        client.board()


@pytest.mark.slow
def test_a_killed_server_loses_nothing(boards: MakeBoard, request: pytest.FixtureRequest) -> None:
    """Clients send until they are told that it has arrived; the server is killed again and again meanwhile."""
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

        senders = [threading.Thread(target=send_all, args=(first,)) for first in range(3)]
        for sender in senders:
            sender.start()
        rng, kills = random.Random(3), 0
        while any(sender.is_alive() for sender in senders):
            time.sleep(rng.uniform(0.1, 0.6))
            if kills < 3:
                server.kill()
                server.start()
                kills += 1
        for sender in senders:
            sender.join()
        deadline = time.monotonic() + 120
        while scored(board) < number:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert kills == 3
    # The workers of the killed servers are gone too.
    deadline = time.monotonic() + 20
    while workers_of(board.folder):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert len(set(keys.values())) == number
    with reading(board.engine) as session:
        assert set(session.scalars(select(Submission.key))) == set(keys.values())
        assert set(session.scalars(select(Submission.state))) == {"published"}


def workers_of(folder: Path) -> list[str]:
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return [
        line.decode() for line in commands if b"isogloss.board.server.worker" in line and str(folder).encode() in line
    ]


def scored(board: object) -> int:
    with reading(board.engine) as session:  # type: ignore[attr-defined]
        return session.scalar(select(func.count()).select_from(ScoreRecord)) or 0


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One clear error, and no address that the board would not have."""
    board = make_board(tmp_path / "board")
    with closing(socket.create_server(("127.0.0.1", 0))) as other, pytest.raises(SystemExit) as ended:
        main(["board", "serve", str(board.folder), "--port", str(other.getsockname()[1])])
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert said.out == ""
    assert "another program listens there" in said.err
    assert "--port" in said.err
    assert "Traceback" not in said.err
    with pytest.raises(SystemExit):
        main(["board", "serve", str(board.folder), "--host", "192.0.2.1"])
    assert "cannot be listened at" in capsys.readouterr().err


def test_what_is_no_board_is_not_said_to_be_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["board", "serve", str(tmp_path)])
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert "serves" not in said.out + said.err
    assert "is no board" in said.err
