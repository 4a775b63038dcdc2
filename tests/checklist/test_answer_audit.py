"""The answer audit detects planted defects, and finds none in the built-in languages."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from isogloss.checklist import matching
from isogloss.checklist.audit import answer_defects, further_defects, right_answers
from isogloss.checklist.build import build_checklist
from isogloss.checklist.matching import fair_rule
from isogloss.checklist.right_answer import right_answer
from isogloss.checklist.shipped import cases_with_every_answer, language_examples, suite_cases
from isogloss.errors import IsoglossError
from isogloss.grammar.file import CODES, Grammar, grammar

Speak = Callable[..., Grammar]


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Iterator[Speak]:
    """Return English with some fields of its file replaced."""

    def edited(**changes: object) -> Grammar:
        speaker = Grammar(msgspec.structs.replace(grammar("en").file, **changes))
        for module in ("matching", "shipped", "build"):
            monkeypatch.setattr(f"isogloss.checklist.{module}.grammar", lambda code: speaker)
        matching.fair_rule.cache_clear()
        return speaker

    yield edited
    matching.fair_rule.cache_clear()


def kinds(speaker: Grammar, test: str) -> set[str]:
    cases = suite_cases(test)
    return {f.kind for case in cases for f in (*answer_defects(case, speaker), *further_defects(case, speaker))}


def test_ways_to_answer() -> None:
    example = next(each for each in language_examples("en", tests=("properties",)) if each.answer == "made of stone")
    assert right_answers(right_answer(example, ""), "en") == {
        "minimal": "stone",
        "full": "made of stone",
        "sentence": "It is made of stone.",
        "marked": "**stone**",
        "unrepeated": "stone",  # the question contains "made of"
        "model": f"<think>{example.context}</think>\n\n**Answer:** stone\n\n> {example.context}",
    }


def test_undeclared_bare_word_is_found(speak: Speak, tmp_path: Path) -> None:
    speaker = speak(accepted={})
    [first, *_] = [d for case in suite_cases("properties") for d in answer_defects(case, speaker)]
    assert first.kind == "refused"
    assert "unrepeated answer" in first.detail
    with pytest.raises(IsoglossError, match=r"a correct answer is scored wrong.*\(properties\)"):
        build_checklist(tmp_path, ["en"])
    assert list(tmp_path.iterdir()) == []


def test_sentence_with_opposite_meaning_is_detected(speak: Speak) -> None:
    speaker = speak(sentence_words=["not"])
    tests = speaker.file.templates
    questions = [(ask, answer, "{b} is not {adjective.more@a}.") for ask, answer, _ in tests.comparisons.questions]
    comparisons = msgspec.structs.replace(tests.comparisons, questions=questions)
    speaker = speak(templates=msgspec.structs.replace(tests, comparisons=comparisons))
    assert kinds(speaker, "comparisons") == {"refused", "taken"}


def test_form_shared_by_two_words_is_found_and_stops_a_build(speak: Speak, tmp_path: Path) -> None:
    file = grammar("en").file
    thing = msgspec.structs.replace(file.rules["bare"], steps=[("^.*$", "stuff")])
    speaker = speak(accepted={"material": ["bare", "thing"]}, rules={**file.rules, "thing": thing})
    assert kinds(speaker, "properties") == {"taken"}
    with pytest.raises(IsoglossError, match=r"'stuff' is a form of material\.glass and material\.metal"):
        build_checklist(tmp_path, ["en"])
    assert list(tmp_path.iterdir()) == []


def test_cases_with_every_answer() -> None:
    few = cases_with_every_answer("job_vs_nationality")
    words = {value for case in suite_cases("job_vs_nationality") for slot, value in case.slots if slot != "a"}
    assert {value for case in few for slot, value in case.slots if slot != "a"} == words
    assert len(few) < 50


@pytest.mark.parametrize("code", CODES)
def test_every_language_can_deny(code: str) -> None:
    assert grammar(code).file.negations


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("test", ["intensifiers", "animal_vs_vehicle_2"])
def test_contexts_of_two_sentences_have_one_with_the_answer(code: str, test: str) -> None:
    rule = fair_rule(code)
    for example in language_examples(code, tests=(test,), count=40):
        own = rule.own_sentence(right_answer(example, ""))
        assert own
        assert rule.is_right(own, right_answer(example, "")), own
