"""The released scorer's cleaner: articles of the language become a blank, some end characters are stripped."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter

# The released cleaner's articles: whole words, beginnings of words (no boundary after them), or letters anywhere.
_WORDS = {
    "de": "ein eine einen", "el": "Ο ένα μια", "en": "a an the in at", "es": "un una unos unas el la los las",
    "eu": "bat", "fa": "یک", "fr": "un une le la en", "hu": "egy", "it": "un una", "nl": "een", "pt": "um uma",
    "tl": "Si", "tr": "bir", "vi": "một", "wo": "dafa", "yo": "kan",
}  # fmt: skip
_BEGINNINGS = {"bn": "একটি একজন", "hi": "एक", "ml": "ഒരു", "mr": "एक", "my": "တစ်ဦး", "pa": "ਇੱਕ ਇਕ", "ta": "ஒரு"}
_ANYWHERE = {"ar": "ال"}
_ENDINGS = {"af": "’n"}
_PAPER_END = {"bn": "৷", "hi": "৷", "pa": "।", "pl": "„”", "ur": "\u200f"}


@cache
def _articles(language: str) -> re.Pattern[str]:
    """Return the pattern that the released cleaner blanks out; empty for languages without one, as released."""
    for table, form in ((_WORDS, r"\b({})\b"), (_BEGINNINGS, r"\b({})"), (_ANYWHERE, "{}"), (_ENDINGS, r"({})\b")):
        if language in table:
            return re.compile(form.format(table[language].replace(" ", "|")))
    return re.compile("")


def cleaned(text: str, language: str) -> str:
    """Apply the released cleaner: replace articles by a blank, then strip end characters."""
    return _articles(language).sub(" ", text).strip(",. " + _PAPER_END.get(language, ""))


def is_reachable(context: str, answer: str, language: str) -> bool:
    """Return True if the released scorer accepts some span of whole tokens, as extracted by the paper's systems."""
    tokens, wanted = context.split(), cleaned(answer, language)
    lengths = range(1, len(answer.split()) + 3)
    places = ((start, start + length) for length in lengths for start in range(len(tokens) - length + 1))
    return wanted != "" and any(cleaned(" ".join(tokens[start:end]), language) == wanted for start, end in places)


def can_pass(examples: Iterable[tuple[str, str, str]], language: str) -> bool:
    """Return True if spans can pass some case, given the case, context and answer of its examples in order."""
    return any(
        all(is_reachable(context, answer, language) for _, context, answer in case)
        for _, case in groupby(examples, key=itemgetter(0))
    )
