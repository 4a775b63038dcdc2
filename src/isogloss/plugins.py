"""Registries of built-in objects and of objects from installed packages (entry points).

Kinds, tasks, suites, metrics, attributes and systems use them. A registry lists names without importing anything;
objects are imported on first use, so one that cannot be loaded does not affect the others.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar
from warnings import warn

from isogloss.errors import IsoglossError, unknown

T = TypeVar("T")


class PluginError(IsoglossError):
    """An object of an installed package that cannot be loaded."""


@cache
def entry_points(group: str) -> Mapping[str, str]:
    """Return the entry points of a group: name to `module:object`.

    Parsing the metadata of every package takes longer than scoring a thousand examples, so the files are parsed only if
    one of them mentions an Isogloss group.
    """
    if not any(map(_may_bring, sys.path)):
        return {}
    from importlib import metadata

    origins: dict[str, str] = {}
    for point in metadata.entry_points(group=group):
        if origins.setdefault(point.name, point.value) != point.value:
            warn(f"{point.value} skipped: {origins[point.name]} has the name {point.name!r} in {group}", stacklevel=2)
    return origins


@cache
def _may_bring(entry: str) -> bool:
    """Return True if a package folder mentions an Isogloss group, or cannot be checked (an archive)."""
    if Path(entry).is_file():
        return True
    try:
        # Every command runs this, and a glob takes twice as long.
        with os.scandir(entry or ".") as folder:
            packages = [item.path for item in folder if item.name.endswith((".dist-info", ".egg-info"))]
        files = (Path(package, "entry_points.txt") for package in packages)
        return any(b"[isogloss." in file.read_bytes() for file in files if file.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def load_object(origin: str) -> Any:
    """Return the object at `module:attribute`."""
    module, _, attribute = origin.partition(":")
    return getattr(import_module(module), attribute)


class Registry(Generic[T]):
    """Objects of one type by name.

    Args:
        noun: noun for messages.
        expected: their type.
        shipped: name to `module:object` of built-in objects. Each may be the object itself, its
            class, or a function that creates the object of a name.
        group: entry point group of other packages; built-in names cannot be overridden.
        named_by: the attribute of an object that has its name, "" if objects do not know their names.
        from_files: function that returns the objects that users declare in files, as functions that read them, by name.
    """

    def __init__(
        self,
        noun: str,
        expected: type[T],
        shipped: Mapping[str, str],
        group: str,
        *,
        named_by: str = "",
        from_files: Callable[[], Mapping[str, Callable[[], T]]] = dict,
    ) -> None:
        self.noun = noun
        self.shipped = shipped
        self.group = group
        self._expected = expected
        self._named_by = named_by
        self._from_files = from_files
        self._loaded: dict[str, T | PluginError] = {}

    @property
    def origins(self) -> Mapping[str, str]:
        """Origins by name: `module:object`."""
        return {**entry_points(self.group), **self.shipped}

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, built-in ones first."""
        return iter({**self.shipped, **entry_points(self.group), **self._from_files()})

    def __repr__(self) -> str:
        return f"<{len([*self])} {self.noun}s: {', '.join(self)}>"

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in self.shipped or name in entry_points(self.group) or name in self._from_files()

    def __getitem__(self, name: str) -> T:
        """Return an object by name.

        Raises:
            UnknownNameError: unknown name; the message has the nearest names.
            PluginError: the object comes from an installed package and cannot be loaded.
            IsoglossError: the object comes from a file, which is wrong.
        """
        loaded = self._loaded.get(name)
        if loaded is None:
            if name not in self:
                raise unknown(self.noun, name, self)
            if name not in self.shipped and name not in entry_points(self.group):
                return self._from_files()[name]()  # not kept: the file may change
            loaded = self._loaded[name] = self._load(name)
        if isinstance(loaded, PluginError):
            raise loaded
        return loaded

    def loadable(self, but: Collection[str] = ()) -> dict[str, T]:
        """Return all loadable objects by name, except some; warn about those that cannot be loaded."""
        for name, origin in entry_points(self.group).items():
            if name in self.shipped:
                warn(f"{self.noun} skipped: {origin}: the name {name!r} is taken", stacklevel=2)
        for name in self._from_files():
            if name in self.shipped or name in entry_points(self.group):
                warn(f"{self.noun} skipped: the name {name!r} of a file is taken", stacklevel=2)
        objects: dict[str, T] = {}
        for name in self:
            if name in but:
                continue
            try:
                objects[name] = self[name]
            except IsoglossError as error:
                warn(f"{self.noun} skipped: {error}", stacklevel=2)
        return objects

    def _load(self, name: str) -> T | PluginError:
        """Return the object, or an error if a plugin cannot be loaded."""
        origin = self.origins[name]
        try:
            loaded = load_object(origin)
            if callable(loaded) and not isinstance(loaded, self._expected):
                loaded = loaded() if isinstance(loaded, type) else loaded(name)
            if not isinstance(loaded, self._expected):
                raise TypeError(f"it is a {type(loaded).__name__}, not a {self._expected.__name__}")
            own_name = getattr(loaded, self._named_by) if self._named_by else name
            if own_name != name:
                raise ValueError(f"its own name is {own_name!r}")
        except Exception as error:
            if name in self.shipped:
                raise
            what = f"{self.noun} {name!r} cannot be loaded: {error}"
            return PluginError(what, where=origin, fix="Repair or remove the package")
        return loaded
