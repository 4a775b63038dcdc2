"""Submissions that look like probes of the labels are flagged to the administrator and not published by their team."""

import json
import random

import msgspec
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import LANGUAGES, answers, send, team_client, work_all, zip_of
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import Submission, reading, writing
from isogloss.board.server.scoring import publish

API = "/api/v1"
TASK = "mini-xnli"
LABELS = ("contradiction", "entailment", "neutral")


@pytest.fixture
def database_url() -> str:
    """The database does not matter here."""
    return ""


def flags_of(board: OpenBoard, key: str) -> list[dict[str, str]]:
    with reading(board.engine) as session:
        text = session.scalars(select(Submission.flags).where(Submission.key == key)).one()
    return msgspec.json.decode(text)  # type: ignore[no-any-return]


def scored(board: OpenBoard, client: TestClient, files: dict[str, bytes], **options: bool) -> str:
    key = str(send(client, zip_of(files), **options).json()["key"])
    work_all(board)
    return key


def state_of(client: TestClient, key: str) -> str:
    return str(client.get(f"{API}/submissions/{key}").json()["state"])


def changed(files: dict[str, bytes], language: str, rows: int) -> dict[str, bytes]:
    """Return files with other answers to the first rows in a language."""
    lines = [json.loads(line) for line in files[f"{TASK}/{language}.jsonl"].splitlines()]
    for line in lines[:rows]:
        line["prediction"] = LABELS[LABELS.index(line["prediction"]) - 1]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return files | {f"{TASK}/{language}.jsonl": content}


def test_honest_submissions_are_not_flagged(board: OpenBoard, client: TestClient) -> None:
    for seed, skill in enumerate((0.45, 0.7, 0.95)):
        key = scored(board, client, answers(seed, skill=skill), publish=True)
        assert flags_of(board, key) == []
        assert state_of(client, key) == "published"
    other = scored(board, client, answers(2, skill=0.95) | answers(9, ("fr",)))
    assert flags_of(board, other) == [], "the same answers in a further submission are not a probe"


def test_near_constant_answers(board: OpenBoard, client: TestClient) -> None:
    files = answers(1)
    text = files[f"{TASK}/de.jsonl"].decode()
    for label in LABELS:
        text = text.replace(f'"{label}"', '"neutral"')
    key = scored(board, client, files | {f"{TASK}/de.jsonl": text.encode()}, publish=True)
    [flag] = flags_of(board, key)
    assert flag["code"] == "near-constant"
    assert flag["detail"].startswith("mini-xnli/de: 100.0%")


def test_answers_unrelated_across_languages(board: OpenBoard, client: TestClient) -> None:
    rng = random.Random(0)
    files = {}
    for name, content in answers(1, ("en", "de", "sw", "fr", "ru")).items():
        lines = [json.loads(line) | {"prediction": rng.choice(LABELS)} for line in content.splitlines()]
        files[name] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert [flag["code"] for flag in flags_of(board, scored(board, client, files))] == ["unrelated-languages"]


def test_few_changes_to_an_earlier_submission(board: OpenBoard, client: TestClient) -> None:
    first = answers(1)
    key = scored(board, client, first)
    few = scored(board, client, changed(first, "en", 2))
    [flag] = flags_of(board, few)
    assert flag["code"] == "few-changes"
    assert key in flag["detail"]
    many = scored(board, client, changed(first, LANGUAGES[1], 40))
    assert flags_of(board, many) == []
    # Other teams' answers are not compared.
    others = team_client(board, "Others")
    assert flags_of(board, scored(board, others, changed(first, "en", 1))) == []


def test_a_flagged_submission_awaits_the_administrator(board: OpenBoard, client: TestClient) -> None:
    first = answers(1)
    scored(board, client, first)
    probe = changed(first, "en", 2)
    key = scored(board, client, probe, publish=True)
    assert state_of(client, key) == "preview"
    refused = client.post(f"{API}/submissions/{key}/publish")
    assert (refused.status_code, refused.json()["what"]) == (409, "publication awaits the administrator")
    assert send(client, zip_of(probe), publish=True).status_code == 409
    shown = client.get(f"{API}/submissions/{key}").text + client.get(f"{API}/submissions").text
    assert "few-changes" not in shown + refused.text
    with writing(board.engine) as session:
        publish(session, session.scalars(select(Submission).where(Submission.key == key)).one(), "admin")
    assert state_of(client, key) == "published"
    # The team may take it back and publish it again.
    assert client.post(f"{API}/submissions/{key}/withdraw").status_code == 200
    assert client.post(f"{API}/submissions/{key}/publish").status_code == 200
