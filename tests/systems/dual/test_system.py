"""The dual-encoder system: refusals, training tasks, and a whole cell."""

from pathlib import Path
from typing import Any

import pytest

import isogloss
from caches import new_cache
from isogloss.errors import UnknownNameError
from isogloss.systems import system
from isogloss.systems.base import SystemFailureError


def dual(model: Any = "a/model", **settings: Any) -> Any:
    return system(f"dual-encoder:{model}", quiet=True, **settings)


def test_names_distinguish_settings() -> None:
    assert dual().name == "dual-encoder-model"
    assert dual(pooling="mean", both=True).name == "dual-encoder-model-mean-both"
    assert dual("a/model", random=True, pooling="cls").name == "dual-encoder-model-random-cls"
    with pytest.raises(UnknownNameError, match=r"unknown pooling 'man'\. Did you mean mean"):
        dual(pooling="man")


def test_supports_only_retrieval() -> None:
    for name in ("lareqa", "mewslix", "tatoeba", "bucc", "mini-lareqa"):
        assert dual().refusal(isogloss.task(name)) == ""
    for name in ("xnli", "xcopa", "udpos", "xquad"):
        assert f"but {name} is " in dual().refusal(isogloss.task(name))
    with pytest.raises(SystemFailureError, match="xnli: dual-encoder supports only retrieval"):
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
def test_training_tasks(tiny_bert: Path, task: str, source: str) -> None:
    assert dual(tiny_bert).learns_from(isogloss.task(task)).id == source


@pytest.mark.slow
def test_training_and_prediction_of_a_cell(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    made = dual(tiny_bert, steps=3, batch=32, micro=8, max_length=40, query_length=24, pooling="mean")
    train = isogloss.load("mini-xquad", "en", "train")
    examples = isogloss.load("mini-lareqa", "de", "test")
    answers = made.fit(isogloss.task("mini-lareqa"), train.keep(range(64)), 0).predict(examples)
    again = dual(tiny_bert, steps=3, batch=32, micro=8, max_length=40, query_length=24, pooling="mean")
    assert examples.pool is not None
    assert {len(ranked) for ranked in answers} == {33}  # fourteen targets: enough for the one-target metric
    assert set(answers[0]) <= set(examples.pool.ids)
    assert again.fit(isogloss.task("mini-lareqa"), train.keep(range(64)), 0).predict(examples) == answers
    assert made.metadata["pooling"] == "mean"
    assert made.metadata["directions"] == 1
