"""The dual encoder: one transformer for queries and answers, whose unit vectors are compared."""

import torch
from torch import nn

from isogloss.systems.neural.pooled_encoder import PooledEncoder


class DualEncoder(PooledEncoder):
    """Texts as unit vectors, and the scale of their cosines; both sides share all weights.

    The scale is a trained number itself, not its logarithm, and begins at 100: as in XTREME-R's baseline.

    Args:
        encoder: a transformers model.
        pooling: see `PooledEncoder`.
        scale: what it begins with.
    """

    def __init__(self, encoder: nn.Module, pooling: str = "pooled", scale: float = 100.0) -> None:
        super().__init__(encoder, pooling)
        self.scale = nn.Parameter(torch.tensor(scale))
