"""What teams are told does not depend on the labels: with other labels, every word but the scores is the same."""

import json
import random
from pathlib import Path

import pytest

from board.server.made_board import make_board, send, team_client, work_all, zip_of
from isogloss.board.server.scoring import find_problems
from isogloss.tasks.suites import suite
from sample import write_gold, write_system

TASKS = ("mini-xnli", "mini-xcopa", "mini-udpos", "mini-wikiann", "mini-tatoeba")


def spoiled(folder: Path) -> None:
    """A system that is wrong in many ways: labels that do not exist, lines too few and too many, other forms."""
    write_system(folder, suite("mini"), 12, "spoiled", 0.5)
    for task in TASKS:
        for number, path in enumerate(sorted((folder / task).iterdir())):
            lines = path.read_text().splitlines()
            if number % 4 == 0:
                lines = lines[:-1]
            elif number % 4 == 1:
                lines[1] = "nonsense"
            elif number % 4 == 2:
                lines.append(lines[0])
            path.write_text("\n".join(lines) + "\n")


def relabelled(gold: Path, out: Path, rng: random.Random) -> None:
    """The same examples with their labels exchanged among them."""
    for task in TASKS:
        (out / task).mkdir(parents=True)
        for path in (gold / task).iterdir():
            labels = [line for line in path.read_text().splitlines() if line]
            rng.shuffle(labels)
            drawn = iter(labels)
            lines = [next(drawn) if line else "" for line in path.read_text().splitlines()]
            (out / task / path.name).write_text("\n".join(lines) + "\n")


@pytest.fixture
def database_url() -> str:
    """Nothing here depends on the database."""
    return ""


def test_problems_do_not_depend_on_labels(tmp_path: Path) -> None:
    spoiled(tmp_path / "predictions")
    write_gold(tmp_path / "gold", suite("mini"), 12)
    told = []
    for seed in range(3):
        relabelled(tmp_path / "gold", tmp_path / f"gold{seed}", random.Random(seed))
        board = make_board(tmp_path / f"board{seed}", gold=str(tmp_path / f"gold{seed}"))
        problems = [each for each in find_problems(board, tmp_path / "predictions") if each.where.startswith(TASKS)]
        told.append([str(problem) for problem in problems])
    assert len(told[0]) > 40
    assert told[0] == told[1] == told[2]


def test_labels_that_cannot_be_used_are_not_quoted(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", suite("mini"), 12)
    for path in (tmp_path / "gold/mini-xcopa").iterdir():
        path.write_text('{"label": "THE SECRET"}\n' * 12)
    for path in (tmp_path / "gold/mini-xnli").iterdir():
        path.write_text("THE SECRET\n" * 12)
    (tmp_path / "gold/mini-udpos/test-en.tsv").write_bytes(b"THE SECRET \xff\n")
    board = make_board(tmp_path / "board", gold=str(tmp_path / "gold"))
    write_system(tmp_path / "p", suite("mini"), 12, "system", 0.5)
    files = {
        str(path.relative_to(tmp_path / "p")): path.read_bytes()
        for path in (tmp_path / "p").rglob("*")
        if path.is_file()
    }
    client = team_client(board)
    key = send(client, zip_of(files), publish=True).json()["key"]
    work_all(board)
    shown = client.get(f"/api/v1/submissions/{key}").json()
    text = json.dumps(shown) + client.get("/").text + client.get("/data.js").text
    assert "SECRET" not in text
    assert str(tmp_path) not in text
    assert shown["state"] == "published"
    assert any("board's own data" in problem["what"] for problem in shown["problems"])
