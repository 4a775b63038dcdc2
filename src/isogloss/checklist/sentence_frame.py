"""Whole-sentence answers: the words that a sentence may contain besides the correct answer, and those it must.

A sentence may repeat words of the question, of a right sentence and of the answer's own sentence in the context; in
scripts without word boundaries, pieces of two letters or more. Repeated words may have other affixes, and the forms
that the language file derives for them (`repeated`). A sentence that compares must keep the words that distinguish the
right sentence from the opposite one ("less", "not as … as").
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from isogloss.checklist.answer_text import Tokens
from isogloss.checklist.right_answer import RightAnswer
from isogloss.grouping import group_by

if TYPE_CHECKING:
    from isogloss.checklist.matching import FairRule


class CaseWords(NamedTuple):
    """Words and sentences that a case has in common in all its contexts.

    Attributes:
        others: forms of the wrong answers.
        alone: further right sentences that name the right answer only.
        contrasts: those that name another one.
        compared: phrases with a person compared to.
    """

    others: list[Tokens]
    alone: list[str]
    contrasts: list[str]
    compared: list[Tokens]


class SentenceFrame:
    """Allowed and required content of a sentence with the correct answer; computed on first use."""

    def __init__(
        self, rule: "FairRule", right: RightAnswer, forms: Sequence[Tokens], first_words: Sequence[str]
    ) -> None:
        self._rule, self.right, self.forms, self._first_words = rule, right, forms, first_words
        self.own = rule.own_sentence(right)
        self.others, alone, self.contrasts, self.compared = rule.case_words(right._replace(context=""))
        self._sentences = [text for text in (right.sentence, *alone) if text]
        self._repeatable = [right.question, *self._sentences, *filter(None, [self.own])]
        self._known = [*self._repeatable, *filter(None, [right.opposite]), *self.contrasts, *right.true, right.context]
        self._names = {form[0] for form in (*forms, *self.others) if len(form) == 1}
        self._in_compared = frozenset(chain(*self.compared))
        self._spoken: dict[str, tuple[Tokens, ...]] = {}
        self._wanted: dict[str, list[tuple[Tokens, set[Tokens]]]] = {}

    @cached_property
    def true(self) -> list[str]:
        """True sentences, with those of the context."""
        return [*self.right.true, *self.right.also, *self.right.sentences(self._rule.text.segmented)]

    @cached_property
    def _texts(self) -> list[Tokens]:
        return [spoken for text in self._repeatable for spoken in self.spoken(text)]

    @cached_property
    def _words(self) -> frozenset[str]:
        return self._rule.always.union(*self._texts)

    @cached_property
    def _pieces(self) -> str:
        return _as_pieces(self._texts)

    def names_answer(self, tokens: Tokens) -> bool:
        """Return True if the first word of a right answer occurs; all rules but that of contrasts need it."""
        text = (" " if self._rule.text.segmented else "").join(tokens)
        return any(word in text for word in self._first_words)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Function words that cannot distinguish two sentences.

        These are articles and words that no known text uses; without word boundaries, all but "than".
        """
        rule = self._rule
        if rule.text.segmented:
            return rule.always.difference(*map(rule.text.tokens, self._known)) | rule.articles
        phrases = ["".join(phrase) for phrase in self.compared]
        than = {phrase.replace("".join(name), "") for phrase in phrases for name in (*self.forms, *self.others)}
        return frozenset(word for word in rule.always if not any(word in text or text in word for text in than - {""}))

    @cached_property
    def _ignored_by_letter(self) -> Mapping[str, Sequence[str]]:
        return group_by(self.ignored, lambda word: word[0])

    @cached_property
    def _without_ignored(self) -> dict[int, None]:
        """`str.translate` table that drops every letter of an ignored word."""
        return dict.fromkeys(map(ord, chain(*self.ignored)))

    @cached_property
    def _same_words(self) -> dict[str, str]:
        """Words of the known texts and of the language, and other forms of them, each with the word itself."""
        rule, words = self._rule, dict[str, str]()
        if not rule.text.segmented:
            return words
        for text in self._known:
            for form, token in rule.repeated_forms(text):
                words.setdefault(form, token)
        words.update(rule.own_words)
        tokens = set(chain(*map(rule.text.tokens, self._known)))
        words.update(zip(tokens, tokens, strict=True))
        for token in [token for name in self._names for token in tokens if name in token]:
            words[token] = self._name(token) or token
        words.update(zip(self._names, self._names, strict=True))
        return words

    def _name(self, token: str) -> str:
        """Return the answer in a token with an affix, unless the affix says that it is compared to."""
        if token in self._names or token in self._in_compared:
            return ""
        return next((stem for stem in self._rule.stems(token) if stem in self._names), "")

    def spoken(self, text: str) -> tuple[Tokens, ...]:
        """Return a known text in all its forms: in canonical words or, without word boundaries, each derived form."""
        if text not in self._spoken:
            text_of = self._rule.text
            tokens = text_of.tokens(text)
            derived = () if text_of.segmented else map(text_of.tokens, self._rule.derived_texts(text))
            self._spoken[text] = (self.canonical(tokens), *derived)
        return self._spoken[text]

    def canonical(self, tokens: Tokens) -> Tokens:
        """Return the tokens with the known word for each, whatever its affixes."""
        known = self._same_words
        if not known:
            return tokens
        return tuple([known.get(token) or self._stem(token) for token in tokens])

    def _stem(self, token: str) -> str:
        if token in self._in_compared:
            return token
        stems = (self._same_words.get(stem) for stem in self._rule.stems(token))
        return next(filter(None, stems), token)

    def wanted(self, sentence: str) -> list[tuple[Tokens, set[Tokens]]]:
        """Return what counts of a sentence in all its forms: words, and phrases with a person compared to."""
        if sentence not in self._wanted:
            forms = self.spoken(sentence)
            self._wanted[sentence] = [(self.counting(form), self.compared_in(form, 0, len(form))) for form in forms]
        return self._wanted[sentence]

    def says_any(self, tokens: Tokens, sentences: Sequence[str]) -> bool:
        """Return True if the tokens are one of some sentences, apart from function words and affixes."""
        if not sentences:
            return False
        if not self._rule.text.segmented:
            return self._is_aligned("".join(tokens), sentences)
        words = self.canonical(tokens)
        counting = self.counting(words)
        for wanted, compared in chain.from_iterable(map(self.wanted, sentences)):
            # If a phrase names the person compared to, the order is free.
            if (
                len(counting) == len(wanted)
                and (counting == wanted or (compared and sorted(counting) == sorted(wanted)))
                and compared == self.compared_in(words, 0, len(words))
            ):
                return True
        return False

    def _is_aligned(self, text: str, sentences: Sequence[str]) -> bool:
        letters = text.translate(self._without_ignored)
        for spoken in map("".join, chain.from_iterable(map(self.spoken, sentences))):
            # Letters that no ignored word has are in both texts; a comparison of them tells most texts apart.
            same_letters = letters == spoken.translate(self._without_ignored)
            if same_letters and aligned(text, spoken, self._ignored_by_letter):
                return True
        return False

    def counting(self, tokens: Tokens) -> Tokens:
        """Return the tokens that distinguish sentences."""
        if not self._rule.text.segmented:
            return tokens
        return tuple([word for word in tokens if word not in self.ignored])

    def compared_in(self, tokens: Tokens, start: int, end: int) -> set[Tokens]:
        """Return the phrases with a person compared to ("than Ann") that overlap a part of the tokens."""
        phrases: set[Tokens] = set()
        for phrase in self.compared:
            if len(phrase) > 1 and phrase[0] not in tokens:
                continue
            for begins in range(len(tokens) - len(phrase) + 1):
                ends = begins + len(phrase)
                same = tokens[begins : ends - 1] == phrase[:-1] and tokens[ends - 1].startswith(phrase[-1])
                if same and begins < end and ends > start:
                    phrases.add(phrase)
        return phrases

    def allows(self, tokens: Tokens, start: int, end: int) -> bool:
        """Return True if a sentence is acceptable with the answer from start to end."""
        before, after = self.canonical(tokens[:start]), self.canonical(tokens[end:])
        if not (self._covers(before, self._words, self._pieces) and self._covers(after, self._words, self._pieces)):
            return False
        if self._is_denied(before + tokens[start:end] + after, start, end):
            return False
        return not self.right.opposite or (self._distinguishes(before, after) and not self._is_opposite(before + after))

    def _covers(self, tokens: Tokens, words: frozenset[str], pieces: str) -> bool:
        """Return True if the tokens consist of allowed words, or of parts of the allowed pieces."""
        if self._rule.text.segmented:
            return words.issuperset(tokens)
        text = "".join(tokens)
        reached = [True] + [False] * len(text)
        for start in range(len(text)):
            if not reached[start]:
                continue
            ends = [
                start + len(word)
                for word in self._rule.always_by_letter.get(text[start], ())
                if text.startswith(word, start)
            ]
            end = start + 2
            while end <= len(text) and text[start:end] in pieces:
                ends.append(end)
                end += 1
            for end in ends:
                # A piece does not end inside a syllable.
                if unicodedata.category(text[end : end + 1] or "L")[0] != "M":
                    reached[end] = True
        return reached[-1]

    def _is_denied(self, tokens: Tokens, start: int, end: int) -> bool:
        """Return True if a negation is next to words other than its neighbours in the known texts."""
        for negation in self._rule.negations:
            for begins, ends in places(tokens, negation):
                if begins < end and ends > start:
                    continue  # part of the answer
                before = tokens[begins - 1 : begins] if begins != end else ()
                after = tokens[ends : ends + 1] if ends != start else ()
                # What follows is denied; at the end of a sentence, what precedes.
                phrase = negation + after if after else before + negation
                if phrase == negation or not any(True for text in self._texts for _ in places(text, phrase)):
                    return True
        return False

    def _is_opposite(self, rest: Tokens) -> bool:
        """Return True if the rest equals that of the opposite sentence, in any word order."""
        opposite, ignored = self._opposite_rests
        return content(rest, ignored) in opposite

    @cached_property
    def _opposite_rests(self) -> tuple[set[Tokens], frozenset[str]]:
        """The opposite sentence without the answer, and the words to ignore in it."""
        ignored = self._rule.always
        opposite, right = (set(self._rests(text, ignored)) for text in (self.right.opposite, self.right.sentence))
        if opposite & right:  # keep the words that distinguish them
            ignored = frozenset()
            opposite = set(self._rests(self.right.opposite, ignored))
        return opposite, ignored

    def _rests(self, sentence: str, ignored: frozenset[str]) -> Iterator[Tokens]:
        """Yield the sorted tokens of a sentence without the answer."""
        return (content(before + after, ignored) for before, after in self._around(sentence))

    def _around(self, sentence: str) -> Iterator[tuple[Tokens, Tokens]]:
        """Yield what stands before and after the answer in a sentence."""
        for tokens in self.spoken(sentence):
            for start, end in (span for form in self.forms for span in self._rule.text.spans(tokens, form)):
                yield tokens[:start], tokens[end:]

    def _distinguishes(self, before: Tokens, after: Tokens) -> bool:
        """Return True if a sentence that compares has all distinguishing words of some right sentence.

        What the context itself says about the answer ("is a little tired") needs none.
        """
        rule = self._rule
        if rule.text.segmented:
            words = {*before, *after} - rule.always
            if words <= self._own_words or not words & self._comparing_words:
                return True
            return any(required <= words for required in self._required_words)
        if all(self._covers(part, rule.always, self._own_pieces) for part in (before, after)):
            return True
        text = f"{''.join(before)} {''.join(after)}"
        return any(all(part in text for part in required) for required in self._required_pieces)

    @cached_property
    def _own_words(self) -> frozenset[str]:
        return frozenset(chain(*self.spoken(self.own))) if self.own else frozenset()

    @cached_property
    def _own_pieces(self) -> str:
        return _as_pieces(self.spoken(self.own) if self.own else ())

    @cached_property
    def _comparing_words(self) -> set[str]:
        texts = (*self._sentences, self.right.opposite)
        return {word for text in texts for rest in self._rests(text, self._rule.always) for word in rest}

    @cached_property
    def _required_words(self) -> list[set[str]]:
        opposite = {word for rest in self._rests(self.right.opposite, self._rule.always) for word in rest}
        rests = chain.from_iterable(self._rests(text, self._rule.always) for text in self._sentences)
        required = [set(rest) - self._own_words for rest in rests]
        return [words - opposite or words for words in required]

    @cached_property
    def _required_pieces(self) -> list[list[str]]:
        opposites = ["".join((*before, *after)) for before, after in self._around(self.right.opposite)]
        required: list[list[str]] = []
        for before, after in chain.from_iterable(map(self._around, self._sentences)):
            for opposite in opposites:
                parts = [part for text in (before, after) for part in _left_over("".join(text), opposite)]
                needed = [part for part in parts if not self._covers(tuple(part), self._rule.always, self._own_pieces)]
                required.append(needed)
        return required


def _as_pieces(texts: Iterable[Tokens]) -> str:
    """Return the texts, one per line: tokens have no line breaks, so a part of the result is part of one text."""
    return "\n".join(map("".join, texts))


def _left_over(text: str, other: str) -> Iterator[str]:
    """Yield the parts of a text that the other lacks."""
    end = 0
    for block in SequenceMatcher(None, text, other, autojunk=False).get_matching_blocks():
        if block.a > end:
            yield text[end : block.a]
        end = block.a + block.size


def content(tokens: Tokens, ignored: frozenset[str]) -> Tokens:
    """Return the sorted tokens that are not ignored."""
    return tuple(sorted(token for token in tokens if token not in ignored))


def places(tokens: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
    """Yield the places of consecutive tokens."""
    size = len(wanted)
    if wanted and wanted[0] not in tokens:
        return iter(())
    return ((start, start + size) for start in range(len(tokens) - size + 1) if tokens[start : start + size] == wanted)


def aligned(text: str, sentence: str, ignored: Mapping[str, Sequence[str]]) -> bool:
    """Return True if a text equals a sentence apart from ignored words, which may be added or left out.

    The ignored words are given by their first letter.
    """
    reached, done = [(0, 0)], set()
    while reached:
        at = reached.pop()
        if at in done:
            continue
        done.add(at)
        here, there = at
        letter, other = text[here : here + 1], sentence[there : there + 1]
        if not letter and not other:
            return True
        if letter == other:
            reached.append((here + 1, there + 1))
        reached += [(here + len(word), there) for word in ignored.get(letter, ()) if text.startswith(word, here)]
        reached += [(here, there + len(word)) for word in ignored.get(other, ()) if sentence.startswith(word, there)]
    return False
