"""`xtreme-r:MODEL`: every task by the right trainer, in one folder with one record."""

import json
from pathlib import Path
from typing import Any

import pytest

import isogloss
from caches import new_cache
from isogloss.systems.base import system
from isogloss.systems.baseline import BaselineSystem
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

QUICK: dict[str, Any] = {
    "steps": 2,
    "batch": 4,
    "candidates": 2,
    "checkpoints": 100,
    "max_length": 48,
    "query_length": 16,
    "stride": 16,
    "dev_examples": 0,
    "test_examples": 0,
    "selecting_examples": 8,
}
# The adapter that each of the suite's tasks is trained with, by what the sources do for its kind.
TRAINED_AS = {
    "mini-xnli": "EncoderClassifier",
    "mini-xcopa": "EncoderMultipleChoice",
    "mini-udpos": "EncoderTagger",
    "mini-wikiann": "EncoderTagger",
    "mini-xquad": "EncoderReader",
    "mini-mlqa": "EncoderReader",
    "mini-tydiqa": "EncoderReader",
    "mini-tatoeba": "EncoderRetrieval",
    "mini-lareqa": "DualEncoderAdapter",
    "mini-mewslix": "DualEncoderAdapter",
}


@pytest.fixture(autouse=True)
def one_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path_factory.getbasetemp() / "tokens-of-the-baseline")))
    torch.set_num_threads(1)


def baseline(model: Path, **settings: Any) -> BaselineSystem:
    found = system(f"xtreme-r:{model}", quiet=True, **settings)
    assert isinstance(found, BaselineSystem)
    return found


def test_every_task_has_its_trainer(tiny_bert: Path, tiny_mt5: Path) -> None:
    found = baseline(tiny_bert, recipe="scripts")
    assert found.name == f"xtreme-r-{tiny_bert.name}-scripts"
    for name, adapter in TRAINED_AS.items():
        asked = task(name)
        assert not found.refusal(asked)
        assert type(found.adapter(asked)).__name__ == adapter
        full = asked.base_id
        assert found.recipe_for(task(full)) == found.adapter(task(full)).recipe
    assert found.learns_from(task("tatoeba")).id == found.learns_from(task("lareqa")).id == "xquad"
    # One training run on SQuAD serves reading and translations, but not the dual encoder.
    reading, translations, pool = (found.training_key(task(name)) for name in ("xquad", "tatoeba", "lareqa"))
    assert reading == translations != pool
    assert type(baseline(tiny_mt5).adapter(task("xnli"))).__module__.startswith("isogloss.systems.text2text")


def test_settings_reach_every_part(tiny_bert: Path) -> None:
    found = baseline(tiny_bert, epochs=7, label="mine", random=True)
    assert found.name == "mine"
    assert found.metadata["weights"] == "random"
    for name in ("xnli", "lareqa"):
        adapter = found.adapter(task(name))
        assert (adapter.recipe.epochs, adapter.source.random) == (7, True)
    with pytest.raises(isogloss.errors.UnknownNameError, match="xtreme-r"):
        baseline(tiny_bert, raw=True)


def test_a_note_of_the_recipe_is_recorded(tiny_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Appendix G does not give LAReQA's printed column, as the recipe says when training starts and in its log."""
    settings = "steps=1,batch=4,checkpoints=100,select=last,dev_examples=0,test_examples=0,max_length=32,query_length=8"
    isogloss.train(f"xtreme-r:{tiny_bert}#{settings}", ["mini-lareqa"], languages=["de"], out=tmp_path)
    log = read_fit_log(tmp_path / f"xtreme-r-{tiny_bert.name}" / "zero-shot" / "seed-0" / ".training" / "mini-lareqa")
    assert log is not None
    [note] = [note for note in log.notes if note.startswith("paper: appendix G")]
    assert "use the recipe scripts" in note
    assert note in capsys.readouterr().err


def test_a_row_is_one_folder_and_one_record(tiny_bert: Path, tmp_path: Path) -> None:
    """Every kind of task is trained, first two of the tasks, then the others without repeating these."""
    config, codes = tmp_path / "quick.toml", ("de", "sw")
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in QUICK.items()), encoding="utf-8")
    settings: dict[str, Any] = {"config": config, "recipe": "scripts", "out": tmp_path / "runs", "languages": codes}
    mini = suite("mini")
    cells = {(name, code) for name in mini.tasks for code in mini.languages_of(name) if code in codes}
    assert {name for name, _ in cells} == {*TRAINED_AS} == {*mini.tasks}
    some = ["mini-xnli", "mini-lareqa"]
    first = isogloss.train(f"xtreme-r:{tiny_bert}#quiet", some, **settings)
    assert first.cells == {"done": sum(name in some for name, _ in cells), "failed": 0, "skipped": 0, "missing": 0}
    folder = tmp_path / "runs" / f"xtreme-r-{tiny_bert.name}-scripts" / "zero-shot" / "seed-0"
    before = {path: path.stat().st_mtime_ns for path in folder.glob(".training/*/weights/last/*")}
    summary = isogloss.train(f"xtreme-r:{tiny_bert}#quiet", suite="mini", **settings)
    assert summary.cells == {"done": len(cells), "failed": 0, "skipped": 0, "missing": 0}
    assert {path: path.stat().st_mtime_ns for path in before} == before
    log = read_fit_log(folder / ".training" / "mini-tatoeba")
    assert log is not None
    assert set(log.shared_training) == {"mini-xquad", "mini-tatoeba"}
    assert [path.parent for path in tmp_path.glob("runs/*/*/*/results.json")] == [folder]
    scored = isogloss.score(folder, suite="mini")
    assert {(cell.task, cell.language) for cell in scored.cells} == cells
    assert not scored.left_out
    assert scored.overall.score is not None
