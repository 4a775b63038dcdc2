"""Modules that load when they are first used, so that the light verbs do not wait for the heavy ones."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any


def submodules(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """A package's `__getattr__` that imports the named submodules on first use."""
    known = frozenset(names)

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__
