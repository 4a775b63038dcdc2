"""Similarity of a model's continuation of a text to the true one, to find out if it knows the text by heart.

Texts are compared without case and blanks, so that tokenisation does not count. The overlap is the recall of the
reference's character n-grams: of five characters, or of three in scripts with a character per syllable or word. n-grams
that the beginning already contains are left out: repeating a name or a phrase from it is not memory.
"""

import re
import unicodedata
from collections import Counter

# A character of these is a syllable or a word: Hangul, kana, bopomofo, Han, Ethiopic, Yi.
_SYLLABIC = re.compile(
    r"[\u1100-\u11ff\u1200-\u139f\u3040-\u30ff\u3100-\u31ff\u3400-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003134f]"
)
LONG_GRAM, SHORT_GRAM = 5, 3


def folded(text: str) -> str:
    """Return a text without case, blanks and variants of characters."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_syllabic(text: str) -> bool:
    """Return True if at least half of the letters are syllables or words."""
    letters = sum(character.isalpha() for character in text)
    return 2 * len(_SYLLABIC.findall(text)) >= max(letters, 1)


def gram_size(text: str) -> int:
    """Return the length of the n-grams to compare a text by."""
    return SHORT_GRAM if is_syllabic(text) else LONG_GRAM


def is_continued(completion: str, reference: str) -> bool:
    """Return True if a completion begins with the reference, apart from case and blanks."""
    return folded(completion).startswith(folded(reference))


def without_beginning(completion: str, beginning: str) -> str:
    """Return a folded completion without what some models put before it: the beginning again, or three dots."""
    return folded(completion).removeprefix("...").removeprefix(folded(beginning)).removeprefix("...")


def shared_length(*references: str) -> int:
    """Return the number of folded characters that all references have, so that none is favoured by its length."""
    return min(map(len, map(folded, references)))


def continuation_overlap(completion: str, reference: str, beginning: str, length: int, size: int) -> float:
    """Return the recall of a reference's n-grams in a completion, 0..1.

    Args:
        completion: text that a model wrote after the beginning.
        reference: true continuation, of this beginning or, as a control, of another.
        beginning: text before; its n-grams do not count.
        length: number of folded characters to compare of both texts.
        size: length of the n-grams.

    Returns:
        The share of the reference's n-grams, 0 if it has none besides those of the beginning. An n-gram counts as often
        as it occurs in both.
    """
    wanted = new_grams(reference, beginning, size, length)
    written = Counter(_grams(folded(completion)[:length], size))
    return (wanted & written).total() / wanted.total() if wanted else 0.0


def new_grams(text: str, beginning: str, size: int, length: int | None = None) -> Counter[str]:
    """Return the n-grams of a text that its beginning lacks, with their numbers."""
    known = set(_grams(folded(beginning), size))
    return Counter(gram for gram in _grams(folded(text)[:length], size) if gram not in known)


def _grams(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(len(text) - size + 1)]
