"""Messages to teams do not depend on the labels: with other labels, only the scores change."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import make_board, send, team_client, work_all, zip_of
from isogloss.board.server.database import BoardTable
from isogloss.board.server.scoring import read_submission, redacted
from isogloss.board.server.serve import create_app
from isogloss.predictions.problems import Problem, ProblemCode
from isogloss.tasks.suites import suite
from sample import write_gold, write_system

TASKS = ("mini-xnli", "mini-xcopa", "mini-udpos", "mini-wikiann", "mini-tatoeba")


def spoiled(folder: Path) -> None:
    """Return predictions with many problems: unknown labels, missing and extra lines, wrong types."""
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
    """Permute the labels among the examples."""
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
    """The database does not matter here."""
    return ""


def test_problems_do_not_depend_on_labels(tmp_path: Path) -> None:
    spoiled(tmp_path / "predictions")
    write_gold(tmp_path / "gold", suite("mini"), 12)
    messages = []
    for seed in range(3):
        relabelled(tmp_path / "gold", tmp_path / f"gold{seed}", random.Random(seed))
        board = make_board(tmp_path / f"board{seed}", gold=str(tmp_path / f"gold{seed}"))
        _, problems = read_submission(board, tmp_path / "predictions")
        problems = [problem for problem in problems if problem.where.startswith(TASKS)]
        messages.append([str(problem) for problem in problems])
    assert len(messages[0]) > 40
    assert messages[0] == messages[1] == messages[2]


def test_invalid_labels_are_not_quoted(tmp_path: Path) -> None:
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
    assert any(problem["code"] == "left-out" for problem in shown["problems"])


def lists_in(value: object) -> Iterator[list[object]]:
    """Yield every list in a JSON value."""
    if isinstance(value, dict):
        value = [*value.values()]
        for inner in value:
            yield from lists_in(inner)
    elif isinstance(value, list):
        yield value
        for inner in value:
            yield from lists_in(inner)


def floats_in(text: str) -> list[str]:
    """Return numbers with more than two decimals, except in times and versions."""
    return re.findall(r"(?<![\d.:-])\d+\.\d{3,}(?![\d.])", text)


def values_in_files(folder: Path) -> Iterator[tuple[str, object, str]]:
    """Return all JSON values and the text of a folder's files."""
    for path in sorted(folder.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        if path.name != "app.js":
            _, _, body = text.partition("{")
            yield str(path), json.loads("{" + body.rstrip().rstrip(";").removesuffix(")")), text


def test_output_contains_no_per_example_data(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No response, page, table or log line has one value per example, or revealing decimals."""
    examples = 67  # unique among the list lengths
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
    values: list[tuple[str, object, str]] = []
    for path, verbs in everybody.get("/api/v1/openapi.json").json()["paths"].items():
        for each in (key, bad) if "{key}" in path and "get" in verbs else (key,) if "get" in verbs else ():
            answer = client.get(path.format(key=each, system_id=system))
            assert answer.status_code == 200
            lines = answer.text.splitlines() if "jsonl" in answer.headers["content-type"] else [answer.text]
            values += [(path, json.loads(line), line) for line in lines]
    values += values_in_files(board.site / "current/")
    with board.engine.connect() as connection:
        for table in BoardTable.metadata.sorted_tables:
            for row in connection.execute(select(table)):
                texts = [value for value in row if isinstance(value, str) and value.startswith(("[", "{"))]
                values += [(table.name, json.loads(text), "") for text in texts]
    assert len(values) > 20
    for source, value, text in values:
        assert all(len(values_) != examples for values_ in lists_in(value)), source
        assert floats_in(text) == [], source
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


def full_problem(code: ProblemCode) -> Problem:
    """A problem with a secret in every field of text, and with numbers."""
    return Problem(
        code=code,
        task="mini-tatoeba",
        language="af",
        split="test",
        ids=("SECRET-ID",),
        count=12_345,
        total=67_890,
        file="en.jsonl",
        line=3,
        detail="SECRET-DETAIL",
        advice="SECRET-ADVICE",
    )


@pytest.mark.parametrize("code", ProblemCode)
def test_ids_that_tell_the_gold_are_hidden_in_every_problem(code: ProblemCode) -> None:
    text = str(redacted(full_problem(code), ids_tell_gold=True))
    assert "SECRET-ID" not in text
    if code in (ProblemCode.UNANSWERED, ProblemCode.UNKNOWN_IDS):
        assert "12345" not in text
        assert "67890" not in text


@pytest.mark.parametrize("ids_tell_gold", [True, False])
def test_the_reason_for_unusable_labels_and_unlisted_codes_stay_private(ids_tell_gold: bool) -> None:
    listed = {ProblemCode.LEFT_OUT, ProblemCode.NOT_CHECKED, ProblemCode.NOT_SCORED, ProblemCode.INVALID_METADATA}
    for code in listed:
        text = str(redacted(full_problem(code), ids_tell_gold=ids_tell_gold))
        assert "SECRET" not in text


def test_folders_of_seeds_do_not_bypass_validation(tmp_path: Path) -> None:
    """Only the validated files are scored, although `score` would take the means of the seeds."""
    write_gold(tmp_path / "gold", suite("mini"), 12)
    board = make_board(tmp_path / "board", gold=str(tmp_path / "gold"))
    write_system(tmp_path / "p", suite("mini"), 12, "validated", 0.2)
    expected, _ = read_submission(board, tmp_path / "p")
    for seed in (0, 1):
        write_system(tmp_path / f"p/seed-{seed}", suite("mini"), 12, "hidden", 1.0)
    validated, problems = read_submission(board, tmp_path / "p")
    assert not validated.report.errors
    assert [problem.code for problem in problems] == [ProblemCode.UNKNOWN_TASK] * 2
    assert validated.score().cells == expected.score().cells
    assert validated.score().runs == []
