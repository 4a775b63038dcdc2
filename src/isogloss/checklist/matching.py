"""Whether an answer is right: by the paper's rule, and by a fair one.

`paper` is the released scorer: articles of the language become a blank, some end characters are stripped, the rest must
be equal to the letter. `fair` compares what a reader would: Unicode-normalised and case-folded, without articles,
classifiers and end marks, and forgiving what the language attaches to a word.
"""

import re
import unicodedata
from functools import cache

from isogloss.errors import unknown
from isogloss.grammar.file import CODES, grammar

MODES = ("paper", "fair")

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
    """What the released cleaner replaces by a blank; where a language has nothing, the empty pattern, as released."""
    for table, form in ((_WORDS, r"\b({})\b"), (_BEGINNINGS, r"\b({})"), (_ANYWHERE, "{}"), (_ENDINGS, r"({})\b")):
        if language in table:
            return re.compile(form.format(table[language].replace(" ", "|")))
    return re.compile("")


def matches(prediction: str, answer: str, *, language: str, mode: str) -> bool:
    """Whether a prediction is the right answer.

    Args:
        prediction: what a system answered.
        answer: the right answer.
        language: of both, by its code.
        mode: the rule, "paper" or "fair".

    Raises:
        UnknownNameError: no such mode, or no such language of the checklist.
    """
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    if mode == "paper":
        return cleaned(prediction, language) == cleaned(answer, language)
    if language not in CODES:
        raise unknown("language of the checklist", language, CODES)
    return _fair(prediction, answer, language)


def cleaned(text: str, language: str) -> str:
    """The released cleaner: articles become a blank, then end characters are stripped."""
    return _articles(language).sub(" ", text).strip(",. " + _PAPER_END.get(language, ""))


@cache
def _edges(language: str) -> tuple[frozenset[str], str, tuple[str, ...], tuple[str, ...]]:
    """Small words, end marks, prefixes and particles that the fair rule forgives."""
    file = grammar(language).file
    return (
        frozenset(map(_folded, (*file.articles, *file.classifiers))),
        file.end + " \t\n\u200e\u200f\u200b\"'«»“”„‘’()[]",
        tuple(map(_folded, file.prefixes)),
        tuple(map(_folded, file.particles)),
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@cache
def _core(text: str, language: str) -> str:
    """The text without what may be at its edges: marks, articles, classifiers."""
    small, end, _, _ = _edges(language)
    words = _folded(text).strip(end).split()
    while len(words) > 1 and words[0] in small:
        words.pop(0)
    while len(words) > 1 and words[-1] in small:
        words.pop()
    joined = " ".join(words).strip(end)
    for attached in sorted(small, key=len, reverse=True):
        # Scripts without blanks attach classifiers and articles directly.
        if attached and len(joined) > len(attached) and joined.startswith(attached) and not attached.isascii():
            return joined.removeprefix(attached).strip(end)
    return joined


def _fair(prediction: str, answer: str, language: str) -> bool:
    said, wanted = _core(prediction, language), _core(answer, language)
    if said == wanted:
        return True
    _, _, prefixes, particles = _edges(language)
    for prefix in ("", *prefixes):
        for particle in ("", *particles):
            if f"{prefix}{wanted}{particle}" == said or f"{prefix}{said}{particle}" == wanted:
                return bool(said)
    return False
