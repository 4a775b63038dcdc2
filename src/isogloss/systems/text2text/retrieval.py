"""Retrieval: the mean of the encoder's outputs is the vector of a text, as the XTREME-R paper has it for mT5."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.retrieval import RetrievalAfterTask
from isogloss.systems.text2text.qa import Text2TextReader

if TYPE_CHECKING:
    from torch import nn

    from isogloss.systems.neural.pooled_encoder import PooledEncoder


@dataclass
class Text2TextRetrieval(RetrievalAfterTask):
    """Tatoeba, LAReQA, Mewsli-X and BUCC, by a model that has learnt to answer SQuAD's questions (footnote 7).

    The encoder's outputs are averaged over all tokens of a text, the end included, and compared by cosine.
    """

    name: ClassVar[str] = "text2text retrieval"
    first: Text2TextReader

    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model, which needs no head."""
        if hasattr(self.source.tokenizer, "src_lang"):
            what = "it must be told the language of a text, and a pool has many"
            fix = "Take a model that needs no language ids (mT5)"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return self.first.load_model(seed)

    def pooled_encoder(self, model: "nn.Module") -> "PooledEncoder":
        """The encoder of the model, without its decoder."""
        from isogloss.systems.neural.pooled_encoder import PooledEncoder

        network: Any = model
        pooled: PooledEncoder = PooledEncoder(network.get_encoder(), "mean").to(network.device)
        return pooled
