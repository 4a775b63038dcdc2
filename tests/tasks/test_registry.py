"""Tasks are data: what they say must be consistent."""

from collections.abc import Mapping

import pytest

import isogloss
from isogloss.errors import UnknownNameError
from isogloss.languages import listed_language
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import reader_of
from isogloss.tasks.registry import TASKS, chosen_tasks, task


@pytest.mark.parametrize("name", TASKS.shipped)
def test_every_task_is_complete(name: str) -> None:
    one = task(name)
    assert one.id == name
    assert all(getattr(listed_language(code), "code", "") == code for code in one.every_language)
    assert len(set(one.languages)) == len(one.languages)
    assert one.category in ("classification", "structured", "qa", "retrieval", "checklist")
    assert kind_of(one).answer_help
    for layout in one.layouts:
        assert callable(reader_of(layout))
    counts = one.counts.get("test")
    if isinstance(counts, Mapping):
        assert set(counts) == set(one.languages)


def test_aliases_are_understood_and_never_shown() -> None:
    assert isogloss.task("panx").id == "wikiann"
    assert isogloss.task("BUCC2018").id == "bucc"
    assert chosen_tasks(["panx,xquad", "wikiann"], ()) == ("wikiann", "xquad")


def test_unknown_task_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean xquad"):
        isogloss.task("xqaud")
