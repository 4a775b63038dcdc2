"""Multiple choice."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderMultipleChoice
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")


def choices(premise: str, question: str, *options: tuple[str, ...], labels: list[object] | None = None) -> Examples:
    ids = [str(row) for row in range(len(options))]
    columns = {"premise": [premise] * len(ids), "question": [question] * len(ids), "choices": list(options)}
    return Examples("xcopa", "zh", "train", ids, {**columns, "label": labels or [0] * len(ids)}, "label")


@pytest.mark.parametrize(
    ("question", "asked"),
    [("effect", "What was the effect?"), ("cause", "What was the cause?"), ("Who is older?", "Who is older?")],
)
def test_input_format(question: str, asked: str, tiny_bert: Path) -> None:
    adapter = EncoderMultipleChoice(task("xcopa"), BY_HEART, ModelSource(str(tiny_bert)))
    batch = adapter.objective(choices("Eric is older.", question, ("He is.", "She is.", "It is."))).batch(
        np.array([0]), 64, 2
    )
    assert batch["input_ids"].shape == (2, 3, 64)
    assert batch["labels"].tolist() == [0, -100]
    tokenizer = adapter.source.tokenizer
    wanted = tokenizer([f"Eric is older. {asked}"] * 3, ["He is.", "She is.", "It is."])
    for row, (ids, segments) in enumerate(zip(wanted["input_ids"], wanted["token_type_ids"], strict=True)):
        assert batch["input_ids"][0, row, : len(ids)].tolist() == ids
        assert batch["token_type_ids"][0, row, : len(ids)].tolist() == segments
        assert batch["attention_mask"][0, row].sum() == len(ids)


@pytest.mark.slow
def test_stages_with_different_numbers_of_choices(tiny_bert: Path) -> None:
    """Three choices first, then two, with one model and one head."""
    from isogloss.training.loop import train as learn

    adapter = EncoderMultipleChoice(task("mini-xcopa"), BY_HEART, ModelSource(str(tiny_bert)))
    pairs = load("mini-xcopa", "en", "train").keep(range(8))
    three = pairs.keep(range(8))
    three.columns["choices"] = [(*pair, "It is.") for pair in pairs["choices"]]
    model = adapter.load_model(0)
    for stage, rows in ((three, 3), (pairs, 2)):
        objective = adapter.objective(stage)
        assert objective.rows == rows
        learn(model, objective, BY_HEART)
    assert adapter.predict(model, pairs) == pairs["label"]
    assert set(adapter.predict(model, three)) <= {0, 1, 2}


def test_length_is_that_of_the_longest_choice(letters: ModelSource) -> None:
    objective = EncoderMultipleChoice(task("xcopa"), BY_HEART, letters).objective(
        choices("a", "b", ("c", "ccc"), ("cc", ""))
    )
    assert objective.lengths.tolist() == [3 + 2 + 3, 3 + 2 + 2]


@pytest.mark.parametrize("label", [2, -1, "0"])
def test_labels_out_of_range_raise(label: object, letters: ModelSource) -> None:
    adapter = EncoderMultipleChoice(task("xcopa"), BY_HEART, letters)
    with pytest.raises(SystemFailureError, match=rf"label {label!r} is not an index into 2 choices"):
        adapter.objective(choices("a", "b", ("c", "a"), labels=[label]))


def test_missing_choices_are_masked(letters: ModelSource) -> None:
    """Padding repeats the last choice, which neither the loss nor the argmax sees."""
    objective = EncoderMultipleChoice(task("xcopa"), BY_HEART, letters).objective(
        choices("a", "b", ("c", "a"), ("c", "a", "b"))
    )
    batch = objective.batch(np.array([0, 1]), 16, 3)
    assert batch["absent"].tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert batch["input_ids"][0, 2].tolist() == batch["input_ids"][0, 1].tolist()


@pytest.mark.slow
def test_different_numbers_of_choices_are_learned_together(tiny_bert: Path) -> None:
    from isogloss.training.loop import train as learn

    adapter = EncoderMultipleChoice(task("mini-xcopa"), BY_HEART, ModelSource(str(tiny_bert)))
    examples = load("mini-xcopa", "en", "train").keep(range(8))
    some = [(*pair, "It is.") if row % 2 else pair for row, pair in enumerate(examples["choices"])]
    examples.columns["choices"] = some
    model = adapter.load_model(0)
    learn(model, adapter.objective(examples), BY_HEART)
    assert adapter.predict(model, examples) == examples["label"]
