"""Inference: a model's outputs for all rows, in large batches of similar length."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.training.batching import by_cost
from isogloss.training.encoded import Array
from isogloss.training.errors import TrainingError, out_of_memory
from isogloss.training.model_setup import quick_attention
from isogloss.training.objective import Arrays, Ints
from isogloss.training.prefetch import made_ahead
from isogloss.training.train_step import to_device

# Tokens in a batch: enough to keep the device busy, few enough to fit. And the tokens that a device computes in the
# time in which the host starts a batch (a twelve-layer model on an H200: 5 ms).
_TOKENS = {"cuda": (1 << 16, 12 << 10), "cpu": (1 << 12, 1 << 5)}


def outputs(
    model: nn.Module,
    lengths: Ints,
    batch: Callable[[Ints, int, int], Arrays],
    forward: Callable[[nn.Module, Mapping[str, Tensor]], tuple[Tensor, ...]],
    *,
    tokens: int = 0,
) -> Iterator[tuple[Ints, tuple[Array, ...]]]:
    """The outputs of a model for rows, in batches of similar length; a batch that does not fit in memory is halved.

    Args:
        model: run in evaluation mode, on the device it is on; its mode is restored.
        lengths: tokens of each row.
        batch: makes a batch of some rows, as `TrainingObjective.batch` does.
        forward: the model's outputs for a batch, the first axis being the rows.
        tokens: tokens in a batch; 0 leaves it to the device.

    Yields:
        Row numbers, and the outputs for just those rows; floating-point outputs are float32.

    Raises:
        TrainingError: memory is short for a single row.
    """
    device = next(model.parameters()).device
    most, least = _TOKENS.get(device.type, _TOKENS["cpu"])

    def run(rows: Ints, width: int, arrays: Arrays | None = None) -> _PendingOutputs:
        with torch.inference_mode(), quick_attention(device):
            inputs = to_device(batch(rows, width, len(rows)) if arrays is None else arrays, device)
            return _PendingOutputs(rows, forward(model, inputs))

    batches = by_cost(lengths, tokens or most, least)
    prepared = made_ahead((each, batch(each.items, each.width, each.size)) for each in batches)
    training = model.training
    model.eval()
    waiting: _PendingOutputs | None = None
    try:
        for each, arrays in prepared:
            for started in _halved_to_fit(run, each.items, each.width, device, arrays):
                if waiting is not None:  # the device is at the next batch while this one is used
                    yield waiting.arrays()
                waiting = started
        if waiting is not None:
            yield waiting.arrays()
    finally:
        model.train(training)


class _PendingOutputs:
    """Outputs on their way from the device."""

    def __init__(self, items: Ints, outputs: tuple[Tensor, ...]) -> None:
        self.items = items
        exact = (output.float() if output.is_floating_point() else output for output in outputs)
        self._fetched = [_to_host(output) for output in exact]
        self._arrived = torch.cuda.Event() if outputs[0].is_cuda else None
        if self._arrived is not None:
            self._arrived.record()

    def arrays(self) -> tuple[Ints, tuple[Array, ...]]:
        """The rows and their outputs, once they are here."""
        if self._arrived is not None:
            self._arrived.synchronize()
        return self.items, tuple(output.numpy() for output in self._fetched)


def _to_host(output: Tensor) -> Tensor:
    """The output in the host's memory; from a device without waiting for it, for which the memory must be pinned."""
    if not output.is_cuda:
        return output
    return torch.empty(output.shape, dtype=output.dtype, pin_memory=True).copy_(output, non_blocking=True)


def _halved_to_fit(
    run: Callable[[Ints, int, Arrays | None], _PendingOutputs],
    rows: Ints,
    width: int,
    device: torch.device,
    arrays: Arrays | None = None,
) -> Iterator[_PendingOutputs]:
    """The outputs for some rows, whose arrays may be there already: at once, or in halves where memory is short."""
    try:
        yield run(rows, width, arrays)
        return
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        if len(rows) == 1:
            fix = "Free the device, or set a smaller max_length"
            raise TrainingError(f"memory is short for one row of {width} tokens", where=str(device), fix=fix) from error
    # Out here the error is forgotten, and what the attempt held is free.
    for half in np.array_split(rows, 2):
        yield from _halved_to_fit(run, half, width, device)
