"""The dual encoder as a system: what it refuses, what it learns from, and a whole cell."""

from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.errors import UnknownNameError
from isogloss.systems import system
from isogloss.systems.base import SystemFailureError


def dual(model: Any = "a/model", **settings: Any) -> Any:
    return system(f"dual-encoder:{model}", quiet=True, **settings)


def test_names_tell_settings_apart() -> None:
    assert dual().name == "dual-encoder-model"
    assert dual(pooling="mean", both=True).name == "dual-encoder-model-mean-both"
    assert dual("a/model", random=True, pooling="cls").name == "dual-encoder-model-random-cls"
    with pytest.raises(UnknownNameError, match=r"unknown pooling 'man'\. Did you mean mean"):
        dual(pooling="man")


def test_only_retrieval() -> None:
    for name in ("lareqa", "mewslix", "tatoeba", "bucc", "mini-lareqa"):
        assert dual().refusal(isogloss.task(name)) == ""
    for name in ("xnli", "xcopa", "udpos", "xquad"):
        assert f"and {name} is " in dual().refusal(isogloss.task(name))
    with pytest.raises(SystemFailureError, match="xnli: dual-encoder does retrieval only"):
        dual().fit(isogloss.task("xnli"), None, 0)


@pytest.mark.parametrize(
    ("task", "source"),
    [
        ("lareqa", "xquad"),
        ("tatoeba", "xquad"),
        ("bucc", "xquad"),
        ("mewslix", "mewslix"),
        ("mini-lareqa", "mini-xquad"),
        ("mini-tatoeba", "mini-xquad"),
        ("mini-mewslix", "mini-xquad"),
    ],
)
def test_what_is_learnt_from(tiny_bert: Path, task: str, source: str) -> None:
    assert dual(tiny_bert).learns_from(isogloss.task(task)).id == source


@pytest.mark.slow
def test_a_cell_from_training_to_answers(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path))
    made = dual(tiny_bert, steps=3, batch=32, micro=8, max_length=40, query_length=24, pooling="mean")
    train = isogloss.load("mini-xquad", "en", "train")
    examples = isogloss.load("mini-lareqa", "de", "test")
    answers = made.fit(isogloss.task("mini-lareqa"), train.keep(range(64)), 0).predict(examples)
    again = dual(tiny_bert, steps=3, batch=32, micro=8, max_length=40, query_length=24, pooling="mean")
    assert examples.pool is not None
    assert {len(ranked) for ranked in answers} == {33}  # fourteen targets: enough for the figures of one of them
    assert set(answers[0]) <= set(examples.pool.ids)
    assert again.fit(isogloss.task("mini-lareqa"), train.keep(range(64)), 0).predict(examples) == answers
    assert made.metadata["pooling"] == "mean"
    assert made.metadata["directions"] == 1
