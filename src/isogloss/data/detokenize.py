"""Raw text for WikiANN, which is published as tokens only: a stated way of putting them together again.

The original spacing is lost and cannot be recovered. What follows is a convention, the same for every system:

- Chinese, Japanese and Thai, where a token is one character, are joined without spaces. Only a token of
  several characters is kept apart, by one space, where a Latin letter or digit of it would touch another.
- Elsewhere one space stands between tokens, but
  - none before closing punctuation (, . ; : ! ? % … with their Arabic, Indic, Burmese and CJK kin, closing
    brackets and quotes) and none after opening punctuation (opening brackets and quotes, ¿ ¡). Unicode
    says which brackets and quotes open. A token is punctuation of a kind when all its characters are;
  - the straight quotes ' '' and " alternate, each kind by itself: the first opens, the next closes. The
    backquotes ` and `` always open, and ' and '' close them;
  - the English clitics 's 'm 'd 're 've 'll n't, found in all languages, join the word before them.
- All other apostrophes are part of their token and do nothing. So are hyphens and dashes; one that is a token
  by itself stands between spaces.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import category

UNSEGMENTED = frozenset({"ja", "th", "zh"})

_LAST_LATIN = "\u024f"
_STOPS = frozenset(",.;:!?%…‰،؛؟٪۔।॥၊။、。，．；：！？％､｡")
_INVERTED = frozenset("¿¡")
_CLITICS = frozenset(("'s", "'m", "'d", "'re", "'ve", "'ll", "n't", "’s", "’m", "’d", "’re", "’ve", "’ll", "n’t"))
# What each quote token opens; a quote closes itself when it is open.
_QUOTES = {"'": "'", "''": "''", '"': '"', "`": "'", "``": "''"}


def join(tokens: Sequence[str], language: str) -> tuple[str, list[tuple[int, int]]]:
    """Put tokens together by the convention above.

    Returns:
        The text, and for each token its half-open code-point offsets: `text[start:end]` is the token. An
        empty token has an empty span and leaves no trace in the text.
    """
    spaces = _between_characters if language in UNSEGMENTED else _between_words
    text = ""
    offsets = []
    for token, space in zip(tokens, spaces(tokens), strict=True):
        start = len(text) + space
        text += " " * space + token
        offsets.append((start, len(text)))
    return text, offsets


def _between_characters(tokens: Sequence[str]) -> Iterator[bool]:
    """For each token of a script without spaces, whether one goes before it."""
    before = ""
    for token in tokens:
        yield len(before) + len(token) > 2 and _is_latin(before[-1:]) and _is_latin(token[:1])
        before = token or before


def _is_latin(character: str) -> bool:
    return character.isalnum() and character <= _LAST_LATIN


def _between_words(tokens: Sequence[str]) -> Iterator[bool]:
    """For each token of a script with spaces, whether one goes before it."""
    joined = True  # nothing goes before the first token
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
    """Whether a token joins the one before it, and whether the one after joins it."""
    if token in _CLITICS:
        return True, False
    if token[0].isalnum():
        return False, False
    closing = all(character in _STOPS or category(character) in {"Pe", "Pf"} for character in token)
    opening = all(character in _INVERTED or category(character) in {"Ps", "Pi"} for character in token)
    return closing, opening
