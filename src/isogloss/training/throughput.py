"""How fast a model learns, against what the device can do."""

import time
from functools import cache
from typing import Any

import torch
from torch import nn

__all__ = ["ceiling", "flops_per_piece"]


def flops_per_piece(model: nn.Module, length: float, *, training: bool = True) -> float:
    """Floating-point operations a piece costs in a transformer: matrix products, and attention over `length` pieces.

    Two a weight forward and four backward, embeddings not counted; attention costs 4 x layers x hidden x length
    forward, three times that with the backward pass.
    """
    config: Any = getattr(model, "config", None)
    embedded = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    weights = sum(p.numel() for p in model.parameters() if p.ndim >= 2 and id(p) not in embedded)
    layers = getattr(config, "num_hidden_layers", 0)
    hidden = getattr(config, "hidden_size", 0)
    return float((3.0 if training else 1.0) * (2.0 * weights + 4.0 * layers * hidden * length))


@cache
def ceiling(device: torch.device, dtype: torch.dtype) -> float:
    """Floating-point operations a second of a large matrix product, measured once."""
    side, rounds = (8192, 8) if device.type == "cuda" else (1024, 2)
    # Random numbers: on zeros a chip runs cooler and faster than it ever will in earnest.
    left, right = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    for _ in range(2):
        left @ right
    _finish(device)
    start = time.perf_counter()
    for _ in range(rounds):
        left @ right
    _finish(device)
    return 2.0 * side**3 * rounds / (time.perf_counter() - start)


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
