"""Whether an answer is right: by the paper's rule, and by a fair one.

`paper` is the released scorer: articles of the language become a blank, some end characters are stripped, the rest must
be equal to the letter. `fair` accepts what a reader would: any form of the word that is asked for ("stone" for "made of
stone"), Unicode-normalised and case-folded, without articles, classifiers and end marks, with what the language
attaches to a word; and the same as a sentence that says the question again ("The key is made of stone.").
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
    """What the released cleaner replaces by a blank; where a language has nothing, the empty pattern, as released."""
    for table, form in ((_WORDS, r"\b({})\b"), (_BEGINNINGS, r"\b({})"), (_ANYWHERE, "{}"), (_ENDINGS, r"({})\b")):
        if language in table:
            return re.compile(form.format(table[language].replace(" ", "|")))
    return re.compile("")


def matches(prediction: str, answer: str, *, language: str, mode: str) -> bool:
    """Whether a prediction is the right answer.

    Args:
        prediction: what a system answered.
        answer: the right answer; by the fair rule, any other form of that word is right too.
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
    rule = fair_rule(language)
    return rule.is_one_of(prediction, rule.all_forms(answer))


def cleaned(text: str, language: str) -> str:
    """The released cleaner: articles become a blank, then end characters are stripped."""
    return _articles(language).sub(" ", text).strip(",. " + _PAPER_END.get(language, ""))
