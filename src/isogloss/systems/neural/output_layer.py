"""The output layer of a model that is asked: its logits in float32, whatever the precision of the weights.

A model that is trained in bfloat16 would give its logits in it too: eight bits, in which the two best of many labels,
spans or tokens are often equal. The sources compare them in float32.
"""

from typing import Any

import torch
from torch import Tensor, nn

# Whether this torch (2.8 and later) has a matrix product that takes bfloat16 and gives float32; only CUDA computes it.
_MIXED_PRODUCT = "dtype" in torch.ops.aten.mm.overloads()


class Float32Linear(nn.Linear):  # type: ignore[misc] # torch is not looked into
    """A linear layer that gives float32 when it is not being trained."""

    def forward(self, states: Tensor) -> Tensor:
        """The logits of some states."""
        if self.training or self.weight.dtype == torch.float32:
            trained: Tensor = super().forward(states)
            return trained
        bias = None if self.bias is None else self.bias.float()
        if _MIXED_PRODUCT and states.is_cuda and not torch.is_grad_enabled():
            # The products are added up in float32 there anyway: a large vocabulary need not be copied for it.
            rows = torch.mm(states.flatten(0, -2), self.weight.T, out_dtype=torch.float32)
            return (rows if bias is None else rows + bias).unflatten(0, states.shape[:-1])
        exact: Tensor = nn.functional.linear(states.float(), self.weight.float(), bias)
        return exact


def use_float32_logits(model: Any) -> None:
    """Let a transformers model with a head give its logits in float32 when it is asked."""
    layer = model.get_output_embeddings() or _last_linear(model)
    if type(layer) is nn.Linear:
        layer.__class__ = Float32Linear


def _last_linear(model: Any) -> nn.Linear | None:
    """The last linear layer of the head, which is what a model has beyond its base."""
    base = {id(module) for module in model.base_model.modules()}
    layers = [module for module in model.modules() if isinstance(module, nn.Linear) and id(module) not in base]
    return layers[-1] if layers else None
