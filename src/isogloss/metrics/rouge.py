"""ROUGE-L: F1 of the longest common subsequence of words, the best over the references.

There are two dialects of words:

- ``words`` (default) lower-cases and takes runs of letters, marks and digits in any script; in languages without
  blanks between words, every character is one.
- ``rouge-score`` is that of the package rouge-score with its default tokenizer, without stemming: runs of a-z and 0-9,
  which is meant for English and drops all other letters.

On ASCII texts both give the same words.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from isogloss.errors import unknown
from isogloss.languages import known_language
from isogloss.metrics.statistics import MEAN, Statistics

DIALECTS = ("words", "rouge-score")
_ENGLISH = re.compile(r"[a-z0-9]+")


def words_of(text: str, *, dialect: str = "words", language: str = "en") -> list[str]:
    """Return the words of a text.

    Raises:
        UnknownNameError: unknown dialect.
    """
    return _cutter(dialect, language)(text)


def statistics(
    answers: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    dialect: str = "words",
    language: str = "en",
) -> Statistics:
    """Return one row per text: F1 with the reference that fits best; a missing answer scores 0.

    Args:
        answers: texts to judge.
        references: one or several right texts for each.
        dialect: "words" or "rouge-score".
        language: language of the texts; ignored by "rouge-score".

    Raises:
        UnknownNameError: unknown dialect.
    """
    cut = _cutter(dialect, language)
    rows = np.zeros((len(answers), 1))
    for row, (answer, texts) in enumerate(zip(answers, references, strict=True)):
        if answer is not None:
            words = cut(answer)
            rows[row] = max((_f1(words, cut(text)) for text in texts), default=0.0)
    return Statistics(rows, MEAN)


def _f1(ours: list[str], theirs: list[str]) -> float:
    if not ours or not theirs:
        return 0.0
    common = common_length(ours, theirs)
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bits of one large integer stand for the words of the first text, so each word of the second costs a few operations
    on machine words (Hyyrö 2004) instead of a row of a table.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(first)) - 1
    open_places = every
    for word in second:
        matched = open_places & places.get(word, 0)
        open_places = ((open_places + matched) | (open_places - matched)) & every
    return len(first) - open_places.bit_count()


@cache
def _cutter(dialect: str, language: str) -> Callable[[str], list[str]]:
    if dialect not in DIALECTS:
        raise unknown("ROUGE dialect", dialect, DIALECTS)
    if dialect == "rouge-score":
        return lambda text: _ENGLISH.findall(text.lower())
    entry = known_language(language)
    return _words if entry is None or entry.segmented else _characters


@cache
def _belongs(character: str) -> bool:
    """Return True for letters, marks and digits; an underscore joins nothing."""
    return unicodedata.category(character)[0] in "LMN"


def _words(text: str) -> list[str]:
    lower = unicodedata.normalize("NFC", text).lower()
    return "".join([character if _belongs(character) else " " for character in lower]).split()


def _characters(text: str) -> list[str]:
    """Return single characters with their marks; runs of Latin letters or digits stay whole."""
    parts: list[str] = []
    for word in _words(text):
        joins = False
        for character in word:
            is_plain = character.isascii()
            is_mark = unicodedata.category(character)[0] == "M"
            if parts and (is_mark or (is_plain and joins)):
                parts[-1] += character
            else:
                parts.append(character)
            joins = is_plain or (is_mark and joins)
    return parts
