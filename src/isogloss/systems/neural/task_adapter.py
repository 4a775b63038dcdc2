"""Task adapters: how a task is put to a family of models, one for every form of answer."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.training.encoded import Encoded
from isogloss.training.objective import TrainingObjective
from isogloss.training.recipes import Recipe
from isogloss.training.token_cache import cached
from isogloss.version import __version__

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.pretrained import ModelSource

IGNORED = -100  # the label of what has none


@dataclass
class TaskAdapter(ABC):
    """Makes a training objective of a task's examples, and answers of what a model gives for them.

    Attributes:
        name: what kept tokens and fits are found by again: one that tokenises or trains otherwise has another.
        task: the task.
        recipe: gives lengths and strides.
        source: gives model and tokenizer.
    """

    name: ClassVar[str]
    task: Task
    recipe: Recipe
    source: "ModelSource"

    @property
    def dev_task(self) -> Task:
        """The task whose dev sets choose the checkpoint: its own, unless the model learns another one for it."""
        return self.task

    @property
    def learns_as(self) -> tuple[str, ...]:
        """What decides the training beside model, recipe and training set: tasks that agree in it learn the same."""
        return self.name, self.task.id

    @abstractmethod
    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model with the head of the task; what is not pretrained is drawn from the seed."""

    def objective(self, train: Examples) -> TrainingObjective:
        """Training examples as an objective."""
        if not len(train) or not train.has_gold:
            what = f"the training set {'has no answers' if len(train) else 'is empty'}"
            raise SystemFailureError(what, where=dataset_name(train), fix="Give a training split that has gold")
        return self._objective(train)

    @abstractmethod
    def _objective(self, train: Examples) -> TrainingObjective:
        """The same of examples that have answers."""

    def check(self, examples: Examples) -> None:  # noqa: B027 - most models take any language
        """Raise a SystemFailureError where the model needs the examples' language, and does not know it."""

    @abstractmethod
    def predict(self, model: "nn.Module", examples: Examples) -> Sequence[Any]:
        """An answer for every example, in order, in the form of the task's kind."""

    def _tokenised(self, contents: Sequence[Any], settings: Sequence[object], make: Callable[[], Encoded]) -> Encoded:
        """What `make` tokenises, from the cache where it has it.

        The key is made of the columns' contents, the adapter, the tokenizer, and the settings: whatever else decides.
        """
        text = hashlib.blake2b(msgspec.json.encode(contents), digest_size=16).hexdigest()
        return cached([self.name, __version__, self.source.tokenizer_hash, text, *map(str, settings)], make)
