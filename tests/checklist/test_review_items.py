"""Review items: every entry of the file once, in whole sentences, with the English version."""

from collections import Counter
from functools import cache

import pytest

from isogloss.checklist.review_items import ReviewItem, review_items
from isogloss.escaping import printable
from isogloss.grammar.file import CODES, grammar
from isogloss.grammar.schema import TESTS, concepts


@cache
def by_key() -> dict[str, ReviewItem]:
    return {item.key: item for item in review_items("en")}


def of_kind(kind: str) -> list[ReviewItem]:
    return [item for item in by_key().values() if item.kind == kind]


def test_every_entry_of_the_file_is_reviewed_once() -> None:
    assert len(by_key()) == len(review_items("en"))
    file = grammar("en").file
    assert {item.key for item in of_kind("word")} == {
        f"{lexicon}.{concept}" for lexicon, meanings in concepts().items() for concept in meanings
    }
    assert {item.key for item in of_kind("names")} == {"names.male", "names.female"}
    expected = {f"templates.invariance.unrelated[{n}]" for n in range(3)}
    for test, (contexts, questions) in TESTS.items():
        expected |= {f"templates.{test}.contexts[{n}]" for n in range(contexts)}
        if test == "properties":
            expected |= {
                f"templates.{test}.{part}.{kind}"
                for part in ("ask", "sentence")
                for kind in file.templates.properties.ask
            }
        else:
            expected |= {f"templates.{test}.questions[{n}]" for n in range(questions)}
    assert {item.key for item in of_kind("template")} == expected
    assert Counter(item.tests for item in of_kind("case")) == {(test,): 8 for test in TESTS}


@pytest.mark.parametrize("code", CODES)
def test_review_texts_have_no_braces(code: str) -> None:
    items = review_items(code)
    assert len({item.key for item in items}) == len(items)
    assert {key for key in by_key() if by_key()[key].kind != "answers"} <= {item.key for item in items}
    for item in items:
        assert item.lines, item.key
        # The page shows printable text only, and verdicts are about the shown text.
        assert printable(item.wording) == item.wording
        for line in item.lines:
            assert line.text.strip()
            assert not set("{}~") & set(line.text + line.gloss + line.form)


def test_word_is_shown_in_every_form_used_in_sentences() -> None:
    beautiful = by_key()["adjective.beautiful"]
    assert {line.form for line in beautiful.lines} == {"beautiful", "more beautiful", "handsome", "more handsome"}
    assert all(line.form in line.text for line in beautiful.lines)
    wood = by_key()["material.wood"]
    assert wood.wording == "wooden / wood"
    stone = by_key()["material.stone"]
    assert {line.form for line in stone.lines} == {"made of stone", "stone"}
    assert by_key()["animal.dog"].tests == ("animal_vs_vehicle", "animal_vs_vehicle_2")
    assert by_key()["adjective.short"].meaning == "adjective: short (of height)"


def test_case_lists_its_sources() -> None:
    for item in of_kind("case"):
        test, _, place = item.key.rsplit("-", 2)
        keys = set(item.sources)
        assert keys <= set(by_key())
        assert any(key.startswith(f"templates.{test}.contexts[") for key in keys)
        questions = TESTS[test][1] if test != "properties" else 2
        context, question = divmod(int(place), questions)
        assert f"templates.{test}.contexts[{context}]" in keys
        if test != "properties":
            assert f"templates.{test}.questions[{question}]" in keys
        else:
            assert len({key.rpartition(".")[2] for key in keys if ".ask." in key or ".sentence." in key}) == 1


def test_sampled_cases_take_turns_with_the_templates() -> None:
    for test in TESTS:
        places = {item.key[-2:] for item in of_kind("case") if item.tests == (test,)}
        assert len(places) >= 2
    other = {item.key for item in review_items("en", 8, 1) if item.kind == "case"}
    assert other != {item.key for item in of_kind("case")}
    assert sum(item.kind == "case" for item in review_items("en", 200)) == 6 * 200


def test_accepted_answers_are_reviewed_with_their_question() -> None:
    answers = next(item for item in of_kind("answers") if "material" in item.sources[0])
    labels = [line.label for line in answers.lines]
    assert labels[:2] == ["statement", "question"]
    assert set(labels[2:]) == {"counts as correct"}
    assert len(answers.lines) >= 5


@pytest.mark.parametrize("code", ["fi", "ar"])
def test_english_matches_and_keeps_the_people(code: str) -> None:
    for item in review_items(code):
        if item.kind == "case" and item.tests[0] != "properties":
            statement, _, answer = item.lines
            names = {name.base for names in grammar(code).names.values() for name in names}
            people = [name for name in names if name in statement.gloss.replace(".", "").replace("'s", "").split()]
            assert len(people) in (1, 2), statement
            assert answer.gloss in statement.gloss
