"""isogloss import: names, exit codes, files and notes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from e2e.command import Finished, isogloss, write
from isogloss.errors import PredictionError
from isogloss.predictions.importers import TOOLS, detect


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return write(tmp_path / "out" / "predict_predictions.json", '{"q1": "x", "q2": ""}')


def run(out: Path, *words: object, task: str = "xquad", language: str = "en") -> Finished:
    return isogloss("import", *words, "--task", task, "--language", language, "--out", out)


def test_import_prints_the_path_and_a_note_on_unchecked_ids(tmp_path: Path, answers: Path) -> None:
    done = run(tmp_path / "preds", "auto", answers)
    path = tmp_path / "preds/xquad/en.jsonl"
    assert (done.code, done.out) == (0, f"{path}  2 predictions\n")
    assert done.err == "note: ids and texts not checked: pass the examples with --data\n"
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"id": "q1", "prediction": "x"},
        {"id": "q2", "prediction": ""},
    ]


def test_dev_predictions_have_their_own_file(tmp_path: Path, answers: Path) -> None:
    assert run(tmp_path, "hf", answers, "--split", "dev", task="mlqa").code == 0
    assert (tmp_path / "mlqa/dev-en.jsonl").is_file()


def test_existing_predictions_are_replaced_only_with_force(tmp_path: Path, answers: Path) -> None:
    assert run(tmp_path, "hf", answers).code == 0
    again = run(tmp_path, "hf", answers)
    assert again.code == 1
    assert "predictions exist already. Replace them with --force" in again.err
    assert run(tmp_path, "hf", answers, "--force").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lm-evla",), "Did you mean lm-eval"),
        (("hf", "--task", "xqaud"), "Did you mean xquad"),
        (("hf", "--language", "sw"), "unknown language of xquad 'sw'"),
        (("hf", "--split", "train"), "unknown split 'train'"),
        (("hf", "--task", "xnli", "--labels", "neutral,entails"), "unknown label of xnli 'entails'"),
        (("hf", "--nonsense"), "No such option"),
    ],
)
def test_unknown_names_are_usage_errors(tmp_path: Path, answers: Path, words: tuple[str, ...], message: str) -> None:
    tool, *options = words
    done = isogloss("import", tool, answers, "-t", "xquad", "-l", "en", "-o", tmp_path / "preds", *options)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "preds").exists()


def test_rejected_file_writes_nothing(tmp_path: Path) -> None:
    metrics = write(tmp_path / "predict_results.json", '{"predict_accuracy": 0.7, "predict_samples": 5010}')
    done = run(tmp_path / "preds", "auto", metrics, task="xnli")
    assert done.code == 1
    assert done.err.startswith(f"error: {metrics}: only metrics, no answers. The answers are in ")
    missing = run(tmp_path / "preds", "hf", tmp_path / "nowhere.json")
    assert (missing.code, "no such file" in missing.err) == (1, True)
    folder = run(tmp_path / "preds", "hf", tmp_path)
    assert (folder.code, "no such file" in folder.err) == (1, True)
    assert not (tmp_path / "preds").exists()


def test_data_folder_without_the_examples_is_an_error(tmp_path: Path, answers: Path) -> None:
    done = run(tmp_path / "preds", "hf", answers, "--data", tmp_path)
    assert done.code == 1
    assert "no test file of xquad/en" in done.err


def test_tools_are_recognised(tmp_path: Path) -> None:
    sample = {"doc_id": 0, "doc": {}, "filtered_resps": []}
    np.save(tmp_path / "array.npy", np.array([1]))
    files = {
        "samples_x.jsonl": ("lm-eval", json.dumps(sample)),
        "results_x.json": ("lm-eval", '{"results": {}, "configs": {}}'),
        "Mine_predictions.json": ("mteb", '{"mteb_model_meta": {}, "de": {}}'),
        "Old_predictions.json": ("mteb", '{"q": {"d": 1}}'),
        "Mine.json": ("mteb", '{"task_name": "Mine", "scores": {}}'),
        "outputs.json": ("explainaboard", '{"predictions": [{"predicted_label": "Yes"}]}'),
        "list.json": ("explainaboard", '[{"predicted_answers": {"text": "x"}}]'),
        "predict_predictions.json": ("hf", '{"q": "a"}'),
        "choices.json": ("hf", "[0, 1]"),
        "predictions.txt": ("hf", "O O\n"),
    }
    for name, (tool, content) in files.items():
        assert detect([write(tmp_path / name, content)]) == tool, name
    assert detect([tmp_path / "array.npy"]) == "hf"
    assert {tool for tool, _ in files.values()} == set(TOOLS)


def test_unknown_and_mixed_files_are_not_guessed(tmp_path: Path) -> None:
    hers = write(tmp_path / "a.txt", "O\n")
    theirs = write(tmp_path / "b.json", '{"mteb_model_meta": {}}')
    with pytest.raises(PredictionError, match="files from different tools: hf, mteb"):
        detect([hers, theirs])
    for name, content in (("c.csv", "a,b"), ("d.jsonl", "{"), ("e.jsonl", '{"a": 1}'), ("f.json", "1")):
        with pytest.raises(PredictionError, match="unrecognised file format"):
            detect([write(tmp_path / name, content)])


def test_import_of_the_verb_is_light() -> None:
    code = "import sys, isogloss.cli.importing; print(*sorted({'numpy', 'msgspec', 'rich.table'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
