"""What languages are called in tables and charts; records may have some that the registry does not know."""

from isogloss.errors import UnknownNameError
from isogloss.languages import Language, language


def known_language(code: str) -> Language | None:
    """The registry's entry, None for a language it does not have."""
    try:
        return language(code)
    except UnknownNameError:
        return None


def language_name(code: str) -> str:
    """A language's English name, its code where it has none here."""
    found = known_language(code)
    return found.name if found else code


def autonym(code: str) -> str:
    """The language's own name for itself, "" for a language the registry does not have."""
    found = known_language(code)
    return found.autonym if found else ""
