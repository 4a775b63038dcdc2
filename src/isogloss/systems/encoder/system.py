"""The encoder system: which head gives which form of answer."""

from collections.abc import Mapping
from typing import Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter
from isogloss.systems.encoder.classification import EncoderClassifier, EncoderMultipleChoice
from isogloss.systems.encoder.qa import EncoderReader
from isogloss.systems.encoder.spans import EncoderEntitySpans
from isogloss.systems.encoder.tagging import EncoderTagger
from isogloss.systems.neural.system import NeuralSystem, flag
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

    Args:
        model: a folder or a hub name.
        raw: entities from the raw text instead of its words: the answers are spans of characters.
        settings: see `NeuralSystem`.
    """

    family = "encoder"

    def __init__(self, model: str = "", *, raw: bool = False, **settings: Any) -> None:
        self.raw = flag("raw", raw)
        super().__init__(model, **settings)

    def _name_parts(self) -> list[str]:
        return [*super()._name_parts(), *(["raw"] if self.raw else [])]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What every fine-tuned model says, and whether it reads raw text."""
        return {**super().metadata, **({"raw": True} if self.raw else {})}

    def refusal(self, task: Task) -> str:
        """Retrieval and unknown forms of answers are refused, and of raw text everything but entities."""
        kind = kind_of(task)
        if kind.retrieval:
            return f"{self.family} has no vector for a text, and {task.id} is retrieval: use dual-encoder or embedder"
        if kind.form not in _ADAPTERS:
            return f"{self.family} has no head for the {kind.form} of {task.id}"
        if self.raw and not _has_entities(task):
            return f"raw text is for named entities, and {task.id} has none"
        return ""

    def adapter(self, task: Task) -> EncoderAdapter:
        """The head for a task."""
        if self.source.config.is_encoder_decoder:
            fix = f"text2text:{self.source.name} trains such models"
            raise SystemFailureError("the model has a decoder", where=self.source.name, fix=fix)
        made = EncoderEntitySpans if self.raw else _ADAPTERS[kind_of(task).form]
        return made(task, self.recipe_for(task), self.source)


def _has_entities(task: Task) -> bool:
    return any(label.startswith("B-") for label in task.labels)
