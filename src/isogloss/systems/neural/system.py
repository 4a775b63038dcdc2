"""Base class of fine-tuned systems: encoders, dual encoders and text-to-text models."""

import re
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ClassVar

from isogloss.errors import unknown
from isogloss.systems.base import FitContext, System, SystemFailureError
from isogloss.systems.neural.fine_tuning import FineTunedModel, FineTuning, FurtherTuning
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.training.recipes import NAMES, SIQA, Recipe, changes, recipe, resolved, size_of, without_siqa
from isogloss.version import __version__

# Recipe keys that users may change: all except the name.
_KEYS = tuple(key.name for key in fields(Recipe) if key.name != "name")
# Recipe keys that affect predictions and selection, but not the training.
_EXAMPLE_KEYS = ("selecting_examples", "dev_examples", "test_examples")
_SELECTION_KEYS = ("select", *_EXAMPLE_KEYS, "keep_weights", "train_on", "decoding", "note")


def flag(name: str, value: object) -> bool:
    """Check a boolean setting; `#raw=no` in a name is a string and would count as true."""
    if not isinstance(value, bool):
        fix = f"Write {name} or {name}=false"
        raise SystemFailureError(f"{name}: expected true or false, got {value!r}", fix=fix)
    return value


def _switches_off(tables: Mapping[str, Any], key: str) -> bool:
    """Return True if a key is false anywhere in the overrides of a recipe."""
    sections = (value for value in tables.values() if isinstance(value, Mapping))
    return tables.get(key) is False or any(_switches_off(section, key) for section in sections)


class NeuralSystem(System):
    """A pretrained transformer, fine-tuned on a task by a recipe, with a record of its checkpoints.

    A subclass defines the supported tasks (`refusal`) and their adapters (`adapter`).

    Args:
        model: folder written by `save_pretrained`, or name on the Hugging Face hub.
        recipe: `paper`, `scripts` or `keung`.
        overrides: TOML file with changes to the recipe, or its tables.
        label: name in folders and tables; default: derived from model and recipe.
        random: True to use the architecture and vocabulary with random weights.
        quiet: True to hide progress.
        keys: further changes to the recipe, for all tasks: `select="last"`, `train_on="tydiqa"`, `epochs=3`, …

    Raises:
        UnknownNameError: unknown recipe or setting.
        SystemFailureError: no model, or an invalid boolean setting.
    """

    family: ClassVar[str]
    follows_recipes: ClassVar[bool] = True
    _changed: Sequence[str] = ()  # settings of a subclass in the default name

    def __init__(
        self,
        model: str = "",
        *,
        recipe: str = "paper",
        overrides: Mapping[str, Any] | str | Path | None = None,
        label: str = "",
        random: bool = False,
        quiet: bool = False,
        **keys: Any,
    ) -> None:
        if recipe not in NAMES:
            raise unknown("recipe", str(recipe), NAMES)
        for key in keys:
            if key not in _KEYS:
                raise unknown(f"setting of {self.family}:", key, self.settings())
        if not model:
            fix = f"Use {self.family}:FOLDER or {self.family}:owner/model; append #random for random weights"
            raise SystemFailureError(f"{self.family} needs a model", fix=fix)
        self.source = ModelSource(model, flag("random", random))
        self.recipe_name = recipe
        self.overrides = {**changes(overrides), **changes(keys)}
        parts = [self.family, re.sub(r"[^\w.-]+", "-", self.source.title), *["random"] * self.source.random]
        parts += [self._recorded_recipe] * (self._recorded_recipe != "paper")
        self.name = str(label) if label else "-".join([*parts, *self._changed])
        self.quiet = quiet
        self._adapter: TaskAdapter | None = None
        self._model: FineTunedModel | None = None

    @classmethod
    def settings(cls) -> list[str]:
        """Return all settings, by keyword or after the `#` of a name: the family's own, and all recipe keys."""
        families = [parent for parent in cls.__mro__ if issubclass(parent, NeuralSystem)]
        parameters = [item for parent in families for item in signature(parent.__init__).parameters.values()]
        return sorted({*(item.name for item in parameters if item.kind is Parameter.KEYWORD_ONLY), *_KEYS})

    @property
    def _recorded_recipe(self) -> str:
        """Recorded name of the recipe; without Social IQa it has another name."""
        return without_siqa(self.recipe_name) if _switches_off(self.overrides, SIQA) else self.recipe_name

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, model with its hash, and recipe with the user's changes."""
        return {
            "name": self.name,
            "version": __version__,
            "description": f"{self.family}, fine-tuned",
            "model": self.source.name,
            "model_hash": self.source.identity,
            "weights": "random" if self.source.random else "pretrained",
            "recipe": self._recorded_recipe,
            **({"overrides": self.overrides} if self.overrides else {}),
        }

    def deciding_settings(self, configuration: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        """Return the metadata, with only those recipe changes that apply to the task."""
        settings = dict(super().deciding_settings(configuration, task))
        settings.pop("settings", None)
        # The overrides list the tasks without Social IQa; for all others the recipe is unchanged.
        settings["recipe"] = str(settings.get("recipe", "")).removesuffix(without_siqa(""))
        return settings | resolved(settings.pop("overrides", {}), task.id, self.size)

    @abstractmethod
    def adapter(self, task: Task) -> TaskAdapter:
        """Return the adapter of a task, with `recipe_for(task)` and `source`."""

    @property
    def size(self) -> str:
        """The model's size in recipes."""
        return size_of(self.source.config)

    def recipe_for(self, task: Task) -> Recipe:
        """Return the recipe for a task, including the user's changes."""
        return recipe(self.recipe_name, task.id, self.size, self.overrides)

    def needs_training(self, task: Task) -> bool:
        """Return True unless the recipe has no epochs: the model then predicts without training."""
        settings = self.recipe_for(task)
        return bool(settings.epochs or settings.steps)

    def learns_from(self, task: Task) -> Task:
        """Return the recipe's `train_on` and `train_size`, or the default; small editions learn from small editions."""
        settings = self.recipe_for(task)
        other = settings.train_on
        source = find_task(task.in_same_edition(other)) if other else super().learns_from(task)
        return source.with_train_size(settings.train_size) if settings.train_size else source

    def trains_on_dev(self, task: Task) -> bool:
        """Return True if the recipe does not hold out the dev split."""
        return not self.recipe_for(task).hold_out

    def training_key(self, task: Task) -> Hashable | None:
        """Return files, adapter and recipe as a key; None if there are stages, or dev sets may end the training."""
        followed = self.recipe_for(task)
        if self.refusal(task) or not self.needs_training(task) or followed.patience or followed.stages:
            return None
        files = frozenset((layout.reader, layout.train) for layout in self.learns_from(task).layouts if layout.train)
        settings = tuple(getattr(followed, key) for key in _KEYS if key not in _SELECTION_KEYS)
        return files, self.adapter(task).learns_as, settings

    def fit(self, task: Task, train: Examples | None, seed: int) -> "NeuralSystem":
        """Train without a record: the last weights predict, and nothing is stored."""
        return self.learn(task, train, seed, None)

    def learn(self, task: Task, train: Examples | None, seed: int, context: FitContext | None) -> "NeuralSystem":
        """Train with a record of checkpoints, or continue or reuse the fit in its folder; without one, see `fit`."""
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        if not self.needs_training(task):
            train = None
        elif train is None:
            fix = "Pass a training set, or set epochs = 0"
            raise SystemFailureError(f"{self.name} needs a training set for {task.id}", fix=fix)
        self._adapter = self._model = None  # free the previous model before training the next
        self._adapter = self.adapter(task)

        def others() -> list[FurtherTuning]:
            fits = context.others() if context is not None and context.others is not None else ()
            return [(FineTuning(self.adapter(fit.task), fit.train, seed, self.quiet), fit) for fit in fits]

        self._model = FineTuning(self._adapter, train, seed, self.quiet).fit(context, others)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """Return one answer per example, from the checkpoint chosen for their language."""
        if self._adapter is None or self._model is None:
            raise SystemFailureError(f"{self.name} is not fitted", fix="Call fit first")
        return self._adapter.predict(self._model.for_language(examples.language), examples)
