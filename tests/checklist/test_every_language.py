"""Sweeps over all languages, over cases that together use every word, name and template of the language files.

`pytest --every-case` uses all cases, as `isogloss checklist audit` does.
"""

from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from isogloss.checklist.audit import answer_defects, audit, further_defects
from isogloss.checklist.shipped import VARIANTS, audit_language, language_examples, suite_cases, token_rules
from isogloss.grammar.cases import ChecklistCase, ChecklistExample
from isogloss.grammar.file import CODES, grammar
from isogloss.grammar.schema import TESTS
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge
from isogloss.tasks.loading import load
from isogloss.tasks.registry import CHECKLIST_TASKS, INVARIANCE_TASKS, task

pytestmark = pytest.mark.slow
# Answers to every sixth case that adds a word are also denied and exchanged for every other word.
EXCHANGED = 6


@cache
def covering_cases(test: str, *, names: bool = True) -> tuple[ChecklistCase, ...]:
    """Return cases that together use every word and template of a test and, unless they do not matter, every name.

    Each case adds as many as any other can, so that there are few.
    """
    used = {
        case: {(case.lexicon(slot), value) for slot, value in case.slots if names or case.lexicon(slot) != "name"}
        | {("contexts", case.contexts), ("questions", case.questions)}
        for case in suite_cases(test)
    }
    missing = set[object]().union(*used.values())
    chosen = []
    while missing:
        best = max(used, key=lambda case: len(used[case] & missing))
        missing -= used[best]
        chosen.append(best)
    return tuple(sorted(chosen, key=lambda case: case.number))


def covering_examples(code: str, variant: str = "mft", tests: Iterable[str] = TESTS) -> Iterator[ChecklistExample]:
    for test in tests:
        for case in covering_cases(test):
            yield from VARIANTS[variant](case, grammar(code))


@pytest.fixture
def fewer_cases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the covering cases only."""
    if not request.config.getoption("--every-case"):
        monkeypatch.setattr("isogloss.checklist.reader.language_examples", covering_examples)


def error(name: str, examples: Examples, answers: list[str]) -> float:
    return judge(task(name), examples, answers).metrics["error"].score


def test_the_covering_cases_use_every_word() -> None:
    for test in TESTS:
        every, covering = (
            {(slot, value) for case in cases for slot, value in case.slots}
            for cases in (suite_cases(test), covering_cases(test))
        )
        words = {value for _, value in every}
        assert words == {value for _, value in covering}
        assert 5 <= len(covering_cases(test)) <= 200


@pytest.mark.parametrize("code", CODES)
def test_the_audit_finds_nothing(code: str, request: pytest.FixtureRequest) -> None:
    """Every example, and right and wrong answers to cases with every word."""
    if request.config.getoption("--every-case"):
        findings = audit_language(code)
    else:
        findings = audit(language_examples(code), token_rules(grammar(code)))
        for number, case in enumerate(case for test in TESTS for case in covering_cases(test, names=False)):
            assert [*answer_defects(case, grammar(code))] == []
            assert number % EXCHANGED or [*further_defects(case, grammar(code))] == []
    assert findings.examples == 200 * 32
    assert findings.defects[:5] == []


@pytest.mark.usefixtures("fewer_cases")
@pytest.mark.parametrize("code", CODES)
def test_right_answers_are_right_and_the_other_answer_is_wrong(code: str) -> None:
    for name in CHECKLIST_TASKS:
        examples = load(task(name), code, allow_partial=True)
        full = [gold[0] for gold in examples["answers"]]
        minimal = [min(accepted, key=len) for accepted in examples["accepted"]]
        assert error(name, examples, full) == error(name, examples, minimal) == 0.0, name
        # The two questions of a case follow each other.
        other = [row + 1 if row % 2 == 0 else row - 1 for row in range(len(examples))]
        assert error(name, examples, [full[row] for row in other]) == 1.0, name
        assert error(name, examples, [minimal[row] for row in other]) == 1.0, name
        assert error(name, examples, list(examples["sentence"])) == 0.0, name


@pytest.mark.usefixtures("fewer_cases")
@pytest.mark.parametrize("code", CODES)
def test_right_answers_are_invariant(code: str) -> None:
    for name in INVARIANCE_TASKS:
        examples = load(task(name), code, allow_partial=True)
        assert error(name, examples, [gold[0] for gold in examples["answers"]]) == 0.0, name
