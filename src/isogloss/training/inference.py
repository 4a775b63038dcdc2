"""Inference: model outputs for all rows, in large batches of similar length, and the loss on a dev set."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.training import processes
from isogloss.training.batching import BatchSchedule, by_cost, made_ahead
from isogloss.training.errors import TrainingError, out_of_memory
from isogloss.training.model_setup import quick_attention
from isogloss.training.objective import Array, Arrays, Ints, TrainingObjective
from isogloss.training.recipes import Recipe
from isogloss.training.train_step import on_host, to_device

# Per device: tokens per batch (enough to keep the device busy, few enough to fit), and the tokens it computes in the
# time the host needs to launch a batch (10 to 20 ms for a twelve-layer model on hosts of an H200).
_TOKENS = {"cuda": (1 << 16, 1 << 15), "cpu": (1 << 12, 1 << 5)}

_IN_FLIGHT = 3  # batches launched before the outputs of the first are awaited

# Waits for the outputs of some rows, being copied from the device, and returns both.
_PendingOutputs = Callable[[], tuple[Ints, tuple[Array, ...]]]


def outputs(
    model: nn.Module,
    lengths: Ints,
    batch: Callable[[Ints, int, int], Arrays],
    forward: Callable[[nn.Module, Mapping[str, Tensor]], tuple[Tensor, ...]],
    *,
    tokens: int = 0,
) -> Iterator[tuple[Ints, tuple[Array, ...]]]:
    """Yield row numbers and a model's outputs for them, in batches of similar length, halved if memory runs out.

    `batch` builds a batch of rows, like `TrainingObjective.batch`, from `lengths` in tokens; `forward` returns its
    outputs, rows first, and floating-point ones become float32. The model runs on its device in evaluation mode, and
    its mode is restored. `tokens` per batch default to the device's.
    """
    device = next(model.parameters()).device
    most, least = _TOKENS.get(device.type, _TOKENS["cpu"])

    def on_host_batch(rows: Ints, width: int) -> dict[str, Tensor]:
        return on_host(batch(rows, width, len(rows)), device)

    def run(rows: Ints, width: int, inputs: Mapping[str, Tensor]) -> Iterator[_PendingOutputs]:
        """Start a batch, in halves if memory runs out."""
        try:
            with torch.inference_mode(), quick_attention(device):
                given = {name: tensor.to(device, non_blocking=True) for name, tensor in inputs.items()}
                started = _fetched(rows, forward(model, given))
            yield started
            return
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if len(rows) == 1:
                what = f"out of memory for one row of {width} tokens"
                fix = "Free the device, or set a smaller max_length"
                raise TrainingError(what, where=str(device), fix=fix) from error
        # Outside the handler the traceback, and the memory it keeps alive, is released.
        for half in np.array_split(rows, 2):
            yield from run(half, width, on_host_batch(half, width))

    batches = by_cost(lengths, tokens or most, least)
    # Building a batch and pinning its memory takes as long as launching it.
    prepared = made_ahead((group, on_host_batch(group.items, group.width)) for group in batches)
    training = model.training
    model.eval()
    pending: deque[_PendingOutputs] = deque()
    try:
        for group, inputs in prepared:
            for started in run(group.items, group.width, inputs):
                pending.append(started)
                if len(pending) > _IN_FLIGHT:  # yield while the device computes the next batches
                    yield pending.popleft()()
        while pending:
            yield pending.popleft()()
    finally:
        model.train(training)


def _fetched(items: Ints, outputs: tuple[Tensor, ...]) -> _PendingOutputs:
    exact = (output.float() if output.is_floating_point() else output for output in outputs)
    # Copied from CUDA asynchronously, which requires pinned memory.
    copies = [
        torch.empty(output.shape, dtype=output.dtype, pin_memory=True).copy_(output, non_blocking=True)
        if output.is_cuda
        else output
        for output in exact
    ]
    arrived = torch.cuda.Event() if outputs[0].is_cuda else None
    if arrived is not None:
        arrived.record()

    def wait() -> tuple[Ints, tuple[Array, ...]]:
        if arrived is not None:
            arrived.synchronize()
        return items, tuple(copy.numpy() for copy in copies)

    return wait


def mean_loss(model: nn.Module, objective: TrainingObjective, recipe: Recipe) -> float:
    """Return the mean loss over all items in training batches, in a fixed order and without dropout, in this process.

    The recipe's batch size affects the loss if items are each other's negatives. The model's mode is restored.
    """
    device = next(model.parameters()).device
    once, lengths = replace(recipe, epochs=1.0, steps=0), objective.lengths
    schedule = BatchSchedule(lengths=lengths, rows=objective.rows, recipe=once, seed=0, splittable=objective.splittable)
    total, weight = torch.zeros((), device=device), 0.0
    training = model.training
    model.eval()
    try:
        with processes.alone(), torch.inference_mode():
            for batches in schedule.updates():
                for batch in batches:
                    arrays = objective.batch(batch.items, batch.width, batch.size)
                    total += objective.loss(model, to_device(arrays, device))
                    weight += objective.weight(batch.items)
    finally:
        model.train(training)
    return float(total) / max(weight, 1e-9)
