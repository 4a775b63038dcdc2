"""Messages to teams do not depend on the labels: with other labels, only the scores change."""

import gzip
import io
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import answers, make_board, send, team_client, work_all, zip_of
from isogloss.board.server.database import BoardTable
from isogloss.board.server.probes import AnswerTrace
from isogloss.board.server.scoring import read_submission, redacted, score_validated
from isogloss.board.server.serve import create_app
from isogloss.predictions.problems import Problem, ProblemCode
from isogloss.tasks.loading import load
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


class OpenedFiles:
    """Record of the files below a folder that this process opens while the record is active."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names = folder, set[str]()
        self.active = False
        sys.addaudithook(self._observe)

    def _observe(self, event: str, words: tuple[object, ...]) -> None:
        if self.active and event == "open" and isinstance(words[0], str | Path):
            path = Path(words[0])
            if path.is_relative_to(self.folder):
                self.names.add(str(path.relative_to(self.folder)))

    def during(self, work: Callable[[], Any]) -> Any:
        """Do some work and record the files that it opens."""
        self.names.clear()
        self.active = True
        try:
            return work()
        finally:
            self.active = False


def smuggled(rng: random.Random) -> dict[str, dict[str, bytes]]:
    """Return files that an attacker adds to a valid archive, by name of the attack."""
    hidden = {f"mini-xnli/{code}.jsonl": content for code, content in _right_answers(rng).items()}
    npy = io.BytesIO()
    np.save(npy, np.eye(60))
    return {
        "seeds": {f"seed-{seed}/{name}": content for seed in range(9) for name, content in hidden.items()},
        "prompts": {f"prompt-{word}/seed-0/{name}": content for word in "ab" for name, content in hidden.items()},
        "runs": {f"system/zero-shot/seed-{seed}/{name}": text for seed in (0, 1) for name, text in hidden.items()},
        "results": {"results.json": b'{"suite": "mini"}', "seed-0/results.json": b"{}", "summary.json": b"{}"},
        "statistics": {"mini-xnli/.cells/en.npz": npy.getvalue(), ".statistics/mini-xnli/en.npz": npy.getvalue()},
        "embeddings": {"mini-xnli/queries-en.npy": npy.getvalue(), "mini-xnli/candidates-en.npy": npy.getvalue()},
        "packed": {"mini-xnli/en.jsonl.gz": gzip.compress(hidden["mini-xnli/en.jsonl"])},
        "split": {"mini-xnli/dev-en.jsonl": hidden["mini-xnli/en.jsonl"], "xnli/en.jsonl": b""},
    }


def _right_answers(rng: random.Random) -> dict[str, bytes]:
    files = {}
    for code in ("en", "de"):
        examples = load("mini-xnli", code)
        rows = [{"id": name, "prediction": label} for name, label in zip(examples.ids, examples["label"], strict=True)]
        rng.shuffle(rows)
        files[code] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return files


@pytest.mark.parametrize("attack", smuggled(random.Random(0)))
def test_added_files_are_refused_or_ignored(attack: str, tmp_path: Path) -> None:
    """An archive with a valid cell and hidden runs gets the scores of its validated cells, or none."""
    board = make_board(tmp_path / "board")
    client = team_client(board)
    valid = answers(1, ("en",), skill=0.2)
    files = valid | smuggled(random.Random(0))[attack]
    keys = [send(client, zip_of(each), publish=True, name=attack).json()["key"] for each in (valid, files)]
    work_all(board)
    plain, attacked = (client.get(f"/api/v1/submissions/{key}").json() for key in keys)
    assert plain["state"] == "published"
    if attacked["state"] == "rejected":
        assert attacked["scores"] == []
        assert any(not problem["warning"] for problem in attacked["problems"])
    else:
        strip = ("tasks", "cells", "overall", "missing")
        assert [attacked["scores"][0][name] for name in strip] == [plain["scores"][0][name] for name in strip]
    ignored_in_silence = {"results", "statistics"}  # may accompany predictions, or are hidden files
    assert attacked["problems"] or attack in ignored_in_silence


@pytest.mark.parametrize("attack", smuggled(random.Random(0)))
def test_what_is_scored_is_what_was_validated(attack: str, tmp_path: Path) -> None:
    """The validator opens the files of its report, and records of their checksums; the scorer opens none."""
    board = make_board(tmp_path / "board")
    folder = tmp_path / "p"
    for name, content in (answers(1, ("en",)) | smuggled(random.Random(0))[attack]).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    opened, trace = OpenedFiles(folder), AnswerTrace()
    validated, problems = opened.during(lambda: read_submission(board, folder, trace.observe))
    checked = {str(cell.path.relative_to(folder)) for cell in validated.report.cells}
    assert {name for name in opened.names if not name.startswith(".cells/")} == checked
    assert {f"{task}/{language}" for task, language in validated.cells} == set(trace.digests)
    if not validated.report.errors:
        [record] = opened.during(lambda: score_validated(board, validated, trace, problems))
        assert opened.names == set()
        assert {(cell.task, cell.language) for cell in record.cells} == set(validated.cells)


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
