"""The command line as a user meets it: what was said, how it ended, what was written."""

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from isogloss.cli.main import main

# Where XTREME's own layout puts a task, where that is not under the task's id.
XTREME_FOLDERS = {"wikiann": "panx", "bucc": "bucc2018"}
XTREME_SUFFIXES = {"xcopa": "jsonl"} | dict.fromkeys(("xquad", "mlqa", "tydiqa", "mewslix", "lareqa"), "json")


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    code: int
    out: str
    err: str


def isogloss(*words: object) -> Finished:
    """Run a command line in this process; anything but an orderly end is an exception here."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return Finished(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def scored(predictions: Path, *words: object) -> dict[str, Any]:
    """The result record of `isogloss score`, which must succeed; `printed` is what the terminal saw."""
    target = predictions.parent / f"{predictions.name}-results.json"
    done = isogloss("score", predictions, *words, "--json", target)
    assert (done.code, done.err) == (0, ""), done.err
    return {**json.loads(target.read_text(encoding="utf-8")), "printed": done.out}


def refused(predictions: Path, *words: object, code: int = 1) -> str:
    """The message of `isogloss score`, which must end with an exit code and leave nothing behind."""
    target = predictions.parent / f"{predictions.name}-results.json"
    done = isogloss("score", predictions, *words, "--json", target)
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("error: "), done.err
    assert not target.exists()
    return done.err


def cell(record: Mapping[str, Any], task: str, language: str) -> dict[str, Any]:
    """One cell of a record."""
    found: dict[str, Any]
    (found,) = [c for c in record["cells"] if (c["task"], c["language"]) == (task, language)]
    return found


def values(numbers: Mapping[str, Any]) -> dict[str, float]:
    """The bare scores of a cell's or an average's metrics."""
    return {name: number["value"] for name, number in numbers.items()}


def write(path: Path, text: str) -> Path:
    """Write a file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def write_answers(root: Path, task: str, language: str, answers: Mapping[str, Any], split: str = "test") -> Path:
    """A prediction file of our own layout."""
    prefix = "" if split == "test" else f"{split}-"
    rows = [json.dumps({"id": name, "prediction": answer}, ensure_ascii=False) for name, answer in answers.items()]
    return write(root / task / f"{prefix}{language}.jsonl", "".join(f"{row}\n" for row in rows))


def write_xtreme(root: Path, task: str, language: str, text: str, split: str = "test") -> Path:
    """A prediction or label file of XTREME's layout."""
    suffix = XTREME_SUFFIXES.get(task, "tsv")
    return write(root / XTREME_FOLDERS.get(task, task) / f"{split}-{language}.{suffix}", text)
