"""The shipped cases: the same for all languages, frozen in `cases.tsv`, put into words by each language's grammar.

Languages, words, names and templates come and go; a case keeps its id, its slots and the templates it is asked with. A
case is therefore never drawn again, renumbered or removed: new ones are added at the end of the file.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files

from isogloss.checklist.answer_audit import answer_defects, further_defects, shared_forms
from isogloss.checklist.audit import FINDINGS, AuditFinding, Findings, TokenRules, audit, occurs_once
from isogloss.checklist.tasks import CASES
from isogloss.checklist.variants import VARIANTS
from isogloss.errors import IsoglossError, unknown
from isogloss.grammar.cases import ChecklistCase, ChecklistExample, draw, fillers, templates
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import ASKED, TESTS

# So many cases of a test are looked at whatever they ask for, and words of these lexicons each at least once.
_FIRST = 5
_WORDS_ASKED = frozenset(ASKED) - {"name"}


def token_rules(speaker: Grammar, mode: str = "fair") -> TokenRules:
    """How the language's file says its tokens are read."""
    file = speaker.file
    return TokenRules(speaker.code, tuple(file.prefixes), tuple(file.particles), tuple(file.uncapitalized), mode)


@cache
def shipped_cases() -> dict[str, tuple[ChecklistCase, ...]]:
    """All frozen cases, by test."""
    by_test: dict[str, list[ChecklistCase]] = {test: [] for test in TESTS}
    lines = (files("isogloss.checklist") / "cases.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        name, contexts, questions, written = line.split("\t")
        test, _, number = name.rpartition("-")
        pairs = (pair.partition("=") for pair in written.split(" "))
        slots = tuple((slot, value) for slot, _, value in pairs)
        by_test[test].append(ChecklistCase(test, int(number), slots, int(contexts), int(questions)))
    return {test: tuple(cases) for test, cases in by_test.items()}


@cache
def suite_cases(test: str, count: int = CASES, seed: int = 0) -> tuple[ChecklistCase, ...]:
    """The first `count` cases of a test; with a seed other than 0, as many newly drawn ones.

    Raises:
        UnknownNameError: no such test.
        IsoglossError: more cases are wanted than there are.
    """
    if test not in TESTS:
        raise unknown("test", test, TESTS)
    if seed:
        return _drawn_cases(test, count, seed)
    if count > CASES:
        raise IsoglossError(f"a test has {CASES} cases, not {count}", fix="Another --seed draws as many as you like")
    return shipped_cases()[test][:count]


def _drawn_cases(test: str, count: int, seed: int) -> tuple[ChecklistCase, ...]:
    """Distinct cases that can be answered in every language.

    A case whose words happen to meet in some language (a name that is also part of another word of the sentence) is
    passed over for all languages, so that case k says the same in each. Which ones these are changes with the language
    files: what is drawn is not stable, as the shipped cases are.
    """
    speakers = [(grammar(code), token_rules(grammar(code))) for code in CODES]
    drawn = count
    while True:
        fair = [case for case in draw(test, drawn, seed) if all(_answerable(case, *speaker) for speaker in speakers)]
        if len(fair) >= count:
            return tuple(ChecklistCase(test, number, case.slots) for number, case in enumerate(fair[:count]))
        drawn += 2 * (count - len(fair))


def _answerable(case: ChecklistCase, speaker: Grammar, rules: TokenRules) -> bool:
    contexts, questions = templates(case, speaker)
    words = fillers(case, speaker)
    answers = [speaker.answer(asked.answer, words) for asked in questions]
    return all(occurs_once(speaker.say(context, words), answer, rules) for context in contexts for answer in answers)


def language_examples(
    code: str, variant: str = "mft", tests: Iterable[str] = TESTS, count: int = CASES, seed: int = 0
) -> Iterator[ChecklistExample]:
    """The examples of a language in one of the `VARIANTS`, test by test, case by case.

    Raises:
        UnknownNameError: no such language or test.
        IsoglossError: more cases are wanted than there are.
    """
    speaker = grammar(code)
    for test in tests:
        for case in suite_cases(test, count, seed):
            yield from VARIANTS[variant](case, speaker)


def audit_language(code: str, count: int = CASES, seed: int = 0, mode: str = "fair") -> Findings:
    """Every defect of the tests in a language; a language with any cannot be shipped."""
    findings = audit(language_examples(code, count=count, seed=seed), token_rules(grammar(code), mode))
    for test in TESTS:
        cases = suite_cases(test, count, seed)
        findings.found += _unfair(code, cases, answer_defects)
        findings.found += _unfair(code, cases, further_defects)
    return findings


@cache
def cases_with_every_answer(test: str, count: int = CASES, seed: int = 0) -> tuple[ChecklistCase, ...]:
    """The first cases, and others until every word that is asked for occurs: where one is wrong, some case shows it."""
    seen: set[tuple[str, str]] = set()
    chosen: list[ChecklistCase] = []
    for case in suite_cases(test, count, seed):
        asked = {(case.lexicon(slot), value) for slot, value in case.slots if case.lexicon(slot) in _WORDS_ASKED}
        if len(chosen) < _FIRST or not asked <= seen:
            seen |= asked
            chosen.append(case)
    return tuple(chosen)


def refuse_unfair(code: str, count: int = CASES, seed: int = 0) -> None:
    """Stop where a right answer would be scored wrong, or a wrong one right, in cases with every word asked for.

    Denied answers, and sentences with other words of the same kind, are left to the audit.

    Raises:
        IsoglossError: with the first such answer, and the tests that have any.
    """
    found = _unfair(
        code, (case for test in TESTS for case in cases_with_every_answer(test, count, seed)), answer_defects
    )
    shared = shared_forms(grammar(code))
    if shared:
        fix = f"Give each a form of its own in {code}.toml"
        raise IsoglossError(f"a wrong answer would be scored right: {shared[0]}", where=f"{code}.toml", fix=fix)
    if found:
        tests = ", ".join(dict.fromkeys(finding.test for finding in found))
        first = f"{FINDINGS[found[0].kind]}: {found[0].detail}"
        fix = f"Mend {code}.toml; isogloss checklist audit --languages {code} --details 5 shows more"
        raise IsoglossError(f"{first} ({tests})", where=f"{code} {found[0].example}", fix=fix)


def _unfair(
    code: str,
    cases: Iterable[ChecklistCase],
    defects: Callable[[ChecklistCase, Grammar], Iterator[tuple[str, str, str]]],
) -> list[AuditFinding]:
    speaker = grammar(code)
    return [AuditFinding(code, case.test, *defect) for case in cases for defect in defects(case, speaker)]


def find_case(case_id: str, count: int = CASES, seed: int = 0) -> ChecklistCase:
    """A case by its id.

    Raises:
        UnknownNameError: no such test.
        IsoglossError: the test has no such case.
    """
    test, _, _ = case_id.rpartition("-")
    for case in suite_cases(test or case_id, count, seed):
        if case.id == case_id:
            return case
    raise IsoglossError(f"no case {case_id!r}", fix=f"{test} has {test}-0000 to {test}-{count - 1:04d}")
