"""Answers to a subset that was not passed: an error if the subset is in or beside the folder, a hint otherwise."""

import shutil
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import PredictionError
from isogloss.predictions.problems import ProblemCode
from isogloss.predictions.validate import validate
from predictions.drawn import Answers, answers, only_drawn
from predictions.made import write_jsonl

TASK = "mini-xquad"


def write_answers(root: Path, made: Answers) -> Path:
    for task, languages in made.items():
        for code, by_id in languages.items():
            write_jsonl(root / task / f"{code}.jsonl", by_id)
    return root


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Write answers to 25 of 60 questions beside the exported inputs and the subset."""
    isogloss.export(TASK, tmp_path / "inputs", languages=["en"], subset=25)
    isogloss.export(TASK, tmp_path / "larger", languages=["en"], subset=40)
    return write_answers(tmp_path / "answers", only_drawn(answers(TASK, ["en"], 0.7), tmp_path / "inputs"))


def refused(root: Path) -> str:
    with pytest.raises(PredictionError, match="answers to 25 of 60 examples, those of the subset") as error:
        isogloss.score(root, suite="mini")
    [problem] = validate(root).errors
    assert problem.code is ProblemCode.SUBSET_ANSWERS
    return error.value.what


def test_subset_beside_the_folder(answered: Path) -> None:
    assert f"Pass --subset {answered.parent / f'inputs/{TASK}/subset.json'};" in refused(answered)
    assert isogloss.score(answered, suite="mini", subset=answered.parent / "inputs").cells[0].subset


def test_subset_in_the_folder(answered: Path, tmp_path: Path) -> None:
    apart = tmp_path / "deep/er/answers"
    shutil.copytree(answered, apart)
    shutil.copy(tmp_path / f"inputs/{TASK}/subset.json", apart / TASK)
    assert f"Pass --subset {apart / TASK / 'subset.json'};" in refused(apart)
    # The file itself is expected there, not misnamed.
    assert isogloss.score(apart, suite="mini", subset=apart).left_out == []


def test_subset_beside_a_folder_of_runs(answered: Path, tmp_path: Path) -> None:
    for run in ("prompt-a/seed-0", "prompt-a/seed-1"):
        shutil.copytree(answered, tmp_path / "llm" / run)
    with pytest.raises(PredictionError, match=r"Pass --subset .*inputs/mini-xquad/subset\.json"):
        isogloss.score(tmp_path / "llm", suite="mini")


def test_subset_of_an_exported_file(answered: Path, tmp_path: Path) -> None:
    for name in ("inputs", "larger"):
        shutil.rmtree(tmp_path / name)
    isogloss.export(TASK, tmp_path / "questions.jsonl", languages=["en"], subset=25)
    assert f"Pass --subset {tmp_path / 'questions-subset.json'};" in refused(answered)


def test_other_or_invalid_subsets_leave_a_hint(answered: Path, tmp_path: Path) -> None:
    """Missing answers then count as wrong, as in the reference scorer, and a note names --subset."""
    shutil.rmtree(tmp_path / "larger")
    (tmp_path / f"inputs/{TASK}/subset.json").write_text("{}")
    isogloss.export(TASK, tmp_path / "other", languages=["en"], subset=25, seed=7)
    results = isogloss.score(answered, suite="mini")
    [note] = results.cells[0].notes
    assert note.startswith("no answer for 35 of 60 examples")
    assert note.endswith("They count as wrong. If only a subset was to be answered, pass its file with --subset")
    assert validate(answered).errors == []


def test_few_missing_answers_have_no_hint(tmp_path: Path) -> None:
    made = answers(TASK, ["en"], 0.7)
    made[TASK]["en"].popitem()
    [note] = isogloss.score(write_answers(tmp_path / "answers", made), suite="mini").cells[0].notes
    assert note.endswith("They count as wrong")


def test_classification_names_the_subset_too(tmp_path: Path) -> None:
    isogloss.export("mini-xnli", tmp_path / "inputs", languages=["de"], subset=30)
    part = only_drawn(answers("mini-xnli", ["de"], 0.7), tmp_path / "inputs")
    with pytest.raises(PredictionError, match="those of the subset"):
        isogloss.score(write_answers(tmp_path / "answers", part), suite="mini")
    with pytest.raises(PredictionError, match="no answer for 30 of 60"):
        isogloss.score(part, suite="mini")
