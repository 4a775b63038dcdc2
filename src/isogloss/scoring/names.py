"""The names that languages and systems are shown under."""

from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.errors import UnknownNameError
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.languages import Language, language


def known_language(code: str) -> Language | None:
    """A language of the registry; None for another one, which records may have too."""
    try:
        return language(code)
    except UnknownNameError:
        return None


def language_name(code: str) -> str:
    """A language's English name; its code where the registry does not have it."""
    found = known_language(code)
    return found.name if found else code


def autonym(code: str) -> str:
    """The language's own name for itself, "" for a language the registry does not have."""
    found = known_language(code)
    return found.autonym if found else ""


def system_words(system: Mapping[str, Any]) -> tuple[str, ...]:
    """A system's name, and what tells its runs apart."""
    seed = f"seed {system['seed']}" if "seed" in system else ""
    words = (str(system.get("name") or "system"), str(system.get("regime", "")), seed)
    return tuple(printable(word, NAME_LENGTH) for word in words)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names that can be told apart: those that occur more than once get a number, none that another has already."""
    found: list[str] = []
    for place, name in enumerate(names):
        given = name
        while names.count(given) > 1 or (given != name and given in names):
            given = f"{given} ({place + 1})"
        found.append(given)
    return found


def shortest_distinct(names: Sequence[tuple[str, ...]]) -> list[str]:
    """The first word of each name where that is enough, more of them where it is not, and at last a number."""
    for length in range(1, max(map(len, names), default=0) + 1):
        chosen = [", ".join(word for word in name[:length] if word) for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{', '.join(word for word in name if word)} ({place})" for place, name in enumerate(names, 1)]
