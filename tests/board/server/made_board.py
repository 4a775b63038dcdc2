"""Boards, teams and prediction archives for the server tests, with the built-in suite."""

import json
import random
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from archives import tar_of as tar_of  # noqa: PLC0414 - for the tests of boards
from archives import zip_of as zip_of  # noqa: PLC0414
from isogloss.board.server.board import (
    BoardSettings,
    OpenBoard,
    create_team,
    create_token,
    find_team,
    open_board,
    write_settings,
)
from isogloss.board.server.database import writing
from isogloss.board.server.queue import JobClaims
from isogloss.board.server.serve import create_app
from isogloss.board.server.worker import work_once
from isogloss.tasks.loading import load

METADATA: dict[str, Any] = {
    "name": "Made-up",
    "kind": "encoder",
    "regime": "zero-shot",
    "parameters": 270,
    "parameters_active": "not disclosed",
    "pretraining_tokens": 6_000_000_000,
    "parallel_data": False,
    "fine_tuning_data": "MultiNLI, 392,702 examples, English",
    "translated_data": False,
    "paper": "not disclosed",
    "year": 2026,
    "authors": "anonymous",
    "contact": "made-up@example.org",
}

MakeBoard = Callable[..., OpenBoard]
LANGUAGES = ("en", "de", "sw")
GENEROUS: dict[str, Any] = {
    **dict.fromkeys(("monthly_submissions", "yearly_submissions", "yearly_publications"), 1_000),
    **dict.fromkeys(("monthly_uploads", "monthly_rejections"), 10_000),
    **dict.fromkeys(("average_step", "cell_step"), 0),
}


def make_board(folder: Path, **settings: Any) -> OpenBoard:
    """Create a board with the built-in suite; write non-default settings to its file.

    Limits are high, and scores have two decimals, unless the settings say otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = {name: settings.pop(name) for name in ("database", "title", "gold") if name in settings}
    write_settings(folder, BoardSettings(suite="mini", **own))
    with (folder / "board.toml").open("a") as stream:
        for name, value in (GENEROUS | settings).items():
            stream.write(f"{name} = {msgspec.json.encode(value).decode()}\n")
    return open_board(folder)


def make_token(board: OpenBoard, team: str = "Team", scopes: Sequence[str] = ("read", "submit", "publish")) -> str:
    with writing(board.engine) as session:
        try:
            owner = find_team(session, team)
        except Exception:
            owner = create_team(session, team)
        return create_token(session, owner, board.pepper, scopes)


def answers(seed: int, languages: Sequence[str] = LANGUAGES, skill: float = 0.7) -> dict[str, bytes]:
    """Return prediction files with partly correct answers to the built-in XNLI."""
    rng = random.Random(seed)
    files = {}
    for language in languages:
        examples = load("mini-xnli", language)
        labels = sorted(set(examples["label"]))
        lines = [
            json.dumps({"id": name, "prediction": label if rng.random() < skill else rng.choice(labels)})
            for name, label in zip(examples.ids, examples["label"], strict=True)
        ]
        files[f"mini-xnli/{language}.jsonl"] = ("\n".join(lines) + "\n").encode()
    return files


def send(client: Any, archive: bytes, publish: bool = False, **metadata: Any) -> Any:
    """Submit an archive by the API and return the response."""
    fields = {"metadata": json.dumps(METADATA | metadata), "publish": str(publish).lower()}
    return client.post("/api/v1/submissions", data=fields, files={"archive": ("answers.zip", archive)})


def work_all(board: OpenBoard) -> int:
    """Process all queued jobs in this process; return their number."""
    claims = JobClaims(board)
    return sum(1 for _ in iter(lambda: work_once(claims), False))


def team_client(board: OpenBoard, team: str = "Team", **options: Any) -> TestClient:
    """Return a test client of the board, authenticated as a team."""
    token = make_token(board, team, **options)
    return TestClient(create_app(board), headers={"Authorization": f"Bearer {token}"}, raise_server_exceptions=False)


def new_database(server: str) -> str:
    """Create an empty PostgreSQL database and return its URL."""
    name = f"board_{secrets.token_hex(6)}"
    url = f"{server}/postgres".replace("postgresql:", "postgresql+psycopg:")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server}/{name}"
