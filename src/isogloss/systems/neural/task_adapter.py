"""How one kind of task is put to one family of models."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.gold import where
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.training.encoded import Encoded
from isogloss.training.objective import TrainingObjective
from isogloss.training.recipes import Recipe
from isogloss.training.token_cache import cached
from isogloss.version import __version__

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.neural.models import ModelSource

IGNORED = -100  # the label of what has none


@dataclass
class TaskAdapter(ABC):
    """A task, ready to be taught to a model and asked of it.

    Attributes:
        task: what is asked.
        recipe: where lengths and strides come from.
        source: where model and tokenizer come from.
    """

    task: Task
    recipe: Recipe
    source: "ModelSource"

    @abstractmethod
    def open(self, seed: int) -> "nn.Module":
        """The pretrained model with the head of the task; what is not pretrained is drawn from the seed."""

    def objective(self, train: Examples) -> TrainingObjective:
        """Training examples as an objective.

        Raises:
            SystemFailureError: there are none, they have no answers, or an answer is not one of the task's.
        """
        if not len(train) or not train.has_gold:
            what = f"the training set {'has no answers' if len(train) else 'is empty'}"
            raise SystemFailureError(what, where=where(train), fix="Give a training split that has gold")
        return self._exercise(train)

    @abstractmethod
    def _exercise(self, train: Examples) -> TrainingObjective:
        """The same of examples that have answers."""

    def check(self, examples: Examples) -> None:  # noqa: B027 - most models can be asked anything
        """Look whether examples can be asked at all.

        Raises:
            SystemFailureError: the model must be told their language, and does not know it.
        """

    @abstractmethod
    def answers(self, model: "nn.Module", examples: Examples) -> Sequence[Any]:
        """An answer for every example, in order, in the form of the task's kind."""

    def _tokenised(self, contents: Sequence[Any], settings: Sequence[object], make: Callable[[], Encoded]) -> Encoded:
        """What `make` gives, from disk where it was made before.

        Args:
            contents: the columns it is made of.
            settings: whatever else decides it, beside the kind of adapter and the tokenizer.
            make: tokenises.
        """
        text = hashlib.blake2b(msgspec.json.encode(contents), digest_size=16).hexdigest()
        kind = f"{type(self).__module__}.{type(self).__name__}"
        return cached([kind, __version__, self.source.tokenizer_hash, text, *map(str, settings)], make)
