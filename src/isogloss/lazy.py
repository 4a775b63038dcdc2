"""Lazy imports, so that light commands do not wait for heavy modules."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any


def submodules(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` that imports the named submodules on first use."""
    submodule_names = frozenset(names)

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in submodule_names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__
