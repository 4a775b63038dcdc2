"""Modules that load when they are first used, so that the light verbs do not wait for the heavy ones."""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any


def submodules(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """A package's `__getattr__` that imports the named submodules on first use."""
    known = frozenset(names)

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__


def callable_package(package: str, function: str) -> None:
    """Make a package callable as the verb it is named after: `isogloss.explain(…)`, beside `isogloss.explain.bias`.

    Args:
        package: its name.
        function: `module.function` below it, imported when the package is first called.
    """
    module, _, name = function.rpartition(".")

    class CallablePackage(ModuleType):
        """A package that is also a function."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(f"{package}.{module}"), name)(*args, **kwargs)

    sys.modules[package].__class__ = CallablePackage
