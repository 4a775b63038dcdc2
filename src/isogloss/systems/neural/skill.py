"""How one kind of task is put to one family of models."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.training.exercise import Exercise
from isogloss.training.recipes import Recipe

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.neural.models import ModelSource

__all__ = ["Skill"]


@dataclass
class Skill(ABC):
    """A task, ready to be taught to a model and asked of it.

    Attributes:
        task: what is asked.
        recipe: lengths and strides are its.
        source: where model and tokenizer come from.
    """

    task: Task
    recipe: Recipe
    source: "ModelSource"

    @abstractmethod
    def open(self, seed: int) -> "nn.Module":
        """The pretrained model with the head of the task; what is not pretrained is drawn from the seed."""

    @abstractmethod
    def exercise(self, train: Examples) -> Exercise:
        """Training examples as an exercise.

        Raises:
            SystemFailureError: they cannot be learnt from (none, a label that is not the task's, …).
        """

    @abstractmethod
    def answers(self, model: "nn.Module", examples: Examples) -> Sequence[Any]:
        """An answer for every example, in order, in the form of the task's kind."""
