"""A secret share of the examples is scored apart, and shown only when the board is closed."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from board.server.made_board import LANGUAGES, answers, make_board, send, team_client, work_all, zip_of
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import writing
from isogloss.board.server.parts import private_examples
from isogloss.board.server.queue import enqueue
from isogloss.board.server.scoring import read_submission
from isogloss.board.server.serve import create_app
from isogloss.tasks.loading import load

API = "/api/v1"
TASK = "mini-xnli"


@pytest.fixture
def board(tmp_path: Path) -> OpenBoard:
    return make_board(tmp_path / "board", private_share=0.4)


def closed(board: OpenBoard) -> OpenBoard:
    with (board.folder / "board.toml").open("a") as stream:
        stream.write("closed = true\n")
    return open_board(board.folder)


def accuracy(files: dict[str, bytes], board: OpenBoard, folder: Path, *, private: bool) -> dict[str, float]:
    """Compute the accuracy on one part by hand, by language."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    validated, _ = read_submission(board, folder)
    scores = {}
    for language in LANGUAGES:
        examples = load(TASK, language)
        given = {
            each["id"]: each["prediction"] for each in map(json.loads, files[f"{TASK}/{language}.jsonl"].splitlines())
        }
        drawn = private_examples(board, validated.cells[TASK, language])
        rows = [row for row in range(len(examples)) if bool(drawn[row]) is private]
        right = sum(given[examples.ids[row]] == examples["label"][row] for row in rows)
        scores[language] = 100 * right / len(rows)
    return scores


def shown(client: TestClient, key: str) -> dict[str, Any]:
    [scores] = client.get(f"{API}/submissions/{key}").json()["scores"]
    return scores  # type: ignore[no-any-return]


def cells(scores: dict[str, Any]) -> dict[str, float]:
    return {cell["language"]: cell["metrics"]["accuracy"][0] for cell in scores["cells"]}


def test_parts_are_scored_apart(board: OpenBoard, tmp_path: Path) -> None:
    files = answers(1)
    client = team_client(board)
    key = send(client, zip_of(files), publish=True).json()["key"]
    preview = send(client, zip_of(answers(2))).json()["key"]
    work_all(board)
    public, private = (accuracy(files, board, tmp_path / "p", private=part) for part in (False, True))
    assert public != private
    scores = shown(client, key)
    assert scores["part"] == "public"
    assert cells(scores) == pytest.approx(public, abs=0.006)
    after = closed(board)
    with writing(after.engine) as session:
        enqueue(session, "site")
    work_all(after)
    final = TestClient(create_app(after), headers=dict(client.headers))
    assert shown(final, key)["part"] == "private"
    assert cells(shown(final, key)) == pytest.approx(private, abs=0.006)
    # Unpublished submissions keep their public scores, and new ones are refused.
    assert shown(final, preview)["part"] == "public"
    assert final.post(f"{API}/submissions/{preview}/publish").status_code == 409
    assert send(final, zip_of(answers(3))).status_code == 403
    assert final.get(f"{API}/board").json()["closed"] is True
    [record] = final.get(f"{API}/every-eval-ever").json()["records"]
    exported = {
        each["score_details"]["details"]["language"]: each["score_details"]["score"]
        for each in record["evaluation_results"]
    }
    assert exported == pytest.approx(private, abs=0.006)


def test_sources_fall_into_one_part_in_all_languages(board: OpenBoard, tmp_path: Path) -> None:
    files = answers(1)
    accuracy(files, board, tmp_path / "p", private=True)
    validated, _ = read_submission(board, tmp_path / "p")
    part_of: dict[str, bool] = {}
    for language in LANGUAGES:
        cell = validated.cells[TASK, language]
        assert cell.clusters is not None
        for source, is_private in zip(cell.clusters, private_examples(board, cell).tolist(), strict=True):
            assert part_of.setdefault(source, is_private) is is_private
    share = sum(part_of.values()) / len(part_of)
    assert 0.1 < share < 0.8
    assert len(set(part_of.values())) == 2


def test_private_share_must_leave_public_examples(tmp_path: Path) -> None:
    from isogloss.errors import DataError

    with pytest.raises(DataError, match="private_share"):
        make_board(tmp_path / "board", private_share=1.0)
