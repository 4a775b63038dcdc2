"""LAReQA's pool and Mewsli-X's query texts, by hand."""

import re
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.errors import DataError
from isogloss.tasks.mini.make import make_mewslix


def paragraph(context: str, breaks: list[tuple[int, int]], answers: dict[str, int]) -> dict[str, Any]:
    qas = [
        {"id": key, "question": f"{key}?", "answers": [{"text": "x", "answer_start": start}]}
        for key, start in answers.items()
    ]
    sentences = [context[a:b] for a, b in breaks]
    return {"context": context, "sentence_breaks": breaks, "sentences": sentences, "qas": qas}


def test_lareqa_build_by_hand() -> None:
    files = {
        "en": {
            "data": [
                {
                    "paragraphs": [
                        paragraph("Ab. Cd.", [(0, 3), (4, 7)], {"q1": 4}),
                        paragraph("E\nf", [(0, 3)], {"q2": 0}),
                    ]
                }
            ]
        },
        "de": {"data": [{"paragraphs": [paragraph("Uv. Uv.", [(0, 3), (4, 7)], {"q1": 0, "q9": 3})]}]},
    }
    questions, candidates, targets = isogloss.tasks.lareqa.build(files)
    assert candidates == {
        "en_1_0": "Ab.Ab. Cd.",
        "en_1_1": "Cd.Ab. Cd.",
        "en_2_0": "EfEf",
        "de_1_0": "Uv.Uv. Uv.",
        "de_1_1": "Uv.Uv. Uv.",
    }
    # q9's answer starts between two sentences: the question is passed over. The German sentence stands twice.
    assert questions == {"q1_en": "q1?", "q2_en": "q2?", "q1_de": "q1?"}
    assert targets == {
        "q1_en": ["en_1_1", "de_1_0", "de_1_1"],
        "q2_en": ["en_2_0"],
        "q1_de": ["en_1_1", "de_1_0", "de_1_1"],
    }


def test_lareqa_candidates_come_from_paragraphs_with_kept_questions() -> None:
    paragraphs = [
        paragraph("Ab. Cd.", [(0, 3), (4, 7)], {}),
        paragraph("Ef. Gh.", [(0, 3), (4, 7)], {"q1": 3}),  # no sentence holds the answer
        paragraph("Ij.", [(0, 3)], {"q2": 0}),
    ]
    built = isogloss.tasks.lareqa.build({"en": {"data": [{"paragraphs": paragraphs}]}})
    assert built.candidates == {"en_3_0": "Ij.Ij."}  # and the others still count as paragraphs
    assert list(built.questions) == ["q2_en"]


def test_lareqa_needs_sentence_breaks() -> None:
    with pytest.raises(DataError, match="en, paragraph 1: no sentence_breaks"):
        isogloss.tasks.lareqa.build({"en": {"data": [{"paragraphs": [{"context": "c", "qas": []}]}]}})


def mention(text: str, span: str, sentences: list[tuple[int, int]]) -> dict[str, Any]:
    start = text.index(span)
    return {
        "context": {"language": "en", "text": text, "sentence_spans": [{"start": a, "end": b} for a, b in sentences]},
        "mentions": [
            {
                "example_id": "m1",
                "entity_id": "Q1",
                "mention_span": {"start": start, "end": start + len(span), "text": span},
            }
        ],
    }


def test_mention_text_marks_the_mention_in_its_sentence() -> None:
    text = "First one. We saw {old} Oslo,\nthe {new} city. Last."
    record = mention(text, "Oslo", [(0, 10), (11, 45), (46, 51)])
    assert isogloss.tasks.mewslix.mention_text(record) == "Oslo: We saw (old) { Oslo } , the (new) city."
    single = {"context": record["context"], "mention": record["mentions"][0]}
    assert isogloss.tasks.mewslix.mention_text(single) == isogloss.tasks.mewslix.mention_text(record)


def test_double_spaces_are_folded_in_one_pass_only() -> None:
    # "a   Oslo" leaves three spaces before the marker's own: four, folded pairwise to two.
    record = mention("a   Oslo b", "Oslo", [(0, 10)])
    assert isogloss.tasks.mewslix.mention_text(record) == "Oslo: a  { Oslo } b"


def test_mention_across_sentences_is_an_error() -> None:
    record = mention("ab cd", "b c", [(0, 2), (3, 5)])
    with pytest.raises(DataError, match="mewslix/en/m1: mention 'b c' at 1-4 is not inside one sentence"):
        isogloss.tasks.mewslix.mention_text(record)


def test_entity_text_joins_the_listed_sentences() -> None:
    record = {
        "entity_id": "Q1",
        "description": "One.\nTwo.  Three. Rest",
        "sentence_spans": [{"start": 0, "end": 4}, {"start": 5, "end": 9}, {"start": 11, "end": 17}],
    }
    assert isogloss.tasks.mewslix.entity_text(record) == "One. Two. Three."


def test_projects_own_examples(data_dir: Path) -> None:
    import json

    for line in (data_dir / "mewsli_x_sample/example_mentions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for index, found in enumerate(record["mentions"]):
            span = found["mention_span"]["text"]
            text = isogloss.tasks.mewslix.mention_text(record, index)
            assert text.startswith(f"{span}: ")
            assert f"{{ {span} }}" in text
            assert "\n" not in text


def test_non_text_is_refused() -> None:
    with pytest.raises(DataError, match="en: not an XQuAD-R file: a key contains a lone surrogate"):
        isogloss.tasks.lareqa.build({"en": {"data": [], "\ud800": 1}})
    with pytest.raises(DataError, match="not a mention record"):
        isogloss.tasks.mewslix.mention_text({"context": {}, "mentions": 1.5})


@pytest.mark.parametrize(("wrong", "said"), [(b'"\xff"', "not UTF-8: byte 0xff"), (b"7", "Expected `str`, got `int`")])
def test_non_text_description_error_names_the_entity(tmp_path: Path, wrong: bytes, said: str) -> None:
    """Descriptions are unpacked for right answers only, long after their lines were read."""
    make_mewslix(tmp_path / "mewslix", pool=50, mentions=7)
    path = tmp_path / "mewslix/candidate_set_entities.jsonl"
    path.write_bytes(re.sub(rb'("description": )"[^"]*"', rb"\g<1>" + wrong, path.read_bytes()))
    pool = isogloss.load("mewslix", "de", data=tmp_path, allow_partial=True).pool
    assert pool is not None
    with pytest.raises(DataError, match=rf"candidate_set_entities\.jsonl, entity Q\d+.*{said}"):
        _ = pool.target_text
