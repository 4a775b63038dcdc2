"""Lazy imports, so that light commands do not wait for heavy modules."""

from collections.abc import Callable, Iterable
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any


def submodules(package: str, names: Iterable[str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` that imports the named submodules on first use."""
    submodule_names = frozenset(names)

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in submodule_names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__


class PackageOfVerb(ModuleType):
    """Package with the name of a function; its submodules are attributes of the function, too.

    `isogloss.explain` is the function. `isogloss.explain.bias` and `import isogloss.explain.bias as bias` are a
    submodule of the package. The function keeps its own signature, docstring and other special attributes.
    """

    function: FunctionType

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType):
            setattr(self.function, name, value)


def name_package_after(function: FunctionType, package: ModuleType) -> None:
    """Give a function the public names and imported submodules of the package with the same name."""
    if isinstance(package, PackageOfVerb):
        return
    submodules_so_far = {name: value for name, value in vars(package).items() if isinstance(value, ModuleType)}
    for name, value in {**submodules_so_far, **{name: getattr(package, name) for name in package.__all__}}.items():
        setattr(function, name, value)
    vars(package)["function"] = function
    package.__class__ = PackageOfVerb
