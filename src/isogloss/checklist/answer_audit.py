"""Audit of the scoring rule: each question is answered correctly and wrongly in every natural way.

Correct answers are minimal (the shortest form of the answer word; also the rest of the span when the words that
the question repeats are removed), full (the span of the context) and whole sentences (from the language file and from
the context). Wrong answers are those to the case's other questions, negated correct ones, the sentence that
answers the opposite question, and the sentence with another word of the same kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from isogloss.checklist.audit import AuditFinding
from isogloss.checklist.fair_answers import RightAnswer, fair_rule, right_answer
from isogloss.grammar.cases import (
    PEOPLE,
    ChecklistCase,
    ChecklistExample,
    examples,
    fillers,
    first_context,
    opposites,
    templates,
)
from isogloss.grammar.file import AskedQuestion, Grammar


class AuditedQuestion(NamedTuple):
    """A question of a case in its first context; answers do not depend on the context.

    Wrong answers are those to the case's other questions, and both sentences about the other of two people.
    """

    template: AskedQuestion
    example: ChecklistExample
    right: RightAnswer
    wrong: list[str]


def _audited(case: ChecklistCase, speaker: Grammar) -> Iterator[AuditedQuestion]:
    _, questions = templates(case, speaker)
    first_examples, opposite = list(examples(first_context(case), speaker)), opposites(case, speaker)
    for number, (question, example) in enumerate(zip(questions, first_examples, strict=True)):
        others = [other for other in first_examples if other is not example]
        wrong = [answer for other in others for answer in (other.answer, min(other.accepted, key=len), other.sentence)]
        right = right_answer(example, opposite[number])
        yield AuditedQuestion(question, example, right, [*wrong, *filter(None, opposite)])


def right_answers(right: RightAnswer, language: str) -> dict[str, str]:
    """Return the answers of a perfect reader, by style."""
    shortest = min(right.accepted, key=len)
    answers = {"minimal": shortest, "full": right.accepted[0], "sentence": right.sentence}
    answers["marked"] = f"**{shortest}**"  # as written by language models
    answers["unrepeated"] = _without_repetition(right.accepted[0], right.question, language)
    answers["own sentence"] = fair_rule(language).own_sentence(right)
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
        answers = right_answers(audited.right, speaker.code)
        yield from _wrongly_scored(audited, answers, audited.wrong, speaker)


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
    for style, answer in right.items():
        if not rule.is_right(answer, audited.right):
            yield AuditFinding(
                speaker.code, example.id, "refused", f"{style} answer {answer!r} to {example.question!r}"
            )
    for answer in wrong:
        if rule.is_right(answer, audited.right):
            yield AuditFinding(speaker.code, example.id, "taken", f"wrong answer {answer!r} to {example.question!r}")
