"""Word lists by language: question types and negation."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

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
    """Map punctuation, symbols, joiners and white space to spaces, and apostrophes to one character."""
    if code in _APOSTROPHES:
        return _APOSTROPHE
    if code == _LINE_BREAK:
        return code
    return _SPACE if code in _JOINERS or category(chr(code))[0] in "PSZ" or code < _SPACE else code


def character_codes(text: str, becomes: Callable[[int], int]) -> npt.NDArray[np.uint32]:
    """Return what every character of a text becomes, looking up each distinct one once."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    present = np.flatnonzero(np.bincount(codes, minlength=1))
    table = np.zeros(int(present.max(initial=0)) + 1, dtype="<u4")
    table[present] = [becomes(int(code)) for code in present]
    mapped: npt.NDArray[np.uint32] = table[codes]
    return mapped


def plain(texts: Sequence[str]) -> list[str]:
    """Normalise texts: composed (NFC), case-folded, punctuation as spaces, apostrophes only inside words."""
    if not texts:
        return []
    # One long string is cheaper than many short ones; a line break inside a text counts as a space.
    joined = "\n".join(text.replace("\n", " ") for text in texts)
    composed = joined if joined.isascii() else normalize("NFC", joined)
    codes = character_codes(composed.casefold(), _plain_code)
    is_boundary = np.concatenate([[True], codes <= _SPACE, [True]])
    codes[(codes == _APOSTROPHE) & (is_boundary[:-2] | is_boundary[2:])] = _SPACE
    spread: str = codes.tobytes().decode("utf-32-le", "surrogatepass")
    return spread.split("\n")


class Lexicon:
    """Words with their meanings; the first match in a text wins, then the longest."""

    def __init__(self, words_of: Mapping[str, str], whole_words: bool) -> None:
        self._meaning = {
            # `plain` would treat the star as punctuation.
            "*".join(" ".join(part.split()) for part in plain(word.split("*"))): meaning
            for meaning, words in words_of.items()
            for word in words.split(",")
        }
        longest_first = sorted(self._meaning, key=lambda word: -len(word.strip("*")))
        self._starred = [(re.compile(_pattern(word)), self._meaning[word]) for word in longest_first if "*" in word]
        alternatives = "|".join(map(_pattern, longest_first))
        # Python searches a pattern that begins with a literal much faster than one with a look-behind.
        self._regex = re.compile(f" ({alternatives})(?= )" if whole_words else f"({alternatives})")

    def find(self, text: str) -> str:
        """Return the meaning of the first match in a plain text, or ""."""
        for match in self._regex.finditer(f" {text} "):
            starred = (meaning for pattern, meaning in self._starred if pattern.fullmatch(match[1]))
            meaning = self._meaning.get(match[1]) or next(starred)
            if meaning != _DECOY:
                return meaning
        return ""


def _pattern(word: str) -> str:
    return "[^ ]*".join(map(re.escape, word.split("*")))


@cache
def _table(name: str, title: str) -> dict[str, str]:
    """Return one table of a file, {} if missing; parsing only this one is ten times faster than all languages."""
    text = (_WORDS / f"{name}.toml").read_text(encoding="utf-8")
    _, header, rest = text.partition(f"\n[{title}]\n")
    return decode_toml(rest.partition("\n[")[0], f"{name}.toml") if header else {}


@cache
def _lexicon(name: str, language: str) -> Lexicon | None:
    """Return the question words or the negations of a language, or None if they are not listed."""
    if name == "questions":
        words = _table(name, language)
    else:
        tables = {"yes": _table(name, "words"), _DECOY: _table(name, _DECOY)}
        words = {meaning: table[language] for meaning, table in tables.items() if table.get(language)}
    return Lexicon(words, spaced(language)) if words.keys() - {_DECOY} else None


def question_types(questions: Sequence[str], language: str) -> list[str]:
    """Return the type of each question (`QUESTION_TYPES`) by its first interrogative, in any position.

    "other" means no listed interrogative, as in yes-no questions, or a language without a list.
    """
    lexicon = _lexicon("questions", language)
    return [(lexicon.find(text) if lexicon else "") or OTHER for text in plain(questions)]


def negates(texts: Sequence[str], language: str) -> list[bool]:
    """Return True for each text with a negating word; always False in a language without a list."""
    lexicon = _lexicon("negations", language)
    return [lexicon is not None and bool(lexicon.find(text)) for text in plain(texts)]
