"""A kind from outside the package: its form of answer determines the systems that support it."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from isogloss.systems.base import system
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.kinds.classification import Classification
from isogloss.tasks.registry import task

EVERY_SYSTEM = ("ngram", "embedder", "encoder:m", "dual-encoder:m", "text2text:m")


class Topics(Classification):
    """Labels under another name."""


class Drawings(Classification):
    """A form that no system supports."""

    form: ClassVar[str] = "drawing"


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, cls in (("topics", Topics), ("drawings", Drawings)):
        monkeypatch.setitem(KINDS.shipped, name, f"{__name__}:{cls.__name__}")  # type: ignore[arg-type]
        monkeypatch.delitem(KINDS._loaded, name, raising=False)


def labelled(count: int) -> Examples:
    columns = {"text": [f"day {row}" for row in range(count)], "label": ["MCAT", "GCAT"] * (count // 2)}
    return Examples("mldoc", "en", "train", [str(row) for row in range(count)], dict(columns), "label")


def test_custom_kind_with_labels_is_learned(tiny_bert: Path, tiny_mt5: Path) -> None:
    topics = replace(task("mldoc"), kind="topics")
    for name in ("ngram", f"encoder:{tiny_bert}#steps=1,quiet", f"text2text:{tiny_mt5}#steps=1,quiet"):
        made = system(name)
        assert made.refusal(topics) == ""
        answers = made.fit(topics, labelled(8), 0).predict(labelled(4))
        assert set(answers) <= set(topics.labels)


def test_retrieval_systems_refuse_labels() -> None:
    topics = replace(task("mldoc"), kind="topics")
    for name in ("embedder", "dual-encoder:m"):
        assert system(name).refusal(topics).endswith("supports only retrieval, but mldoc is topics")


@pytest.mark.parametrize("name", EVERY_SYSTEM)
def test_unknown_form_is_refused(name: str) -> None:
    reason = system(name).refusal(replace(task("mldoc"), id="sketches", kind="drawings"))
    assert "sketches" in reason
