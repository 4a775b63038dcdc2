"""Processes that train together: one, or those started by torchrun or `accelerate launch`."""

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from isogloss.errors import IsoglossError
from isogloss.training.errors import TrainingError

if TYPE_CHECKING:
    from torch import Tensor, device

T = TypeVar("T")

# The others wait while the main process predicts and scores, which can take hours.
PATIENCE = timedelta(days=7)

# A context variable: threads that prepare batches for the whole group are not affected.
_ALONE = ContextVar("alone", default=False)


def world() -> int:
    """Return the number of processes that train together."""
    return 1 if _ALONE.get() else int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def alone() -> Iterator[None]:
    """Compute in this process only, while the others may be waiting for it."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def rank() -> int:
    """Return this process's number in the group."""
    return int(os.environ.get("RANK", "0")) if world() > 1 else 0


def is_main() -> bool:
    """Return True in the process that writes files."""
    return rank() == 0


def device_of() -> "device":
    """Return this process's device; the first call forms the process group."""
    import torch

    # Its functions take the current group as a default argument. If transformers imported it later, they would keep the
    # group and its threads alive after `_leave_group`.
    import torch.distributed.nn.functional
    from accelerate import PartialState

    # On the CPU no group is formed without `cpu=True`.
    own: device = PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE).device
    if world() > 1:
        atexit.unregister(_leave_group)  # register only once
        atexit.register(_leave_group)
    return own


def _leave_group() -> None:
    """Leave the process group, which ends its threads: one that frees a tensor during exit would abort the process."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


@contextmanager
def together() -> Iterator[None]:
    """Run processes that wait for each other: an error ends this process, and the launcher then ends the others."""
    # Otherwise they would wait forever. If no process waits for another, `in_step` costs less.
    try:
        yield
    except Exception as error:
        if world() == 1:
            raise
        atexit.unregister(_leave_group)  # it could block on the other processes
        raise SystemExit(f"error in process {rank()} of {world()}: {error}") from error


@contextmanager
def in_step() -> Iterator[None]:
    """Let all processes leave this context together: an error in one is raised in all; none may wait inside.

    If only one raised, it would continue to the next collective call and mix up its messages with those of the others.
    """
    if world() == 1:
        yield
        return
    own: Exception | None = None
    try:
        yield
    except Exception as error:
        own = error
    import torch.distributed as dist

    device_of()
    errors = [""] * world()
    message = "" if own is None else str(own) if isinstance(own, IsoglossError) else f"{type(own).__name__}: {own}"
    dist.all_gather_object(errors, message)
    if own is not None:
        raise own
    for number, text in enumerate(errors):
        if text:
            raise TrainingError(f"error in process {number} of {world()}: {text}")


def from_main(make: Callable[[], T]) -> T:
    """Call `make` in the main process and return its result in every process; errors are shared as in `in_step`."""
    with in_step():
        made = make() if is_main() else None
    shared: T = broadcast(made)
    return shared


def broadcast(value: Any) -> Any:
    """Return the main process's value in every process."""
    if world() == 1:
        return value
    from accelerate.utils import broadcast_object_list

    device_of()
    return broadcast_object_list([value])[0]


def add_up(tensor: "Tensor") -> None:
    """Replace a tensor by its sum over the processes."""
    if world() > 1:
        import torch.distributed as dist

        dist.all_reduce(tensor)


def gather(tensor: "Tensor") -> "Tensor":
    """Concatenate the equally shaped tensors of all processes; gradients flow back to each."""
    if world() == 1:
        return tensor
    import torch
    import torch.distributed as dist

    class Gather(torch.autograd.Function):  # type: ignore[misc]
        """All-gather with gradients, which are summed: each loss may depend on the rows of every process."""

        @staticmethod
        def forward(context: Any, own: "Tensor") -> "Tensor":
            parts = [torch.empty_like(own) for _ in range(world())]
            dist.all_gather(parts, own.contiguous())
            return torch.cat(parts)

        @staticmethod
        def backward(context: Any, *gradients: "Tensor") -> "Tensor":
            [gradient] = gradients
            summed = gradient.contiguous()
            dist.all_reduce(summed)
            return summed.chunk(world())[rank()]

    gathered: Tensor = Gather.apply(tensor)
    return gathered
