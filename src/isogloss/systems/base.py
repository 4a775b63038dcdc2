"""What a system is, and how it is found by name.

A system is fitted once per task and seed and then asked, language by language. Third parties add theirs by the entry
point group `isogloss.systems`; one that cannot be imported is reported when it is asked for, and hinders nobody else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, unknown
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

__all__ = ["ABOUT", "Studio", "System", "SystemFailureError", "system", "systems"]


class SystemFailureError(IsoglossError):
    """A system that cannot be loaded, or cannot do what it is asked."""


@dataclass(frozen=True)
class Studio:
    """Where a system learns, and what it may look at beside its training set.

    Attributes:
        folder: this fit's own, and no other's: state, weights and the record of checkpoints lie there, so that a fit
            that was killed goes on, and one that is finished need not be done again.
        languages: those it will be asked for.
        examples: the task's examples in a language and a split; a DataError says that there are none.
    """

    folder: Path
    languages: tuple[str, ...]
    examples: Callable[[str, str], Examples]


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

    def learns_from(self, task: Task) -> Task:
        """The task whose training set `fit` wants for a task: its own, or another's (Tatoeba after SQuAD)."""
        return task

    @abstractmethod
    def fit(self, task: Task, train: Examples | None, seed: int) -> "System":
        """Learn a task from its training examples (None where it needs none); the same seed learns the same."""

    def learn(self, task: Task, train: Examples | None, seed: int, studio: Studio) -> "System":
        """Learn as `fit` does, with a place to keep things and dev sets to look at; most systems need neither."""
        return self.fit(task, train, seed)

    @abstractmethod
    def predict(self, examples: Examples) -> Sequence[Any]:
        """An answer for every example, in order, in the form of the task's kind (None abstains)."""


# Systems that are shipped: name, and where the class is.
_SHIPPED = {
    "ngram": "isogloss.systems.ngram:NgramSystem",
    "embedder": "isogloss.systems.embedder:EmbedderSystem",
    "encoder": "isogloss.systems.encoder:EncoderSystem",
    "dual-encoder": "isogloss.systems.dual:DualEncoderSystem",
    "text2text": "isogloss.systems.text2text:Text2TextSystem",
}


ABOUT = {
    "ngram": "linear models over character n-grams: the floor, without any download",
    "embedder": "a sentence encoder as it is; retrieval by cosine",
    "encoder": "a pretrained encoder with a head for the task, fine-tuned",
    "dual-encoder": "a pretrained encoder for queries and candidates, fine-tuned for retrieval",
    "text2text": "a pretrained encoder-decoder that writes its answers, fine-tuned",
}


def systems() -> dict[str, str]:
    """Every system there is by name, and where it comes from."""
    found = dict(_SHIPPED)
    for point in entry_points(group="isogloss.systems"):
        found.setdefault(point.name, point.value)
    return found


def _settings(written: str) -> dict[str, Any]:
    """Settings as they stand in a name: `key=value` or, for what is simply wanted, `key`."""
    pairs = (part.partition("=") for part in written.split(",") if part.strip())
    return {key.strip(): _value(value.strip()) if equals else True for key, equals, value in pairs}


def _value(text: str) -> Any:
    """A number or a truth value where it looks like one."""
    plain = {"true": True, "false": False}
    if text in plain:
        return plain[text]
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _settings_of(made: Callable[..., Any]) -> str:
    """The settings of a system in words; its first argument is written behind the colon."""
    known = [each.name for each in signature(made).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]
    return f"Its settings: {', '.join(known)}" if known else "It has no settings"


def system(name: str, **settings: Any) -> System:
    """A system by name, made with its settings.

    Args:
        name: `ngram`; `name:argument` hands an argument over (`embedder:muse`), and what follows a `#` are further
            settings: `encoder:MODEL#random`, `dual-encoder:MODEL#pooling=mean,both`.
        settings: these win over those in the name.

    Raises:
        UnknownNameError: no such system.
        SystemFailureError: it cannot be loaded, or made with these settings.
    """
    place, _, written = name.partition("#")
    base, _, argument = place.partition(":")
    settings = {**_settings(written), **settings}
    known = systems()
    if base not in known:
        raise unknown("system", base, known)
    module, _, cls = known[base].partition(":")
    try:
        made = getattr(import_module(module), cls)
    except Exception as error:  # a plugin may fail in any way whatever
        raise SystemFailureError(f"system {base!r} cannot be loaded: {error}", where=known[base]) from error
    try:
        built = made(argument, **settings) if argument else made(**settings)
    except TypeError as error:  # an argument or a setting that the system does not know
        what, fix = f"system {base!r} cannot be made: {error}", _settings_of(made)
        raise SystemFailureError(what, where=known[base], fix=fix) from error
    if not isinstance(built, System):
        raise SystemFailureError(f"{known[base]} is not a System", fix="Subclass isogloss.systems.System")
    return built
