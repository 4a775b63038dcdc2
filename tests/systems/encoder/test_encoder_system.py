"""The encoder system as users create it."""

from pathlib import Path
from typing import Any

import pytest

from isogloss.systems.base import FitContext, SystemFailureError, system
from isogloss.systems.encoder import EncoderSystem
from isogloss.systems.encoder.tagging import EncoderEntitySpans
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.shipped import SHIPPED

TASKS = tuple(SHIPPED)

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")


def test_supported_and_refused_tasks(tiny_bert: Path) -> None:
    found = system(f"encoder:{tiny_bert}")
    assert isinstance(found, EncoderSystem)
    refused = {name for name in TASKS if found.refusal(task(name))}
    assert refused == {"mewslix", "lareqa"}
    assert "use dual-encoder" in found.refusal(task("lareqa"))


def test_raw_changes_name_and_tasks(tiny_bert: Path) -> None:
    words, raw = system(f"encoder:{tiny_bert}"), system(f"encoder:{tiny_bert}", raw=True)
    assert raw.name == f"{words.name}-raw"
    assert raw.metadata["raw"] is True
    assert "raw" not in words.metadata
    assert isinstance(raw, EncoderSystem)
    assert isinstance(raw.adapter(task("wikiann")), EncoderEntitySpans)
    assert {name for name in TASKS if not raw.refusal(task(name))} == {"wikiann", "conll"}
    assert raw.refusal(task("udpos")) == "raw requires a task with named entities, unlike udpos"


@pytest.mark.parametrize("raw", [False, True])
def test_fit_and_predict(raw: bool, tiny_bert: Path) -> None:
    found = system(f"encoder:{tiny_bert}", raw=raw, quiet=True, epochs=1, learning_rate=1e-3, batch=32)
    of = task("mini-wikiann")
    found.fit(of, load(of, "en", "train").keep(range(96)), 0)
    for language in ("en", "zh", "th"):
        examples = load(of, language, "test")
        answers = found.predict(examples)
        assert len(answers) == len(examples)
        if not raw:
            assert list(map(len, answers)) == list(map(len, examples["tokens"]))


def test_random_weights_are_marked(tiny_bert: Path) -> None:
    of = task("mini-xnli")
    known, random = (system(f"encoder:{tiny_bert}{mark}") for mark in ("", "#random"))
    assert isinstance(known, EncoderSystem)
    assert isinstance(random, EncoderSystem)
    models: list[Any] = [found.adapter(of).load_model(0) for found in (known, random)]
    opened = [model.get_input_embeddings().weight for model in models]
    assert opened[0].shape == opened[1].shape
    assert not opened[0].equal(opened[1])


def test_model_with_a_decoder_raises(tiny_mt5: Path) -> None:
    found = system(f"encoder:{tiny_mt5}")
    assert isinstance(found, EncoderSystem)
    with pytest.raises(SystemFailureError, match=r"does not support models with a decoder.*text2text:"):
        found.adapter(task("xnli"))


def test_missing_model_raises(tmp_path: Path) -> None:
    found = system(f"encoder:{tmp_path}")
    assert isinstance(found, EncoderSystem)
    with pytest.raises(SystemFailureError, match="cannot open the model"):
        found.adapter(task("xnli"))


def test_unsupported_language_does_not_affect_others(tiny_xlm: Path, tmp_path: Path) -> None:
    of = task("mini-xnli")
    found = system(f"encoder:{tiny_xlm}", quiet=True, steps=2, batch=8, checkpoints=50)
    context = FitContext(
        folder=tmp_path,
        languages=("de", "sw"),
        examples=lambda language, split: load(of, language, split).keep(range(4)),
    )
    found.learn(of, load(of, "en", "train").keep(range(16)), 0, context)
    log = read_fit_log(tmp_path)
    assert log is not None
    assert "sw test: the model has no number for 'sw'" in log.notes
    assert len(found.predict(load(of, "de", "test"))) == len(load(of, "de", "test"))
    with pytest.raises(SystemFailureError, match=r"the model has no number for 'sw'\. It supports ar, de"):
        found.predict(load(of, "sw", "test"))
