"""Every language file: rules, sentences, and all combinations of words and templates."""

import csv
from pathlib import Path

import pytest

from isogloss.grammar import CODES, Grammar, grammar
from isogloss.grammar.cases import PROPERTIES
from isogloss.grammar.templates import Word, slots

EXPECTED = Path(__file__).parent / "expected"
HERE = [code for code in CODES if (EXPECTED / f"{code}.tsv").exists()]


def filler(speaker: Grammar, name: str, value: str) -> Word:
    """Return a word: `a=m3` is a name, `p=colour/red` names its lexicon, others are in the slot's own lexicon."""
    if name in ("a", "b"):
        return speaker.word("name", value)
    lexicon, _, concept = value.rpartition("/")
    return speaker.word(lexicon or name, concept)


def template(speaker: Grammar, path: str) -> str:
    test, kind, place = path.split(".")
    found = getattr(speaker.file.templates, test)
    if kind == "contexts":
        return str(found.contexts[int(place) - 1])
    if kind in ("ask", "sentence"):
        return str(getattr(found, kind)[place])
    if test == "properties":
        return f"{{{place}@object}}"
    return str(found.questions[int(place) - 1][("questions", "answers", "sentences").index(kind)])


def expected(code: str) -> list[tuple[str, str, str]]:
    with (EXPECTED / f"{code}.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows[0] == ["template", "slots", "sentence"]
    return [(path, slots, sentence) for path, slots, sentence in rows[1:]]


@pytest.mark.parametrize("code", HERE)
def test_expected_sentences_are_reproduced(code: str) -> None:
    speaker = grammar(code)
    sentences = expected(code)
    assert len(sentences) >= 12
    for path, filled, sentence in sentences:
        pairs = [pair.split("=") for pair in filled.split()]
        fillers = {name: filler(speaker, name, value) for name, value in pairs}
        made = speaker.answer if ".answers." in path else speaker.say
        assert made(template(speaker, path), fillers) == sentence, path
    assert {path.partition(".")[0] for path, _, _ in sentences} >= {
        "comparisons", "intensifiers", "properties", "job_vs_nationality", "animal_vs_vehicle", "animal_vs_vehicle_2",
    }  # fmt: skip


def words_by_slot(speaker: Grammar, needed: set[str]) -> dict[str, list[Word]]:
    """Return every word that each slot can take."""
    people = [*speaker.names["m"], *speaker.names["f"]]
    properties = [word for name in PROPERTIES for word in speaker.lexicons[name].values()]
    opposites = list(speaker.lexicons["adjective"].values())
    special = {"a": people, "b": people, "p": properties, "q": properties, "opposite": opposites}
    return {name: special.get(name) or list(speaker.lexicons[name].values()) for name in sorted(needed)}


@pytest.mark.parametrize("code", HERE)
def test_every_template_can_be_filled_with_every_word(code: str) -> None:
    """Fill every template with every word, one at a time."""
    speaker = grammar(code)
    for _, sentence in speaker.file.templates.tests():
        words = words_by_slot(speaker, slots(sentence))
        first = {name: choices[0] for name, choices in words.items()}
        for name, choices in words.items():
            for word in choices:
                assert speaker.say(sentence, {**first, name: word})


@pytest.mark.parametrize("code", HERE)
def test_every_rule_is_shown_by_examples(code: str) -> None:
    speaker = grammar(code)
    for name, rule in speaker.file.rules.items():
        assert len(rule.examples) >= 2, name
        for word, wanted in rule.examples:
            assert speaker.rules[name](word) == wanted, (name, word)
    for join in speaker.file.joins:
        assert join.examples, join.pattern
        for before, after in join.examples:
            # Ignore capitals: examples are parts of sentences.
            made = speaker.polish(before)
            assert made[1:] == after[1:], (join.pattern, before)


@pytest.mark.parametrize("code", HERE)
def test_inflecting_languages_inflect(code: str) -> None:
    """At least four forms differ from the citation form, or the file explains why not."""
    speaker = grammar(code)
    different = {
        form
        for words in speaker.lexicons.values()
        for word in words.values()
        for form in word.forms.values()
        if form != word.base
    }
    assert len(different) >= 4 or speaker.rules or speaker.file.why_no_forms
