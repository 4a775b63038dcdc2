"""Scripts of texts, compared with those of their language."""

from isogloss.languages.registry import expected_scripts
from isogloss.reply_language import comparable, script_of


def fitting_scripts(language: str) -> frozenset[str]:
    """Return the scripts of texts in a language, for `unexpected_script`; none if they are unknown.

    Raises:
        UnknownNameError: not a language.
    """
    return frozenset(map(comparable, expected_scripts(language)))


def unexpected_script(text: str, fitting: frozenset[str]) -> str:
    """Return the script (ISO 15924) of a text if it does not fit, else "".

    Texts without a majority script fit, and any text if no fitting script is known. Simplified and traditional
    characters, and Japanese without kana, are not told apart.
    """
    if not fitting or ("Latn" in fitting and text.isascii()):
        return ""
    script = script_of(text)
    return script if script and comparable(script) not in fitting else ""
