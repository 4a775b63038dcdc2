"""The built-in cases: the same for all languages, frozen in `cases.tsv`, and phrased by each grammar.

Languages, words, names and templates may change; a case keeps its id, its slots and its templates. Cases are therefore
never redrawn, renumbered or removed: new ones are added at the end of the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

import msgspec

from isogloss.checklist.audit import (
    FINDINGS,
    Findings,
    TokenRules,
    answer_defects,
    audit,
    further_defects,
    shared_forms,
    span_count,
)
from isogloss.checklist.paper_rule import can_pass
from isogloss.checklist.tasks import CASES
from isogloss.errors import IsoglossError, unknown
from isogloss.grammar.cases import PEOPLE, ChecklistCase, ChecklistExample, draw, examples, fillers, templates
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import ASKED, TESTS

# Minimum number of cases to check per test, and lexicons in which every word is checked at least once.
_FIRST = 5
_WORDS_ASKED = frozenset(ASKED) - {"name"}
# Numbers of names per gender and unrelated sentences in use: additional ones in a language do not change examples.
_NAMES = 40
_UNRELATED = 3


def token_rules(speaker: Grammar, mode: str = "fair") -> TokenRules:
    """Return the token rules of a language file."""
    listed = {name: tuple(getattr(speaker.file, name)) for name in ("prefixes", "particles", "uncapitalized")}
    return TokenRules(language=speaker.code, mode=mode, **listed)


@cache
def shipped_cases() -> dict[str, tuple[ChecklistCase, ...]]:
    """Return all frozen cases, by test."""
    by_test: dict[str, list[ChecklistCase]] = {test: [] for test in TESTS}
    lines = (files("isogloss.checklist") / "cases.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        name, contexts, questions, written = line.split("\t")
        test, _, number = name.rpartition("-")
        slots = tuple((slot, value) for slot, _, value in (pair.partition("=") for pair in written.split(" ")))
        counts = {"number": int(number), "contexts": int(contexts), "questions": int(questions)}
        by_test[test].append(ChecklistCase(test=test, slots=slots, **counts))
    return {test: tuple(cases) for test, cases in by_test.items()}


@cache
def suite_cases(test: str, count: int = CASES, seed: int = 0) -> tuple[ChecklistCase, ...]:
    """Return the first `count` cases of a test, or newly drawn ones if the seed is not 0."""
    if test not in TESTS:
        raise unknown("test", test, TESTS)
    if seed:
        return _drawn_cases(test, count, seed)
    if count > CASES:
        raise IsoglossError(f"a test has {CASES} cases, not {count}", fix="Use another --seed to draw more cases")
    return shipped_cases()[test][:count]


def _drawn_cases(test: str, count: int, seed: int) -> tuple[ChecklistCase, ...]:
    """Draw distinct cases that are answerable in every language.

    A case with colliding words in some language (a name that is part of another word of the sentence) is skipped for
    all languages, so that case k means the same in each. Skipped cases change with the language files, so draws are not
    stable, unlike the built-in cases.
    """
    speakers = [(grammar(code), token_rules(grammar(code))) for code in CODES]
    drawn = count
    while True:
        fair = [case for case in draw(test, drawn, seed) if all(_answerable(case, *speaker) for speaker in speakers)]
        if len(fair) >= count:
            return tuple(replace(case, number=number) for number, case in enumerate(fair[:count]))
        drawn += 2 * (count - len(fair))


def _answerable(case: ChecklistCase, speaker: Grammar, rules: TokenRules) -> bool:
    contexts, questions = templates(case, speaker)
    words = fillers(case, speaker)
    answers = [speaker.answer(question.answer, words) for question in questions]
    texts = [speaker.say(context, words) for context in contexts]
    return all(span_count(text, answer, rules) == 1 for text in texts for answer in answers)


def _unrelated(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    extra = speaker.file.templates.invariance.unrelated[case.number % _UNRELATED]
    blank = " " if " " in extra or " " in speaker.file.templates.comparisons.contexts[0] else ""
    for example in examples(case, speaker):
        yield msgspec.structs.replace(example, context=f"{extra}{blank}{example.context}", variant="inv-unrelated")


def _other_names(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """Yield the case with other people of the same gender: names are rotated by half the list."""
    people = [slot for slot, _ in case.slots if slot in PEOPLE]
    if not people:
        return  # things have no names to swap
    moved = {
        slot: f"{value[0]}{(int(value[1:]) + _NAMES // 2) % _NAMES}" for slot, value in case.slots if slot in people
    }
    other = replace(case, slots=tuple((slot, moved.get(slot, value)) for slot, value in case.slots))
    old, new = fillers(case, speaker), fillers(other, speaker)
    # Names may also occur inflected, in another case.
    called = [*(f"{{{slot}}}" for slot in people), *(question.answer for question in templates(case, speaker)[1])]
    pairs = ((speaker.answer(form, old), speaker.answer(form, new)) for form in called)
    renamed = tuple(dict.fromkeys((before, after) for before, after in pairs if before != after))
    for example in examples(other, speaker):
        yield msgspec.structs.replace(example, case=case, variant="inv-names", renamed=renamed)


# Plain examples are CheckList's minimum functionality tests with correct or wrong answers. Changed ones are invariance
# tests: the answer must not change.
VARIANTS: Mapping[str, Callable[[ChecklistCase, Grammar], Iterator[ChecklistExample]]] = {
    "mft": examples,
    "inv-names": _other_names,
    "inv-unrelated": _unrelated,
}


def language_examples(
    code: str, variant: str = "mft", tests: Iterable[str] = TESTS, count: int = CASES, seed: int = 0
) -> Iterator[ChecklistExample]:
    """Yield the examples of a language in one of the `VARIANTS`, test by test, case by case."""
    speaker = grammar(code)
    for test in tests:
        for case in suite_cases(test, count, seed):
            yield from VARIANTS[variant](case, speaker)


def audit_language(code: str, count: int = CASES, seed: int = 0, mode: str = "fair") -> Findings:
    """Return every defect of the tests in a language; languages with defects must not be released."""
    findings = audit(language_examples(code, count=count, seed=seed), token_rules(grammar(code), mode))
    for test in TESTS:
        for defects in (answer_defects, further_defects):
            for case in suite_cases(test, count, seed):
                findings.defects += defects(case, grammar(code))
    return findings


@cache
def cases_with_every_answer(test: str, count: int = CASES, seed: int = 0) -> tuple[ChecklistCase, ...]:
    """Return the first cases, plus others until every answer word occurs."""
    seen: set[tuple[str, str]] = set()
    chosen: list[ChecklistCase] = []
    for case in suite_cases(test, count, seed):
        words = {(case.lexicon(slot), value) for slot, value in case.slots if case.lexicon(slot) in _WORDS_ASKED}
        if len(chosen) < _FIRST or not words <= seen:
            seen |= words
            chosen.append(case)
    return tuple(chosen)


def refuse_unfair(code: str, count: int = CASES, seed: int = 0) -> None:
    """Raise an error with the first incorrectly scored answer in cases with every answer word, and affected tests.

    Negated answers, and sentences with other words of the same kind, are left to the audit.
    """
    cases = (case for test in TESTS for case in cases_with_every_answer(test, count, seed))
    defects = [defect for case in cases for defect in answer_defects(case, grammar(code))]
    shared = shared_forms(grammar(code))
    if shared:
        fix = f"Use distinct forms in {code}.toml"
        raise IsoglossError(f"a wrong answer would be scored correct: {shared[0]}", where=f"{code}.toml", fix=fix)
    if defects:
        tests = ", ".join(dict.fromkeys(finding.test for finding in defects))
        first = f"{FINDINGS[defects[0].kind]}: {defects[0].detail}"
        fix = f"Correct {code}.toml; run isogloss checklist audit --languages {code} --details 5 for more"
        raise IsoglossError(f"{first} ({tests})", where=f"{code} {defects[0].example}", fix=fix)


def find_case(case_id: str, count: int = CASES, seed: int = 0) -> ChecklistCase:
    """Return a case by its id."""
    test, _, _ = case_id.rpartition("-")
    for case in suite_cases(test or case_id, count, seed):
        if case.id == case_id:
            return case
    raise IsoglossError(f"no case {case_id!r}", fix=f"{test} has {test}-0000 to {test}-{count - 1:04d}")


@cache
def paper_rule_can_pass(code: str, test: str) -> bool:
    """Return True if a system that extracts spans can pass some case of a test by the paper's rule."""
    examples = language_examples(code, "mft", (test,))
    return can_pass(((example.case.id, example.context, example.answer) for example in examples), code)
