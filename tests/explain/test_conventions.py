"""Conventions (ours, the paper's and ExplainaBoard's) and crossed attributes."""

import numpy as np
import pytest

from isogloss.errors import IsoglossError
from isogloss.explain.attributes import attribute
from isogloss.explain.buckets import learn_binning
from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.model import Attribute
from isogloss.explain.selection import AttributeSelection, choose_attributes
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task


def questions(*asked: str, language: str = "en", answer: str = "Broncos") -> Examples:
    n = len(asked)
    columns = {"question": list(asked), "context": ["one  two three"] * n, "answers": [[answer]] * n}
    return Examples("xquad", language, "test", [str(row) for row in range(n)], columns, "answers")


def test_lengths_of_all_conventions() -> None:
    found = {
        how: [float(attribute(name, how).values(questions("Who won it?"))[0]) for name in ("aLen", "qLen", "cLen")]
        for how in ("script", "whitespace", "paper", "explainaboard")
    }
    assert found == {
        "script": [1, 3, 3],
        "whitespace": [1, 3, 3],
        "paper": [7, 3, 3],  # a single word of five or more letters is counted in letters
        "explainaboard": [1, 3, 4],  # two blanks have an empty token between them
    }
    assert attribute("aLen", "paper").values(questions("q", answer="four"))[0] == 1
    chinese = questions("谁赢了比赛？", "1901 年是什么？", language="zh")
    assert attribute("qLen", "paper").values(chinese).tolist() == [6, 2]


def test_papers_question_types_are_five_first_tokens() -> None:
    asked = [*["What x"] * 6, *["How x"] * 5, *["in what"] * 4, *["WHO x"] * 3, *["Name it"] * 2, "Is it", "Can it"]
    found = attribute("qType", "paper").values(questions(*asked)).tolist()
    assert found == [
        *["what"] * 6,
        *["how"] * 5,
        *["in"] * 4,
        *["who"] * 3,
        *["name"] * 2,
        *["other"] * 2,
    ]
    assert attribute("qType").values(questions("In what year")).tolist() == ["what"]


def test_convention_applies_to_all_unless_overridden() -> None:
    paper = choose_attributes(None, ["qa"], "paper")
    names = [one.name for one in paper.of("qa")]
    assert {"aLen@paper", "qLen@paper", "cLen@paper", "BLEU-AQ@paper", "BLEU-QC@paper", "qType@paper"} <= set(names)
    assert {"aPos", "digits"} <= set(names)  # not defined in the paper
    assert not {"aLen", "BLEU-QC", "qType"} & set(names)
    assert paper.edges == "greedy"
    assert choose_attributes(None, ["tagging"], "paper").edges == "mixed"  # rPos and eLen have their own rules
    assert (paper.rule("aLen@paper"), paper.rule("rPos"), paper.rule("eLen")) == ("greedy", "above-zero", (1, 2, 4))
    some = choose_attributes(["aLen", "qLen@whitespace=2:5", "aPos"], ["qa"], "paper")
    assert [one.name for one in some.attributes or ()] == ["aPos", "qLen@whitespace", "aLen@paper"]
    assert some.rule("qLen@whitespace") == (2, 5)
    shared = choose_attributes(["all=shared"], KINDS, "paper")
    assert {shared.rule(name) for name in ("aLen@paper", "rPos", "eLen")} == {"shared"}
    pairs = {one.name for one in choose_attributes(None, ["classification"], "explainaboard").of("classification")}
    assert {"similarity@explainaboard", "text1_divided_text2@explainaboard"} <= pairs
    ours = {one.name for one in choose_attributes(["all"], KINDS).attributes or ()}
    assert not {"similarity", "text1_divided_text2"} & ours
    assert choose_attributes(None, KINDS) == AttributeSelection()


@pytest.mark.parametrize(
    ("words", "convention", "message"),
    [
        (None, "papers", "unknown convention 'papers'"),
        (["similarity"], "ours", "unknown attribute 'similarity'"),
        (["aPos@paper"], "ours", "aPos does not count tokens: paper does not change it"),
        (["aLen+qTyp"], "ours", "Did you mean qType"),
        (["aLen+errorType"], "ours", "depends on a system's answers"),
    ],
)
def test_unknown_names_are_refused(words: list[str] | None, convention: str, message: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        choose_attributes(words, ["qa", "classification"], convention)
    assert message in str(caught.value)


def test_zero_apart() -> None:
    column = np.array([0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    # Six values are above 0; a third is two, and a bucket must exceed its share.
    assert learn_binning(column, False, greedy=True, zero_apart=True).edges == (0, 0.3)
    assert learn_binning(np.zeros(3), False, greedy=True, zero_apart=True).edges == ()
    assert learn_binning(column[5:], False, greedy=True, zero_apart=True).edges == (0.2, 0.4)


def test_similarity_is_of_the_second_text_against_the_first() -> None:
    columns = {"text_a": ["a b c d e"], "text_b": ["a b c d"], "label": ["neutral"]}
    pair = Examples("xnli", "en", "test", ["0"], columns, "label")
    # All four tokens match; the first text is longer by one: 100 · e^(1 - 5/4).
    assert attribute("similarity", "explainaboard").values(pair)[0] == pytest.approx(100 * np.exp(-0.25))
    assert attribute("text1_divided_text2", "paper").values(pair)[0] == 5 / 4


def test_crossed_buckets_hold_what_both_hold() -> None:
    asked = ["What is x"] * 30 + ["Who is it then please"] * 30 + ["What is it then please"] * 30
    examples = questions(*asked)
    rows = np.repeat([1.0, 0.0, 0.5], 30)[:, None]
    metrics = ({"f1": Statistics(rows, MEAN)},)
    cell = CellTable.of_examples(task("xquad"), examples, ([""] * 90,), metrics)
    both = choose_attributes(["qLen+qType"], ["qa"])
    (cut,) = bucketed_rows(cell, both)
    assert cut.attribute == Attribute("qLen+qType", "question length in tokens × question type", discrete=True)
    assert [(bucket.name, bucket.n) for bucket in cut.buckets] == [
        ("XS 3 · what", 30),
        ("S (3, 5] · what", 30),
        ("S (3, 5] · who", 30),
    ]
    assert [rows[cut.rows(place)].mean() for place in range(3)] == [1, 0.5, 0]
    # An attribute with missing inputs is not crossed.
    assert bucketed_rows(cell, choose_attributes(["qLen+aPos"], ["qa"])) == []
    # A plus sign in a path or an edge does not cross.
    assert choose_attributes(["qLen=1e+5:2"], ["qa"]).rule("qLen") == (1e5, 2)
