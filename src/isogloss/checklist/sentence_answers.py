"""When a sentence is a right answer: what it may say beside the answer proper.

It may say again what the question says, what such a sentence is made of in the language, and what the context itself
says about the right one. It may not deny it, nor say what would answer the opposite question.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from isogloss.checklist.answer_text import AnswerText, Tokens


@dataclass(frozen=True)
class SentenceFrame:
    """What a sentence may have beside the answer.

    Attributes:
        text: how the language is read.
        always: words that any sentence may have.
        negations: words that deny what is beside them.
        said_again: texts whose words it may have: in scripts that do not part words, pieces of two letters or more.
        sentence: a sentence that is right.
        opposite: one about the same person that answers the opposite question; empty where there is no such question.
    """

    text: AnswerText
    always: frozenset[str]
    negations: tuple[Tokens, ...]
    said_again: tuple[str, ...]
    sentence: str
    opposite: str

    @cached_property
    def _texts(self) -> list[Tokens]:
        return [self.text.tokens(each) for each in self.said_again]

    @cached_property
    def _words(self) -> frozenset[str]:
        return self.always.union(*self._texts)

    @cached_property
    def _pieces(self) -> list[str]:
        return ["".join(each) for each in self._texts]

    @cached_property
    def _longest_piece(self) -> int:
        return max(map(len, (*self._pieces, *self.always)), default=0)

    def allows(self, said: Tokens, start: int, end: int, forms: Iterable[Tokens]) -> bool:
        """Whether a sentence may be all this, where the answer, of these forms, stands from start to end."""
        before, after = said[:start], said[end:]
        if not (self._covers(before) and self._covers(after)):
            return False
        return not self._is_denied(said, start, end) and not (
            self.opposite and self._is_opposite(before + after, forms)
        )

    def _covers(self, said: Tokens) -> bool:
        return self._words.issuperset(said) if self.text.segmented else self._is_made_of_pieces("".join(said))

    def _is_made_of_pieces(self, said: str) -> bool:
        reached = [True] + [False] * len(said)
        for end in range(1, len(said) + 1):
            starts = range(max(0, end - self._longest_piece), end)
            reached[end] = any(reached[start] and self._is_piece(said[start:end]) for start in starts)
        return reached[-1]

    def _is_piece(self, said: str) -> bool:
        return said in self.always or (len(said) > 1 and any(said in piece for piece in self._pieces))

    def _is_denied(self, said: Tokens, start: int, end: int) -> bool:
        """Whether there is a negation beside other words than those it stands beside in the texts."""
        for negation in self.negations:
            for begins, ends in _places(said, negation):
                if begins < end and ends > start:
                    continue  # part of the answer
                before = said[begins - 1 : begins] if begins != end else ()
                after = said[ends : ends + 1] if ends != start else ()
                if not any(self._has(beside) for beside in (before + negation, negation + after) if beside != negation):
                    return True
        return False

    def _has(self, tokens: Tokens) -> bool:
        return any(True for text in self._texts for _ in _places(text, tokens))

    def _is_opposite(self, rest: Tokens, forms: Iterable[Tokens]) -> bool:
        """Whether the rest is that of the opposite sentence, whatever the order of its words."""
        forms = list(forms)
        ignored = self.always
        opposite, right = (_rests(self.text, each, forms, ignored) for each in (self.opposite, self.sentence))
        if opposite & right:  # what tells them apart is not to be ignored
            ignored = frozenset()
            opposite = _rests(self.text, self.opposite, forms, ignored)
        return _content(rest, ignored) in opposite


def _rests(text: AnswerText, sentence: str, forms: Iterable[Tokens], ignored: frozenset[str]) -> set[Tokens]:
    """What a sentence says beside an answer of these forms."""
    tokens = text.tokens(sentence)
    return {
        _content(tokens[:start] + tokens[end:], ignored) for form in forms for start, end in text.spans(tokens, form)
    }


def _content(tokens: Tokens, ignored: frozenset[str]) -> Tokens:
    return tuple(sorted(token for token in tokens if token not in ignored))


def _places(said: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
    """Where tokens stand, one beside the other."""
    size = len(wanted)
    return ((start, start + size) for start in range(len(said) - size + 1) if said[start : start + size] == wanted)
