"""Gold answers as training targets, and errors for invalid ones."""

from typing import Any

import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.targets import answer_spans
from isogloss.tasks.examples import Examples


def asked(context: str, *answers: Any, **columns: Any) -> Examples:
    ids = [str(row) for row in range(len(answers))]
    every = {"context": [context] * len(ids), "answers": list(answers), **columns}
    return Examples("xquad", "en", "train", ids, every, "answers")


def test_answer_offsets_or_first_occurrence() -> None:
    given = [["cat"]] * 5 + [["dog"], [" "], [], None]
    starts = [[7], [3], [-3], [], None, [0], [1], [0], [0]]
    found = answer_spans(asked("a cat, cat", *given, answer_starts=starts))
    assert found == [(7, 10), *[(2, 5)] * 4, *[(-1, -1)] * 4]
    assert answer_spans(asked("ab b", ["b", "ab"])) == [(1, 2)]


def test_no_answer_in_any_passage_raises() -> None:
    with pytest.raises(SystemFailureError, match="xquad/en train: no training answer occurs in its passage"):
        answer_spans(asked("a cat", ["dog"], []))
