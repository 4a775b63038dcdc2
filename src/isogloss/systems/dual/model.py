"""The dual encoder: one transformer for queries and answers, whose unit vectors are compared."""

from typing import Any

import torch
from torch import Tensor, nn


class DualEncoder(nn.Module):  # type: ignore[misc] # torch is not looked into
    """Texts as unit vectors, and the scale of their cosines; both sides share all weights.

    The scale is a plain number that is learnt, not its logarithm, and begins at 100: as in XTREME-R's baseline.

    Args:
        encoder: a transformers model.
        pooling: `pooled` (the model's own dense layer and tanh over the first piece), `mean` (over all pieces,
            special ones included) or `cls` (the first piece).
        scale: what it begins with.
    """

    def __init__(self, encoder: nn.Module, pooling: str = "pooled", scale: float = 100.0) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.scale = nn.Parameter(torch.tensor(scale))

    @property
    def config(self) -> Any:
        """The configuration of the transformer."""
        return self.encoder.config

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.config.hidden_size)

    def gradient_checkpointing_enable(self) -> None:
        """Recompute activations in the backward pass."""
        self.encoder.gradient_checkpointing_enable()

    def forward(self, pieces: Tensor, lengths: Tensor) -> Tensor:
        """The unit vectors of rows of pieces, of which the first `lengths` of each count, in float32."""
        mask = torch.arange(pieces.shape[1], device=pieces.device) < lengths[:, None]
        found = self.encoder(input_ids=pieces, attention_mask=mask.long())
        return nn.functional.normalize(self._pooled(found, mask), dim=-1)

    def _pooled(self, found: Any, mask: Tensor) -> Tensor:
        if self.pooling == "pooled":
            pooled: Tensor = found.pooler_output
            return pooled.float()
        states: Tensor = found.last_hidden_state
        if self.pooling == "cls":
            return states[:, 0].float()
        return (states.float() * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
