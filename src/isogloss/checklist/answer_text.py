"""Text normalisation of answers in one language: equivalent letters, ignorable edges, and words."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar

from isogloss.grammar.schema import LanguageFile, SpellingClass
from isogloss.languages import language

Tokens = tuple[str, ...]
T = TypeVar("T")

# Cache size, and maximum length of cached texts: a prediction may be anything.
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 200
_APOSTROPHES = dict.fromkeys("’‘ʼʻ`´′＇", "'")


def _remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """Cache a function of texts, except for long ones."""
    cached = lru_cache(_REMEMBERED)(read)
    return lambda text: cached(text) if len(text) <= _LONGEST_REMEMBERED else read(text)


def _typing(spelling: SpellingClass) -> Callable[[str], str]:
    """Return a function that types a text in a spelling class."""
    replaced = str.maketrans({letter: other for letter, other in spelling.replace.items() if len(letter) == 1})
    longer = [(written, other) for written, other in spelling.replace.items() if len(written) > 1]
    dropped = frozenset(spelling.strip)

    def typed(text: str) -> str:
        for written, other in longer:
            text = text.replace(written, other)
        text = text.translate(replaced)
        if not spelling.strip or text.isascii():
            return text
        letters = unicodedata.normalize("NFD", text)
        if spelling.strip == "all":
            kept = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
        else:
            kept = "".join(letter for letter in letters if letter not in dropped)
        return unicodedata.normalize("NFKC", kept)

    return typed


class AnswerText:
    """Text normalisation of one language."""

    def __init__(self, file: LanguageFile, spelling: SpellingClass | None = None) -> None:
        self._typed = _typing(spelling) if spelling else None
        self.segmented = language(file.code).segmented
        self.folded = _remembered(self._folded)
        self._letters = str.maketrans(_APOSTROPHES | {upper: lower for lower, upper in file.upper.items()})
        self._spellings = [(self._unified(written), self._unified(same)) for written, same in file.spellings.items()]
        self._small = sorted(map(self.folded, (*file.articles, *file.classifiers)), key=len, reverse=True)
        self._prefixes = tuple(map(self.folded, file.prefixes))
        self._endings = ("", *map(self.folded, file.particles))
        self.bare = _remembered(self._bare)
        self.tokens = _remembered(self._tokens)

    def _unified(self, text: str) -> str:
        """Return the text with unified case, Unicode form and apostrophes; Turkish I is the capital of ı."""
        plain = unicodedata.normalize("NFKC", text).translate(self._letters)
        return unicodedata.normalize("NFKC", plain.casefold())

    def _folded(self, text: str) -> str:
        """Return the text with one spelling for variants that the language treats as equal."""
        text = self._unified(text)
        for written, same in self._spellings:
            text = text.replace(written, same)
        return self._typed(text) if self._typed else text

    def _bare(self, text: str) -> str:
        """Return the text without ignorable edges: punctuation, articles, classifiers."""
        words = _without_marks(self.folded(text)).split()
        start, end = 0, len(words)
        while end - start > 1 and words[start] in self._small:
            start += 1
        while end - start > 1 and words[end - 1] in self._small:
            end -= 1
        joined = _without_marks(" ".join(words[start:end]))
        if not self.segmented:  # classifiers are then attached: before in Chinese, after in Burmese and Thai
            for attached in self._small:
                if joined != attached:
                    joined = _without_marks(joined.removeprefix(attached).removesuffix(attached))
        return joined

    def _tokens(self, text: str) -> Tokens:
        parted = self.folded(text).translate(_BLANKS).split()
        return tuple(parted if self.segmented else "".join(parted))

    def has_attached(self, text: str, word: str) -> bool:
        """Return True if a text is the word with an attached affix of the language."""
        if not word or word not in text:
            return False
        starts = (prefix + word for prefix in ("", *self._prefixes) if text.startswith(prefix + word))
        return any(text[len(start) :] in self._endings for start in starts)

    def spans(self, tokens: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
        """Yield the spans of the wanted tokens in an answer, possibly with attached affixes."""
        size = len(wanted)
        if size == 1:  # most answers
            [word] = wanted
            for start, token in enumerate(tokens):
                if token == word or (self.segmented and word in token and self.has_attached(token, word)):
                    yield start, start + 1
            return
        if not wanted or " ".join(wanted) not in " ".join(tokens):
            return
        for start in range(len(tokens) - size + 1):
            span = tokens[start : start + size]
            if span == wanted or (self.segmented and self.has_attached(" ".join(span), " ".join(wanted))):
                yield start, start + size

    def stems(self, token: str) -> Iterator[str]:
        """Yield a token without each attached affix that it may have."""
        for prefix in ("", *self._prefixes):
            if token.startswith(prefix):
                for ending in self._endings:
                    if (prefix or ending) and token.endswith(ending) and len(token) > len(prefix) + len(ending):
                        yield token[len(prefix) : len(token) - len(ending)]

    def pauses_before(self, template: str, word: str, text: str) -> bool:
        """Return True if in a text a comma stands between a word and the words before its slot in a template."""
        before = self.folded(template.partition("{x}")[0]).strip()
        pause = rf"(?<!\w){re.escape(before)}\s*[,،，、]\s*{re.escape(word)}"
        return bool(before) and re.search(pause, self.folded(text)) is not None

    def begins_word(self, text: str, position: int) -> bool:
        """Return True if a word begins at a position, possibly after an attached prefix."""
        if not self.segmented:
            return True
        attached = text[:position].translate(_BLANKS).rpartition(" ")[2]
        return not attached or self.folded(attached) in self._prefixes


class _Blanks(dict[int, int]):
    """`str.translate` table: letters, marks and digits stay, everything else becomes a blank."""

    def __missing__(self, code: int) -> int:
        is_burmese_word = 0x104C <= code <= 0x104F  # a word written as one sign
        self[code] = code if is_burmese_word or unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_BLANKS = _Blanks()


def _without_marks(text: str) -> str:
    parted = text.translate(_BLANKS)
    return text[len(parted) - len(parted.lstrip(" ")) : len(parted.rstrip(" "))]
