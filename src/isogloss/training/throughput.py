"""Training speed, relative to the device's peak."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import nn

from isogloss.training import processes
from isogloss.training.batching import PreparedUpdate
from isogloss.training.objective import TrainingObjective

_RUNS = 5  # the first warms up


class Throughput:
    """Number of tokens trained on by this process, without padding, and the speed."""

    def __init__(
        self, model: nn.Module, objective: TrainingObjective, device: torch.device, dtype: torch.dtype
    ) -> None:
        # Attention spans a token's row, so weight by length: long rows hold more tokens.
        mean_length = float(np.average(objective.lengths, weights=np.maximum(objective.lengths, 1)))
        self._objective = objective
        self._flops, self._ceiling = flops_per_token(model, mean_length), ceiling(device, dtype)
        self._began = time.perf_counter()
        self.tokens = self._positions = 0

    def add(self, update: PreparedUpdate) -> None:
        """Count a finished update."""
        self.tokens += int(self._objective.lengths[update.items].sum()) * self._objective.rows
        self._positions += sum(batch.width * batch.size for batch in update.batches) * self._objective.rows

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time spent in this context."""
        began = time.perf_counter()
        yield
        self._began += time.perf_counter() - began

    @property
    def seconds(self) -> float:
        """Training time in seconds."""
        return time.perf_counter() - self._began

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second over all processes."""
        return self.tokens / max(self.seconds, 1e-9)

    @property
    def padding(self) -> float:
        """Share of positions that are padding."""
        return 1 - self.tokens / self._positions if self._positions else 0.0

    @property
    def utilisation(self) -> float:
        """Floating-point operations per second, as a share of those of a large matrix product."""
        if not self.tokens:
            return 0.0
        rate = self._flops * self.tokens_per_second / processes.world()
        # The run itself may beat a peak measured while other programs used the processor.
        self._ceiling = max(self._ceiling, rate)
        return rate / self._ceiling


def flops_per_token(model: nn.Module, length: float, *, training: bool = True) -> float:
    """Return the floating-point operations per token of a transformer: matrix products, and attention over `length`.

    Two operations per weight forward and four backward, without embeddings; attention costs 4 x layers x hidden x
    length forward, and three times that with the backward pass. For encoder-decoder models only the encoder counts:
    input tokens never reach the decoder's weights, and outputs are short in comparison.
    """
    config: Any = getattr(model, "config", None)
    encoder: nn.Module = model.get_encoder() if getattr(config, "is_encoder_decoder", False) else model
    embedded = {id(module.weight) for module in encoder.modules() if isinstance(module, nn.Embedding)}
    weights = sum(p.numel() for p in encoder.parameters() if p.ndim >= 2 and id(p) not in embedded)
    layers = getattr(config, "num_hidden_layers", 0)
    hidden = getattr(config, "hidden_size", 0)
    return float((3.0 if training else 1.0) * (2.0 * weights + 4.0 * layers * hidden * length))


@cache
def ceiling(device: torch.device, dtype: torch.dtype) -> float:
    """Return the floating-point operations per second of a large matrix product, the best of several runs, cached."""
    side, products = (8192, 8) if device.type == "cuda" else (1024, 1)
    # Random numbers: on zeros a chip runs cooler and faster than in practice. A separate generator, so that measuring
    # does not change the next dropout.
    generator = torch.Generator(device).manual_seed(0)
    left, right = (torch.randn(side, side, generator=generator, device=device, dtype=dtype) for _ in range(2))
    finish: Callable[[], None] = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    best = float("inf")  # a shared machine is sometimes slower but never faster
    for _ in range(_RUNS):
        finish()
        start = time.perf_counter()
        for _ in range(products):
            left @ right
        finish()
        best = min(best, time.perf_counter() - start)
    return 2.0 * side**3 * products / best
