"""Models with their own Python code are refused, and none of it runs, for any input on stdin."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import open_encoder
from isogloss.systems.pretrained import ModelSource

CODE = """
open({marker!r}, "w").close()
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
class OwnConfig(BertConfig):
    model_type = "own-bert"
class OwnModel(BertModel):
    config_class = OwnConfig
class OwnTokenizer(PreTrainedTokenizerFast):
    pass
"""
AUTO_CLASSES = ("AutoModel", "AutoModelForSequenceClassification", "AutoModelForQuestionAnswering")
REFUSED = re.escape("the model requires its own Python code (auto_map), which Isogloss does not run")


def change(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **entries}), encoding="utf-8")


def with_own_architecture(folder: Path, model_type: str = "own-bert") -> None:
    names = {"AutoConfig": "own.OwnConfig", **dict.fromkeys(AUTO_CLASSES, "own.OwnModel")}
    change(folder / "config.json", auto_map=names, model_type=model_type)


def with_known_architecture(folder: Path) -> None:
    """A model type that transformers also has: it would silently use its own class for these weights."""
    with_own_architecture(folder, "bert")


def with_own_tokenizer(folder: Path) -> None:
    names = {"AutoTokenizer": ["own.OwnTokenizer", "own.OwnTokenizer"]}
    change(folder / "tokenizer_config.json", auto_map=names, tokenizer_class="OwnTokenizer")


def own(tiny_bert: Path, tmp_path: Path, change: Callable[[Path], None]) -> Path:
    folder = tmp_path / "own-model"
    shutil.copytree(tiny_bert, folder)
    (folder / "own.py").write_text(CODE.format(marker=str(tmp_path / "ran")), encoding="utf-8")
    change(folder)
    return folder


@pytest.mark.parametrize("change", [with_own_architecture, with_known_architecture, with_own_tokenizer])
def test_custom_code_is_always_refused(
    tiny_bert: Path, tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "yes")
    source = ModelSource(str(folder := own(tiny_bert, tmp_path, change)))
    opened: list[Callable[[], Any]] = [lambda: open_encoder(str(folder), "")]
    if change is with_own_tokenizer:
        opened.append(lambda: source.tokenizer)
    else:
        opened += [lambda: source.config, lambda: source.load_model("AutoModelForQuestionAnswering", 0)]
        opened += [lambda: ModelSource(source.name, random=True).load_model("AutoModel", 0)]
    for act in opened:
        with pytest.raises(SystemFailureError, match=REFUSED):
            act()
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("system", "task"), [("encoder", "mini-xquad"), ("embedder", "mini-tatoeba")])
def test_yes_on_stdin_runs_no_code(tiny_bert: Path, tmp_path: Path, system: str, task: str) -> None:
    folder = own(tiny_bert, tmp_path, with_own_architecture)
    words = ["--suite", "mini", "--tasks", task, "--languages", "de", "--seeds", "1", "--out", str(tmp_path / "runs")]
    caches = {"HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "isogloss", "run", f"{system}:{folder}", *words],
        input="yes\n" * 20,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **caches, "PYTHONPATH": str(Path(isogloss.__file__).parents[1])},
    )
    assert done.returncode == 1
    assert re.search(f"^error: {re.escape(str(folder))}: {REFUSED}", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_every_loader_disables_remote_code() -> None:
    """`from_pretrained` is called in one function, which disables remote code; other loaders must do the same."""
    source = Path(isogloss.__file__).parent
    calls = re.compile(r"\.from_pretrained\(.*|(?<!ScriptDirectory)\.from_config\(.*|SentenceTransformer\(.*")
    found = [line for path in source.rglob("*.py") for line in calls.findall(path.read_text(encoding="utf-8"))]
    assert len(found) == 3
    assert all("trust_remote_code=False" in line for line in found)
