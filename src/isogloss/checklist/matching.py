"""Correctness of an answer: by the paper's rule, and by a fair one.

`paper` is the released scorer: articles of the language become a blank, some end characters are stripped, the rest must
be identical. `fair` accepts what a reader would: any form of the answer word ("stone" for "made of
stone"), Unicode-normalised and case-folded, without articles, classifiers and end marks, with attached
affixes; and the same as a sentence that repeats the question ("The key is made of stone.").
"""

import re
from functools import cache

from isogloss.checklist.fair_answers import fair_rule
from isogloss.errors import unknown
from isogloss.grammar.file import CODES

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
    """Return the pattern that the released cleaner blanks out; empty for languages without one, as released."""
    for table, form in ((_WORDS, r"\b({})\b"), (_BEGINNINGS, r"\b({})"), (_ANYWHERE, "{}"), (_ENDINGS, r"({})\b")):
        if language in table:
            return re.compile(form.format(table[language].replace(" ", "|")))
    return re.compile("")


def matches(prediction: str, answer: str, *, language: str, mode: str) -> bool:
    """Return True if a prediction is correct.

    Args:
        prediction: a system's answer.
        answer: gold answer; the fair rule also accepts any other form of that word.
        language: language code of both.
        mode: rule, "paper" or "fair".

    Raises:
        UnknownNameError: unknown mode, or a language without a checklist.
    """
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    if mode == "paper":
        return cleaned(prediction, language) == cleaned(answer, language)
    if language not in CODES:
        raise unknown("language of the checklist", language, CODES)
    rule = fair_rule(language)
    return rule.is_one_of(prediction, rule.all_forms(answer))


def cleaned(text: str, language: str) -> str:
    """Apply the released cleaner: replace articles by a blank, then strip end characters."""
    return _articles(language).sub(" ", text).strip(",. " + _PAPER_END.get(language, ""))
