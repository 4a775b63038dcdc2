"""The registry: names, kinds, plugins, a user's column."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from isogloss.errors import DataError, UnknownNameError
from isogloss.explain.attributes import ATTRIBUTES, KINDS, attribute, attributes_for, from_jsonl, plugins, registry
from isogloss.explain.attributes.packages import installed
from isogloss.explain.model import Attribute
from isogloss.tasks import TASKS, task
from isogloss.tasks.examples import Examples


def two(language="en", task="xnli"):
    return Examples(task, language, "test", ["a", "b"], {"text_a": ["x", "y"], "text_b": ["x", "z"]}, "label")


def written(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_names_are_unique_in_any_case_and_kinds_are_the_tasks():
    names = [one.name.casefold() for one in ATTRIBUTES]
    assert len(set(names)) == len(names)
    assert {task(name).kind for name in TASKS.shipped} == set(KINDS)
    assert all(set(one.kinds) <= set(KINDS) and one.title for one in ATTRIBUTES)
    assert all(attributes_for(kind) for kind in KINDS)


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


@dataclass
class Point:
    name: str
    loaded: object

    @property
    def value(self):
        return f"package:{self.name}"

    def load(self):
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def brought(monkeypatch):
    def install(*points):
        monkeypatch.setattr(registry, "installed", lambda: points)
        plugins.cache_clear()

    yield install
    plugins.cache_clear()


def test_plugins_are_added_and_broken_ones_reported(brought):
    mine = Attribute("vowels", "number of vowels", ("qa",), discrete=False, values=lambda examples: np.zeros(2))
    other = Attribute("tone", "tone", ("qa",), discrete=True, values=lambda examples: np.array(["a", "b"]))
    brought(
        Point("one", mine),
        Point("broken", ImportError("no such module")),
        Point("several", [other]),
        Point("taken", Attribute("aLen", "again", ("qa",), discrete=False)),
        Point("wrong", [3]),
        Point("twice", mine),
    )
    with pytest.warns(UserWarning, match="attribute left out") as caught:
        assert attribute("Vowels") is mine
    assert len(caught) == 4
    assert plugins().attributes == (mine, other)
    reasons = dict(problem.split(": ", 1) for problem in plugins().problems)
    assert reasons["package:broken"] == "no such module"
    assert reasons["package:taken"] == "the name 'aLen' is taken"
    assert "not an Attribute" in reasons["package:wrong"]
    assert reasons["package:twice"] == "the name 'vowels' is taken"
    assert attribute("aLen").title == "answer length in tokens"
    # Ours is the only one that knows conventions; another's is left as it is.
    assert mine in attributes_for("qa", convention="whitespace")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("[isogloss.attributes]\nvowels = vowels:ATTRIBUTE\n", ["vowels"]),
        ("[console_scripts]\nvowels = vowels:main\n", []),
    ],
)
def test_packages_that_bring_attributes_are_found(written, found, tmp_path, monkeypatch):
    info = tmp_path / "vowels-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vowels\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(written)
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    assert [point.name for point in installed()] == found
    installed.cache_clear()


def test_column_of_numbers(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "b", "value": 2.5}, {"id": "a", "value": 1}), "surprise")
    assert (mine.name, mine.discrete, mine.kinds) == ("surprise", False, KINDS)
    assert mine.values(two()).tolist() == [1.0, 2.5]


def test_column_of_strings_and_truths(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "a", "value": "news"}, {"id": "b", "value": True}), "genre")
    assert mine.discrete
    assert mine.values(two()).tolist() == ["news", "true"]


def test_column_of_places(tmp_path):
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
        ([{"id": "a", "value": 1}, {"id": "b", "value": "x"}], "mixed"),
        ([{"id": "a", "value": 1}, {"id": "a", "value": 2}], "twice"),
        ([], "no lines"),
        ([{"id": "a"}], "value"),
    ],
)
def test_columns_that_cannot_be_read(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        from_jsonl(written(tmp_path, *rows), "mine")


def test_column_that_lacks_an_example(tmp_path):
    mine = from_jsonl(written(tmp_path, {"id": "a", "value": 1}), "mine")
    with pytest.raises(DataError, match="no value for 1 of 2 examples, the first is 'b'"):
        mine.values(two())
