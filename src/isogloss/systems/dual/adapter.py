"""Retrieval, put to a dual encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from isogloss.systems.base import SystemFailureError
from isogloss.systems.dual.training_pairs import training_pairs
from isogloss.systems.neural.retrieval import RetrievalAdapter
from isogloss.systems.tokens.inputs import check_length
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded
from isogloss.training.objective import TrainingObjective

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.dual.contrastive import DualEncoder

# How the states of a text become its vector, see `PooledEncoder`.
POOLINGS = ("pooled", "mean", "cls")


@dataclass
class DualEncoderAdapter(RetrievalAdapter):
    """Trained on questions with passages, or on mentions with entities; with `both`, answers choose queries as well."""

    name: ClassVar[str] = "dual encoder"
    pooling: str = "pooled"
    both: bool = False

    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model with a scale."""
        from isogloss.systems.dual.contrastive import DualEncoder

        if problem := self._unfit():
            raise SystemFailureError(problem, where=self.source.name, fix="Give an encoder such as mBERT or XLM-R")
        encoder = self.source.load_model("AutoModel", seed)
        if self.pooling == "pooled" and getattr(encoder, "pooler", None) is None:
            what, fix = "the architecture has no pooler over the first token", "Set pooling to mean or cls"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return DualEncoder(encoder, self.pooling)

    def _unfit(self) -> str:
        """Why the model cannot be a dual encoder, "" if it can."""
        if getattr(self.source.config, "is_encoder_decoder", False):
            return "a text-to-text model is no encoder"
        if self.inputs.languages is not None:
            return "the model must be told the language of every token, and a pool may be in fifty"
        return ""

    def pooled_encoder(self, model: "nn.Module") -> "DualEncoder":
        """The model itself."""
        return cast("DualEncoder", model)

    def _objective(self, train: Examples) -> TrainingObjective:
        """Every query with its answer, among the answers of its batch or of its part of it."""
        from isogloss.systems.dual.contrastive import ContrastiveObjective

        pairs = training_pairs(train)
        objective = ContrastiveObjective(
            self._encoded(pairs.queries, self.recipe.query_length),
            self._encoded(pairs.answers, self.recipe.max_length),
            pairs.places,
            pad=self.inputs.padding,
            chunk=self.recipe.micro,
            candidates=self.recipe.candidates,
            both=self.both,
        )
        objective.notes = pairs.notes
        return objective

    def _encoded(self, texts: Sequence[str], longest: int) -> Encoded:
        check_length(self.source, longest)
        return self._tokenised(texts, (longest,), lambda: self.inputs.encode([texts], longest))
