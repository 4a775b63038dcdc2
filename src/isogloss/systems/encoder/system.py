"""The encoder system: a head per form of answer, and a hidden layer for sentence vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter, EncoderClassifier, EncoderMultipleChoice
from isogloss.systems.encoder.open_heads import EncoderLabelSets, EncoderRegressor
from isogloss.systems.encoder.qa import EncoderReader
from isogloss.systems.encoder.tagging import EncoderEntitySpans, EncoderTagger
from isogloss.systems.neural.system import NeuralSystem, flag
from isogloss.systems.neural.task_adapter import RetrievalAfterTask, TaskAdapter, use_instead
from isogloss.systems.pretrained import Model
from isogloss.systems.retrieval import XTREME, layer_number
from isogloss.systems.tokens.inputs import max_positions
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

_LONGEST = 512  # tokens per sentence in retrieval, as in the scripts; the task learned first uses the recipe's lengths
_ADAPTERS: dict[str, type[EncoderAdapter]] = {
    "label": EncoderClassifier,
    "option": EncoderMultipleChoice,
    "tags": EncoderTagger,
    "answer": EncoderReader,
    "labels": EncoderLabelSets,
    "number": EncoderRegressor,
}


@dataclass
class EncoderRetrieval(RetrievalAfterTask):
    """Tatoeba and BUCC: the mean of a hidden layer, from 1, over all tokens of a sentence, including special tokens."""

    name: ClassVar[str] = "encoder retrieval"
    layer: int

    @property
    def text_lengths(self) -> tuple[int, int]:
        """Tokens per text: as in the scripts, or as many as the model has positions."""
        longest = min(_LONGEST, max_positions(self.source.config) or _LONGEST)
        return longest, longest

    def pooled_encoder(self, model: Model) -> Model:
        """Return the transformer below the head."""
        from isogloss.systems.neural.modules import PooledEncoder

        return PooledEncoder(model.base_model, "mean", self.layer)


class EncoderSystem(NeuralSystem):
    """`encoder:MODEL`: a transformers model with a task head, fully fine-tuned.

    Translations (Tatoeba, BUCC) are found by the mean of a hidden layer, after training on the recipe's `train_on`:
    SQuAD for Tatoeba, and nothing for BUCC, which uses the pretrained model.

    Args:
        model: folder or hub name.
        raw: True to find entities in the raw text instead of its words; answers are character spans.
        layer: hidden layer for translations: a number from 1, `last`, or `xtreme` for XTREME's.
        settings: see `NeuralSystem`.
    """

    family = "encoder"

    def __init__(self, model: str = "", *, raw: bool = False, layer: int | str = XTREME, **settings: Any) -> None:
        self.raw, self.layer = flag("raw", raw), str(layer)
        self._changed = ["raw"] * self.raw + [f"layer-{self.layer}"] * (self.layer != XTREME)
        super().__init__(model, **settings)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of every fine-tuned model, with `raw` and `layer` if not the default."""
        changed = {"raw": True} if self.raw else {}
        return {**super().metadata, **changed, **({"layer": self.layer} if self.layer != XTREME else {})}

    def refusal(self, task: Task) -> str:
        """Refuse multilingual retrieval pools, unknown forms of answers, and raw text except for entities."""
        kind = kind_of(task)
        if kind.retrieval and kind.shared_pool:
            return f"{self.family} cannot search the shared pool of {task.id}: use dual-encoder or embedder"
        if kind.form not in _ADAPTERS and not kind.retrieval:
            return f"{self.family} has no head for the {kind.form} of {task.id}{use_instead(kind.form)}"
        if self.raw and not any(label.startswith("B-") for label in task.labels):
            return f"raw requires a task with named entities, unlike {task.id}"
        return ""

    def needs_training(self, task: Task) -> bool:
        """Return True as for every fine-tuned model; for translations, only if the recipe sets a task to learn from."""
        return super().needs_training(task) and not (kind_of(task).retrieval and self.learns_from(task) is task)

    def adapter(self, task: Task) -> TaskAdapter:
        """Return the adapter of a task."""
        if self.source.config.is_encoder_decoder:
            fix = f"Use text2text:{self.source.name}"
            raise SystemFailureError("encoder does not support models with a decoder", where=self.source.name, fix=fix)
        recipe = self.recipe_for(task)
        if not kind_of(task).retrieval:
            made = EncoderEntitySpans if self.raw else _ADAPTERS[kind_of(task).form]
            return made(task, recipe, self.source)
        layer = layer_number(self.layer, int(self.source.config.num_hidden_layers), self.source.name)
        if not self.needs_training(task):
            return EncoderRetrieval(task, recipe, self.source, None, layer)
        other = self.learns_from(task)
        if kind_of(other).form not in _ADAPTERS:
            fix = "Set train_on to another task, such as xquad or tydiqa"
            raise SystemFailureError(f"{self.family} cannot learn from {other.id}", where=task.id, fix=fix)
        first = _ADAPTERS[kind_of(other).form](other, recipe, self.source)
        return EncoderRetrieval(task, recipe, self.source, first, layer)
