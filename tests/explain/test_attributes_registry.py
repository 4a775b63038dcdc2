"""The registry: names, kinds, plugins and user columns."""

import json

import pytest

from isogloss import plugins
from isogloss.errors import DataError, UnknownNameError
from isogloss.explain.attributes import ATTRIBUTES, attribute, attributes_for, from_jsonl, registry
from isogloss.explain.attributes.needs import applies
from isogloss.explain.model import Attribute
from isogloss.explain.selection import choose_attributes
from isogloss.plugins import Registry
from isogloss.tasks import TASKS, task
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS, Kind


def two(language="en", task="xnli"):
    return Examples(task, language, "test", ["a", "b"], {"text_a": ["x", "y"], "text_b": ["x", "z"]}, "label")


def written(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_names_are_unique_within_a_kind_and_every_attribute_has_one():
    without_tasks = {"generation", "multilabel", "regression"}
    assert {task(name).kind for name in TASKS.shipped} == set(KINDS.shipped) - without_tasks
    for kind in KINDS.shipped:
        names = [one.name.casefold() for one in attributes_for(kind)]
        assert names
        assert len(set(names)) == len(names)
    offered = {(one.name, one.needs) for kind in KINDS.shipped for one in attributes_for(kind)}
    assert offered == {(one.name, one.needs) for one in ATTRIBUTES}
    assert all(one.title for one in ATTRIBUTES)


def test_names_are_found_in_any_case_and_near_ones_are_offered():
    assert attribute("ALEN") is attribute("aLen")
    with pytest.raises(UnknownNameError, match=r"Did you mean qType\?"):
        attribute("qtyp")
    with pytest.raises(UnknownNameError, match="unknown kind 'quiz'"):
        attributes_for("quiz")
    with pytest.raises(UnknownNameError, match="unknown convention 'words'"):
        attribute("aLen", "words")


def test_gold_attributes_are_not_offered_without_gold():
    assert "label" not in {one.name for one in attributes_for("classification", two())}
    assert "label" in {one.name for one in attributes_for("classification")}


MODULE = """
from isogloss.explain.model import Attribute

VOWELS = Attribute("vowels", "number of vowels", ("text_a",), values=lambda examples: [0.0] * len(examples))
SURPRISE = Attribute("surprise", "surprise", ("main-text",), values=lambda examples: [1.0] * len(examples))
TAKEN = Attribute("aLen", "again", ("answers",))
AGAIN = Attribute("vowels", "again", ("text_a",))
WRONG = 3
"""
ENTRIES = """[isogloss.attributes]
vowels = brought:VOWELS
surprise = brought:SURPRISE
taken = brought:TAKEN
twice = brought:AGAIN
wrong = brought:WRONG
broken = no_such_module:THING
"""


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """An installed package with valid and broken attributes."""
    info = tmp_path / "brought-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "brought.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "PLUGINS", Registry("attribute", Attribute, {}, "isogloss.attributes"))
    for known in (plugins.entry_points, registry.all_attributes):
        known.cache_clear()
    yield
    for known in (plugins.entry_points, registry.all_attributes):
        known.cache_clear()


def test_plugins_are_added_and_broken_ones_reported(brought):
    with pytest.warns(UserWarning, match="attribute skipped") as caught:
        found = attribute("Vowels")
    reasons = [str(warning.message) for warning in caught]
    assert len(reasons) == 4
    assert any("the name 'aLen' is taken" in reason for reason in reasons)
    assert any("the name 'vowels' is taken" in reason for reason in reasons)
    assert any("it is a int, not a Attribute" in reason for reason in reasons)
    assert any("no_such_module" in reason for reason in reasons)
    assert attribute("aLen").title == "answer length in tokens"
    assert found.title == "number of vowels"
    # It does not declare that it counts tokens, so it is unchanged.
    assert found in attributes_for("classification", convention="whitespace")
    # Like any other, it is offered if its needs are met: this package's attribute is for every kind.
    assert all("surprise" in {one.name for one in attributes_for(kind)} for kind in KINDS)
    assert "vowels" not in {one.name for one in attributes_for("qa")}
    assert "vowels" in {one.name for one in choose_attributes(["vowels"], KINDS).of("classification", two())}


class Similarity(Kind):
    """Sentence similarity: a kind from a plugin."""

    form, answer_type, answer_help = "number", float, "a number"
    inputs = ("text_a", "text_b")
    gold = "similarity"
    provides = ("text_a", "text_b", "similarity")

    def judge(self, task, examples, values):
        raise NotImplementedError


def test_plugin_kind_gets_attributes_it_provides_inputs_for():
    names = [one.name for one in ATTRIBUTES if applies(one, Similarity())]
    assert names == [
        *("t1Len", "t2Len", "t2Len/t1Len", "overlap", "negation"),
        *("script", "scriptMix", "outOfScript", "digits", "punctuation", "confidence", "reply"),
    ]


def test_column_of_numbers(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "b", "value": 2.5}, {"id": "a", "value": 1}), "surprise")
    assert (mine.name, mine.discrete, mine.needs) == ("surprise", False, ())
    assert mine.values(two()).tolist() == [1.0, 2.5]


def test_column_of_strings_and_booleans(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "a", "value": "news"}, {"id": "b", "value": True}), "genre")
    assert mine.discrete
    assert mine.values(two()).tolist() == ["news", "true"]


def test_column_by_task_and_language(tmp_path):
    rows = [
        {"id": "a", "value": 1},
        {"id": "b", "value": 2},
        {"id": "a", "value": 3, "language": "de"},
        {"id": "a", "value": 4, "language": "de", "task": "xnli"},
    ]
    mine = from_jsonl(written(tmp_path, *rows), "surprise")
    assert mine.values(two()).tolist() == [1, 2]
    assert mine.values(two("de")).tolist() == [4, 2]
    assert mine.values(two("de", "pawsx")).tolist() == [3, 2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "value": 1}, {"id": "b", "value": "x"}], "mixes"),
        ([{"id": "a", "value": 1}, {"id": "a", "value": 2}], "duplicate id"),
        ([], "empty file"),
        ([{"id": "a"}], "value"),
    ],
)
def test_unreadable_columns(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        from_jsonl(written(tmp_path, *rows), "mine")


def test_column_with_a_missing_example(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "a", "value": 1}), "mine")
    with pytest.raises(DataError, match="no value for 1 of 2 examples, first 'b'"):
        mine.values(two())
