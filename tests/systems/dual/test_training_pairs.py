"""Training pairs of a dual encoder."""

from typing import Any

import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.dual.system import training_pairs
from isogloss.tasks.examples import Examples, Pool

LEFT_OUT = "left out: the answer is outside every sentence, or not a candidate"


def reading(**columns: Any) -> Examples:
    return Examples("xquad", "en", "train", [str(row) for row in range(len(columns["question"]))], columns, "answers")


def test_answer_is_its_sentence_and_paragraph() -> None:
    context = "Ann saw a dog.\nIt was red."
    found = training_pairs(
        reading(
            question=["Who?", "What?", "Colour?", "Where?"],
            context=[context] * 4,
            answers=[["Ann"], ["dog"], ["red"], ["nowhere"]],
            answer_starts=[[0], [10], [22], [-1]],
        )
    )
    assert found.queries == ["Who?", "What?", "Colour?"]
    assert found.answers == ["Ann saw a dog.Ann saw a dog.It was red.", "It was red.Ann saw a dog.It was red."]
    assert found.numbers.tolist() == [[0, 0], [1, 0], [2, 1]]
    assert found.notes == [f"xquad/en train: 1 of 4 examples {LEFT_OUT}"]


def test_pool_answers_by_id() -> None:
    pool = Pool(lambda: {"Q1": "en", "Q2": "en"}, lambda: ["one", "two"])
    columns: dict[str, Any] = {"text": ["a", "b", "c", "a"], "targets": [["Q2"], ["Q1"], ["Q9"], ["Q1"]]}
    found = training_pairs(Examples("mewslix", "en", "train", ["x", "y", "z", "w"], columns, "targets", pool=pool))
    assert (found.queries, found.answers) == (["a", "b"], ["two", "one"])
    assert found.numbers.tolist() == [[0, 0], [1, 1], [0, 1]]
    assert found.notes == [f"mewslix/en train: 1 of 4 examples {LEFT_OUT}"]


@pytest.mark.parametrize(
    "columns",
    [
        {"question": ["Who?"], "context": ["Ann."], "answers": [["Ann"]], "answer_starts": [[-1]]},
        {"question": ["Who?"], "context": ["Ann."]},
    ],
)
def test_unusable_training_set_raises(columns: dict[str, Any]) -> None:
    with pytest.raises(SystemFailureError, match="xquad/en train: no query-answer pairs"):
        training_pairs(reading(**columns))
