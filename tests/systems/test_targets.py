"""Gold answers as training targets, and errors for invalid ones."""

from typing import Any

import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.ngram.tagging import NgramTagger
from isogloss.systems.targets import IGNORED, answer_spans, tag_ids
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task


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


def tagged(*sentences: tuple[str, list[str | None]]) -> Examples:
    ids = [str(row) for row in range(len(sentences))]
    columns: dict[str, Any] = {
        "tokens": [text.split() for text, _ in sentences],
        "tags": [tags for _, tags in sentences],
    }
    return Examples("udpos", "es", "train", ids, columns, "tags")


def test_words_without_a_tag_are_ignored() -> None:
    task = find_task("udpos")
    noun, verb = (task.labels.index(label) for label in ("NOUN", "VERB"))
    train = tagged(("gatos duermen ya", ["NOUN", "VERB", None]), ("perros", ["NOUN"]))
    assert tag_ids(task, train).tolist() == [noun, verb, IGNORED, noun]
    # An unaligned word teaches nothing: the tagger never answers X.
    train = tagged(*[("gatos duermen ya", ["NOUN", "VERB", None])] * 30)
    [answer] = NgramTagger(task, train, 0).predict(tagged(("ya ya duermen", [None] * 3)))
    assert set(answer) <= {"NOUN", "VERB"}
    with pytest.raises(SystemFailureError, match="no labels"):
        NgramTagger(task, tagged(("ya", [None])), 0)
