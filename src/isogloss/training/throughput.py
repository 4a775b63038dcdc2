"""How fast a model learns, against what the device can do."""

import time
from functools import cache
from typing import Any

import torch
from torch import nn

_GOES = 5  # the first of them warms up


def flops_per_piece(model: nn.Module, length: float, *, training: bool = True) -> float:
    """Floating-point operations a piece costs in a transformer: matrix products, and attention over `length` pieces.

    Two per weight forward and four backward, embeddings not counted; attention costs 4 x layers x hidden x length
    forward, three times that with the backward pass. Of a model with a decoder the encoder alone is counted: a piece
    that is read never meets the decoder's weights, and what is written is little beside it.
    """
    config: Any = getattr(model, "config", None)
    reader: nn.Module = model.get_encoder() if getattr(config, "is_encoder_decoder", False) else model
    embedded = {id(module.weight) for module in reader.modules() if isinstance(module, nn.Embedding)}
    weights = sum(p.numel() for p in reader.parameters() if p.ndim >= 2 and id(p) not in embedded)
    layers = getattr(config, "num_hidden_layers", 0)
    hidden = getattr(config, "hidden_size", 0)
    return float((3.0 if training else 1.0) * (2.0 * weights + 4.0 * layers * hidden * length))


@cache
def ceiling(device: torch.device, dtype: torch.dtype) -> float:
    """Floating-point operations per second of a large matrix product, measured once: the best of several goes.

    The best, because a shared machine is sometimes slower, but never faster.
    """
    side, products = (8192, 8) if device.type == "cuda" else (1024, 1)
    # Random numbers: on zeros a chip runs cooler and faster than it ever will in earnest. From a generator of their
    # own: the next dropout must not depend on whether anybody measured.
    generator = torch.Generator(device).manual_seed(0)
    left, right = (torch.randn(side, side, generator=generator, device=device, dtype=dtype) for _ in range(2))
    return 2.0 * side**3 * products / min(_seconds(left, right, products) for _ in range(_GOES))


def _seconds(left: torch.Tensor, right: torch.Tensor, products: int) -> float:
    _finish(left.device)
    start = time.perf_counter()
    for _ in range(products):
        left @ right
    _finish(left.device)
    return time.perf_counter() - start


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
