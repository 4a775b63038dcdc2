"""Word lists by language: what kind of question a text asks, and whether it negates."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from unicodedata import category, normalize

import numpy as np

from isogloss.decoding import decode_toml
from isogloss.explain.attributes.lengths import spaced

OTHER = "other"
QUESTION_TYPES = ("what", "how", "when", "where", "which", "who", "why", "how-many", OTHER)

_WORDS = Path(__file__).with_name("words")
_DECOY = "not"
_LINE_BREAK, _SPACE, _APOSTROPHE = ord("\n"), ord(" "), ord("'")
_APOSTROPHES = frozenset(map(ord, "'’ʼʻ‘`"))
_JOINERS = frozenset((0x00AD, 0x200C, 0x200D, 0x200E, 0x200F))


def _plain_code(code: int) -> int:
    """Punctuation, symbols, joiners and white space become spaces; apostrophes, being parts of words, become one."""
    if code in _APOSTROPHES:
        return _APOSTROPHE
    if code == _LINE_BREAK:
        return code
    return _SPACE if code in _JOINERS or category(chr(code))[0] in "PSZ" or code < _SPACE else code


def plain(texts: Sequence[str]) -> list[str]:
    """Texts for comparison: composed (NFC), case-folded, punctuation as spaces, apostrophes only inside words."""
    if not texts:
        return []
    # One long string is cheaper than many short ones; a line break inside a text is a space like any other.
    joined = "\n".join(text.replace("\n", " ") for text in texts)
    composed = joined if joined.isascii() else normalize("NFC", joined)
    encoded = composed.casefold().encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, dtype="<u4")
    present = np.flatnonzero(np.bincount(codes, minlength=1))
    becomes = np.zeros(int(present.max(initial=0)) + 1, dtype="<u4")
    becomes[present] = [_plain_code(int(code)) for code in present]
    codes = becomes[codes]
    apart = np.concatenate([[True], codes <= _SPACE, [True]])
    codes[(codes == _APOSTROPHE) & (apart[:-2] | apart[2:])] = _SPACE
    spread: str = codes.tobytes().decode("utf-32-le", "surrogatepass")
    return spread.split("\n")


class Lexicon:
    """Words with what they stand for; the earliest in a text wins, at one place the longest."""

    def __init__(self, words_of: Mapping[str, str], whole_words: bool) -> None:
        self._meaning = {
            # `plain` would take the star for punctuation.
            "*".join(" ".join(part.split()) for part in plain(word.split("*"))): meaning
            for meaning, words in words_of.items()
            for word in words.split(",")
        }
        longest_first = sorted(self._meaning, key=lambda word: -len(word.strip("*")))
        self._starred = [(re.compile(_pattern(word)), self._meaning[word]) for word in longest_first if "*" in word]
        alternatives = "|".join(map(_pattern, longest_first))
        # In Python a pattern that begins with a literal is searched for much faster than one with a look-behind.
        self._regex = re.compile(f" ({alternatives})(?= )" if whole_words else f"({alternatives})")

    def find(self, text: str) -> str:
        """The meaning of the first word found in a plain text, "" where there is none."""
        for match in self._regex.finditer(f" {text} "):
            meaning = self._meaning_of(match[1])
            if meaning != _DECOY:
                return meaning
        return ""

    def _meaning_of(self, word: str) -> str:
        listed = self._meaning.get(word)
        return listed or next(meaning for pattern, meaning in self._starred if pattern.fullmatch(word))


def _pattern(word: str) -> str:
    return "[^ ]*".join(map(re.escape, word.split("*")))


@cache
def _text(name: str) -> str:
    return (_WORDS / f"{name}.toml").read_text(encoding="utf-8")


def _table(name: str, title: str) -> dict[str, str]:
    """One table of a file, {} if it has none; parsing only that one is ten times faster than all languages."""
    _, found, rest = _text(name).partition(f"\n[{title}]\n")
    return decode_toml(rest.partition("\n[")[0], f"{name}.toml") if found else {}


@cache
def _questions(language: str) -> Lexicon | None:
    words = _table("questions", language)
    return Lexicon(words, spaced(language)) if words else None


@cache
def _negations(language: str) -> Lexicon | None:
    words = {
        "yes": _table("negations", "words").get(language, ""),
        _DECOY: _table("negations", _DECOY).get(language, ""),
    }
    listed = {meaning: text for meaning, text in words.items() if text}
    return Lexicon(listed, spaced(language)) if words["yes"] else None


def question_types(questions: Sequence[str], language: str) -> list[str]:
    """The type of each question (`QUESTION_TYPES`) by its first interrogative, wherever it stands.

    "other" has no interrogative that is listed, as yes-no questions, or is in a language without a list.
    """
    lexicon = _questions(language)
    return [(lexicon.find(text) if lexicon else "") or OTHER for text in plain(questions)]


def negates(texts: Sequence[str], language: str) -> list[bool]:
    """Whether each text has a negating word; False throughout in a language without a list."""
    lexicon = _negations(language)
    return [lexicon is not None and bool(lexicon.find(text)) for text in plain(texts)]
