"""The encoder system: which head gives which form of answer, and which layer the vector of a sentence."""

from collections.abc import Mapping
from typing import Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter
from isogloss.systems.encoder.classification import EncoderClassifier, EncoderMultipleChoice
from isogloss.systems.encoder.qa import EncoderReader
from isogloss.systems.encoder.retrieval import EncoderRetrieval
from isogloss.systems.encoder.spans import EncoderEntitySpans
from isogloss.systems.encoder.tagging import EncoderTagger
from isogloss.systems.hidden_layers import XTREME, layer_number
from isogloss.systems.neural.system import NeuralSystem, flag
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

_ADAPTERS: dict[str, type[EncoderAdapter]] = {
    "label": EncoderClassifier,
    "option": EncoderMultipleChoice,
    "tags": EncoderTagger,
    "answer": EncoderReader,
}


class EncoderSystem(NeuralSystem):
    """`encoder:MODEL`: a head on transformers' model, everything fine-tuned.

    Translations (Tatoeba, BUCC) are found by the mean of a hidden layer, after the model has learnt what the recipe
    names in `train_on`: for Tatoeba SQuAD's questions, for BUCC nothing, so that the pretrained model answers.

    Args:
        model: a folder or a hub name.
        raw: entities from the raw text instead of its words: the answers are spans of characters.
        layer: the hidden layer for translations: its number from 1, `last`, or `xtreme` for XTREME's.
        settings: see `NeuralSystem`.
    """

    family = "encoder"

    def __init__(self, model: str = "", *, raw: bool = False, layer: int | str = XTREME, **settings: Any) -> None:
        self.raw, self.layer = flag("raw", raw), str(layer)
        super().__init__(model, **settings)

    def _name_parts(self) -> list[str]:
        changed = ["raw"] * self.raw + [f"layer-{self.layer}"] * (self.layer != XTREME)
        return [*super()._name_parts(), *changed]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What every fine-tuned model says, whether it reads raw text, and the layer where it is not the usual one."""
        changed = {"raw": True} if self.raw else {}
        return {**super().metadata, **changed, **({"layer": self.layer} if self.layer != XTREME else {})}

    def refusal(self, task: Task) -> str:
        """Retrieval from a pool of many languages and unknown forms of answers are refused, and of raw text everything
        but entities.
        """
        kind = kind_of(task)
        if kind.retrieval and kind.shared_pool:
            return f"{self.family} finds translations, and {task.id} has one pool for all: use dual-encoder or embedder"
        if kind.form not in _ADAPTERS and not kind.retrieval:
            return f"{self.family} has no head for the {kind.form} of {task.id}"
        if self.raw and not _has_entities(task):
            return f"raw text is for named entities, and {task.id} has none"
        return ""

    def needs_training(self, task: Task) -> bool:
        """As of every model that is fine-tuned; for translations, where the recipe names a task to learn."""
        return super().needs_training(task) and not (kind_of(task).retrieval and self.learns_from(task) is task)

    def adapter(self, task: Task) -> TaskAdapter:
        """The head for a task, or the layer."""
        if self.source.config.is_encoder_decoder:
            fix = f"text2text:{self.source.name} trains such models"
            raise SystemFailureError("the model has a decoder", where=self.source.name, fix=fix)
        recipe = self.recipe_for(task)
        if not kind_of(task).retrieval:
            made = EncoderEntitySpans if self.raw else _ADAPTERS[kind_of(task).form]
            return made(task, recipe, self.source)
        layer = layer_number(self.layer, int(self.source.config.num_hidden_layers), self.source.name)
        return EncoderRetrieval(task, recipe, self.source, self._learnt_first(task), layer)

    def _learnt_first(self, task: Task) -> EncoderAdapter | None:
        """The head for what is learnt before retrieval; None where nothing is."""
        if not self.needs_training(task):
            return None
        other = self.learns_from(task)
        if kind_of(other).form not in _ADAPTERS:
            fix = "Set train_on to another task, such as xquad or tydiqa"
            raise SystemFailureError(f"{self.family} has no head for {other.id} to learn from", where=task.id, fix=fix)
        return _ADAPTERS[kind_of(other).form](other, self.recipe_for(task), self.source)


def _has_entities(task: Task) -> bool:
    return any(label.startswith("B-") for label in task.labels)
