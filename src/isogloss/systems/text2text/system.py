"""The text2text system: an adapter per form of answer."""

from dataclasses import dataclass
from typing import Any, ClassVar

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.system import NeuralSystem
from isogloss.systems.neural.task_adapter import RetrievalAfterTask, TaskAdapter, use_instead
from isogloss.systems.pretrained import Model
from isogloss.systems.text2text.generation import Text2TextGenerator
from isogloss.systems.text2text.option_scoring import Text2TextClassifier, Text2TextMultipleChoice
from isogloss.systems.text2text.qa import Text2TextReader
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
    "text": Text2TextGenerator,
}
# Trained before the encoder's outputs are compared: SQuAD, the training set of XQuAD.
_BEFORE_RETRIEVAL = "xquad"


@dataclass
class Text2TextRetrieval(RetrievalAfterTask):
    """Tatoeba, LAReQA, Mewsli-X and BUCC, by a model trained on SQuAD questions, as in the XTREME-R paper (footnote 7):
    the mean of the encoder's outputs over all tokens of a text, including the end token, compared by cosine.
    """

    name: ClassVar[str] = "text2text retrieval"

    def pooled_encoder(self, model: Model) -> Model:
        """Return the model's encoder."""
        from isogloss.systems.neural.modules import PooledEncoder

        return PooledEncoder(model.get_encoder(), "mean").to(model.device)


class Text2TextSystem(NeuralSystem):
    """mT5, T5, mBART and similar models, with every task as text-to-text; see docs/text2text.md."""

    family = "text2text"

    def refusal(self, task: Task) -> str:
        """Refuse unknown forms of answers."""
        kind = kind_of(task)
        supported = kind.retrieval or kind.form in _ADAPTERS
        what = f"{self.name} has no format for the {kind.form} of {task.id}{use_instead(kind.form)}"
        return "" if supported else what

    def adapter(self, task: Task) -> TaskAdapter:
        """Return the adapter of a task."""
        if not self.source.config.is_encoder_decoder:
            fix = f"Use encoder:{self.source.name}"
            raise SystemFailureError("text2text requires a model with a decoder", where=self.source.name, fix=fix)
        recipe = self.recipe_for(task)
        if not kind_of(task).retrieval:
            return _ADAPTERS[kind_of(task).form](task, recipe, self.source)
        reader = Text2TextReader(self.learns_from(task), recipe, self.source)
        return Text2TextRetrieval(task, recipe, self.source, reader)

    def recipe_for(self, task: Task) -> Recipe:
        """Return the recipe for a task; retrieval uses that of the task trained before it, with the user's changes."""
        if not kind_of(task).retrieval:
            return super().recipe_for(task)
        overrides: dict[str, Any] = {}
        for name in (_BEFORE_RETRIEVAL, task.base_id, task.id):
            overrides |= self.overrides.get(name, {})
        return recipe(self.recipe_name, _BEFORE_RETRIEVAL, self.size, {**self.overrides, _BEFORE_RETRIEVAL: overrides})

    def learns_from(self, task: Task) -> Task:
        """Return question answering for retrieval, unless the recipe sets another task; else the recipe's choice."""
        if kind_of(task).retrieval and not self.recipe_for(task).train_on:
            return find_task(task.in_same_edition(_BEFORE_RETRIEVAL))
        return super().learns_from(task)
