"""The names systems are shown under: as short as they can be and still be told apart."""

from collections.abc import Mapping, Sequence
from typing import Any


def system_words(system: Mapping[str, Any]) -> tuple[str, ...]:
    """A system's name, and what tells its runs apart."""
    seed = f"seed {system['seed']}" if "seed" in system else ""
    return (str(system.get("name") or "system"), str(system.get("regime", "")), seed)


def shortest_distinct(names: Sequence[tuple[str, ...]]) -> list[str]:
    """The first word of each name where that is enough, more of them where it is not, and at last a number."""
    for length in range(1, max(map(len, names), default=0) + 1):
        chosen = [", ".join(word for word in name[:length] if word) for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{', '.join(word for word in name if word)} ({place})" for place, name in enumerate(names, 1)]
