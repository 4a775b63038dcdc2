"""How long a text is: in words, or in characters where a script does not put spaces between words."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from isogloss.errors import unknown
from isogloss.explain.attributes.caching import cached_per_examples
from isogloss.explain.attributes.needs import text_language
from isogloss.languages import language as find_language
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples

# What takes one text of every example, in the language of its main text.
Texts = Callable[[Examples], Sequence[str]]
# How attributes are defined; the first is ours, and the last two are those of others as a whole (see `REFERENCES`).
Convention = Literal["script", "whitespace", "paper", "explainaboard"]
CONVENTIONS: tuple[Convention, ...] = ("script", "whitespace", "paper", "explainaboard")
# The XTREME-R paper (Appendix K, Table 25) and ExplainaBoard's stored reports of 2022; two that are not the same.
REFERENCES: tuple[Convention, ...] = ("paper", "explainaboard")
# From so many letters on the paper takes a word that stands alone for a text without blanks.
_LONG_WORD = 5

# Marks of Thai, Burmese, kana and Latin sit on the character before them and are not counted as their own.
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u102b-\u103e\u1056-\u1059\u105e-\u1064\u3099\u309a\u0300-\u036f\ufe00-\ufe0f"
_LATIN = "0-9A-Za-z\u00c0-\u024f"
# A Latin word or a number inside Chinese text is one token, as in MLQA's scoring, not one a letter.
_CHARACTERS = re.compile(rf"[{_LATIN}]+(?:[.,'’-][{_LATIN}]+)*|\S[{_MARKS}]*")


def spaced(language: str) -> bool:
    """Whether the language puts spaces between words (in Vietnamese, between syllables)."""
    return find_language(language).segmented


def cutter(language: str, convention: Convention = "script") -> Callable[[str], list[str]]:
    """What cuts a text of a language into tokens: whitespace-separated words, or characters in an unsegmented script.

    A character is a base character with its marks; a run of Latin letters and digits is one token.
    """
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    if convention in REFERENCES:
        return _words_or_letters if convention == "paper" else _between_single_blanks
    return str.split if convention == "whitespace" or spaced(language) else _CHARACTERS.findall


def _words_or_letters(text: str) -> list[str]:
    """The paper's tokens: words; but the letters of a long word that stands alone, in any script."""
    words = text.split()
    return list(words[0]) if len(words) == 1 and len(words[0]) >= _LONG_WORD else words


def _between_single_blanks(text: str) -> list[str]:
    """ExplainaBoard's tokens: what stands between single blanks, so that two blanks have an empty one between them."""
    return text.split(" ")


def count_tokens(texts: Sequence[str], language: str, convention: Convention = "script") -> FloatArray:
    """The number of tokens of each text.

    Args:
        texts: the texts, all in one language; equal ones are counted once.
        language: its code.
        convention: "script" counts characters in Chinese, Japanese, Thai and Burmese and words elsewhere;
            "whitespace" counts what stands between white space everywhere; "paper" does so too, but counts the letters
            of a text that is one word of five or more, as XTREME-R's Table 25; "explainaboard" counts what stands
            between single blanks.
    """
    cut = cutter(language, convention)
    found = {text: len(cut(text)) for text in set(texts)}
    return np.fromiter((found[text] for text in texts), np.float64, len(texts))


@cached_per_examples
def lengths(examples: Examples, texts: Texts, convention: Convention = "script") -> FloatArray:
    """The tokens of one text of every example; counted once, also where ratios ask for them again."""
    counts = count_tokens(texts(examples), text_language(examples), convention)
    counts.flags.writeable = False
    return counts


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """One length or count over another; an empty divisor counts as one."""
    return part / np.maximum(whole, 1.0)
