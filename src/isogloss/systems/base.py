"""What a system is, and how it is found by name.

A system is fitted once per task and seed and then asked, language by language. Third parties add theirs by the entry
point group `isogloss.systems`; one that cannot be imported is reported when it is asked for, and hinders nobody else.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from isogloss.errors import IsoglossError, unknown
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

__all__ = ["System", "SystemFailureError", "system", "systems"]


class SystemFailureError(IsoglossError):
    """A system that cannot be loaded, or cannot do what it is asked."""


class System(ABC):
    """Anything that answers examples.

    Attributes:
        name: what it is called in folders and tables.
    """

    name: str

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What goes into `system.toml`: the name, and whatever tells two systems apart (version, settings)."""
        return {"name": self.name}

    def refusal(self, task: Task) -> str:
        """Why it cannot do a task, "" if it can."""
        return ""

    def needs_training(self, task: Task) -> bool:
        """Whether `fit` wants the task's English training set."""
        return True

    @abstractmethod
    def fit(self, task: Task, train: Examples | None, seed: int) -> "System":
        """Learn a task from its training examples (None where it needs none); the same seed learns the same."""

    @abstractmethod
    def predict(self, examples: Examples) -> Sequence[Any]:
        """An answer for every example, in order, in the form of the task's kind (None abstains)."""


# Systems that are shipped: name, and where the class is.
_SHIPPED = {
    "ngram": "isogloss.systems.ngram:NgramSystem",
    "embedder": "isogloss.systems.embedder:EmbedderSystem",
}


def systems() -> dict[str, str]:
    """Every system there is by name, and where it comes from."""
    found = dict(_SHIPPED)
    for point in entry_points(group="isogloss.systems"):
        found.setdefault(point.name, point.value)
    return found


def system(name: str, **settings: Any) -> System:
    """A system by name, made with its settings; `name:argument` hands the argument over (`embedder:muse`)."""
    base, _, argument = name.partition(":")
    known = systems()
    if base not in known:
        raise unknown("system", base, known)
    module, _, cls = known[base].partition(":")
    try:
        made = getattr(import_module(module), cls)
    except Exception as error:  # a plugin may fail in any way whatever
        raise SystemFailureError(f"system {base!r} cannot be loaded: {error}", where=known[base]) from error
    built = made(argument, **settings) if argument else made(**settings)
    if not isinstance(built, System):
        raise SystemFailureError(f"{known[base]} is not a System", fix="Subclass isogloss.systems.System")
    return built
