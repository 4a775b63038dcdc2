"""Torch modules: encoders pooled into one vector per text, and output layers with float32 logits."""

from typing import Any

import torch
from torch import Tensor, nn

from isogloss.systems.retrieval import token_mean

# True if torch (2.8 and later) has a matrix product from bfloat16 to float32; only CUDA implements it.
_MIXED_PRODUCT = "dtype" in torch.ops.aten.mm.overloads()


class PooledEncoder(nn.Module):  # type: ignore[misc] # torch is untyped
    """Texts as unit vectors, from a transformers model.

    The pooling is `pooled` (the model's own dense layer and tanh over the first token), `mean` (over all tokens,
    including special tokens) or `cls` (the first token); the layer of the states for the latter two is from 1, or 0 for
    the last.
    """

    def __init__(self, encoder: nn.Module, pooling: str, layer: int = 0) -> None:
        super().__init__()
        self.encoder, self.pooling, self.layer = encoder, pooling, layer
        self.config = getattr(encoder, "config", None)  # also read by the throughput and `vectors`

    def gradient_checkpointing_enable(self) -> None:
        """Recompute activations in the backward pass."""
        self.encoder.gradient_checkpointing_enable()

    def forward(self, input_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the unit vectors of token rows in float32; only the first `lengths` tokens of each count."""
        mask = torch.arange(input_ids.shape[1], device=input_ids.device) < lengths[:, None]
        output = self.encoder(input_ids=input_ids, attention_mask=mask.long(), output_hidden_states=self.layer > 0)
        if self.pooling == "pooled":
            vectors = output.pooler_output.float()
        else:
            states = output.hidden_states[self.layer] if self.layer else output.last_hidden_state
            vectors = states[:, 0].float() if self.pooling == "cls" else token_mean(states, mask)
        return nn.functional.normalize(vectors, dim=-1)


class Float32Linear(nn.Linear):  # type: ignore[misc] # torch is untyped
    """A linear layer with float32 outputs outside training, as the reference implementations compare them.

    With the eight bits of bfloat16, the two best of many labels, spans or tokens are often equal.
    """

    def forward(self, states: Tensor) -> Tensor:
        """Return the logits of some states."""
        if self.training or self.weight.dtype == torch.float32:
            return super().forward(states)
        bias = None if self.bias is None else self.bias.float()
        if _MIXED_PRODUCT and states.is_cuda and not torch.is_grad_enabled():
            # Products are accumulated in float32 anyway, so a large vocabulary need not be copied.
            rows = torch.mm(states.flatten(0, -2), self.weight.T, out_dtype=torch.float32)
            return (rows if bias is None else rows + bias).unflatten(0, states.shape[:-1])
        return nn.functional.linear(states.float(), self.weight.float(), bias)


def use_float32_logits(model: Any) -> None:
    """Make a transformers model with a head compute its logits in float32 at inference."""
    layer = model.get_output_embeddings()
    if not layer:  # the last linear layer of the head, the part of a model beyond its base
        base = {id(module) for module in model.base_model.modules()}
        layers = [module for module in model.modules() if isinstance(module, nn.Linear) and id(module) not in base]
        layer = layers[-1] if layers else None
    if type(layer) is nn.Linear:
        layer.__class__ = Float32Linear
