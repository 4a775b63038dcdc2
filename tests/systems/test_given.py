"""Systems given as objects or as a class in a file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.predictions import Embeddings
from isogloss.predictions.on_demand import AnswerFunction
from isogloss.systems.base import System, SystemFailureError, SystemName, system
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

CELL = {"suite": "mini", "tasks": ["mini-xquad"], "languages": ["sw"], "seeds": 1}

CODE = """
from isogloss.systems import System

class FirstWord(System):
    name = "first-word"

    def __init__(self, *, words: int = 1) -> None:
        self.words = words

    def needs_training(self, task):
        return False

    def fit(self, task, train, seed):
        return self

    def predict(self, examples):
        return [" ".join(text.split()[: self.words]) for text in examples["context"]]
"""


def first_word(examples: Examples) -> list[str]:
    return [text.split()[0] for text in examples["context"]]


class FirstWord(System):
    """The same as a class."""

    name = "class"

    def needs_training(self, task: Task) -> bool:
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> System:
        return self

    def predict(self, examples: Examples) -> list[str]:
        return first_word(examples)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(CODE)
    return path


def test_function_object_class_and_file_score_alike(file: Path, tmp_path: Path) -> None:
    given = {"first_word": first_word, "class": FirstWord(), "first-word": f"{file}:FirstWord"}
    means = set()
    for name, chosen in given.items():
        summary = isogloss.run(chosen, out=tmp_path / "runs", **CELL)
        assert (summary.system, summary.cells["done"]) == (name, 1)
        means.add(summary.tasks["mini-xquad"].mean)
    assert len(means) == 1
    assert isogloss.run(FirstWord, out=tmp_path / "others", **CELL).tasks["mini-xquad"].mean in means


def second_choice(examples: Examples) -> Any:
    return np.ones(len(examples), dtype=int)


def numbers(examples: Examples) -> list[Any]:
    return [np.int64(row % 2) for row in range(len(examples))]


def lengths(examples: Examples) -> Embeddings:
    assert examples.pool is not None
    sides = ([[len(text), 1.0] for text in texts] for texts in (examples["text"], examples.pool.text))
    queries, candidates = sides
    return Embeddings(queries=queries, candidates=candidates)


@pytest.mark.parametrize(
    ("given", "task"), [(second_choice, "mini-xcopa"), (numbers, "mini-xcopa"), (lengths, "mini-tatoeba")]
)
def test_arrays_and_embeddings_score_as_in_score(given: AnswerFunction, task: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {**CELL, "tasks": [task]}
    summary = isogloss.run(given, out=tmp_path, **asked)
    del asked["seeds"]
    assert summary.tasks[task].mean == pytest.approx(isogloss.score(given, **asked)[task].score.value)
    answers = {task: {"sw": isogloss.predict(given, task, "sw")}}
    assert isogloss.score(answers, **asked)[task].score == isogloss.score(given, **asked)[task].score


def test_functions_of_modules_run_in_processes(tmp_path: Path) -> None:
    summary = isogloss.run(first_word, out=tmp_path, **{**CELL, "languages": ["en", "sw"], "jobs": 2})
    assert summary.cells["done"] == 2
    with pytest.raises(IsoglossError, match="cannot pickle an object defined outside a module"):
        isogloss.run(lambda examples: ["x"] * len(examples), out=tmp_path, **{**CELL, "jobs": 2})


def test_changed_code_does_not_keep_earlier_predictions(file: Path, tmp_path: Path) -> None:
    isogloss.run(f"{file}:FirstWord", out=tmp_path / "runs", **CELL)
    file.write_text(CODE.replace("[: self.words]", "[-self.words :]"))
    with pytest.raises(IsoglossError, match=r"cells of another configuration: settings\.code was"):
        isogloss.run(f"{file}:FirstWord", out=tmp_path / "runs", **CELL)
    isogloss.run(f"{file}:FirstWord", out=tmp_path / "other", **CELL)
    files = (tmp_path / name / "first-word/zero-shot/seed-0/mini-xquad/sw.jsonl" for name in ("runs", "other"))
    assert len({path.read_text() for path in files}) == 2


@pytest.mark.parametrize(
    ("given", "what"), [(["ngram"], "got list; run several systems one by one"), (7, "got int"), (dict, "got type")]
)
def test_other_objects_are_a_type_error_in_words(given: object, what: str, tmp_path: Path) -> None:
    with pytest.raises(IsoglossError, match=f"^a system is a name such as 'ngram', .*{what}$"):
        isogloss.run(given, out=tmp_path, **CELL)  # type: ignore[arg-type]


def test_function_must_return_one_answer_per_example(tmp_path: Path) -> None:
    summary = isogloss.run(lambda examples: "x" * len(examples), out=tmp_path, **CELL)
    [reason] = summary.failed.values()
    assert "returned str, expected a list with one answer per example" in reason


def test_settings_of_a_class_in_a_file(file: Path) -> None:
    assert SystemName.of(f"{file}:FirstWord#words=3").settings == {"words": 3}
    assert system(f"{file}:FirstWord#words=3").configuration["settings"]["words"] == 3


def test_wrong_files_are_explained(file: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown class of own\.py 'FirstWrod'\. Did you mean FirstWord"):
        system(f"{file}:FirstWrod")
    with pytest.raises(SystemFailureError, match=r"missing\.py: no such file\. A system in a file is named"):
        system(f"{file.parent}/missing.py:FirstWord")
    with pytest.raises(SystemFailureError, match="No module named 'surely_missing'"):
        (file.parent / "broken.py").write_text("import surely_missing")
        system(f"{file.parent}/broken.py:FirstWord")
    with pytest.raises(SystemFailureError, match="is not a System"):
        (file.parent / "other.py").write_text("class Other: pass")
        system(f"{file.parent}/other.py:Other")
