"""Whether right answers are scored right, and wrong ones wrong: each question is answered in every natural way.

Right answers are minimal (the shortest form of the word asked for; also what is left of the span when the words that
the question says already are taken off), full (the span of the context) and whole sentences (as the language file has
them; also the context's own). Wrong are the answers to the case's other questions, right ones denied, the sentence that
answers the opposite question, and the sentence with another word of the same kind.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

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
    """A question of a case in its first context, which answers do not depend on.

    Attributes:
        asked: its template.
        example: the example.
        right: what is right.
        wrong: what answers the case's other questions, and both sentences about the other one of two people.
    """

    asked: AskedQuestion
    example: ChecklistExample
    right: RightAnswer
    wrong: list[str]


def _audited(case: ChecklistCase, speaker: Grammar) -> Iterator[AuditedQuestion]:
    _, questions = templates(case, speaker)
    asked, opposite = list(examples(first_context(case), speaker)), opposites(case, speaker)
    for number, (question, example) in enumerate(zip(questions, asked, strict=True)):
        others = [other for other in asked if other is not example]
        wrong = [said for other in others for said in (other.answer, min(other.accepted, key=len), other.sentence)]
        right = right_answer(example, opposite[number])
        yield AuditedQuestion(question, example, right, [*wrong, *filter(None, opposite)])


def right_answers(right: RightAnswer, language: str) -> dict[str, str]:
    """What a perfect reader says, by the way it is said."""
    shortest = min(right.accepted, key=len)
    ways = {"minimal": shortest, "full": right.accepted[0], "sentence": right.sentence}
    ways["marked"] = f"**{shortest}**"  # as language models write
    rest = _without_repetition(right.accepted[0], right.question, language)
    own = fair_rule(language).own_sentence(right)
    return ways | ({"unrepeated": rest} if rest else {}) | ({"own sentence": own} if own else {})


def _without_repetition(answer: str, question: str, language: str) -> str:
    """The answer without the words at its edges that are in the question; empty where all of them are, or none is."""
    text = fair_rule(language).text
    if not text.segmented:
        return ""
    words, asked = answer.split(), set(text.tokens(question))
    while words and asked.issuperset(text.tokens(words[0])):
        words.pop(0)
    while words and asked.issuperset(text.tokens(words[-1])):
        words.pop()
    rest = " ".join(words)
    return rest if rest != answer else ""


def answer_defects(case: ChecklistCase, speaker: Grammar) -> Iterator[tuple[str, str, str]]:
    """Answers to the case that are scored wrongly, as (id of the example, kind of finding, detail)."""
    for audited in _audited(case, speaker):
        ways = right_answers(audited.right, speaker.code)
        yield from _wrongly_scored(audited, ways, audited.wrong, speaker)


def _denied(answer: str, speaker: Grammar) -> Iterator[str]:
    """The answer with each negation of the language before and behind it."""
    blank = " " if fair_rule(speaker.code).text.segmented else ""
    for negation in speaker.file.negations:
        yield from (f"{negation}{blank}{answer}", f"{answer}{blank}{negation}")


def shared_forms(speaker: Grammar) -> list[str]:
    """Forms that two words of one kind have, but for names, of which no case has two that are alike."""
    shared: list[str] = []
    for form, words in fair_rule(speaker.code).words.items():
        for lexicon in {lexicon for lexicon, _ in words} - {"name"}:
            concepts = sorted({concept for each, concept in words if each == lexicon})
            if len(concepts) > 1:
                shared.append(f"{form!r} is a form of {' and '.join(f'{lexicon}.{concept}' for concept in concepts)}")
    return shared


def further_defects(case: ChecklistCase, speaker: Grammar) -> Iterator[tuple[str, str, str]]:
    """Denied answers, and answers with another word of the kind in every form and as a sentence, scored as right."""
    words = fillers(case, speaker)
    for audited in _audited(case, speaker):
        slot, sentence = audited.asked.slot, audited.asked.sentence
        wrong = list(_denied(audited.example.answer, speaker))
        if slot not in PEOPLE:
            lexicon = case.lexicon(slot)
            others = [other for other in speaker.lexicons[lexicon].values() if other is not words[slot]]
            wrong += [form for other in others for form in speaker.answer_forms[lexicon][other.concept]]
            wrong += [speaker.say(sentence, {**words, slot: other, lexicon: other}) for other in others]
        yield from _wrongly_scored(audited, {}, wrong, speaker)


def _wrongly_scored(
    audited: AuditedQuestion, right: Mapping[str, str], wrong: Iterable[str], speaker: Grammar
) -> Iterator[tuple[str, str, str]]:
    rule, example = fair_rule(speaker.code), audited.example
    for way, said in right.items():
        if not rule.is_right(said, audited.right):
            yield example.id, "refused", f"{way} answer {said!r} to {example.question!r}"
    for said in wrong:
        if rule.is_right(said, audited.right):
            yield example.id, "taken", f"wrong answer {said!r} to {example.question!r}"
