"""Weights on disk, training stages, and progress output."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import DataError
from isogloss.systems.base import FitContext, system
from isogloss.systems.neural.fine_tuning import with_stages
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.systems.neural.progress import ProgressDisplay, show_progress
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.training.recipes import recipe

XCOPA = task("xcopa")
RECORD = {"context": "Eric fell.", "question": "Why?", "answerA": "a", "answerB": "b", "answerC": "c", "correct": "C"}


def write(path: Path, *records: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def copa(root: Path | None, language: str = "en") -> Examples:
    """A training set of XCOPA in a folder."""
    columns: dict[str, Any] = {"premise": ["p"], "question": ["cause"], "choices": [("a", "b")], "label": [0]}
    return Examples("xcopa", language, "train", ["0"], columns, "label", root=root)


def staged(
    root: Path | None, language: str = "en", of: Task = XCOPA, **settings: Any
) -> tuple[list[Examples], list[str]]:
    """Return the stages of a fit, and the notes."""
    return with_stages(recipe("paper", "xcopa", "base", settings), of, copa(root, language))


def test_social_iqa_is_a_choice_of_three(tmp_path: Path) -> None:
    write(tmp_path / "siqa" / "socialIQa_v1.4_trn.jsonl", RECORD, {**RECORD, "correct": "A"})
    (found, own), notes = staged(tmp_path)
    assert found["premise"] == ["Eric fell."] * 2
    assert found["question"] == ["Why?"] * 2
    assert found["choices"] == [("a", "b", "c")] * 2
    assert found["label"] == [2, 0]
    assert found.checksum
    assert (len(own), notes) == (1, [])


@pytest.mark.parametrize("has_folder", [True, False])
def test_missing_stage_error_offers_both_fixes(tmp_path: Path, has_folder: bool) -> None:
    root = tmp_path if has_folder else None
    said = r"isogloss fetch siqa, or set siqa = false, which makes it another recipe: paper-without-siqa"
    with pytest.raises(DataError, match=said):
        staged(root)
    assert len(staged(root, siqa=False)[0]) == 1
    with pytest.raises(DataError, match=r"missing training set 'mine\.jsonl', a stage before xcopa"):
        staged(root, stages=["mine.jsonl"])


def test_stage_may_be_any_file_of_the_format(tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", RECORD)
    assert [len(part) for part in staged(tmp_path, stages=["mine.jsonl"])[0]] == [1, 1]


def test_invalid_stages_raise(tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", RECORD, {**RECORD, "correct": "D"})
    with pytest.raises(DataError, match=r"mine.jsonl:2: correct is 'D', expected one of A, B, C"):
        staged(tmp_path, stages=["mine.jsonl"])
    with pytest.raises(DataError, match="stage siqa is multiple choice and cannot precede xnli"):
        staged(tmp_path, of=task("xnli"))


def test_translated_training_set_uses_translated_social_iqa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "siqa" / "train.en.jsonl", RECORD)
    write(tmp_path / "siqa" / "train.it.jsonl", {**RECORD, "context": "Eric cadde."})
    (found, _), notes = staged(tmp_path, "it")
    assert (found.language, found["premise"], notes) == ("it", ["Eric cadde."], [])
    # No Turkish translation: English, with a note.
    (found, _), notes = staged(tmp_path, "tr")
    assert (found.language, found["premise"]) == ("en", ["Eric fell."])
    assert notes == ["stage siqa: in English, as translations to tr are missing (siqa/train.tr.jsonl)"]
    # Of several, those that exist.
    (found, _), notes = staged(tmp_path, "en+it+tr")
    assert (found.language, found["premise"]) == ("en+it", ["Eric fell.", "Eric cadde."])
    assert found["language"] == ["en", "it"]
    assert len(notes) == 1
    # Translations may have their own folder.
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "translations"))
    write(tmp_path / "translations" / "siqa" / "train.tr.jsonl", {**RECORD, "context": "Eric düştü."})
    assert staged(tmp_path, "tr")[0][0]["premise"] == ["Eric düştü."]


def test_stages_are_trained_in_order(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
    of = task("mini-xcopa")
    train = load(of, "en", "train").keep(range(16))
    train.root = tmp_path
    context = FitContext(
        folder=tmp_path / "fit", languages=("et",), examples=lambda language, split: load(of, language, split)
    )
    settings: dict[str, Any] = {"quiet": True, "batch": 8, "epochs": 1, "checkpoints": 100, "stages": ["siqa"]}
    made = system(f"encoder:{tiny_bert}", **settings)
    with pytest.raises(DataError, match="missing the Social IQa training set"):
        made.learn(of, train, 0, context)
    without = system(f"encoder:{tiny_bert}", **settings, siqa=False)
    without.learn(of, train, 0, context)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert (log.recipe["name"], log.stages) == ("paper-without-siqa", [])
    alone = without._model.model.classifier.weight.detach().clone()
    # The file now exists, which makes it another fit. It is read once.
    write(tmp_path / "siqa" / "train.en.jsonl", *[RECORD] * 8)
    read: list[Any] = []
    monkeypatch.setattr(
        "isogloss.systems.neural.fine_tuning.with_stages", lambda *words: read.append(words) or with_stages(*words)
    )
    made.learn(of, train, 0, context)
    assert len(read) == 1
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.stages[0]["examples"] == 8
    assert log.recipe["name"] == "paper"
    assert not made._model.model.classifier.weight.equal(alone)


def test_parameters_outside_the_transformer_are_saved(tiny_bert: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
    from transformers import AutoModel

    from isogloss.systems.dual.contrastive import DualEncoder
    from isogloss.systems.pretrained import ModelSource, restore, save

    source = ModelSource(str(tiny_bert), random=True)
    model, other = (
        DualEncoder(source.load_model("AutoModel", seed), "mean", scale) for seed, scale in ((0, 3.0), (1, 100.0))
    )
    model.to(torch.bfloat16)
    save(model, tmp_path / "weights", source.tokenizer)
    save(model, tmp_path / "weights", source.tokenizer)  # overwrite
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]
    restore(other, tmp_path / "weights")
    found = other.state_dict()
    assert all(found[name].equal(tensor) for name, tensor in model.state_dict().items())
    assert {tensor.dtype for tensor in other.parameters()} == {torch.bfloat16}
    assert AutoModel.from_pretrained(tmp_path / "weights").config.hidden_size == 64
    with pytest.raises(TypeError, match="Linear does not contain a transformers model"):
        save(torch.nn.Linear(1, 1), tmp_path / "no", source.tokenizer)


def test_log_lines_without_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.systems.neural.progress.EVERY", -1.0)
    with show_progress("xnli seed 0") as display:
        display.step(10, 30, 1.25, 2e-5, 12345.6, 0.417)
        display._began -= 60
        display.step(20, 30, 1.25, 2e-5, 12345.6, 0.417)
        display.checkpoint(20, 30, 0.5, {"en": 80.04, "de": 60.0, "sw": 50.0})
        display.checkpoint(30, 30, 0.5, {})
    assert capsys.readouterr().err.splitlines() == [
        "xnli seed 0: 10 of 30: loss 1.250, lr 2e-05, 12.3k tokens/s, 42 % MFU, about – left",
        "xnli seed 0: 20 of 30: loss 1.250, lr 2e-05, 12.3k tokens/s, 42 % MFU, about 1:00 left",
        "xnli seed 0: checkpoint at 20 of 30: loss 0.5000, en dev 80.0, mean dev of 2 other languages 55.0",
        "xnli seed 0: checkpoint at 30 of 30: loss 0.5000",
    ]
    ProgressDisplay("xnli", quiet=True).checkpoint(1, 1, 1.0, {})
    assert capsys.readouterr().err == ""


def test_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    with show_progress("xnli seed 0") as display:
        display.step(10, 30, 1.25, 2e-5, 12345.6, 0.417)
        display.checkpoint(20, 30, 0.5, {"en": 80.0})
    assert "10/30" in stream.getvalue()
    assert "loss 1.250, lr 2e-05, 12.3k tokens/s, 42 % MFU" in stream.getvalue()
    assert "xnli seed 0: checkpoint at 20 of 30: loss 0.5000, en dev 80.0" in stream.getvalue()
