"""Parsing of attribute selections: names, conventions, binning rules, and invalid words."""

import json
from pathlib import Path

import numpy as np
import pytest

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.explain.selection import AttributeSelection, choose_attributes
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS

COLUMN = np.arange(9.0)


def asked(question: str, language: str) -> Examples:
    columns = {"question": [question], "context": ["c"], "answers": [["a"]]}
    return Examples("xquad", language, "test", ["q"], columns, "answers")


def own(folder: Path, name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"id": "q0", "value": 3}) + "\n")
    return path


def test_attributes_by_name_with_edges_and_from_files(tmp_path: Path) -> None:
    selection = choose_attributes(["alen=5:2", "tag", f"hardness@{own(tmp_path)}"], KINDS)
    assert [one.name for one in selection.attributes or ()] == ["aLen", "tag", "hardness"]
    assert selection.rules == {"aLen": (5, 2)}
    assert [found.name for found in selection.of("qa")] == ["aLen", "hardness"]
    assert [found.name for found in selection.of("tagging")] == ["tag", "hardness"]
    assert selection.binning(selection.of("qa")[0], COLUMN).edges == (2, 5)
    assert choose_attributes(None, KINDS) == AttributeSelection()


def test_file_has_edges_too_and_its_path_may_have_an_equals_sign(tmp_path: Path) -> None:
    path = own(tmp_path, "run=3/mine.jsonl")
    selection = choose_attributes([f"a@{path}", f"b@{path}=1:2"], KINDS)
    assert [one.name for one in selection.of("qa")] == ["a", "b"]
    assert (selection.rule("a"), selection.rule("b")) == ("language", (1, 2))


def test_lengths_are_counted_by_the_convention_that_is_named() -> None:
    examples = asked("谁 是 他", "zh")
    by_name = {
        one.name: one for one in choose_attributes(["qLen", "qlen@whitespace", "qType"], ["qa"]).of("qa", examples)
    }
    assert list(by_name) == ["qLen", "qType", "qLen@whitespace"]
    longer = asked("他们是谁？ 我", "zh")
    assert [by_name[name].values(longer).tolist() for name in ("qLen", "qLen@whitespace")] == [[6], [2]]
    assert by_name["qLen@whitespace"].title == "question length in tokens (whitespace)"


def test_convention_can_apply_to_all_attributes() -> None:
    names = [one.name for one in choose_attributes(["all@whitespace"], ["qa"]).of("qa")]
    assert {"aLen@whitespace", "qLen/cLen@whitespace", "qType", "digits"} <= set(names)
    assert not {"aLen", "qLen/cLen"} & set(names)
    assert len(names) == len(choose_attributes(["all"], ["qa"]).of("qa")) == len(AttributeSelection().of("qa"))


def test_each_attribute_is_cut_by_its_rule() -> None:
    selection = choose_attributes(["all=greedy", "qLen=shared", "cLen=1:2"], ["qa"])
    assert [selection.rule(name) for name in ("aLen", "qLen", "cLen")] == ["greedy", "shared", (1, 2)]
    assert len(selection.of("qa")) == len(AttributeSelection().of("qa"))


@pytest.mark.parametrize(
    ("words", "edges"),
    [
        (["aLen"], "language"),
        (["all=shared"], "shared"),
        (["aLen=greedy", "qLen=greedy"], "greedy"),
        (["aLen=greedy", "qLen"], "mixed"),
        (["all=greedy", "qLen=shared"], "mixed"),
        (["aLen=1:2", "qLen=shared"], "shared"),
        (["aLen=1:2"], "fixed"),
    ],
)
def test_record_has_the_binning_rule(words: list[str], edges: str) -> None:
    assert choose_attributes(words, ["qa"]).edges == edges


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("aLem", "Did you mean aLen"),
        ("aLen=1:x", "is not a list of edges"),
        ("aLen=sharde", "aLen=shared"),
        ("tag=1:2", "is not numeric"),
        ("tag=greedy", "is not numeric"),
        ("all=1:2", "edges belong to a single attribute"),
        ("all@words", "unknown convention 'words'"),
        ("qType@whitespace", "does not count tokens"),
        ("aLem@whitespace", "Did you mean aLen"),
    ],
)
def test_invalid_words_are_refused(word: str, message: str) -> None:
    with pytest.raises(IsoglossError, match=message):
        choose_attributes([word], KINDS)
    with pytest.raises(UnknownNameError):
        choose_attributes(["tag"], ["qa"])
