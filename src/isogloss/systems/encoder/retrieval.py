"""Retrieval of translations by the hidden states of an encoder, as in XTREME's and XTREME-R's baselines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.retrieval import RetrievalAfterTask
from isogloss.systems.tokens.inputs import max_positions

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.neural.pooled_encoder import PooledEncoder

_LONGEST = 512  # tokens of a sentence, as in the scripts; what is learnt first has the recipe's own lengths


@dataclass
class EncoderRetrieval(RetrievalAfterTask):
    """Tatoeba and BUCC: the mean of a hidden layer over all tokens of a sentence, special ones included.

    Attributes:
        layer: the number of the layer, 1 for the first.
    """

    name: ClassVar[str] = "encoder retrieval"
    layer: int

    @property
    def text_lengths(self) -> tuple[int, int]:
        """As many tokens as the scripts take, or as the model has positions."""
        longest = min(_LONGEST, max_positions(self.source.config) or _LONGEST)
        return longest, longest

    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model with the head of the task that is learnt first, or bare where there is none."""
        if self.inputs.languages is not None:
            what = "the model must be told the language of every token, and a pool has none"
            raise SystemFailureError(what, where=self.source.name, fix="Give an encoder such as mBERT or XLM-R")
        if self.first is not None:
            return self.first.load_model(seed)
        model: nn.Module = self.source.load_model("AutoModel", seed)
        return model

    def pooled_encoder(self, model: "nn.Module") -> "PooledEncoder":
        """The transformer below the head."""
        from isogloss.systems.neural.pooled_encoder import PooledEncoder

        network: Any = model
        return PooledEncoder(network.base_model, "mean", self.layer)
