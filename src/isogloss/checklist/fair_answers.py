"""The fair rule: an answer is right if a reader who knows the language would say so.

Right is every accepted form of the word that is asked for, without what may be at its edges; and a sentence that holds
one (`isogloss.checklist.sentence_answers`), and no other word of its kind.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from isogloss.checklist.answer_text import AnswerText, Tokens
from isogloss.checklist.sentence_answers import SentenceFrame
from isogloss.grammar.cases import ChecklistExample
from isogloss.grammar.file import Grammar, grammar

# What is longer answers no question of the checklist; letters.
LONGEST = 400
_SENTENCE_END = re.compile(r"(?<=[.!?。！？।۔။])\s*")


class RightAnswer(NamedTuple):
    """What is right for an example, and what it is told by."""

    accepted: tuple[str, ...]
    wrong: tuple[str, ...]
    context: str
    question: str
    sentence: str
    opposite: str


def right_answer(example: ChecklistExample, opposite: str) -> RightAnswer:
    """What is right for an example; the opposite is that of `isogloss.grammar.cases.opposites`."""
    told_by = example.context, example.question, example.sentence
    return RightAnswer(example.accepted, example.wrong, *told_by, opposite)


class FairRule:
    """The rule in one language."""

    def __init__(self, speaker: Grammar) -> None:
        file = speaker.file
        self.text = AnswerText(file)
        self._forms = speaker.answer_forms
        self._negations = tuple(map(self.text.tokens, file.negations))
        always = (*file.articles, *file.classifiers, *file.prefixes, *file.particles, *file.sentence_words)
        tokens = map(self.text.tokens, always)
        self._always = frozenset(
            token for words in tokens for token in (words if self.text.segmented else ["".join(words)]) if token
        )
        self._bare_forms = lru_cache(1 << 14)(self._all_bare)
        self._frames = lru_cache(1 << 12)(self._frame)
        self.own_sentence = lru_cache(1 << 12)(self._own_sentence)

    def is_one_of(self, said: str, accepted: tuple[str, ...]) -> bool:
        """Whether something that was said is an accepted answer as it stands."""
        if len(said) > LONGEST:
            return False
        bare = self.text.bare(said)
        right = self._bare_forms(accepted)
        return bool(bare) and (bare in right or any(self.text.has_attached(bare, each) for each in right))

    def is_right(self, said: str, right: RightAnswer) -> bool:
        """Whether something that was said is a right answer, as it stands or in a sentence."""
        return self.is_one_of(said, right.accepted) or (len(said) <= LONGEST and self._is_sentence(said, right))

    def _is_sentence(self, said: str, right: RightAnswer) -> bool:
        tokens = self.text.tokens(said)
        forms = [self.text.tokens(answer) for answer in right.accepted]
        return any(
            self._frames(right).allows(tokens, start, end, forms) and not self._has_other(tokens, start, end, right)
            for form in forms
            for start, end in self.text.spans(tokens, form)
        )

    def _frame(self, right: RightAnswer) -> SentenceFrame:
        own = self.own_sentence(right)
        said_again = tuple(filter(None, (right.question, right.sentence, own)))
        return SentenceFrame(self.text, self._always, self._negations, said_again, right.sentence, right.opposite)

    def _own_sentence(self, right: RightAnswer) -> str:
        """The sentence of the context that has the answer, and not those to other questions; empty where none has."""
        sentences = [each for each in _SENTENCE_END.split(right.context) if each]
        if len(sentences) == 1 and not self.text.segmented:
            sentences = right.context.split(" ")  # Thai ends a sentence with a blank, and has no other
        for sentence in sentences:
            tokens = self.text.tokens(sentence)
            if self._has(tokens, right.accepted[0]) and not any(self._has(tokens, other) for other in right.wrong):
                return sentence
        return ""

    def _has(self, tokens: Tokens, answer: str) -> bool:
        return any(True for _ in self.text.spans(tokens, self.text.tokens(answer)))

    def _all_bare(self, texts: tuple[str, ...]) -> frozenset[str]:
        return frozenset(map(self.text.bare, texts))

    @cached_property
    def words(self) -> dict[str, list[tuple[str, str]]]:
        """The words, as lexicon and concept, that have a form, by its bare form."""
        index: dict[str, list[tuple[str, str]]] = {}
        for lexicon, words in self._forms.items():
            for concept, forms in words.items():
                for form in self._bare_forms(forms):
                    index.setdefault(form, []).append((lexicon, concept))
        return index

    def all_forms(self, answer: str) -> tuple[str, ...]:
        """The answer, and all other forms of the word that it is a form of, where the language file has one."""
        words = self.words.get(self.text.bare(answer), ())
        return (answer, *(form for lexicon, concept in words for form in self._forms[lexicon][concept]))

    @cached_property
    def _tokens_of(self) -> dict[str, list[tuple[str, str, Tokens]]]:
        """The forms of each lexicon, with their concept, as a text and in tokens."""
        return {
            lexicon: [
                (concept, " ".join(tokens), tokens)
                for concept, forms in words.items()
                for tokens in dict.fromkeys(map(self.text.tokens, forms))
            ]
            for lexicon, words in self._forms.items()
        }

    def _has_other(self, said: Tokens, start: int, end: int, right: RightAnswer) -> bool:
        """Whether another word of the answer's kind is said, other than as a part of the answer."""
        return any(
            begins < start or ends > end
            for other in self._others_in(" ".join(said), right)
            for begins, ends in self.text.spans(said, other)
        )

    def _others_in(self, text: str, right: RightAnswer) -> Iterator[Tokens]:
        """The forms of other words of the answer's kind that a text may have; of people, those of the case."""
        for lexicon, concept in self.words.get(self.text.bare(right.accepted[0]), ()):
            if lexicon == "name":
                yield from (self.text.tokens(form) for other in right.wrong for form in self.all_forms(other))
                continue
            for other, form, tokens in self._tokens_of[lexicon]:
                if form in text and other != concept:
                    yield tokens


@cache
def fair_rule(language: str) -> FairRule:
    """The rule of a language."""
    return FairRule(grammar(language))
