"""The baseline system: XTREME-R's procedure for every task, as one system with one folder and one record."""

from functools import cached_property
from typing import Any

from isogloss.systems.base import system
from isogloss.systems.neural.system import NeuralSystem
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.tasks.task import Task


class BaselineSystem(NeuralSystem):
    """`xtreme-r:MODEL`: one model, fine-tuned for each task by the system that XTREME-R's baselines correspond to.

    An encoder gets a head for labels, tags, choices and answers (`encoder`), finds translations by a hidden layer after
    SQuAD (`encoder`), and is trained in pairs for multilingual pools (`dual-encoder`); a model with a decoder generates
    everything (`text2text`). These systems have their default settings; to change one, use it by its own name.

    Args:
        model: folder or hub name.
        settings: see `NeuralSystem`.
    """

    family = "xtreme-r"

    def __init__(self, model: str = "", **settings: Any) -> None:
        super().__init__(model, **settings)
        self._settings = settings

    @cached_property
    def _parts(self) -> list[NeuralSystem]:
        """The systems, in order of preference; looked up by name, because families do not import each other."""
        names = ("text2text",) if self.source.config.is_encoder_decoder else ("encoder", "dual-encoder")
        built = (system(name, model=self.source.name, **self._settings) for name in names)
        parts = [part for part in built if isinstance(part, NeuralSystem)]
        for part in parts:
            part.source = self.source  # opened once
        return parts

    def part_for(self, task: Task) -> NeuralSystem:
        """Return the system for a task: the first that does not refuse it, or else the first."""
        return next((part for part in self._parts if not part.refusal(task)), self._parts[0])

    def refusal(self, task: Task) -> str:
        """Refuse what all of the systems refuse."""
        return self.part_for(task).refusal(task)

    def needs_training(self, task: Task) -> bool:
        """Return True as the task's system does."""
        return self.part_for(task).needs_training(task)

    def learns_from(self, task: Task) -> Task:
        """Return the training task of the task's system."""
        return self.part_for(task).learns_from(task)

    def adapter(self, task: Task) -> TaskAdapter:
        """Return the adapter of the task's system."""
        return self.part_for(task).adapter(task)
