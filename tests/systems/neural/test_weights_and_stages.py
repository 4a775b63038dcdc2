"""Weights on disk, training sets that come before, and what is shown meanwhile."""

import io
import json
import sys
from pathlib import Path

import pytest

from isogloss.errors import DataError
from isogloss.systems.base import FitContext, system
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.systems.neural.progress import ProgressDisplay, show_progress
from isogloss.systems.neural.stages import stage
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task

XCOPA = task("xcopa")
RECORD = {"context": "Eric fell.", "question": "Why?", "answerA": "a", "answerB": "b", "answerC": "c", "correct": "C"}


def write(path: Path, *records: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_social_iqa_is_a_choice_of_three(tmp_path: Path) -> None:
    write(tmp_path / "siqa" / "socialIQa_v1.4_trn.jsonl", RECORD, {**RECORD, "correct": "A"})
    found = stage("siqa", XCOPA, tmp_path)
    assert found is not None
    assert found["premise"] == ["Eric fell."] * 2
    assert found["question"] == ["Why?"] * 2
    assert found["choices"] == [("a", "b", "c")] * 2
    assert found["label"] == [2, 0]
    assert found.checksum


def test_a_stage_may_be_any_file_of_that_format_or_absent(tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", RECORD)
    assert stage("siqa", XCOPA, tmp_path) is None
    assert stage("siqa", XCOPA, None) is None
    found = stage("mine.jsonl", XCOPA, tmp_path)
    assert found is not None
    assert len(found) == 1


def test_stages_that_make_no_sense(tmp_path: Path) -> None:
    write(tmp_path / "mine.jsonl", RECORD, {**RECORD, "correct": "D"})
    with pytest.raises(DataError, match=r"mine.jsonl:2: correct is 'D', not A, B, C"):
        stage("mine.jsonl", XCOPA, tmp_path)
    with pytest.raises(DataError, match="no stage comes before xnli"):
        stage("siqa", task("xnli"), tmp_path)


def test_stages_are_learnt_one_after_the_other(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
    of = task("mini-xcopa")
    train = load(of, "en", "train").keep(range(16))
    train.root = tmp_path
    context = FitContext(tmp_path / "fit", ("et",), lambda language, split: load(of, language, split))
    made = system(f"encoder:{tiny_bert}", quiet=True, batch=8, epochs=1, checkpoints=100)
    made.learn(of, train, 0, context)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert "stage siqa: its file is not there, and was left out" in log.notes
    alone = made._model.model.classifier.weight.detach().clone()
    # The file has come: it is another fit now. It is read once.
    write(tmp_path / "siqa" / "train.en.jsonl", *[RECORD] * 8)
    read = []
    monkeypatch.setattr("isogloss.systems.neural.fine_tuning.stage", lambda *words: read.append(words) or stage(*words))
    made.learn(of, train, 0, context)
    assert [name for name, *_ in read] == ["siqa"]
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.stages[0]["examples"] == 8
    assert not any("siqa" in note for note in log.notes)
    assert not made._model.model.classifier.weight.equal(alone)


def test_what_is_not_the_transformers_own_is_kept_too(tiny_bert: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
    from transformers import AutoModel

    from isogloss.systems.dual.contrastive import DualEncoder
    from isogloss.systems.neural.weights import restore, save
    from isogloss.systems.pretrained import ModelSource

    source = ModelSource(str(tiny_bert), random=True)
    model, other = (
        DualEncoder(source.load_model("AutoModel", seed), "mean", scale) for seed, scale in ((0, 3.0), (1, 100.0))
    )
    model.to(torch.bfloat16)
    save(model, tmp_path / "weights", source.tokenizer)
    save(model, tmp_path / "weights", source.tokenizer)  # again, over it
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]
    restore(other, tmp_path / "weights")
    found = other.state_dict()
    assert all(found[name].equal(tensor) for name, tensor in model.state_dict().items())
    assert {tensor.dtype for tensor in other.parameters()} == {torch.bfloat16}
    assert AutoModel.from_pretrained(tmp_path / "weights").config.hidden_size == 64
    with pytest.raises(TypeError, match="Linear has no transformers model in it"):
        save(torch.nn.Linear(1, 1), tmp_path / "no", source.tokenizer)


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.systems.neural.progress.EVERY", -1.0)
    with show_progress("xnli seed 0") as display:
        display.step(10, 30, 1.25, 2e-5, 12345.6, 0.417)
        display._began -= 60
        display.step(20, 30, 1.25, 2e-5, 12345.6, 0.417)
        display.checkpoint(20, 30, 0.5, {"en": 80.04, "de": 60.0, "sw": 50.0})
        display.checkpoint(30, 30, 0.5, {})
    assert capsys.readouterr().err.splitlines() == [
        "xnli seed 0: 10 of 30: loss 1.250, lr 2e-05, 12.3k tokens/s, 42 % MFU, about – to go",
        "xnli seed 0: 20 of 30: loss 1.250, lr 2e-05, 12.3k tokens/s, 42 % MFU, about 1:00 to go",
        "xnli seed 0: checkpoint at 20 of 30: loss 0.5000, en dev 80.0, dev of 2 other languages 55.0",
        "xnli seed 0: checkpoint at 30 of 30: loss 0.5000",
    ]
    ProgressDisplay("xnli", quiet=True).checkpoint(1, 1, 1.0, {})
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
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
