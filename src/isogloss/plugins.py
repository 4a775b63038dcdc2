"""Objects by name: those that are shipped, and those that installed packages bring by entry points.

Kinds, tasks, suites, metrics, attributes and systems are all found this way. A registry knows names without importing
anything; an object is imported on first use, so one that cannot be loaded does not affect the others.
"""

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar
from warnings import warn

from isogloss.errors import IsoglossError, unknown

T = TypeVar("T")


class PluginError(IsoglossError):
    """Something an installed package brings that cannot be loaded."""


@cache
def entry_points(group: str) -> Mapping[str, str]:
    """What installed packages bring under an entry point group: name to `module:object`.

    Parsing the metadata of every package takes longer than scoring a thousand examples, and most of the time nobody has
    written for us: the files are parsed only if one of them names a group of ours.
    """
    if not any(map(_may_bring, sys.path)):
        return {}
    from importlib import metadata

    found: dict[str, str] = {}
    for point in metadata.entry_points(group=group):
        if found.setdefault(point.name, point.value) != point.value:
            warn(f"{point.value} left out: {found[point.name]} has the name {point.name!r} in {group}", stacklevel=2)
    return found


@cache
def _may_bring(entry: str) -> bool:
    """Whether a folder of packages names a group of ours; of an archive only its parser can tell."""
    if Path(entry).is_file():
        return True
    try:
        # Every command asks this, and a glob takes twice as long.
        with os.scandir(entry or ".") as folder:
            packages = [item.path for item in folder if item.name.endswith((".dist-info", ".egg-info"))]
        files = (Path(package, "entry_points.txt") for package in packages)
        return any(b"[isogloss." in file.read_bytes() for file in files if file.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def load_object(origin: str) -> Any:
    """The object at `module:attribute`."""
    module, _, attribute = origin.partition(":")
    return getattr(import_module(module), attribute)


class Registry(Generic[T]):
    """Objects of one sort by name.

    Args:
        noun: what they are, for messages.
        expected: their type.
        shipped: name to `module:object` of those that come with this package. The object may be the thing itself, its
            class, or a function that makes the thing of a name.
        group: the entry point group under which other packages bring theirs; shipped names cannot be taken.
        named_by: the attribute of an object that has its name, "" where objects do not know their names.
    """

    def __init__(
        self, noun: str, expected: type[T], shipped: Mapping[str, str], group: str, *, named_by: str = ""
    ) -> None:
        self.noun = noun
        self.shipped = shipped
        self.group = group
        self._expected = expected
        self._named_by = named_by
        self._loaded: dict[str, T | PluginError] = {}

    @property
    def origins(self) -> Mapping[str, str]:
        """Where everything is: name to `module:object`."""
        return {**entry_points(self.group), **self.shipped}

    def __iter__(self) -> Iterator[str]:
        """The names, ours first."""
        return iter({**self.shipped, **entry_points(self.group)})

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.shipped or name in entry_points(self.group))

    def __getitem__(self, name: str) -> T:
        """The object of that name.

        Raises:
            UnknownNameError: there is none; the message has the nearest names.
            PluginError: an installed package brings it, and it cannot be loaded.
        """
        if name not in self._loaded:
            if name not in self:
                raise unknown(self.noun, name, self)
            self._loaded[name] = self._load(name)
        found = self._loaded[name]
        if isinstance(found, PluginError):
            raise found
        return found

    def loadable(self, but: Collection[str] = ()) -> dict[str, T]:
        """Everything that can be loaded, by name, but for some; of what cannot a warning says why not."""
        for name, origin in entry_points(self.group).items():
            if name in self.shipped:
                warn(f"{self.noun} left out: {origin}: the name {name!r} is taken", stacklevel=2)
        found: dict[str, T] = {}
        for name in self:
            if name in but:
                continue
            try:
                found[name] = self[name]
            except PluginError as error:
                warn(f"{self.noun} left out: {error}", stacklevel=2)
        return found

    def _load(self, name: str) -> T | PluginError:
        """The object; or why there is none, where another package brings it, in which anything may go wrong."""
        origin = self.origins[name]
        try:
            return self._made(origin, name)
        except Exception as error:
            if name in self.shipped:
                raise
            what = f"{self.noun} {name!r} cannot be loaded: {error}"
            return PluginError(what, where=origin, fix="Repair or remove the package that brings it")

    def _made(self, origin: str, name: str) -> T:
        found = load_object(origin)
        if callable(found) and not isinstance(found, self._expected):
            found = found() if isinstance(found, type) else found(name)
        if not isinstance(found, self._expected):
            raise TypeError(f"it is a {type(found).__name__}, not a {self._expected.__name__}")
        own_name = getattr(found, self._named_by) if self._named_by else name
        if own_name != name:
            raise ValueError(f"it calls itself {own_name!r}")
        return found
