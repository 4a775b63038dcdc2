"""The precision a model computes in."""

import torch
from torch import nn

from isogloss.training.errors import TrainingError


def precision_of(name: str, device: torch.device) -> torch.dtype:
    """The precision of a recipe on a device: `auto` is bf16 where the device is made for it.

    Raises:
        TrainingError: there is no such precision.
    """
    if name not in ("auto", "bf16", "fp32"):
        raise TrainingError(f"unknown precision {name!r}", fix="auto, bf16 or fp32")
    native = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if name == "bf16" or (name == "auto" and native) else torch.float32


def cast(model: nn.Module, dtype: torch.dtype) -> None:
    """Let a model compute in a precision; what is no weight but computed by itself (rotary frequencies) stays exact."""
    exact = [(module, name, module._buffers[name]) for module in model.modules() for name in _computed(module)]
    model.to(dtype)
    for module, name, buffer in exact:
        module._buffers[name] = buffer


def _computed(module: nn.Module) -> set[str]:
    names: set[str] = module._non_persistent_buffers_set
    return names
