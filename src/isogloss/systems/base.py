"""What a system is, and how it is found by name.

A system is fitted once per task and seed and then asked, language by language. Third parties add theirs by the entry
point group `isogloss.systems`; one that cannot be imported is reported when it is asked for, and hinders nobody else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from inspect import BoundArguments, Parameter, Signature, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from isogloss.errors import IsoglossError, UnknownNameError, unknown
from isogloss.plugins import entry_points, load_object
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


class SystemFailureError(IsoglossError):
    """A system that cannot be loaded, or cannot do what it is asked."""


@contextmanager
def explained(name: str, what: str, where: str = "") -> Iterator[None]:
    """Turn whatever a system raises into an error that names it; what is meant for users passes."""
    try:
        yield
    except IsoglossError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise SystemFailureError(f"system {name!r} {what}: {said}", where=where) from error


def dataset_name(examples: Examples) -> str:
    """What a set of examples is called in messages."""
    return f"{examples.task}/{examples.language} {examples.split}"


@dataclass(frozen=True)
class FitContext:
    """Where a system learns, and what it may look at beside its training set.

    Attributes:
        folder: this fit's own, and no other's: state, weights and the record of checkpoints lie there, so that a fit
            that was killed goes on, and one that is finished need not be done again.
        languages: those it will predict.
        examples: the task's examples in a language and a split; a DataError says that there are none.
        dev_languages: those whose dev sets choose a checkpoint where the rule is to look at what was trained on; () for
            the languages of the training set. They are others where that is a translation: then nobody has seen
            labels of the language it was translated to, and English chooses.
        train_task_dev: the dev set in a language of the task whose training set it is; None where it is the task's own.
        others: finds further fits that learn the very same, see `System.training_key`, once training is to begin: one
            training may serve them as well. Nobody else fits there until `learn` has ended.
    """

    folder: Path
    languages: tuple[str, ...]
    examples: Callable[[str, str], Examples]
    dev_languages: tuple[str, ...] = ()
    train_task_dev: Callable[[str], Examples] | None = None
    others: Callable[[], Sequence["FurtherFit"]] | None = None

    def training_dev(self, language: str) -> Examples:
        """The dev set that belongs to the training set; a DataError says that there is none."""
        return self.train_task_dev(language) if self.train_task_dev else self.examples(language, "dev")


@dataclass(frozen=True)
class FurtherFit:
    """A fit of another task that learns the same: what `System.learn` would be given for it."""

    task: Task
    train: Examples
    context: FitContext


class System(ABC):
    """Anything that answers examples.

    Attributes:
        name: what it is called in folders and tables.
        train_on: the task whose training set it learns from whatever it is asked, "" to leave it to the task.
        follows_recipes: whether it is made with a recipe and changes to it (`recipe`, `overrides`).
        made_with: the settings it was made with, those that nobody named included; `system` notes them.
    """

    name: str
    train_on: str = ""
    follows_recipes: ClassVar[bool] = False
    made_with: Mapping[str, Any] = MappingProxyType({})

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What it says of itself: the name, and whatever else tells two systems apart (a version, a model's hash)."""
        return {"name": self.name}

    @property
    def configuration(self) -> dict[str, Any]:
        """What is recorded of it, in `system.toml` and with every cell: its metadata, and under `settings` all it was
        made with that these do not say.

        Raises:
            SystemFailureError: its metadata cannot be had, or are no table.
        """
        with explained(self.name, "cannot say what it is"):
            metadata = dict(self.metadata)
            if not all(isinstance(key, str) for key in metadata):
                raise TypeError("the keys of its metadata are not all texts")
        settings = {key: value for key, value in self.made_with.items() if metadata.get(key) != value}
        return {key: value for key, value in metadata.items() if value is not None} | (
            {"settings": settings} if settings else {}
        )

    def deciding_settings(self, configuration: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        """What of a configuration decides the answers to a task; answers that another decided are not kept.

        Args:
            configuration: today's, or that of an earlier run.
            task: what is asked.

        Returns:
            The settings that matter; a hash says which model it is, however its folder is spelt.
        """
        hashed = "model_hash" in configuration
        return {key: value for key, value in configuration.items() if key != "model" or not hashed}

    def refusal(self, task: Task) -> str:
        """Why it cannot do a task.

        Returns:
            A sentence for people, "" where it can.
        """
        return ""

    def needs_training(self, task: Task) -> bool:
        """Whether `fit` wants a training set for a task."""
        return True

    def learns_from(self, task: Task) -> Task:
        """The task whose training set `fit` wants for a task: as set, as the task has it, or the task itself."""
        other = self.train_on or task.train_on
        return find_task(other) if other else task

    def training_key(self, task: Task) -> Hashable | None:
        """What tells tasks apart by what is learnt for them, for systems whose `learn` serves several tasks at once.

        Returns:
            Equal keys for tasks that are learnt in the same way wherever their training sets are the same; None for one
            that is learnt by itself.
        """
        return None

    @abstractmethod
    def fit(self, task: Task, train: Examples | None, seed: int) -> "System":
        """Learn a task; the same seed learns the same.

        Args:
            task: what is asked.
            train: the training examples, of the language or languages of the regime; None where it needs none.
            seed: of all that is random.

        Returns:
            The system that answers: itself, as a rule.

        Raises:
            SystemFailureError: it refuses the task, or cannot learn from these examples.
        """

    def learn(self, task: Task, train: Examples | None, seed: int, context: FitContext) -> "System":
        """Learn as `fit` does, with a place to keep things and dev sets to look at; most systems need neither.

        Args:
            task: see `fit`.
            train: see `fit`.
            seed: see `fit`.
            context: the folder of this fit, and examples of the task in other splits and languages.

        Returns:
            The system that answers.
        """
        return self.fit(task, train, seed)

    @abstractmethod
    def predict(self, examples: Examples) -> Sequence[Any]:
        """Answer examples of the task that was learnt.

        Args:
            examples: of one language and split.

        Returns:
            An answer for every example, in order, in the form of the task's kind; None abstains.
        """


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
    """Every system there is by name.

    Returns:
        Where the class of each is, as `module:class`: those that are shipped first, then those that installed packages
        bring; none of them can take a shipped name.
    """
    return _SHIPPED | {
        name: origin for name, origin in entry_points("isogloss.systems").items() if name not in _SHIPPED
    }


@dataclass(frozen=True)
class SystemName:
    """A system as a user writes it: `ngram`, `embedder:muse`, `encoder:MODEL#epochs=3,raw`.

    Attributes:
        base: the name before the colon.
        argument: what follows it, "" for nothing.
        settings: what follows the `#`: `key=value` or, for what is simply wanted, `key`.
    """

    base: str
    argument: str
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, name: str) -> "SystemName":
        """The parts of a name."""
        place, _, written = name.partition("#")
        base, _, argument = place.partition(":")
        pairs = (part.partition("=") for part in written.split(",") if part.strip())
        return cls(
            base, argument, {key.strip(): _value(value.strip()) if equals else True for key, equals, value in pairs}
        )

    @property
    def origin(self) -> str:
        """Where its class is.

        Raises:
            UnknownNameError: no such system.
        """
        known = systems()
        if self.base not in known:
            raise unknown("system", self.base, known)
        return known[self.base]

    @property
    def factory(self) -> Callable[..., Any]:
        """What makes it: its class, as a rule.

        Raises:
            UnknownNameError: no such system.
            SystemFailureError: it cannot be loaded.
        """
        try:
            made: Callable[..., Any] = load_object(self.origin)
            if not callable(made):
                raise TypeError(f"it is a {type(made).__name__}, and makes nothing")
        except Exception as error:  # a plugin may fail in any way whatever
            what = f"system {self.base!r} cannot be loaded: {error}"
            raise SystemFailureError(what, where=self.origin) from error
        return made

    @property
    def follows_recipes(self) -> bool:
        """Whether it is made with a recipe."""
        return bool(getattr(self.factory, "follows_recipes", False))


def _value(text: str) -> Any:
    """A number or a truth value where it looks like one."""
    plain = {"true": True, "false": False}
    if text in plain:
        return plain[text]
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _check_settings(base: str, made_by: Signature, settings: Mapping[str, Any]) -> None:
    """Refuse settings that a system does not have; one that takes any looks at them itself."""
    by_kind: dict[Any, list[str]] = {}
    for parameter in made_by.parameters.values():
        by_kind.setdefault(parameter.kind, []).append(parameter.name)
    if Parameter.VAR_KEYWORD in by_kind:
        return
    known = by_kind.get(Parameter.KEYWORD_ONLY, [])
    # The first argument is written behind the colon, but may have a name in Python.
    accepted = {*known, *by_kind.get(Parameter.POSITIONAL_OR_KEYWORD, [])}
    for key in settings:
        if key not in accepted and not known:
            raise UnknownNameError(f"{base} has no settings, and no {key!r}", fix=f"Give {base} alone")
        if key not in accepted:
            raise unknown(f"setting of {base}:", key, known)


def system(name: str, **settings: Any) -> System:
    """A system by name, made with its settings.

    Args:
        name: `ngram`; `name:argument` hands an argument over (`embedder:muse`), and what follows a `#` are further
            settings: `encoder:MODEL#random`, `dual-encoder:MODEL#pooling=mean,both`.
        settings: these win over those in the name.

    Returns:
        A system that knows no task yet: call `fit` before `predict`.

    Raises:
        UnknownNameError: no such system or setting.
        SystemFailureError: it cannot be loaded, or not made so.
    """
    named = SystemName.of(name)
    factory, settings = named.factory, {**named.settings, **settings}
    arguments = [named.argument] if named.argument else []
    with explained(named.base, "cannot be made", named.origin):
        made_by = signature(factory)
        _check_settings(named.base, made_by, settings)
        built = factory(*arguments, **settings)
    if not isinstance(built, System):
        raise SystemFailureError(f"{named.origin} is not a System", fix="Subclass isogloss.systems.System")
    own_name = getattr(built, "name", None)
    if not isinstance(own_name, str) or not own_name.strip():
        what = (
            f"system {named.base!r} has no name" if own_name is None else f"the name of {named.base!r} is {own_name!r}"
        )
        raise SystemFailureError(what, where=named.origin, fix=f'Write name = "{named.base}" in its class')
    built.made_with = _made_with(made_by.bind(*arguments, **settings))
    return built


def _made_with(call: BoundArguments) -> dict[str, Any]:
    """The settings of a call by name, those included that it leaves as they are."""
    call.apply_defaults()
    found: dict[str, Any] = {}
    for name, value in call.arguments.items():
        if call.signature.parameters[name].kind is Parameter.VAR_KEYWORD:
            found |= value
        elif value is not None:  # which TOML cannot say
            found[name] = value
    return found
