"""Audit of a test: every case must be answerable under its scoring rule.

A finding is a defect of the test, not of a model: an answer that no extractive system can give, or a text that no
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
    "refused": "a correct answer is scored wrong",
    "taken": "a wrong answer is scored correct",
    "same-name": "the two people have the same name",
    "script": "letters of another script",
    "capital": "a sentence does not begin with a capital",
    "condition": "a variant was used although its condition does not hold",
    "english": "untranslated English word",
    # Only for translations of an English sheet:
    "slots": "the slots of a template differ from its English original",
    "same-question": "one question about one context has two different answers",
    "doubled": "a word of the template is repeated in its filler",
}
_SENTENCE = re.compile(r"(?:^|[.!?]\s+)[\s\"'«“„¿¡(]*(\w)")


@dataclass(frozen=True)
class AuditFinding:
    """One defect of one example, of a kind in `FINDINGS`."""

    language: str
    example: str
    kind: str
    detail: str

    @property
    def test(self) -> str:
        """Test of the example."""
        return self.example.partition("-")[0]


@dataclass(frozen=True, kw_only=True)
class TokenRules:
    """Token rules of a language: attachable affixes, and words that stay lower-case at the start of a sentence."""

    language: str
    prefixes: Sequence[str] = ()
    particles: Sequence[str] = ()
    uncapitalized: Sequence[str] = ()
    mode: str = "fair"

    @property
    def segmented(self) -> bool:
        """True if blanks separate words: depends on the script, but always True for the paper's pipeline."""
        return self.mode == "paper" or find_language(self.language).segmented


@dataclass
class Findings:
    """All defects found by an audit, counted by language, test and kind."""

    examples: int = 0
    defects: list[AuditFinding] = field(default_factory=list)

    def counts(self) -> dict[tuple[str, str, str], int]:
        """Return the number of examples with each defect, by (language, test, kind)."""
        distinct = {(finding.language, finding.test, finding.kind, finding.example) for finding in self.defects}
        return Counter((code, test, kind) for code, test, kind, _ in distinct)


def audit(examples: Iterable[ChecklistExample], rules: TokenRules) -> Findings:
    """Return every defect of every example."""
    findings = Findings()
    for example in examples:
        findings.examples += 1
        findings.defects += [AuditFinding(rules.language, example.id, *defect) for defect in _defects(example, rules)]
    return findings


def _defects(example: ChecklistExample, rules: TokenRules) -> Iterator[tuple[str, str]]:
    for text in (example.context, example.question, example.answer):
        if "{" in text or "}" in text or not text.strip():
            yield "unfilled", text
    if len(set(example.people)) != len(example.people):
        yield "same-name", ", ".join(example.people)
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
    for text in (example.context, example.question):
        foreign = "".join(sorted({c for c in text if c.isalpha() and not in_script(c, rules.language)}))
        if foreign:
            yield ("english" if foreign.isascii() else "script"), f"{foreign!r} in {text!r}"
        yield from _small_starts(text, rules)


def occurs_once(context: str, answer: str, rules: TokenRules) -> bool:
    """Return True if the answer occurs in the context as a span exactly once."""
    return len(_spans(context, answer, rules)) == 1


def _spans(context: str, answer: str, rules: TokenRules) -> list[int]:
    """Return the positions of the answer in the context as whole tokens."""
    positions: list[int] = []
    position = context.find(answer)
    while position >= 0:
        if _is_span(context, position, len(answer), rules):
            positions.append(position)
        position = context.find(answer, position + 1)
    return positions


def _letter(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (
        text[index].isalpha() or text[index].isdecimal() or unicodedata.category(text[index])[0] == "M"
    )


def _is_span(context: str, start: int, length: int, rules: TokenRules) -> bool:
    """Return True if the answer occurs there as whole tokens, with only known affixes attached."""
    if not rules.segmented:
        return True
    before, after = start, start + length
    while _letter(context, before - 1):
        before -= 1
    while _letter(context, after):
        after += 1
    return context[before:start] in ("", *rules.prefixes) and context[start + length : after] in ("", *rules.particles)


def _reachable(example: ChecklistExample, rules: TokenRules) -> bool:
    """Return True if some span of the context is scored as correct.

    The fair rule allows spans at any word boundary; the paper's rule only at blanks, as in its pipeline.
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
        # The quote or apostrophe before the letter may belong to a lower-case word (Afrikaans 'n).
        begins = any(
            text.startswith(small, position) for small in rules.uncapitalized for position in (start - 1, start)
        )
        if match.group(1).islower() and not begins:
            yield "capital", text
