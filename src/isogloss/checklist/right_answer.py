"""The correct answer of an example, with what is known about it."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from isogloss.grammar.cases import ChecklistExample, Statements

_SENTENCE_MARKS = ".!?。！？।۔။"
_SENTENCE_END = re.compile(rf"(?<=[{_SENTENCE_MARKS}])\s*")


class RightAnswer(NamedTuple):
    """Correct answer of an example, with the data needed to recognise it.

    Attributes:
        accepted: forms of the answer, the span of the context first.
        wrong: answers to the case's other questions.
        context: the context.
        question: the question.
        sentence: the answer as a whole sentence.
        opposite: the sentence that answers the opposite question, "" without one.
        also: further right sentences; they may name the other person.
        true: true sentences that do not answer the question.
        than: phrases in which the right person is the one compared to, and so not the answer.
    """

    accepted: tuple[str, ...]
    wrong: tuple[str, ...]
    context: str
    question: str
    sentence: str
    opposite: str
    also: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    than: tuple[str, ...] = ()

    def asks(self, text: str) -> bool:
        """Return True if a text has a question mark, such as that of the question."""
        own = self.question[-1:] or "?"
        is_mark = unicodedata.category(own)[0] == "P" and own != self.sentence[-1:]
        return any(mark in text for mark in ("?？؟" + own if is_mark else "?？؟"))

    def sentences(self, segmented: bool) -> tuple[str, ...]:
        """Return the sentences of the context."""
        return sentences_of(self.context, segmented)


def right_answer(example: ChecklistExample, opposite: str, about: Statements | None = None) -> RightAnswer:
    """Return the correct answer of an example.

    `opposite` comes from `isogloss.grammar.cases.opposites`, `about` from `statements` there.
    """
    known = (example.accepted, example.wrong, example.context, example.question, example.sentence, opposite)
    return RightAnswer(*known, *(about or ()))


@lru_cache(1 << 12)
def sentences_of(context: str, segmented: bool) -> tuple[str, ...]:
    """Return the sentences of a context."""
    parts = [sentence for sentence in _SENTENCE_END.split(context) if sentence]
    if len(parts) == 1 and not segmented and parts[0][-1] not in _SENTENCE_MARKS:
        parts = context.split(" ")  # Thai separates sentences by a blank
    return tuple(parts)
