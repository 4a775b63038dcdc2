"""How fast a model is trained, against what the device can do."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from isogloss.training import processes
from isogloss.training.objective import TrainingObjective
from isogloss.training.prefetch import PreparedUpdate

_GOES = 5  # the first of them warms up


class Throughput:
    """How many tokens were trained on since this process began, and how fast.

    Attributes:
        tokens: so far, padding not counted.
    """

    def __init__(
        self, model: nn.Module, objective: TrainingObjective, device: torch.device, dtype: torch.dtype
    ) -> None:
        # Attention is over the row a token is in, and long rows have more tokens.
        mean_length = float(np.average(objective.lengths, weights=np.maximum(objective.lengths, 1)))
        self._objective = objective
        self._flops = flops_per_token(model, mean_length)
        self._ceiling = ceiling(device, dtype)
        self._began = time.perf_counter()
        self._positions = 0
        self.tokens = 0

    def add(self, update: PreparedUpdate) -> None:
        """Count an update that was done."""
        self.tokens += int(self._objective.lengths[update.items].sum()) * self._objective.rows
        self._positions += sum(batch.width * batch.size for batch in update.batches) * self._objective.rows

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A context whose time does not count."""
        began = time.perf_counter()
        yield
        self._began += time.perf_counter() - began

    @property
    def seconds(self) -> float:
        """Time spent learning."""
        return time.perf_counter() - self._began

    @property
    def tokens_per_second(self) -> float:
        """Over all processes."""
        return self.tokens / max(self.seconds, 1e-9)

    @property
    def padding(self) -> float:
        """Share of the positions that held no token."""
        return 1 - self.tokens / self._positions if self._positions else 0.0

    @property
    def utilisation(self) -> float:
        """Floating-point operations per second, as a share of those of a large matrix product."""
        if not self.tokens:
            return 0.0
        rate = self._flops * self.tokens_per_second / processes.world()
        # On a processor that others used when its ceiling was measured, the run itself may show a higher one.
        self._ceiling = max(self._ceiling, rate)
        return rate / self._ceiling


def flops_per_token(model: nn.Module, length: float, *, training: bool = True) -> float:
    """Floating-point operations a token costs in a transformer: matrix products, and attention over `length` tokens.

    Two per weight forward and four backward, embeddings not counted; attention costs 4 x layers x hidden x length
    forward, three times that with the backward pass. Of a model with a decoder the encoder alone is counted: a token
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
    # own: the next dropout must not depend on whether this was measured.
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
