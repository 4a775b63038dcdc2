"""The fair rule: an answer is right if a reader who knows the language would say so.

Right is every accepted form of the word that is asked for, without what may be at its edges; and a sentence that holds
one, beside words that the question or the context says, and no other word of its kind.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from isogloss.grammar.file import Grammar, grammar
from isogloss.languages import language as find_language

_QUOTES_AND_BLANKS = " \t\n\u200e\u200f\u200b\"'«»“”„‘’()[]"

_SENTENCE_END = re.compile(r"(?<=[.!?。！？।۔။])\s*")

# So many texts are remembered in each way they are read.
_REMEMBERED = 1 << 16

Tokens = tuple[str, ...]


def is_right(prediction: str, accepted: tuple[str, ...], language: str, said_again: tuple[str, ...] = ()) -> bool:
    """Whether a prediction is one of the accepted answers, or a sentence that says one of them.

    Args:
        prediction: what a system answered.
        accepted: the right answers.
        language: of both, by its code.
        said_again: texts whose words a sentence may have beside the answer; without any, sentences are wrong.
    """
    reader = fair_reader(language)
    said = reader.bare(prediction)
    if not said:
        return False
    right = reader.all_bare(accepted)
    if said in right or any(reader.differ_by_attachment(said, each) for each in right):
        return True
    return bool(said_again) and reader.is_said_in(prediction, accepted, reader.frame(said_again))


def own_sentence(context: str, answer: str, wrong: tuple[str, ...]) -> str:
    """The sentence of a context that has the answer, and not those to other questions; empty where there is none."""
    for sentence in _SENTENCE_END.split(context):
        if answer in sentence and not any(other in sentence for other in wrong):
            return sentence
    return ""


@dataclass(frozen=True)
class SentenceFrame:
    """What a sentence may have beside the answer.

    Attributes:
        words: single words.
        texts: in scripts that do not part words, texts of which any piece of two letters or more may be there too.
    """

    words: frozenset[str]
    texts: tuple[str, ...] = ()

    def covers(self, said: Tokens) -> bool:
        """Whether all of it may be there."""
        return self._is_made_of_pieces("".join(said)) if self.texts else self.words.issuperset(said)

    def _is_made_of_pieces(self, said: str) -> bool:
        reached = {0}
        for end in range(1, len(said) + 1):
            if any(self._is_piece(said[start:end]) for start in reached):
                reached.add(end)
        return len(said) in reached

    def _is_piece(self, said: str) -> bool:
        return said in self.words or (len(said) > 1 and any(said in text for text in self.texts))


class FairReader:
    """How answers in one language are read."""

    def __init__(self, speaker: Grammar) -> None:
        file = speaker.file
        self.segmented = find_language(speaker.code).segmented
        self._lower = str.maketrans({upper: lower for lower, upper in file.upper.items()})
        self._forms = speaker.answer_forms
        self._small = sorted(map(self._folded, (*file.articles, *file.classifiers)), key=len, reverse=True)
        self._end = file.end + _QUOTES_AND_BLANKS
        self._prefixes = tuple(map(self._folded, file.prefixes))
        self._particles = tuple(map(self._folded, file.particles))
        always = (*file.articles, *file.classifiers, *file.prefixes, *file.particles, *file.sentence_words)
        tokens = map(self.tokens, always)
        self._always = frozenset(token for text in tokens for token in (text if self.segmented else ["".join(text)]))

    def _folded(self, text: str) -> str:
        """The text whatever its capitals and its Unicode form; Turkish I is the capital of ı."""
        plain = unicodedata.normalize("NFKC", text).translate(self._lower)
        return unicodedata.normalize("NFKC", plain.casefold())

    @lru_cache(_REMEMBERED)  # noqa: B019 - there is one reader a language, for as long as the process lives
    def bare(self, text: str) -> str:
        """The text without what may be at its edges: marks, articles, classifiers."""
        words = self._folded(text).strip(self._end).split()
        while len(words) > 1 and words[0] in self._small:
            words.pop(0)
        while len(words) > 1 and words[-1] in self._small:
            words.pop()
        joined = " ".join(words).strip(self._end)
        if not self.segmented:  # classifiers are then attached: in front in Chinese, behind in Burmese and Thai
            for attached in self._small:
                if joined != attached:
                    joined = joined.removeprefix(attached).removesuffix(attached).strip(self._end)
        return joined

    @lru_cache(_REMEMBERED)  # noqa: B019
    def all_bare(self, texts: tuple[str, ...]) -> frozenset[str]:
        """Every text bare."""
        return frozenset(map(self.bare, texts))

    def differ_by_attachment(self, one: str, other: str) -> bool:
        """Whether one is the other with something that the language attaches to words."""
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        if not shorter or shorter not in longer:
            return False
        for prefix in ("", *self._prefixes):
            if longer.startswith(prefix + shorter):
                attached = longer[len(prefix + shorter) :]
                if not attached or attached in self._particles:
                    return True
        return False

    def begins_word(self, text: str, place: int) -> bool:
        """Whether a word begins there, at most after something that the language attaches to words."""
        before = self._folded(text[:place]).translate(_BLANKS)
        attached = before[before.rfind(" ") + 1 :]
        return not self.segmented or not attached or attached in self._prefixes

    @lru_cache(_REMEMBERED)  # noqa: B019
    def tokens(self, text: str) -> Tokens:
        """Words; letters in scripts that do not part words."""
        parted = self._folded(text).translate(_BLANKS).split()
        return tuple(parted if self.segmented else "".join(parted))

    @lru_cache(_REMEMBERED)  # noqa: B019
    def frame(self, said_again: tuple[str, ...]) -> SentenceFrame:
        """What a sentence may have beside the answer proper."""
        texts = [self.tokens(text) for text in said_again]
        if self.segmented:
            return SentenceFrame(self._always.union(*texts))
        return SentenceFrame(self._always, tuple(map("".join, texts)))

    def is_said_in(self, prediction: str, accepted: tuple[str, ...], frame: SentenceFrame) -> bool:
        """Whether an accepted answer is said, beside nothing but the frame, and no other word of its kind."""
        said = self.tokens(prediction)
        for answer in accepted:
            for start, end in self._spans(said, self.tokens(answer)):
                if frame.covers(said[:start]) and frame.covers(said[end:]):
                    return not any(
                        begins < start or ends > end
                        for other in self._others_in(" ".join(said), accepted[0])
                        for begins, ends in self._spans(said, other)
                    )
        return False

    def _spans(self, said: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
        """Where the wanted tokens stand in what was said, perhaps with something attached to them."""
        size = len(wanted)
        for start in range(len(said) - size + 1) if wanted else ():
            found = said[start : start + size]
            if found == wanted or (self.segmented and self.differ_by_attachment(" ".join(found), " ".join(wanted))):
                yield start, start + size

    @cached_property
    def _words(self) -> dict[str, list[tuple[str, str]]]:
        """The words, as lexicon and concept, that have a form, by its bare form."""
        index: dict[str, list[tuple[str, str]]] = {}
        for lexicon, words in self._forms.items():
            for concept, forms in words.items():
                for form in self.all_bare(forms):
                    index.setdefault(form, []).append((lexicon, concept))
        return index

    def all_forms(self, answer: str) -> tuple[str, ...]:
        """The answer, and all other forms of the word that it is a form of, where the language file has one."""
        words = self._words.get(self.bare(answer), ())
        return (answer, *(form for lexicon, concept in words for form in self._forms[lexicon][concept]))

    @cached_property
    def _tokens_of(self) -> dict[str, list[tuple[str, str, Tokens]]]:
        """The forms of each lexicon, with their concept, as a text and in tokens."""
        return {
            lexicon: [
                (concept, " ".join(tokens), tokens)
                for concept, forms in words.items()
                for tokens in dict.fromkeys(map(self.tokens, forms))
            ]
            for lexicon, words in self._forms.items()
        }

    def _others_in(self, text: str, answer: str) -> Iterator[Tokens]:
        """The forms of all other words of the answer's kind that a text may have."""
        for lexicon, concept in self._words.get(self.bare(answer), ()):
            for other, form, tokens in self._tokens_of[lexicon]:
                if form in text and other != concept:
                    yield tokens


@cache
def fair_reader(language: str) -> FairReader:
    """The reader of a language."""
    return FairReader(grammar(language))


class _Blanks(dict[int, int]):
    """For `str.translate`: letters, marks and digits stay, all else becomes a blank."""

    def __missing__(self, code: int) -> int:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_BLANKS = _Blanks()
