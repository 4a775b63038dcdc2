"""Detokenisation for WikiANN, which is published as tokens only, by a fixed convention.

The original spacing is lost and cannot be recovered. The convention is the same for every system:

- Chinese, Japanese and Thai, where a token is one character, are joined without spaces. Only a token of
  several characters is separated by a space, if its Latin letter or digit would touch another.
- Elsewhere tokens are separated by one space, except:
  - none before closing punctuation (, . ; : ! ? % … with their Arabic, Indic, Burmese and CJK counterparts, closing
    brackets and quotes) and none after opening punctuation (opening brackets and quotes, ¿ ¡). Unicode
    defines opening brackets and quotes. A token is punctuation of a kind when all its characters are;
  - the straight quotes ' '' and " alternate separately: the first opens, the next closes. The
    backquotes ` and `` always open, and ' and '' close them;
  - the English clitics 's 'm 'd 're 've 'll n't, found in all languages, join the word before them.
- All other apostrophes, hyphens and dashes are part of their token and have no effect; a dash that is a
  separate token is surrounded by spaces.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import category

UNSEGMENTED = frozenset({"ja", "th", "zh"})

_LAST_LATIN = "\u024f"
_STOPS = frozenset(",.;:!?%…‰،؛؟٪۔।॥၊။、。，．；：！？％､｡")
_INVERTED = frozenset("¿¡")
_CLITICS = frozenset(("'s", "'m", "'d", "'re", "'ve", "'ll", "n't", "’s", "’m", "’d", "’re", "’ve", "’ll", "n’t"))
# Closing counterpart of each quote token; an open quote closes itself.
_QUOTES = {"'": "'", "''": "''", '"': '"', "`": "'", "``": "''"}


def join(tokens: Sequence[str], language: str) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens by the convention above; return the text and the half-open code-point offsets of each token.

    An empty token has an empty span and adds nothing to the text.
    """
    spaces = (_between_characters if language.partition("-")[0] in UNSEGMENTED else _between_words)(tokens)
    text = ""
    offsets = []
    for token, space in zip(tokens, spaces, strict=True):
        start = len(text) + space
        text += " " * space + token
        offsets.append((start, len(text)))
    return text, offsets


def _between_characters(tokens: Sequence[str]) -> Iterator[bool]:
    """Yield True for each token of a script without spaces that needs a space before it."""
    before = ""
    for token in tokens:
        yield len(before) + len(token) > 2 and _is_latin(before[-1:]) and _is_latin(token[:1])
        before = token or before


def _is_latin(character: str) -> bool:
    return character.isalnum() and character <= _LAST_LATIN


def _between_words(tokens: Sequence[str]) -> Iterator[bool]:
    """Yield True for each token of a script with spaces that needs a space before it."""
    joined = True  # no space before the first token
    open_quotes: set[str] = set()
    for token in tokens:
        if not token:
            yield False
            continue
        if token in _QUOTES:
            quote = _QUOTES[token]
            closing = quote == token and quote in open_quotes
            opening = not closing
            (open_quotes.add if opening else open_quotes.remove)(quote)
        else:
            closing, opening = _sides(token)
        yield not (joined or closing)
        joined = opening


@lru_cache(maxsize=8192)
def _sides(token: str) -> tuple[bool, bool]:
    """Return True if a token attaches to the previous token, and True if the next one attaches to it."""
    if token in _CLITICS:
        return True, False
    if token[0].isalnum():
        return False, False
    closing = all(character in _STOPS or category(character) in {"Pe", "Pf"} for character in token)
    opening = all(character in _INVERTED or category(character) in {"Ps", "Pi"} for character in token)
    return closing, opening
