"""Whether a test is fair: every case can be answered, by anybody, under the rule it is scored by.

A finding is a defect of the test, not of a model: an answer that no extractive system could give, or a text that no
speaker would write.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from isogloss.checklist.matching import cleaned
from isogloss.grammar.cases import ChecklistExample
from isogloss.grammar.schema import CASED_SCRIPTS, in_script
from isogloss.languages import language as find_language

FINDINGS = {
    "unfilled": "a slot was not filled",
    "absent": "the answer is not in the context",
    "not-a-span": "the answer is in the context, but not as a span of whole tokens",
    "ambiguous": "the answer is in the context more than once",
    "unreachable": "no span of the context matches the answer under the scoring rule",
    "refused": "a right answer is scored wrong",
    "taken": "a wrong answer is scored right",
    "same-name": "the two people have one name",
    "script": "letters of another script",
    "capital": "a sentence does not begin with a capital",
    "condition": "a variant was used where its condition does not hold",
    "english": "an English word was left",
    # Of translations of an English sheet only:
    "slots": "a template has not the slots of its English original",
    "same-question": "one question about one context has two different answers",
    "doubled": "a word of the template occurs again in what fills it",
}
_SENTENCE = re.compile(r"(?:^|[.!?]\s+)[\s\"'«“„¿¡(]*(\w)")


@dataclass(frozen=True)
class AuditFinding:
    """One defect of one example."""

    language: str
    test: str
    example: str
    kind: str
    detail: str


@dataclass(frozen=True)
class TokenRules:
    """How a language's tokens are read: what may be attached to a word, and what stays small at a sentence's start."""

    language: str
    prefixes: Sequence[str] = ()
    particles: Sequence[str] = ()
    uncapitalized: Sequence[str] = ()
    mode: str = "fair"

    @property
    def segmented(self) -> bool:
        """Whether blanks part words: as the script has it, but always for the paper's pipeline, which knew no other."""
        return self.mode == "paper" or find_language(self.language).segmented


@dataclass
class Findings:
    """All findings of an audit, counted by language, test and kind."""

    examples: int = 0
    found: list[AuditFinding] = field(default_factory=list)

    def counts(self) -> dict[tuple[str, str, str], int]:
        """How many examples have each defect, by (language, test, kind)."""
        distinct = {(found.language, found.test, found.kind, found.example) for found in self.found}
        return Counter((code, test, kind) for code, test, kind, _ in distinct)


def audit(examples: Iterable[ChecklistExample], rules: TokenRules) -> Findings:
    """Every defect of every example."""
    findings = Findings()
    for example in examples:
        findings.examples += 1
        for kind, detail in _defects(example, rules):
            findings.found.append(AuditFinding(rules.language, example.case.test, example.id, kind, detail))
    return findings


def _defects(example: ChecklistExample, rules: TokenRules) -> Iterator[tuple[str, str]]:
    for text in (example.context, example.question, example.answer):
        if "{" in text or "}" in text or not text.strip():
            yield "unfilled", text
    if len(set(example.people)) != len(example.people):
        yield "same-name", ", ".join(example.people)
    yield from _answer_defects(example, rules)
    for text in (example.context, example.question):
        foreign = "".join(sorted({c for c in text if c.isalpha() and not in_script(c, rules.language)}))
        if foreign:
            yield ("english" if foreign.isascii() else "script"), f"{foreign!r} in {text!r}"
        yield from _small_starts(text, rules)


def occurs_once(context: str, answer: str, rules: TokenRules) -> bool:
    """Whether the answer is in the context as a span, and only once."""
    return len(_spans(context, answer, rules)) == 1


def _spans(context: str, answer: str, rules: TokenRules) -> list[int]:
    """Where the answer is in the context as whole tokens."""
    places: list[int] = []
    place = context.find(answer)
    while place >= 0:
        if _is_span(context, place, len(answer), rules):
            places.append(place)
        place = context.find(answer, place + 1)
    return places


def _answer_defects(example: ChecklistExample, rules: TokenRules) -> Iterator[tuple[str, str]]:
    where = f"{example.answer!r} in {example.context!r}"
    spans = len(_spans(example.context, example.answer, rules))
    if example.answer not in example.context:
        yield "absent", where
    elif not spans:
        yield "not-a-span", where
    if spans > 1:
        yield "ambiguous", where
    if not _reachable(example, rules):
        yield "unreachable", where


def _letter(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (
        text[place].isalpha() or text[place].isdecimal() or unicodedata.category(text[place])[0] == "M"
    )


def _is_span(context: str, start: int, length: int, rules: TokenRules) -> bool:
    """Whether the answer is there as whole tokens, with nothing attached but what the language attaches."""
    if not rules.segmented:
        return True
    end = start + length
    before = start
    while _letter(context, before - 1):
        before -= 1
    after = end
    while _letter(context, after):
        after += 1
    attached_before, attached_after = context[before:start], context[end:after]
    return (not attached_before or attached_before in rules.prefixes) and (
        not attached_after or attached_after in rules.particles
    )


def _reachable(example: ChecklistExample, rules: TokenRules) -> bool:
    """Whether some span of the context scores as right.

    By the fair rule a span may begin and end at any boundary of words; by the paper's only at blanks, as its pipeline
    cut the text.
    """
    if rules.mode == "fair":
        return bool(_spans(example.context, example.answer, rules))
    tokens = example.context.split()
    longest = len(example.answer.split()) + 2
    wanted = cleaned(example.answer, rules.language)
    return wanted != "" and any(
        cleaned(" ".join(tokens[start : start + length]), rules.language) == wanted
        for length in range(1, longest + 1)
        for start in range(len(tokens) - length + 1)
    )


def _small_starts(text: str, rules: TokenRules) -> Iterator[tuple[str, str]]:
    if find_language(rules.language).script not in CASED_SCRIPTS:
        return
    for match in _SENTENCE.finditer(text):
        start = match.start(1)
        # The quote or apostrophe before the letter may belong to a word that stays small (Afrikaans 'n).
        begins = any(text.startswith(small, place) for small in rules.uncapitalized for place in (start - 1, start))
        if match.group(1).islower() and not begins:
            yield "capital", text
