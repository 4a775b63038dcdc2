"""What teams are told does not depend on the labels: with other labels, every word but the scores is the same."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import make_board, send, team_client, work_all, zip_of
from isogloss.board.server.app import create_app
from isogloss.board.server.models import BoardTable
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


def lists_in(value: object) -> Iterator[list[object]]:
    """Every list in a JSON value."""
    if isinstance(value, dict):
        value = [*value.values()]
        for inner in value:
            yield from lists_in(inner)
    elif isinstance(value, list):
        yield value
        for inner in value:
            yield from lists_in(inner)


def floats_in(text: str) -> list[str]:
    """Figures with more than two decimals, but for those of times and versions."""
    return re.findall(r"(?<![\d.:-])\d+\.\d{3,}(?![\d.])", text)


def values_in_files(folder: Path) -> Iterator[tuple[str, object, str]]:
    """All JSON in a folder's files, however it is wrapped, and their text."""
    for path in sorted(folder.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        if path.name != "app.js":
            _, _, body = text.partition("{")
            yield str(path), json.loads("{" + body.rstrip().rstrip(";").removesuffix(")")), text


def test_single_examples_are_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No address, page, table or line of the log has as many values as a cell has examples, or digits that tell one."""
    examples = 67  # as many as nothing else is
    caplog.set_level("DEBUG")
    write_gold(tmp_path / "gold", suite("mini"), examples)
    board = make_board(tmp_path / "board", gold=str(tmp_path / "gold"))
    client = team_client(board)
    for name, skill in (("good", 0.8), ("better", 0.9)):
        write_system(tmp_path / name, suite("mini"), examples, name, skill)
        paths = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        files = {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in paths}
        key = send(client, zip_of(files), publish=True, name=name).json()["key"]
        files["mini-xnli/en.jsonl"] = b'{"id": "nobody", "prediction": "x"}\n'
        bad = send(client, zip_of(files), name=name).json()["key"]
    work_all(board)
    everybody = TestClient(create_app(board))
    system = everybody.get("/api/v1/systems").json()["systems"][0]["id"]
    found: list[tuple[str, object, str]] = []
    for path, verbs in everybody.get("/api/v1/openapi.json").json()["paths"].items():
        for each in (key, bad) if "{key}" in path and "get" in verbs else (key,) if "get" in verbs else ():
            answer = client.get(path.format(key=each, system_id=system))
            assert answer.status_code == 200
            lines = answer.text.splitlines() if "jsonl" in answer.headers["content-type"] else [answer.text]
            found += [(path, json.loads(line), line) for line in lines]
    found += values_in_files(board.site / "current/")
    with board.engine.connect() as connection:
        for table in BoardTable.metadata.sorted_tables:
            for row in connection.execute(select(table)):
                texts = [value for value in row if isinstance(value, str) and value.startswith(("[", "{"))]
                found += [(table.name, json.loads(text), "") for text in texts]
    assert len(found) > 20
    for place, value, text in found:
        assert all(len(each) != examples for each in lists_in(value)), place
        assert floats_in(text) == [], place
    logged = "\n".join(line.getMessage() for line in caplog.records if line.name.startswith("isogloss"))
    assert "prediction" not in logged
    left = {path.relative_to(board.folder).parts[0] for path in board.folder.rglob("*") if path.is_file()}
    assert left <= {
        "board.toml",
        "board.sqlite",
        "board.sqlite-wal",
        "board.sqlite-shm",
        "pepper.key",
        "archives",
        "site",
    } | {".migrate.lock"}
