"""Correctness of an answer: by the paper's rule, and by a fair one.

`paper` is the released scorer: articles of the language become a blank, some end characters are stripped, the rest must
be identical. `fair` accepts what a reader of the language would: any form of the answer word ("stone" for "made of
stone"), Unicode-normalised and case-folded, without articles, classifiers and end marks, with attached affixes; and a
sentence with one of them and no other word of its kind ("The key is made of stone."). A sentence may repeat the
question, contain function words of the language, and repeat what the context says about the correct answer. It may not
negate the answer, nor answer the opposite question.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

from isogloss.checklist.answer_text import AnswerText, Tokens
from isogloss.errors import unknown
from isogloss.grammar.cases import ChecklistExample
from isogloss.grammar.file import CODES, Grammar, grammar

MODES = ("paper", "fair")

# The released cleaner's articles: whole words, beginnings of words (no boundary after them), or letters anywhere.
_WORDS = {
    "de": "ein eine einen", "el": "Ο ένα μια", "en": "a an the in at", "es": "un una unos unas el la los las",
    "eu": "bat", "fa": "یک", "fr": "un une le la en", "hu": "egy", "it": "un una", "nl": "een", "pt": "um uma",
    "tl": "Si", "tr": "bir", "vi": "một", "wo": "dafa", "yo": "kan",
}  # fmt: skip
_BEGINNINGS = {"bn": "একটি একজন", "hi": "एक", "ml": "ഒരു", "mr": "एक", "my": "တစ်ဦး", "pa": "ਇੱਕ ਇਕ", "ta": "ஒரு"}
_ANYWHERE = {"ar": "ال"}
_ENDINGS = {"af": "’n"}
_PAPER_END = {"bn": "৷", "hi": "৷", "pa": "।", "pl": "„”", "ur": "\u200f"}

# Maximum length of an answer in letters; longer texts do not answer any question of the checklist.
LONGEST = 400
_SENTENCE_END = re.compile(r"(?<=[.!?。！？।۔။])\s*")


class RightAnswer(NamedTuple):
    """Correct answer of an example, with the data needed to recognise it."""

    accepted: tuple[str, ...]
    wrong: tuple[str, ...]
    context: str
    question: str
    sentence: str
    opposite: str


def right_answer(example: ChecklistExample, opposite: str) -> RightAnswer:
    """Return the correct answer of an example; `opposite` comes from `isogloss.grammar.cases.opposites`."""
    return RightAnswer(example.accepted, example.wrong, example.context, example.question, example.sentence, opposite)


class FairRule:
    """The fair rule in one language."""

    def __init__(self, speaker: Grammar) -> None:
        file = speaker.file
        self.text = AnswerText(file)
        self._forms = speaker.answer_forms
        self.negations = tuple(map(self.text.tokens, file.negations))
        always = (*file.articles, *file.classifiers, *file.prefixes, *file.particles, *file.sentence_words)
        tokens = map(self.text.tokens, always)
        self.always = frozenset(
            token for words in tokens for token in (words if self.text.segmented else ["".join(words)]) if token
        )
        self._bare_forms = lru_cache(1 << 14)(lambda forms: frozenset(map(self.text.bare, forms)))
        self._frames = lru_cache(1 << 12)(partial(SentenceFrame, self))
        self.own_sentence = lru_cache(1 << 12)(self._own_sentence)

    def is_one_of(self, text: str, accepted: tuple[str, ...]) -> bool:
        """Return True if the text itself is an accepted answer."""
        if len(text) > LONGEST:
            return False
        bare = self.text.bare(text)
        right = self._bare_forms(accepted)
        return bool(bare) and (bare in right or any(self.text.has_attached(bare, form) for form in right))

    def is_right(self, text: str, right: RightAnswer) -> bool:
        """Return True if the text is a correct answer, alone or in a sentence."""
        if len(text) > LONGEST:
            return False
        if self.is_one_of(text, right.accepted):
            return True
        tokens = self.text.tokens(text)
        forms = [self.text.tokens(answer) for answer in right.accepted]
        for start, end in (span for form in forms for span in self.text.spans(tokens, form)):
            if self._frames(right).allows(tokens, start, end, forms):
                others = self._others_in(" ".join(tokens), right)
                spans = (span for other in others for span in self.text.spans(tokens, other))
                if all(start <= begins and ends <= end for begins, ends in spans):
                    return True
        return False

    def _own_sentence(self, right: RightAnswer) -> str:
        """Return the sentence of the context with the answer and without other answers, or ""."""
        sentences = [sentence for sentence in _SENTENCE_END.split(right.context) if sentence]
        if len(sentences) == 1 and not self.text.segmented:
            sentences = right.context.split(" ")  # Thai separates sentences by a blank
        for sentence in sentences:
            tokens = self.text.tokens(sentence)
            if self._has(tokens, right.accepted[0]) and not any(self._has(tokens, other) for other in right.wrong):
                return sentence
        return ""

    def _has(self, tokens: Tokens, answer: str) -> bool:
        return any(True for _ in self.text.spans(tokens, self.text.tokens(answer)))

    @cached_property
    def words(self) -> dict[str, list[tuple[str, str]]]:
        """Words as (lexicon, concept), by bare form."""
        index: dict[str, list[tuple[str, str]]] = {}
        for lexicon, words in self._forms.items():
            for concept, forms in words.items():
                for form in self._bare_forms(forms):
                    index.setdefault(form, []).append((lexicon, concept))
        return index

    def all_forms(self, answer: str) -> tuple[str, ...]:
        """Return the answer and all other forms of its word, if it is in the language file."""
        words = self.words.get(self.text.bare(answer), ())
        return (answer, *(form for lexicon, concept in words for form in self._forms[lexicon][concept]))

    @cached_property
    def _tokens_of(self) -> dict[str, list[tuple[str, str, Tokens]]]:
        """Forms of each lexicon with concept, text and tokens."""
        return {
            lexicon: [
                (concept, " ".join(tokens), tokens)
                for concept, forms in words.items()
                for tokens in dict.fromkeys(map(self.text.tokens, forms))
            ]
            for lexicon, words in self._forms.items()
        }

    def _others_in(self, text: str, right: RightAnswer) -> Iterator[Tokens]:
        """Yield forms of other words of the answer's lexicon in a text; for people, those of the case."""
        for lexicon, concept in self.words.get(self.text.bare(right.accepted[0]), ()):
            if lexicon == "name":
                yield from (self.text.tokens(form) for other in right.wrong for form in self.all_forms(other))
                continue
            for other, form, tokens in self._tokens_of[lexicon]:
                if form in text and other != concept:
                    yield tokens


class SentenceFrame:
    """Allowed content of a sentence besides the correct answer.

    A sentence may repeat words of the question, of a correct sentence and of the answer's own sentence in the context;
    in scripts without word boundaries, pieces of two letters or more.
    """

    def __init__(self, rule: "FairRule", right: RightAnswer) -> None:
        self._rule, self._right = rule, right
        repeatable = filter(None, (right.question, right.sentence, rule.own_sentence(right)))
        self._texts = [rule.text.tokens(text) for text in repeatable]
        self._words = rule.always.union(*self._texts)
        self._pieces = ["".join(text) for text in self._texts]
        self._longest_piece = max(map(len, (*self._pieces, *rule.always)), default=0)

    def allows(self, tokens: Tokens, start: int, end: int, forms: Iterable[Tokens]) -> bool:
        """Return True if a sentence is acceptable with the answer, in one of these forms, from start to end."""
        before, after = tokens[:start], tokens[end:]
        if not (self._covers(before) and self._covers(after)):
            return False
        if self._is_denied(tokens, start, end):
            return False
        return not (self._right.opposite and self._is_opposite(before + after, forms))

    def _covers(self, tokens: Tokens) -> bool:
        """Return True if the tokens consist of allowed words, or of allowed pieces."""
        if self._rule.text.segmented:
            return self._words.issuperset(tokens)
        text = "".join(tokens)
        reached = [True] + [False] * len(text)
        for end in range(1, len(text) + 1):
            parts = (text[start:end] for start in range(max(0, end - self._longest_piece), end) if reached[start])
            reached[end] = any(
                part in self._rule.always or (len(part) > 1 and any(part in piece for piece in self._pieces))
                for part in parts
            )
        return reached[-1]

    def _is_denied(self, tokens: Tokens, start: int, end: int) -> bool:
        """Return True if a negation is next to words other than its neighbours in the known texts."""
        for negation in self._rule.negations:
            for begins, ends in _places(tokens, negation):
                if begins < end and ends > start:
                    continue  # part of the answer
                before = tokens[begins - 1 : begins] if begins != end else ()
                after = tokens[ends : ends + 1] if ends != start else ()
                phrases = [phrase for phrase in (before + negation, negation + after) if phrase != negation]
                if not any(True for phrase in phrases for text in self._texts for _ in _places(text, phrase)):
                    return True
        return False

    def _is_opposite(self, rest: Tokens, forms: Iterable[Tokens]) -> bool:
        """Return True if the rest equals that of the opposite sentence, in any word order."""
        forms, ignored = list(forms), self._rule.always
        opposite, right = (self._rests(text, forms, ignored) for text in (self._right.opposite, self._right.sentence))
        if opposite & right:  # keep the words that distinguish them
            ignored = frozenset()
            opposite = self._rests(self._right.opposite, forms, ignored)
        return _content(rest, ignored) in opposite

    def _rests(self, sentence: str, forms: Iterable[Tokens], ignored: frozenset[str]) -> set[Tokens]:
        tokens = self._rule.text.tokens(sentence)
        spans = (span for form in forms for span in self._rule.text.spans(tokens, form))
        return {_content(tokens[:start] + tokens[end:], ignored) for start, end in spans}


def _content(tokens: Tokens, ignored: frozenset[str]) -> Tokens:
    return tuple(sorted(token for token in tokens if token not in ignored))


def _places(tokens: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
    size = len(wanted)
    return ((start, start + size) for start in range(len(tokens) - size + 1) if tokens[start : start + size] == wanted)


@cache
def fair_rule(language: str) -> FairRule:
    """Return the fair rule of a language."""
    return FairRule(grammar(language))


@cache
def _articles(language: str) -> re.Pattern[str]:
    """Return the pattern that the released cleaner blanks out; empty for languages without one, as released."""
    for table, form in ((_WORDS, r"\b({})\b"), (_BEGINNINGS, r"\b({})"), (_ANYWHERE, "{}"), (_ENDINGS, r"({})\b")):
        if language in table:
            return re.compile(form.format(table[language].replace(" ", "|")))
    return re.compile("")


def matches(prediction: str, answer: str, *, language: str, mode: str) -> bool:
    """Return True if a prediction is correct.

    Args:
        prediction: a system's answer.
        answer: gold answer; the fair rule also accepts any other form of that word.
        language: language code of both.
        mode: rule, "paper" or "fair".

    Raises:
        UnknownNameError: unknown mode, or a language without a checklist.
    """
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    if mode == "paper":
        return cleaned(prediction, language) == cleaned(answer, language)
    if language not in CODES:
        raise unknown("language of the checklist", language, CODES)
    rule = fair_rule(language)
    return rule.is_one_of(prediction, rule.all_forms(answer))


def cleaned(text: str, language: str) -> str:
    """Apply the released cleaner: replace articles by a blank, then strip end characters."""
    return _articles(language).sub(" ", text).strip(",. " + _PAPER_END.get(language, ""))
