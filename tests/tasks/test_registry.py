"""Tasks are data: what they say must be consistent."""

from collections.abc import Mapping

import pytest

import isogloss
from isogloss.errors import UnknownNameError
from isogloss.languages import CODES
from isogloss.metrics.aggregate import CATEGORY_OF
from isogloss.tasks.kinds import kind
from isogloss.tasks.loading import _reader
from isogloss.tasks.registry import SUITES, TASKS, chosen, suite, task


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_complete(name: str) -> None:
    one = task(name)
    assert one.id == name
    assert {*one.languages, *one.also} <= set(CODES)
    assert len(set(one.languages)) == len(one.languages)
    assert one.category == CATEGORY_OF[name]
    assert kind(one.kind).shape
    for layout in one.layouts:
        assert callable(_reader(layout.reader))
    counts = one.counts.get("test")
    if isinstance(counts, Mapping):
        assert set(counts) == set(one.languages)


def test_language_counts_of_the_suites() -> None:
    # XTREME-R's tables list 38, 48 and 41 languages for these three; XTREME's 33, 40 and 36.
    r, x = suite("xtreme-r"), suite("xtreme")
    assert [len(r.languages_of(name)) for name in ("udpos", "wikiann", "tatoeba")] == [38, 48, 41]
    assert [len(x.languages_of(name)) for name in ("udpos", "wikiann", "tatoeba")] == [33, 40, 36]
    assert [len(r.languages_of(name)) for name in ("xnli", "xcopa", "xquad", "mlqa", "tydiqa")] == [15, 11, 11, 7, 9]
    assert [len(r.tasks), len(x.tasks)] == [10, 9]


def test_aliases_are_understood_and_never_shown() -> None:
    assert isogloss.task("panx").id == "wikiann"
    assert isogloss.task("BUCC2018").id == "bucc"
    assert chosen(["panx,xquad", "wikiann"], ()) == ("wikiann", "xquad")


def test_an_unknown_task_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean xquad"):
        isogloss.task("xqaud")
    with pytest.raises(UnknownNameError, match="unknown suite 'xtrem'"):
        suite("xtrem")


def test_rules_of_the_suites() -> None:
    assert {s.id: s.rule for s in SUITES} == {
        "xtreme-r": "category",
        "xtreme": "flat",
        "mldoc": "flat",
        "mini": "category",
    }
