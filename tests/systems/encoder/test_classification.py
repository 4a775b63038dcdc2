"""Classification of one text and of two."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderClassifier
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")


def documents(texts: list[str], labels: list[str]) -> Examples:
    ids = [str(row) for row in range(len(texts))]
    return Examples("mldoc", "en", "train", ids, {"text": texts, "label": labels}, "label")


def test_rows_by_hand(letters: ModelSource) -> None:
    adapter = EncoderClassifier(task("mldoc"), replace(BY_HEART, max_length=5), letters)
    objective = adapter.objective(documents(["ab", "abc ab", ""], ["MCAT", "CCAT", "GCAT"]))
    assert objective.lengths.tolist() == [4, 5, 2]
    batch = objective.batch(np.array([1, 0]), 5, 3)
    assert batch["input_ids"].tolist() == [[2, 4, 8, 9, 3], [2, 4, 8, 3, 0], [0, 0, 0, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 0, 0, 0, 0]]
    assert batch["labels"].tolist() == [0, 3, -100]
    assert objective.weight(np.array([1, 0])) == 2.0


def test_unknown_label_raises(letters: ModelSource) -> None:
    adapter = EncoderClassifier(task("mldoc"), BY_HEART, letters)
    with pytest.raises(SystemFailureError, match=r"mldoc/en train: unknown label 'SPORT'.*mldoc has CCAT, ECAT"):
        adapter.objective(documents(["a"], ["SPORT"]))


def test_missing_weights_raise(letters: ModelSource) -> None:
    with pytest.raises(SystemFailureError, match=r"cannot load the weights: .*Pass a folder with config\.json"):
        EncoderClassifier(task("mldoc"), BY_HEART, letters).load_model(0)


def test_head_depends_on_the_seed(tiny_bert: Path) -> None:
    adapter = EncoderClassifier(task("mini-xnli"), BY_HEART, ModelSource(str(tiny_bert)))
    first, again, other = (adapter.load_model(seed).classifier.weight for seed in (1, 1, 2))
    assert first.equal(again)
    assert not first.equal(other)
    assert adapter.load_model(0).config.id2label == dict(enumerate(task("xnli").labels))
