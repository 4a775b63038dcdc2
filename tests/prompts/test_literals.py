"""Words of prompts: the same entries in every language, and labels that can be told apart."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from isogloss.languages import CODES
from isogloss.prompts.literals import Literals, MissingWordError, literals, prompt_literals, written_languages

# Groups of labels that are answers of a model; their first letters differ, so that a first token can tell them apart.
SHORT_ANSWERS = ("nli", "paraphrase")


def entries(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from entries(value, f"{before}{key}.")
        else:
            yield before + key, value


def test_every_language_of_the_papers_has_words() -> None:
    assert written_languages() == frozenset(CODES)


@pytest.mark.parametrize("language", sorted(CODES))
def test_entries_are_those_of_english(language: str) -> None:
    english, own = (dict(entries(literals(code).table)) for code in ("en", language))
    assert own.keys() == english.keys()
    assert {key: type(value) for key, value in own.items()} == {key: type(value) for key, value in english.items()}


@pytest.mark.parametrize("language", sorted(CODES))
def test_texts_are_clean(language: str) -> None:
    for key, value in entries(literals(language).table):
        for text in value if isinstance(value, list) else [value]:
            assert text, key
            assert not set("{}\n") & set(text), f"{key} has slots or lines: {text!r}"
            assert unicodedata.is_normalized("NFC", text), key
            assert text == text.strip() or key in ("punctuation.colon", "punctuation.comma"), key


@pytest.mark.parametrize("language", sorted(CODES))
def test_labels_differ(language: str) -> None:
    words = literals(language)
    for group, labels in words.table["labels"].items():
        folded = [word.casefold() for word in labels.values()]
        assert len(set(folded)) == len(folded), group
        if group in SHORT_ANSWERS:
            assert len({word[0] for word in folded}) == len(folded), f"{group}: first letters"
    assert len(set(words.letters)) == len(words.letters) == 8


@pytest.mark.parametrize("language", sorted(set(CODES) - {"en"}))
def test_questions_are_translated_and_their_wordings_differ(language: str) -> None:
    english, own = literals("en").table["asks"], literals(language).table["asks"]
    for name, wordings in own.items():
        assert len(set(wordings.values())) == len(wordings) == 3, name
        assert not set(wordings.values()) & set(english[name].values()), name
    assert own["cause"]["question"] != own["effect"]["question"]


def test_missing_words_name_field_and_language() -> None:
    with pytest.raises(MissingWordError, match=r"literals/xx.toml: no asks\.nli\.question in xx"):
        Literals("xx", {"asks": {}}).word("asks.nli.question")
    with pytest.raises(MissingWordError, match="no words of prompts in bm"):
        literals("bm")


def test_languages_without_words_are_prompted_in_english() -> None:
    assert prompt_literals("bm", "native").language == "en"
    assert prompt_literals("sw", "native").language == "sw"
    assert prompt_literals("sw", "english").language == "en"


def test_labels_with_slashes_and_dots_are_found() -> None:
    assert literals("en").word("labels.topic.science/technology") == "science and technology"
    assert Literals("en", {"labels": {"own": {"a.b": "word"}}}).word("labels.own.a.b") == "word"
