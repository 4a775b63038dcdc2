"""Retrieval: the mean of the encoder's outputs is the vector of a text, as the XTREME-R paper has it for mT5."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.dual.adapter import RetrievalAdapter
from isogloss.systems.text2text.qa import Reading
from isogloss.tasks.examples import Examples
from isogloss.training.objective import TrainingObjective

if TYPE_CHECKING:
    from torch import nn


class Retrieval(RetrievalAdapter):
    """Tatoeba, LAReQA, Mewsli-X and BUCC, by a model that has learnt to answer SQuAD's questions (footnote 7).

    The encoder's outputs are averaged over all pieces of a text, the end included, and compared by cosine.
    """

    def open(self, seed: int) -> "nn.Module":
        """The pretrained model, which needs no head.

        Raises:
            SystemFailureError: it cannot be opened, or must be told languages.
        """
        if hasattr(self.source.tokenizer, "src_lang"):
            what = "it must be told the language of a text, and a pool has many"
            fix = "Take a model that needs no language ids (mT5)"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return self._reading.open(seed)

    def _exercise(self, train: Examples) -> TrainingObjective:
        """Questions with their answers."""
        return self._reading.objective(train)

    def answers(self, model: "nn.Module", examples: Examples) -> Sequence[list[str]]:
        """Ranked ids of candidates; for mining the id of the translation."""
        from isogloss.systems.dual.model import DualEncoder

        network: Any = model
        encoder = DualEncoder(network.get_encoder(), pooling="mean")
        return super().answers(encoder.to(network.device), examples)

    @property
    def _reading(self) -> Reading:
        return Reading(self.task, self.recipe, self.source)
