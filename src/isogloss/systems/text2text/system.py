"""The text2text system: which adapter gives which form of answer."""

from typing import Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.system import NeuralSystem
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.text2text.option_scoring import Text2TextClassifier, Text2TextMultipleChoice
from isogloss.systems.text2text.qa import Text2TextReader
from isogloss.systems.text2text.retrieval import Text2TextRetrieval
from isogloss.systems.text2text.tagging import Text2TextTagger
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.training.recipes import Recipe, recipe

_ADAPTERS: dict[str, type[TaskAdapter]] = {
    "label": Text2TextClassifier,
    "option": Text2TextMultipleChoice,
    "tags": Text2TextTagger,
    "answer": Text2TextReader,
}
# What a model learns before its encoder's outputs are compared: SQuAD, which is XQuAD's training set.
_BEFORE_RETRIEVAL = "xquad"


class Text2TextSystem(NeuralSystem):
    """mT5, T5, mBART and their like: every task is a text that is rewritten as another; see docs/text2text.md."""

    family = "text2text"

    def refusal(self, task: Task) -> str:
        """A form of answer it knows no format for."""
        kind = kind_of(task)
        known = kind.retrieval or kind.form in _ADAPTERS
        return "" if known else f"{self.name} has no format for the {kind.form} of {task.id}"

    def adapter(self, task: Task) -> TaskAdapter:
        """How a task is put to the model."""
        if not self.source.config.is_encoder_decoder:
            fix = f"encoder:{self.source.name} trains such models"
            raise SystemFailureError("the model has no decoder, so it writes nothing", where=self.source.name, fix=fix)
        recipe = self.recipe_for(task)
        if not kind_of(task).retrieval:
            return _ADAPTERS[kind_of(task).form](task, recipe, self.source)
        reader = Text2TextReader(self.learns_from(task), recipe, self.source)
        return Text2TextRetrieval(task, recipe, self.source, reader)

    def recipe_for(self, task: Task) -> Recipe:
        """The recipe for a task; retrieval follows that of what is trained before it, but for the user's changes."""
        if not kind_of(task).retrieval:
            return super().recipe_for(task)
        overrides: dict[str, Any] = {}
        for name in (_BEFORE_RETRIEVAL, task.base_id, task.id):
            overrides |= self.overrides.get(name, {})
        return recipe(self.recipe_name, _BEFORE_RETRIEVAL, self.size, {**self.overrides, _BEFORE_RETRIEVAL: overrides})

    def learns_from(self, task: Task) -> Task:
        """Question answering before retrieval, by which it is known how to read; else as the recipe says."""
        if kind_of(task).retrieval and not self.recipe_for(task).train_on:
            return find_task(task.in_same_edition(_BEFORE_RETRIEVAL))
        return super().learns_from(task)
