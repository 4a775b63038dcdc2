"""An encoder whose states become one unit vector a text."""

from typing import Any

import torch
from torch import Tensor, nn

from isogloss.systems.hidden_layers import token_mean


class PooledEncoder(nn.Module):  # type: ignore[misc] # torch is not looked into
    """Texts as unit vectors.

    Args:
        encoder: a transformers model.
        pooling: `pooled` (the model's own dense layer and tanh over the first token), `mean` (over all tokens,
            special ones included) or `cls` (the first token).
        layer: the number of the layer whose states `mean` and `cls` take, 1 for the first; 0 for the last.
    """

    def __init__(self, encoder: nn.Module, pooling: str, layer: int = 0) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.layer = layer

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

    def forward(self, input_ids: Tensor, lengths: Tensor) -> Tensor:
        """The unit vectors of rows of tokens, of which the first `lengths` of each count, in float32."""
        mask = torch.arange(input_ids.shape[1], device=input_ids.device) < lengths[:, None]
        found = self.encoder(input_ids=input_ids, attention_mask=mask.long(), output_hidden_states=self.layer > 0)
        return nn.functional.normalize(self._pooled(found, mask), dim=-1)

    def _pooled(self, found: Any, mask: Tensor) -> Tensor:
        if self.pooling == "pooled":
            pooled: Tensor = found.pooler_output
            return pooled.float()
        states: Tensor = found.hidden_states[self.layer] if self.layer else found.last_hidden_state
        if self.pooling == "cls":
            return states[:, 0].float()
        return token_mean(states, mask)
