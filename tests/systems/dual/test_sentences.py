"""Sentence splitting by hand, and compared with the sentence breaks of XQuAD-R."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data import squad
from isogloss.systems.dual.system import sentence_at, sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("It cost 3.5 dollars. Then 4.", ["It cost 3.5 dollars.", "Then 4."]),
        ("Dr. Smith met J. R. Jones in the U.S. Army.", ["Dr. Smith met J. R. Jones in the U.S. Army."]),
        ("It was e.g. here and etc. and there. Yes.", ["It was e.g. here and etc. and there.", "Yes."]),
        ("So it is.[3] And so.", ["So it is.[3]", "And so."]),
        ("A title\nA line. Another.", ["A title", "A line.", "Another."]),
        ("Breathe O\n2 slowly.", ["Breathe O\n2 slowly."]),
        ("一。二！「三？」四", ["一。", "二！", "「三？」", "四"]),
        ("यह एक है। वह दो है।", ["यह एक है।", "वह दो है।"]),
        ("  Spaces.  Around.  ", ["Spaces.", "Around."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_by_hand(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@given(st.text(alphabet="Aa1. \n?!\"'。", max_size=60))
def test_every_non_blank_character_is_in_one_sentence(text: str) -> None:
    spans = sentences(text)
    assert spans == sorted(spans)
    inside = [place for start, end in spans for place in range(start, end)]
    assert len(inside) == len(set(inside))
    assert {place for place, character in enumerate(text) if not character.isspace()} <= set(inside)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)


def test_sentence_at() -> None:
    spans = sentences("Ab.  Cd.")
    assert [sentence_at(spans, place) for place in (-1, 0, 2, 3, 4, 5, 7, 8)] == [-1, 0, 0, -1, -1, 1, 1, -1]


@pytest.mark.parametrize(("language", "least"), [("en", 98.0), ("de", 94.0), ("es", 94.0), ("ru", 94.0), ("zh", 90.0)])
def test_sentences_match_xquad_r(data_dir: Path, language: str, least: float) -> None:
    articles = squad.read(data_dir / f"lareqa/xquad-r/{language}.json.xz")
    same = []
    for paragraph, question in squad.questions(articles):
        found = []
        for spans in (sentences(paragraph.context), paragraph.sentence_breaks):
            start, end = spans[sentence_at(spans, question.answers[0].answer_start)]
            found.append(paragraph.context[start:end].strip())
        same.append(found[0] == found[1])
    assert len(same) == 1190
    assert 100 * sum(same) / len(same) >= least
