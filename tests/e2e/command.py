"""The command line in tests: output, exit code and written files."""

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from isogloss.cli.main import main

# Folders of tasks in XTREME's layout, if not named after the task id.
XTREME_FOLDERS = {"wikiann": "panx", "bucc": "bucc2018"}
XTREME_SUFFIXES = {"xcopa": "jsonl"} | dict.fromkeys(("xquad", "mlqa", "tydiqa", "mewslix", "lareqa"), "json")


@dataclass(frozen=True)
class Finished:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str


def isogloss(*words: object) -> Finished:
    """Run a command line in this process; a crash raises its exception."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return Finished(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def scored(predictions: Path, *words: object) -> dict[str, Any]:
    """Return the result record of `isogloss score`, which must succeed; `printed` receives the output."""
    target = predictions.parent / f"{predictions.name}-results.json"
    done = isogloss("score", predictions, *words, "--json", target)
    assert (done.code, done.err) == (0, ""), done.err
    return {**json.loads(target.read_text(encoding="utf-8")), "printed": done.out}


def refused(predictions: Path, *words: object, code: int = 1) -> str:
    """Return the message of `isogloss score`, which must fail with an exit code and write no files."""
    target = predictions.parent / f"{predictions.name}-results.json"
    done = isogloss("score", predictions, *words, "--json", target)
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("error: "), done.err
    assert not target.exists()
    return done.err


def cell(record: Mapping[str, Any], task: str, language: str) -> dict[str, Any]:
    """Return one cell of a record."""
    found: dict[str, Any]
    (found,) = [c for c in record["cells"] if (c["task"], c["language"]) == (task, language)]
    return found


def values(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of a cell's or an average's metrics."""
    return {name: number["value"] for name, number in numbers.items()}


def write(path: Path, text: str) -> Path:
    """Write a file, creating its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def write_answers(root: Path, task: str, language: str, answers: Mapping[str, Any], split: str = "test") -> Path:
    """Write a prediction file in our own layout."""
    prefix = "" if split == "test" else f"{split}-"
    rows = [json.dumps({"id": name, "prediction": answer}, ensure_ascii=False) for name, answer in answers.items()]
    return write(root / task / f"{prefix}{language}.jsonl", "".join(f"{row}\n" for row in rows))


def write_xtreme(root: Path, task: str, language: str, text: str, split: str = "test") -> Path:
    """Write a prediction or label file in XTREME's layout."""
    suffix = XTREME_SUFFIXES.get(task, "tsv")
    return write(root / XTREME_FOLDERS.get(task, task) / f"{split}-{language}.{suffix}", text)
