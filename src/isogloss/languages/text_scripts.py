"""Scripts of texts, compared with those of their language."""

from collections import Counter
from collections.abc import Iterable

from isogloss.languages.registry import expected_scripts
from isogloss.reply_language import comparable, script_of


def unexpected_script(text: str, language: str) -> str:
    """Return the script (ISO 15924) of a text if its language is not written in it, else "".

    Texts without a majority script and languages with unknown scripts fit. Simplified and traditional characters, and
    Japanese without kana, are not told apart.

    Raises:
        UnknownNameError: not a language.
    """
    return next(iter(unexpected_scripts([text], language)), "")


def unexpected_scripts(texts: Iterable[str], language: str) -> Counter[str]:
    """Return the number of texts by script that their language is not written in.

    Raises:
        UnknownNameError: not a language.
    """
    expected = {comparable(each) for each in expected_scripts(language)}
    scripts = Counter(filter(None, map(script_of, texts)))
    return Counter({name: count for name, count in scripts.items() if expected and comparable(name) not in expected})
