"""Audit of a test: every case must be answerable under its scoring rule, and the rule must be fair.

A finding is a defect of the test, not of a model: an answer that no extractive system can give, a text that no speaker
would write, or an answer that is scored incorrectly. For the latter, each question is answered in every natural way.
Correct answers are minimal (the shortest form of the answer word; also the rest of the span when the words that the
question repeats are removed), full (the span of the context) and whole sentences (from the language file and from the
context). Wrong answers are those to the case's other questions, negated correct ones, the sentence that answers the
opposite question, and the sentence with another word of the same kind.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from isogloss.checklist.matching import fair_rule
from isogloss.checklist.paper_rule import is_reachable
from isogloss.checklist.right_answer import RightAnswer, right_answer
from isogloss.grammar.cases import (
    PEOPLE,
    ChecklistCase,
    ChecklistExample,
    examples,
    fillers,
    opposites,
    statements,
    templates,
)
from isogloss.grammar.file import AskedQuestion, Grammar
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
# Languages in which the paper's pipeline joined subword pieces to an answer, so that spans may begin within words.
_PIECED = ("zh", "ja", "ko")
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
        """True if blanks separate words: depends on the script, and for the paper's pipeline on its treatment."""
        if self.mode == "paper":
            return self.language not in _PIECED
        return find_language(self.language).segmented


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
    spans = span_count(example.context, example.answer, rules)
    if example.answer not in example.context:
        yield "absent", where
    elif not spans:
        yield "not-a-span", where
    if spans > 1:
        yield "ambiguous", where
    # The fair rule allows spans at any word boundary; the paper's pipeline only at blanks, if it heeds them.
    reachable = spans
    if rules.mode == "paper" and rules.segmented:
        reachable = is_reachable(example.context, example.answer, rules.language)
    if not reachable:
        yield "unreachable", where
    cased = find_language(rules.language).script in CASED_SCRIPTS
    for text in (example.context, example.question):
        foreign = "".join(sorted({c for c in text if c.isalpha() and not in_script(c, rules.language)}))
        if foreign:
            yield ("english" if foreign.isascii() else "script"), f"{foreign!r} in {text!r}"
        for match in _SENTENCE.finditer(text) if cased else ():
            # The quote or apostrophe before the letter may belong to a lower-case word (Afrikaans 'n).
            places = (match.start(1) - 1, match.start(1))
            exempt = any(text.startswith(small, place) for small in rules.uncapitalized for place in places)
            if match[1].islower() and not exempt:
                yield "capital", text


def span_count(context: str, answer: str, rules: TokenRules) -> int:
    """Count the occurrences of the answer in the context as whole tokens."""
    count, position = 0, context.find(answer)
    while position >= 0:
        count += _is_span(context, position, len(answer), rules)
        position = context.find(answer, position + 1)
    return count


def _letter(letter: str) -> bool:
    return letter.isalpha() or letter.isdecimal() or unicodedata.category(letter)[0] == "M"


def _is_span(context: str, start: int, length: int, rules: TokenRules) -> bool:
    """Return True if the answer occurs there as whole tokens, with only known affixes attached."""
    if not rules.segmented:
        return True
    before, after = start, start + length
    while before and _letter(context[before - 1]):
        before -= 1
    while after < len(context) and _letter(context[after]):
        after += 1
    return context[before:start] in ("", *rules.prefixes) and context[start + length : after] in ("", *rules.particles)


class AuditedQuestion(NamedTuple):
    """A question of a case in its first context (answers do not depend on it), with its correct and wrong answers."""

    template: AskedQuestion
    example: ChecklistExample
    right: RightAnswer
    wrong: list[str]


def _audited(case: ChecklistCase, speaker: Grammar) -> Iterator[AuditedQuestion]:
    _, questions = templates(case, speaker)
    first_examples, opposite = list(examples(replace(case, contexts=1), speaker)), opposites(case, speaker)
    about, turned = statements(case, speaker), statements(_exchanged(case), speaker)
    for number, (question, example) in enumerate(zip(questions, first_examples, strict=True)):
        others = [other for other in first_examples if other is not example]
        wrong = [answer for other in others for answer in (other.answer, min(other.accepted, key=len), other.sentence)]
        right = right_answer(example, opposite[number], about[number])
        wrong += [*filter(None, opposite), *right.than, *(turned[number].also if _exchanged(case) != case else ())]
        yield AuditedQuestion(question, example, right, [text for text in wrong if text not in right.also])


def _exchanged(case: ChecklistCase) -> ChecklistCase:
    """Return the case with its two people exchanged: what is right of it is wrong of the case."""
    people = dict(case.slots)
    if not set(PEOPLE) <= people.keys():
        return case
    other = {"a": people["b"], "b": people["a"]}
    return replace(case, slots=tuple((slot, other.get(slot, value)) for slot, value in case.slots))


def right_answers(right: RightAnswer, language: str) -> dict[str, str]:
    """Return the answers of a perfect reader, by style."""
    shortest = min(right.accepted, key=len)
    answers = {"minimal": shortest, "full": right.accepted[0], "sentence": right.sentence}
    answers["marked"] = f"**{shortest}**"  # as written by language models
    answers["unrepeated"] = _without_repetition(right.accepted[0], right.question, language)
    answers["own sentence"] = fair_rule(language).own_sentence(right)
    answers |= {f"further sentence {number}": text for number, text in enumerate(right.also, 1)}
    answers["model"] = f"<think>{right.context}</think>\n\n**Answer:** {shortest}\n\n> {right.context}"
    return {style: answer for style, answer in answers.items() if answer}


def _without_repetition(answer: str, question: str, language: str) -> str:
    """Strip words of the question from the edges of the answer; return "" if all or none match."""
    text = fair_rule(language).text
    if not text.segmented:
        return ""
    words, repeated = answer.split(), set(text.tokens(question))
    while words and repeated.issuperset(text.tokens(words[0])):
        words.pop(0)
    while words and repeated.issuperset(text.tokens(words[-1])):
        words.pop()
    rest = " ".join(words)
    return rest if rest != answer else ""


def answer_defects(case: ChecklistCase, speaker: Grammar) -> Iterator[AuditFinding]:
    """Yield incorrectly scored answers to the case."""
    for audited in _audited(case, speaker):
        yield from _wrongly_scored(audited, right_answers(audited.right, speaker.code), audited.wrong, speaker)


def shared_forms(speaker: Grammar) -> list[str]:
    """Return forms shared by two words of a lexicon, except names: no case has two similar ones."""
    shared: list[str] = []
    for form, words in fair_rule(speaker.code).words.items():
        for lexicon in {lexicon for lexicon, _ in words} - {"name"}:
            concepts = sorted({concept for name, concept in words if name == lexicon})
            if len(concepts) > 1:
                shared.append(f"{form!r} is a form of {' and '.join(f'{lexicon}.{concept}' for concept in concepts)}")
    return shared


def further_defects(case: ChecklistCase, speaker: Grammar) -> Iterator[AuditFinding]:
    """Yield negated answers, and answers with another word of the lexicon, that are scored as correct."""
    words = fillers(case, speaker)
    blank = " " if fair_rule(speaker.code).text.segmented else ""
    for audited in _audited(case, speaker):
        slot, sentence, answer = audited.template.slot, audited.template.sentence, audited.example.answer
        pairs = [pair for negation in speaker.file.negations for pair in ((negation, answer), (answer, negation))]
        wrong = [blank.join(pair) for pair in pairs]
        if slot not in PEOPLE:
            lexicon = case.lexicon(slot)
            others = [other for other in speaker.lexicons[lexicon].values() if other is not words[slot]]
            wrong += [form for other in others for form in speaker.answer_forms[lexicon][other.concept]]
            wrong += [speaker.say(sentence, {**words, slot: other, lexicon: other}) for other in others]
        yield from _wrongly_scored(audited, {}, wrong, speaker)


def _wrongly_scored(
    audited: AuditedQuestion, right: Mapping[str, str], wrong: Iterable[str], speaker: Grammar
) -> Iterator[AuditFinding]:
    rule, example = fair_rule(speaker.code), audited.example
    answers = [
        *((style, answer, "refused") for style, answer in right.items()),
        *(("wrong", it, "taken") for it in wrong),
    ]
    for style, answer, kind in answers:
        if rule.is_right(answer, audited.right) == (kind == "taken"):
            yield AuditFinding(speaker.code, example.id, kind, f"{style} answer {answer!r} to {example.question!r}")
