"""A model that is fine-tuned: everything that encoders, dual encoders and text-to-text models have in common."""

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

# What of a recipe may be changed: all but its name.
_KEYS = tuple(key.name for key in fields(Recipe) if key.name != "name")
# What of a recipe decides what is asked at checkpoints and which of them answers, and nothing of what is learnt.
_ASKING = ("select", "selecting_examples", "dev_examples", "test_examples", "train_on")


def flag(name: str, value: object) -> bool:
    """A setting that is true or false; `#raw=no` in a name is a text, and would count as true."""
    if not isinstance(value, bool):
        fix = f"Write {name} or {name}=false"
        raise SystemFailureError(f"{name} = {value!r} is neither true nor false", fix=fix)
    return value


def _switches_off(tables: Mapping[str, Any], key: str) -> bool:
    """Whether a key is false anywhere in changes to a recipe."""
    sections = (value for value in tables.values() if isinstance(value, Mapping))
    return tables.get(key) is False or any(_switches_off(section, key) for section in sections)


class NeuralSystem(System):
    """A pretrained transformer, trained on a task by a recipe, with a record of its checkpoints.

    A family says which tasks it does (`refusal`) and how each is put to the model (`adapter`).

    Args:
        model: a folder as `save_pretrained` writes it, or a name on the Hugging Face hub.
        recipe: `paper`, `scripts` or `keung`.
        overrides: a TOML file with changes to the recipe, or its tables.
        label: what it is called in folders and tables; made from model and recipe where it is not given.
        random: take its architecture and vocabulary, with random weights.
        quiet: show no progress.
        keys: further changes to the recipe, for all tasks: `select="last"`, `train_on="tydiqa"`, `epochs=3`, …

    Raises:
        UnknownNameError: no such recipe or setting.
        SystemFailureError: there is no model to begin with, or a setting is neither true nor false.
    """

    family: ClassVar[str]
    follows_recipes: ClassVar[bool] = True

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
            fix = f"{self.family}:FOLDER, {self.family}:owner/model, or either with #random behind it"
            raise SystemFailureError(f"{self.family} needs a model", fix=fix)
        self.source = ModelSource(model, flag("random", random))
        self.recipe_name = recipe
        self.overrides = {**changes(overrides), **changes(keys)}
        self.name = str(label) if label else "-".join(self._name_parts())
        self.quiet = quiet
        self._adapter: TaskAdapter | None = None
        self._model: FineTunedModel | None = None

    @classmethod
    def settings(cls) -> list[str]:
        """What may be set, by keyword or behind the `#` of a name: the family's own, and all keys of a recipe."""
        families = [parent for parent in cls.__mro__ if issubclass(parent, NeuralSystem)]
        parameters = [one for parent in families for one in signature(parent.__init__).parameters.values()]
        return sorted({*(one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY), *_KEYS})

    def _name_parts(self) -> list[str]:
        last = re.sub(r"[^\w.-]+", "-", self.source.title)
        extra = [self._recorded_recipe] if self._recorded_recipe != "paper" else []
        return [self.family, last, *(["random"] if self.source.random else []), *extra]

    @property
    def _recorded_recipe(self) -> str:
        """The recipe as records name it: without Social IQa it is another one."""
        return without_siqa(self.recipe_name) if _switches_off(self.overrides, SIQA) else self.recipe_name

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The name, the model with its hash, and the recipe with the user's changes."""
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
        """What its metadata say, which is all that matters; of the changes to the recipe, those for the task."""
        found = dict(super().deciding_settings(configuration, task))
        found.pop("settings", None)
        # Which tasks do without Social IQa, the changes say; to all others the recipe is the same.
        found["recipe"] = str(found.get("recipe", "")).removesuffix(without_siqa(""))
        return found | resolved(found.pop("overrides", {}), task.id, self.size)

    @abstractmethod
    def adapter(self, task: Task) -> TaskAdapter:
        """How a task is put to the model, with `recipe_for(task)` and `source`."""

    @property
    def size(self) -> str:
        """What recipes tell this model apart by."""
        return size_of(self.source.config)

    def recipe_for(self, task: Task) -> Recipe:
        """The recipe for a task, the user's changes included."""
        return recipe(self.recipe_name, task.id, self.size, self.overrides)

    def needs_training(self, task: Task) -> bool:
        """Always, unless the recipe has no epochs: then the model predicts as it is."""
        found = self.recipe_for(task)
        return bool(found.epochs or found.steps)

    def learns_from(self, task: Task) -> Task:
        """The recipe's `train_on`, or as of every system; small editions of tasks learn from small editions."""
        other = self.recipe_for(task).train_on
        return find_task(task.in_same_edition(other)) if other else super().learns_from(task)

    def training_key(self, task: Task) -> Hashable | None:
        """The files, how they are learnt, and the recipe; None where it has stages, or where dev sets may end it."""
        found = self.recipe_for(task)
        if self.refusal(task) or not self.needs_training(task) or found.patience or found.stages:
            return None
        files = frozenset((layout.reader, layout.train) for layout in self.learns_from(task).layouts if layout.train)
        settings = tuple(getattr(found, key) for key in _KEYS if key not in _ASKING)
        return files, self.adapter(task).learns_as, settings

    def fit(self, task: Task, train: Examples | None, seed: int) -> "NeuralSystem":
        """Train without a record: the last weights answer, and nothing is kept.

        Raises:
            IsoglossError: the task is refused, there is nothing to learn from, or training fails.
        """
        return self._fit(task, train, seed, None)

    def learn(self, task: Task, train: Examples | None, seed: int, context: FitContext) -> "NeuralSystem":
        """Train with a record of checkpoints, or take up a fit that was begun or finished in its folder.

        Raises:
            IsoglossError: the task is refused, there is nothing to learn from, or training fails.
        """
        return self._fit(task, train, seed, context)

    def _fit(self, task: Task, train: Examples | None, seed: int, context: FitContext | None) -> "NeuralSystem":
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        if not self.needs_training(task):
            train = None
        elif train is None:
            raise SystemFailureError(f"{self.name} needs a training set for {task.id}", fix="Give one, or epochs = 0")
        self._adapter = self._model = None  # the model before must not take memory while the next one learns
        self._adapter = self.adapter(task)

        def others() -> list[FurtherTuning]:
            found = context.others() if context is not None and context.others is not None else ()
            return [(FineTuning(self.adapter(one.task), one.train, seed, self.quiet), one) for one in found]

        self._model = FineTuning(self._adapter, train, seed, self.quiet).fit(context, others)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """An answer for every example, by the checkpoint that was chosen for their language."""
        if self._adapter is None or self._model is None:
            raise SystemFailureError(f"{self.name} does not know its task yet", fix="Call fit first")
        return self._adapter.predict(self._model.for_language(examples.language), examples)
