"""Displayed names of languages and systems."""

from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.escaping import NAME_LENGTH, printable
from isogloss.languages import known_language


def language_name(code: str) -> str:
    """Return a language's English name, or its code if unknown."""
    entry = known_language(code)
    return entry.name if entry else code


def family_of(code: str) -> str:
    """Return a language's family, "unknown" for tags that are not listed; anything else is its own."""
    entry = known_language(code)
    return entry.family if entry else code


def autonym(code: str) -> str:
    """Return a language's own name, "" if unknown."""
    entry = known_language(code)
    return entry.autonym if entry else ""


def system_words(system: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a system's name, regime and seed."""
    seed = f"seed {system['seed']}" if "seed" in system else ""
    words = (str(system.get("name") or "system"), str(system.get("regime", "")), seed)
    return tuple(printable(word, NAME_LENGTH) for word in words)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Make names distinct: duplicates get a number that no other name has."""
    distinct: list[str] = []
    for index, name in enumerate(names):
        candidate = name
        while names.count(candidate) > 1 or (candidate != name and candidate in names):
            candidate = f"{candidate} ({index + 1})"
        distinct.append(candidate)
    return distinct


def shortest_distinct(names: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the shortest distinct names: the first word, more words if needed, and finally a number."""
    for length in range(1, max(map(len, names), default=0) + 1):
        chosen = [", ".join(word for word in name[:length] if word) for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{', '.join(word for word in name if word)} ({number})" for number, name in enumerate(names, 1)]
