"""The suite that is shipped: drawn once for all languages, spoken by each language's file."""

from collections.abc import Iterator, Sequence
from functools import cache

from isogloss.checklist.audit import Findings, Reading, audit, stands_once
from isogloss.errors import IsoglossError, unknown
from isogloss.grammar.cases import Case, Example, draw, examples, fillers, templates
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import TESTS

CASES = 200


def reading(speaker: Grammar, mode: str = "fair") -> Reading:
    """How the language's file says its tokens are read."""
    file = speaker.file
    return Reading(speaker.code, tuple(file.prefixes), tuple(file.particles), tuple(file.uncapitalized), mode)


@cache
def suite_cases(test: str, count: int = CASES, seed: int = 0) -> tuple[Case, ...]:
    """Exactly `count` distinct cases that can be answered in every language.

    A case whose words happen to meet in some language (a name that is also part of another word of the sentence) is
    passed over for all languages, so that case k says the same in each.
    """
    readers = [(grammar(code), reading(grammar(code))) for code in CODES]
    drawn = count
    while True:
        fair = [case for case in draw(test, drawn, seed) if all(_answerable(case, *reader) for reader in readers)]
        if len(fair) >= count:
            return tuple(Case(test, number, case.slots) for number, case in enumerate(fair[:count]))
        drawn += 2 * (count - len(fair))


def _answerable(case: Case, speaker: Grammar, how: Reading) -> bool:
    contexts, questions = templates(case, speaker)
    words = fillers(case, speaker)
    answers = [speaker.answer(answer, words) for _, answer in questions]
    return all(stands_once(speaker.say(context, words), answer, how) for context in contexts for answer in answers)


def language_examples(
    code: str, tests: Sequence[str] = tuple(TESTS), count: int = CASES, seed: int = 0
) -> Iterator[Example]:
    """The examples of a language, test by test, case by case."""
    speaker = grammar(code)
    for test in tests:
        for case in suite_cases(test, count, seed):
            yield from examples(case, speaker)


def audit_language(code: str, count: int = CASES, seed: int = 0, mode: str = "fair") -> Findings:
    """Every defect of the shipped suite in a language."""
    speaker = grammar(code)

    def people(example: Example) -> list[str]:
        return [word.base for slot, word in fillers(example.case, speaker).items() if slot in ("a", "b")]

    return audit(language_examples(code, count=count, seed=seed), reading(speaker, mode), people)


def find_case(case_id: str, count: int = CASES, seed: int = 0) -> Case:
    """A case by its id."""
    test, _, _ = case_id.rpartition("-")
    if test not in TESTS:
        raise unknown("test", test or case_id, TESTS)
    for case in suite_cases(test, count, seed):
        if case.id == case_id:
            return case
    raise IsoglossError(f"no case {case_id!r}", fix=f"{test} has {test}-0000 to {test}-{count - 1:04d}")
