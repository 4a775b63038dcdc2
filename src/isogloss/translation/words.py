"""Words of a text in any script, as offsets: the units of alignments and of tags on translations."""

from functools import lru_cache
from unicodedata import category, name

# Offsets are half-open and in code points.
Offsets = list[tuple[int, int]]

# Scripts without spaces between words: every character is a word of its own, with its marks.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "IDEOGRAPHIC", "BOPOMOFO")
# Inside a word between letters or digits: don't, self-made, 3.5, 10,000.
_INNER = frozenset("'’-.,·_")
_FORMAT = frozenset("\u200c\u200d\u00ad")  # joiners and soft hyphens belong to their word


@lru_cache(maxsize=65536)
def _sort(character: str) -> str:
    """Return the class of a character: "blank", "mark", "word", "single" or "sign"."""
    if character.isspace():
        return "blank"
    if character in _FORMAT or category(character).startswith("M"):
        return "mark"
    if category(character)[0] not in "LN":
        return "sign"
    return "single" if name(character, "").startswith(_UNSPACED) else "word"


def unspaced(character: str) -> bool:
    """Return True for a letter of a script without spaces between words."""
    return _sort(character) == "single"


def word_offsets(text: str) -> Offsets:
    """Return the offsets of the words and punctuation marks of a text.

    A word is a run of letters, digits and marks; in scripts without spaces, every character with its marks is one.
    Apostrophes, hyphens, full stops and commas between letters or digits are part of their word. Any other visible
    character is a word of its own.
    """
    offsets: Offsets = []
    open_word = False  # True if letters may still be added to the last word
    for position, character in enumerate(text):
        sort = _sort(character)
        touches = bool(offsets) and offsets[-1][1] == position
        inner = sort == "word" or (character in _INNER and _continues(text, position))
        if touches and (sort == "mark" or (open_word and inner)):
            offsets[-1] = offsets[-1][0], position + 1
        elif sort == "blank":
            open_word = False
        else:
            offsets.append((position, position + 1))
            open_word = sort == "word"
    return offsets


def _continues(text: str, position: int) -> bool:
    """Return True if a sign stands between two letters, or for a full stop or comma between two digits."""
    before, after = text[position - 1], text[position + 1 : position + 2]
    if not after or _sort(after) != "word":
        return False
    return text[position] not in ".," or (before.isdigit() and after.isdigit())


def word_texts(text: str) -> list[str]:
    """Return the words of a text."""
    return [text[start:end] for start, end in word_offsets(text)]


def words_within(offsets: Offsets, start: int, end: int) -> range:
    """Return the indices of the words that overlap a span."""
    inside = [index for index, (begin, stop) in enumerate(offsets) if begin < end and stop > start]
    return range(inside[0], inside[-1] + 1) if inside else range(0)


def token_offsets(text: str, tokens: list[str]) -> Offsets | None:
    """Return the offsets of tokens that occur in a text in this order, or None if they do not."""
    offsets, position = [], 0
    for token in tokens:
        start = text.find(token, position)
        if start < 0:
            return None
        position = start + len(token)
        offsets.append((start, position))
    return offsets
