"""Lazy imports, so that light commands do not wait for heavy modules."""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any


def submodules(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` that imports the named submodules on first use."""
    submodule_names = frozenset(names)

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in submodule_names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__


def callable_package(package: str, function: str) -> None:
    """Make a package callable as its `module.function`: `isogloss.explain(…)` next to `isogloss.explain.bias`."""
    module, _, name = function.rpartition(".")

    class CallablePackage(ModuleType):
        """A package that is also a function."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(f".{module}", package), name)(*args, **kwargs)

    sys.modules[package].__class__ = CallablePackage
