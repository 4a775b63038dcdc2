"""The base class of systems, and their lookup by name.

A system is fitted once per task and seed, and then predicts language by language. Third-party systems register in the
entry point group `isogloss.systems`; an import failure is reported only when that system is requested.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isogloss.data.files import sha256_of
from isogloss.errors import IsoglossError, UnknownNameError, unknown
from isogloss.plugins import entry_points, load_object
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

if TYPE_CHECKING:  # `isogloss list systems` does without msgspec
    from isogloss.reply_outcomes import ReplyFacts


class SystemFailureError(IsoglossError):
    """A system that fails to load, fit or predict."""


@contextmanager
def explained(name: str, what: str, where: str = "") -> Iterator[None]:
    """Turn an exception raised by a system into an error that names it; Isogloss errors pass through."""
    try:
        yield
    except IsoglossError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        failure = f"system {name!r} {what}: {reason}"
        raise SystemFailureError(failure, where=where, cause=failure) from error


def dataset_name(examples: Examples) -> str:
    """Return the name of a set of examples in messages."""
    return f"{examples.task}/{examples.language} {examples.split}"


@dataclass(frozen=True, kw_only=True)
class FitContext:
    """The folder of a fit, and the data it may use besides its training set.

    Attributes:
        folder: folder of this fit only, for state, weights and the record of checkpoints; a killed fit resumes from it,
            and a finished one is not repeated.
        languages: languages to predict.
        examples: function that loads the task's examples of a language and split; raises `DataError` if missing.
        dev_languages: languages with dev sets for rules based on the training languages; () for the languages of the
            training set. They differ for a translated training set: the target language then has no labels, and
            English dev selects.
        train_task_dev: function that loads a dev set of the training task; None if that is the task itself.
        others: function that finds further fits with the same training (see `System.training_key`) when training is
            about to start, so that one run can serve them too. They stay locked until `learn` returns.
        same_training: folders of this fit under regimes that differ in test sets only; a finished fit can be reused.
    """

    folder: Path
    languages: tuple[str, ...]
    examples: Callable[[str, str], Examples]
    dev_languages: tuple[str, ...] = ()
    train_task_dev: Callable[[str], Examples] | None = None
    others: Callable[[], Sequence["FurtherFit"]] | None = None
    same_training: tuple[Path, ...] = ()

    def training_dev(self, language: str) -> Examples:
        """Return the dev set that belongs to the training set; raise `DataError` if it is missing."""
        return self.train_task_dev(language) if self.train_task_dev else self.examples(language, "dev")


@dataclass(frozen=True)
class FurtherFit:
    """A fit of another task with the same training: the arguments of its `System.learn`."""

    task: Task
    train: Examples
    context: FitContext


class RepliedPredictions(list[Any]):
    """Predictions read from the replies of a language model, with facts about each reply, None if unknown."""

    def __init__(self, values: Iterable[Any], replies: "Iterable[ReplyFacts | None]") -> None:
        super().__init__(values)
        self.replies = list(replies)
        if len(self.replies) != len(self):
            raise ValueError(f"{len(self.replies)} replies for {len(self)} predictions")


def replies_of(values: Sequence[Any]) -> "list[ReplyFacts | None] | None":
    """Return the facts about the replies behind some predictions, or None if they have none."""
    return values.replies if isinstance(values, RepliedPredictions) else None


class System(ABC):
    """Base class of everything that predicts answers.

    Attributes:
        name: name in folders and tables.
        train_on: task of the training set for every task, or "" for the task's own.
        follows_recipes: True if the constructor takes `recipe` and `overrides`.
        prompted: True if the system is not trained but shown examples in prompts; the constructor takes `wording` and
            `prompt_language`.
        usual_regime: regime of a run that names none.
        usual_seeds: number of seeds of a run that names none.
        made_with: all constructor settings, including defaults; set by `system`.
    """

    name: str
    train_on: str = ""
    follows_recipes: ClassVar[bool] = False
    prompted: ClassVar[bool] = False
    usual_regime: ClassVar[str] = "zero-shot"
    usual_seeds: ClassVar[int] = 5
    made_with: Mapping[str, Any] = MappingProxyType({})

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, and other facts that distinguish systems (a version, a model hash)."""
        return {"name": self.name}

    @property
    def configuration(self) -> dict[str, Any]:
        """Return the contents of `system.toml`, also in every cell record: the metadata, and under `settings` all other
        constructor settings; raise `SystemFailureError` if the metadata fail to load or have invalid keys.
        """
        with explained(self.name, "cannot describe itself"):
            metadata = dict(self.metadata)
            if not all(isinstance(key, str) for key in metadata):
                raise TypeError("metadata keys must be strings")
        settings = {key: value for key, value in self.made_with.items() if metadata.get(key) != value}
        known = {key: value for key, value in metadata.items() if value is not None}
        return known | ({"settings": settings} if settings else {})

    def deciding_settings(self, configuration: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        """Return the settings that affect a task's predictions; predictions made with others are discarded.

        Args:
            configuration: current configuration, or that of an earlier run.
            task: task to predict.

        Returns:
            The settings that matter; a model hash replaces the model's path.
        """
        hashed = "model_hash" in configuration
        return {key: value for key, value in configuration.items() if key != "model" or not hashed}

    def refusal(self, task: Task) -> str:
        """Return why the system cannot do a task, or "" if it can."""
        return ""

    def needs_training(self, task: Task) -> bool:
        """Return True if `fit` needs a training set for a task."""
        return True

    def learns_from(self, task: Task) -> Task:
        """Return the task of the training set: as configured, as the task defines, or the task itself."""
        other = self.train_on or task.train_on
        return find_task(other) if other else task

    def trains_on_dev(self, task: Task) -> bool:
        """Return True to keep a dev split that is cut from the training set in it, and so do without one."""
        return False

    def training_key(self, task: Task) -> Hashable | None:
        """Return an equal key for tasks with identical training, served by one `learn` call; None for separate ones."""
        return None

    @abstractmethod
    def fit(self, task: Task, train: Examples | None, seed: int) -> "System":
        """Learn a task; the same seed gives the same result.

        Args:
            task: task to learn.
            train: training examples in the languages of the regime; None if not needed.
            seed: seed of all randomness.

        Returns:
            The fitted system, usually `self`.

        Raises:
            SystemFailureError: the task is refused, or the examples are unusable.
        """

    def learn(self, task: Task, train: Examples | None, seed: int, context: FitContext) -> "System":
        """Learn like `fit`, with a folder for files and access to dev sets; most systems need neither.

        Args:
            task: see `fit`.
            train: see `fit`.
            seed: see `fit`.
            context: folder of this fit, and examples of other splits and languages.

        Returns:
            The fitted system.
        """
        return self.fit(task, train, seed)

    @abstractmethod
    def predict(self, examples: Examples) -> Sequence[Any]:
        """Predict examples of the fitted task.

        Args:
            examples: examples of one language and split.

        Returns:
            One answer per example, in order, in the form of the task's kind; None to abstain. A language model returns
            `RepliedPredictions`, which state how its replies were read and what they cost.
        """


# Built-in systems: name, and module and class.
_SHIPPED = {
    "ngram": "isogloss.systems.ngram:NgramSystem",
    "embedder": "isogloss.systems.embedder:EmbedderSystem",
    "encoder": "isogloss.systems.encoder:EncoderSystem",
    "dual-encoder": "isogloss.systems.dual:DualEncoderSystem",
    "text2text": "isogloss.systems.text2text:Text2TextSystem",
    "xtreme-r": "isogloss.systems.baseline:BaselineSystem",
    "llm": "isogloss.systems.llm:LlmSystem",
}
ABOUT = {
    "ngram": "linear models over character n-grams: a baseline without downloads",
    "embedder": "a sentence encoder without fine-tuning; retrieval by cosine",
    "encoder": "a pretrained encoder with a task head, fine-tuned",
    "dual-encoder": "a pretrained encoder for queries and candidates, fine-tuned for retrieval",
    "text2text": "a pretrained encoder-decoder that generates its answers, fine-tuned",
    "xtreme-r": "XTREME-R's baseline: one model, sent to the right one of the three systems above for each task",
    "llm": "a language model behind an OpenAI-compatible endpoint, prompted; retrieval by its embeddings",
}


def systems() -> dict[str, str]:
    """Return every available system as `module:class`, by name; plugins follow, and cannot replace, built-in ones."""
    return {**_SHIPPED, **entry_points("isogloss.systems"), **_SHIPPED}


@dataclass(frozen=True)
class SystemName:
    """The parsed form of a system's name: `ngram`, `embedder:muse`, `encoder:MODEL#epochs=3,raw`, `file.py:Class`."""

    base: str  # name before the colon; `file.py:Class` for a class in a file
    argument: str  # text after the colon, or ""
    settings: Mapping[str, Any]  # settings after the `#`: `key=value`, or `key` for True

    @classmethod
    def of(cls, name: str) -> "SystemName":
        """Parse a name."""
        address, _, written = name.partition("#")
        base, _, argument = address.partition(":")
        if base.endswith(".py"):
            name, _, argument = argument.partition(":")
            base = f"{base}:{name}"
        pairs = (part.partition("=") for part in written.split(",") if part.strip())
        settings = {key.strip(): _value(value.strip()) if equals else True for key, equals, value in pairs}
        return cls(base, argument, settings)

    @property
    def file(self) -> Path | None:
        """Python file of the system, or None if it is installed."""
        path, suffix, _ = self.base.rpartition(".py:")
        return Path(f"{path}.py") if suffix else None

    @property
    def origin(self) -> str:
        """Module or file, and class; raises `UnknownNameError` for an unknown system."""
        if self.file is not None:
            return self.base
        available = systems()
        if self.base not in available:
            raise unknown("system", self.base, available)
        return available[self.base]

    @property
    def factory(self) -> Callable[..., Any]:
        """Callable that creates the system, usually its class; raises `SystemFailureError` if it cannot be loaded."""
        try:
            made: Callable[..., Any] = _in_file(self.file, self.base) if self.file else load_object(self.origin)
            if not callable(made):
                raise TypeError(f"expected a class or function, got {type(made).__name__}")
        except IsoglossError:
            raise
        except Exception as error:  # a plugin may raise anything
            what = f"system {self.base!r} cannot be loaded: {error}"
            raise SystemFailureError(what, where=self.origin) from error
        return made

    @property
    def follows_recipes(self) -> bool:
        """True if the system is created with a recipe."""
        return bool(getattr(self.factory, "follows_recipes", False))

    @property
    def prompted(self) -> bool:
        """True if the system is prompted."""
        return bool(getattr(self.factory, "prompted", False))


def _in_file(path: Path, address: str) -> Any:
    """Execute a user's file once and return the named class."""
    if not path.is_file():
        raise SystemFailureError("no such file", where=str(path), fix="A system in a file is named file.py:Class")
    module_name = f"isogloss_file_{sha256_of(path)[:16]}"
    if module_name not in sys.modules:
        spec = spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise SystemFailureError("not a Python file", where=str(path))
        sys.modules[module_name] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
    names, wanted = vars(sys.modules[module_name]), address.rpartition(":")[2]
    own = [name for name, value in names.items() if isinstance(value, type) and value.__module__ == module_name]
    if wanted not in names:
        raise unknown(f"class of {path.name}", wanted, own)
    return names[wanted]


def _value(text: str) -> Any:
    """Convert text to a bool or number if it looks like one."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _check_settings(base: str, made_by: Signature, settings: Mapping[str, Any]) -> None:
    """Refuse unknown settings; a system that accepts any keyword checks them itself."""
    kinds = {parameter.name: parameter.kind for parameter in made_by.parameters.values()}
    keyword_only = [name for name, kind in kinds.items() if kind is Parameter.KEYWORD_ONLY]
    # The first argument follows the colon, but may be passed by name in Python.
    accepted = {*keyword_only, *(name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD)}
    for key in () if Parameter.VAR_KEYWORD in kinds.values() else settings:
        if key not in accepted and not keyword_only:
            raise UnknownNameError(f"{base} has no setting {key!r}", fix=f"Use {base} without settings")
        if key not in accepted:
            raise unknown(f"setting of {base}:", key, keyword_only)


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Raise an UnknownNameError if a system, by name, does not have one of the settings."""
    named = SystemName.of(name)
    _check_settings(named.base, signature(named.factory), settings)


def system(name: str, **settings: Any) -> System:
    """Create a system by name.

    Args:
        name: `ngram`; `name:argument` passes an argument (`embedder:muse`), and further settings follow a `#`:
            `encoder:MODEL#random`, `dual-encoder:MODEL#pooling=mean,both`. A class in a file is `file.py:Class`.
        settings: further settings; they override those in the name.

    Returns:
        An unfitted system: call `fit` before `predict`.

    Raises:
        UnknownNameError: unknown system or setting.
        SystemFailureError: the system cannot be imported or created.
    """
    named = SystemName.of(name)
    factory, settings = named.factory, {**named.settings, **settings}
    arguments = [named.argument] if named.argument else []
    with explained(named.base, "cannot be created", named.origin):
        made_by = signature(factory)
        _check_settings(named.base, made_by, settings)
        built = factory(*arguments, **settings)
    if not isinstance(built, System):
        raise SystemFailureError(f"{named.origin} is not a System", fix="Subclass isogloss.systems.System")
    own_name, base = getattr(built, "name", None), named.base
    if not isinstance(own_name, str) or not own_name.strip():
        what = f"system {base!r} has no name" if own_name is None else f"the name of {base!r} is {own_name!r}"
        raise SystemFailureError(what, where=named.origin, fix=f'Write name = "{base}" in its class')
    call = made_by.bind(*arguments, **settings)
    call.apply_defaults()
    made_with: dict[str, Any] = {}
    for key, value in call.arguments.items():
        if value is not None:  # TOML has no null
            made_with |= value if made_by.parameters[key].kind is Parameter.VAR_KEYWORD else {key: value}
    if named.file is not None:
        made_with["code"] = sha256_of(named.file)[:12]  # predictions of an earlier version are not kept
    built.made_with = made_with
    return built
