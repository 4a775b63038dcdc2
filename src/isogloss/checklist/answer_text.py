"""How the text of an answer is read in one language: letters that are the same, edges that do not count, its words."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from isogloss.grammar.schema import LanguageFile
from isogloss.languages import language

Tokens = tuple[str, ...]

# So many texts are remembered, none of them longer than this: a prediction may be anything.
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 14, 200
_APOSTROPHES = dict.fromkeys("’‘ʼʻ`´′＇", "'")


class AnswerText:
    """How answers in one language are read."""

    def __init__(self, file: LanguageFile) -> None:
        self.segmented = language(file.code).segmented
        self._letters = str.maketrans(_APOSTROPHES | {upper: lower for lower, upper in file.upper.items()})
        self._spellings = [(self._unified(written), self._unified(same)) for written, same in file.spellings.items()]
        self._small = sorted(map(self.folded, (*file.articles, *file.classifiers)), key=len, reverse=True)
        self._prefixes = tuple(map(self.folded, file.prefixes))
        self._particles = tuple(map(self.folded, file.particles))
        # One text is read, letter for letter, only once, unless it is long.
        self._bare = lru_cache(_REMEMBERED)(self._read_bare)
        self._tokens = lru_cache(_REMEMBERED)(self._read_tokens)

    def _unified(self, text: str) -> str:
        """The text whatever its capitals, its Unicode form and its apostrophes; Turkish I is the capital of ı."""
        plain = unicodedata.normalize("NFKC", text).translate(self._letters)
        return unicodedata.normalize("NFKC", plain.casefold())

    def folded(self, text: str) -> str:
        """The text with one spelling for what the language writes in two ways."""
        text = self._unified(text)
        for written, same in self._spellings:
            text = text.replace(written, same)
        return text

    def bare(self, text: str) -> str:
        """The text without what may be at its edges: marks, articles, classifiers."""
        return self._bare(text) if len(text) <= _LONGEST_REMEMBERED else self._read_bare(text)

    def _read_bare(self, text: str) -> str:
        words = _without_marks(self.folded(text)).split()
        start, end = 0, len(words)
        while end - start > 1 and words[start] in self._small:
            start += 1
        while end - start > 1 and words[end - 1] in self._small:
            end -= 1
        joined = _without_marks(" ".join(words[start:end]))
        if not self.segmented:  # classifiers are then attached: in front in Chinese, behind in Burmese and Thai
            for attached in self._small:
                if joined != attached:
                    joined = _without_marks(joined.removeprefix(attached).removesuffix(attached))
        return joined

    def tokens(self, text: str) -> Tokens:
        """Words; letters in scripts that do not part words."""
        return self._tokens(text) if len(text) <= _LONGEST_REMEMBERED else self._read_tokens(text)

    def _read_tokens(self, text: str) -> Tokens:
        parted = self.folded(text).translate(_BLANKS).split()
        return tuple(parted if self.segmented else "".join(parted))

    def has_attached(self, said: str, word: str) -> bool:
        """Whether something that was said is the word with what the language attaches to words."""
        if not word or word not in said:
            return False
        for prefix in ("", *self._prefixes):
            if said.startswith(prefix + word):
                attached = said[len(prefix + word) :]
                if not attached or attached in self._particles:
                    return True
        return False

    def spans(self, said: Tokens, wanted: Tokens) -> Iterator[tuple[int, int]]:
        """Where the wanted tokens stand in what was said, perhaps with something attached to them."""
        size = len(wanted)
        if not wanted or " ".join(wanted) not in " ".join(said):
            return
        for start in range(len(said) - size + 1):
            found = said[start : start + size]
            if found == wanted or (self.segmented and self.has_attached(" ".join(found), " ".join(wanted))):
                yield start, start + size

    def begins_word(self, text: str, place: int) -> bool:
        """Whether a word begins there, at most after something that the language attaches to words."""
        if not self.segmented:
            return True
        start = place
        while start and _is_letter(text[start - 1]):
            start -= 1
        return start == place or self.folded(text[start:place]) in self._prefixes


class _Blanks(dict[int, int]):
    """For `str.translate`: letters stay, all else becomes a blank."""

    def __missing__(self, code: int) -> int:
        self[code] = code if _is_letter(chr(code)) else ord(" ")
        return self[code]


_BLANKS = _Blanks()


def _is_letter(letter: str) -> bool:
    """Letters, marks and digits; and the Burmese words that are written as one sign."""
    return unicodedata.category(letter)[0] in "LMN" or "\u104c" <= letter <= "\u104f"


def _without_marks(text: str) -> str:
    """The text from its first letter to its last."""
    start, end = 0, len(text)
    while start < end and not _is_letter(text[start]):
        start += 1
    while start < end and not _is_letter(text[end - 1]):
        end -= 1
    return text[start:end]
