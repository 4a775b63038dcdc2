"""Attributes that installed packages bring under the entry point group `isogloss.attributes`."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

from isogloss.explain.model import Attribute

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "isogloss.attributes"


@dataclass(frozen=True)
class Plugins:
    """What installed packages bring, and what went wrong."""

    attributes: tuple[Attribute, ...]
    problems: tuple[str, ...]


def load(points: Iterable["EntryPoint"], ours: Iterable[str]) -> Plugins:
    """The attributes of entry points: each is an `Attribute` or a sequence of them.

    One that fails to load, is something else, or takes a name that is taken, is left out and told about in a warning.
    """
    found: dict[str, Attribute] = {}
    problems: list[str] = []
    taken = set(ours)
    for point in points:
        try:
            for brought in _brought(point):
                if brought.name in taken:
                    problems.append(f"{point.value}: the name {brought.name!r} is taken")
                else:
                    taken.add(brought.name)
                    found[brought.name] = brought
        except Exception as error:  # a plugin may fail in any way whatever
            problems.append(f"{point.value}: {error}")
    for problem in problems:
        warn(f"attribute left out: {problem}", stacklevel=2)
    return Plugins(tuple(found.values()), tuple(problems))


def _brought(point: "EntryPoint") -> list[Attribute]:
    loaded = point.load()
    several = [loaded] if isinstance(loaded, Attribute) else list(loaded)
    if not all(isinstance(one, Attribute) for one in several):
        raise TypeError(f"{point.name!r} is not an Attribute or a sequence of them")
    return several


@cache
def installed() -> tuple["EntryPoint", ...]:
    """The entry points of the group.

    Parsing the metadata of every package takes longer than explaining a thousand examples, and most of the time
    nobody has written for this group: the files are parsed only if one of them has its name.
    """
    if not any(map(_may_bring, sys.path)):
        return ()
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


def _may_bring(entry: str) -> bool:
    """Whether a folder of packages names the group; of an archive only its parser can tell."""
    folder = Path(entry)
    if folder.is_file():
        return True
    files = (path for kind in ("dist", "egg") for path in folder.glob(f"*.{kind}-info/entry_points.txt"))
    return any(GROUP.encode() in path.read_bytes() for path in files)
