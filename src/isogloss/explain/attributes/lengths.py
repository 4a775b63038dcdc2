"""Text lengths: in words, or in characters for scripts without spaces between words."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from isogloss.errors import unknown
from isogloss.explain.attributes.needs import cached_per_examples, text_language
from isogloss.languages import known_language
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples

# Function that selects one text of every example, in the language of its main text.
Texts = Callable[[Examples], Sequence[str]]
# Conventions for defining attributes: "script" is ours; the last two are complete external ones (see `REFERENCES`).
Convention = Literal["script", "whitespace", "paper", "explainaboard"]
CONVENTIONS: tuple[Convention, ...] = ("script", "whitespace", "paper", "explainaboard")
# The XTREME-R paper (Appendix K, Table 25) and ExplainaBoard's stored reports of 2022, which differ.
REFERENCES: tuple[Convention, ...] = ("paper", "explainaboard")
# From this length, the paper treats a single word as a text without blanks.
_LONG_WORD = 5

# Marks of Thai, Lao, Tibetan, Burmese, Khmer, kana and Latin belong to the preceding character and are not counted
# separately.
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1064\u17b4-\u17d3\u3099\u309a\u0300-\u036f\ufe00-\ufe0f"
)
_LATIN = "0-9A-Za-z\u00c0-\u024f"
# A Latin word or number inside Chinese text is one token, as in MLQA's scoring, not one per letter.
_CHARACTERS = re.compile(rf"[{_LATIN}]+(?:[.,'’-][{_LATIN}]+)*|\S[{_MARKS}]*")


def spaced(language: str) -> bool:
    """Return True if the language puts spaces between words (in Vietnamese, between syllables), or is unknown."""
    entry = known_language(language)
    return entry is None or entry.segmented


def cutter(language: str, convention: Convention = "script") -> Callable[[str], list[str]]:
    """Return the tokenizer of a language: whitespace-separated words, or characters in an unsegmented script.

    A character is a base character with its marks; a run of Latin letters and digits is one token.
    """
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    if convention == "paper":
        return _words_or_letters
    if convention == "explainaboard":  # splits at single blanks, so two blanks enclose an empty token
        return lambda text: text.split(" ")
    return str.split if convention == "whitespace" or spaced(language) else _CHARACTERS.findall


def _words_or_letters(text: str) -> list[str]:
    """Return the paper's tokens: words, or letters if the text is a single long word."""
    words = text.split()
    return list(words[0]) if len(words) == 1 and len(words[0]) >= _LONG_WORD else words


def count_tokens(texts: Sequence[str], language: str, convention: Convention = "script") -> FloatArray:
    """Return the number of tokens of each text.

    Args:
        texts: texts of one language.
        language: language code.
        convention: "script" counts characters in Chinese, Japanese, Thai and Burmese and words elsewhere;
            "whitespace" splits at white space everywhere; "paper" does so too, but counts the letters
            of a text that is one word of five or more, as XTREME-R's Table 25; "explainaboard" counts tokens
            between single blanks.
    """
    cut = cutter(language, convention)
    counts = {text: len(cut(text)) for text in set(texts)}
    return np.fromiter((counts[text] for text in texts), np.float64, len(texts))


@cached_per_examples
def lengths(examples: Examples, texts: Texts, convention: Convention = "script") -> FloatArray:
    """Return the number of tokens of one text of every example, cached for ratios."""
    counts = count_tokens(texts(examples), text_language(examples), convention)
    counts.flags.writeable = False
    return counts


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the ratio of two lengths or counts; a zero divisor counts as one."""
    return part / np.maximum(whole, 1.0)
