"""The processes that train together: one, or as many as torchrun or `accelerate launch` started."""

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

# The others wait while the first one predicts and scores, which can take hours.
PATIENCE = timedelta(days=7)

# Not for the threads of this process, which prepare batches for all of them meanwhile.
_ALONE = ContextVar("alone", default=False)


def world() -> int:
    """How many processes train together."""
    return 1 if _ALONE.get() else int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def alone() -> Iterator[None]:
    """A context in which this process computes for itself, though it trains with others: they may be waiting for it."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def rank() -> int:
    """Which of them this is."""
    return int(os.environ.get("RANK", "0")) if world() > 1 else 0


def is_main() -> bool:
    """Whether this is the one that writes."""
    return rank() == 0


def device_of() -> "device":
    """Where this process computes; the group of processes is formed on the first call."""
    import torch
    from accelerate import PartialState

    # On the CPU it forms no group without `cpu=True`.
    found: device = PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE).device
    if world() > 1:
        atexit.unregister(_part)  # once is enough
        atexit.register(_part)
    return found


def _part() -> None:
    """Leave the group: the threads of one that is still there when a process ends take it down with an error."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


@contextmanager
def together() -> Iterator[None]:
    """A context in which processes depend on each other: an error ends this one, and the launcher then ends the others.

    Otherwise they would wait for it forever. Where no process waits for another, `in_step` costs less.

    Raises:
        SystemExit: with the error as its message.
    """
    try:
        yield
    except Exception as error:
        if world() == 1:
            raise
        atexit.unregister(_part)  # which might wait for the others, who wait for us
        raise SystemExit(f"error in process {rank()} of {world()}: {error}") from error


@contextmanager
def in_step() -> Iterator[None]:
    """A context that processes leave together: an error in one is an error in all.

    They must not wait for each other inside. Were the error in one alone, it would go on to whatever comes next, and
    take what the others tell each other here for an answer to that.

    Raises:
        TrainingError: another process has failed.
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
    said = [""] * world()
    dist.all_gather_object(said, "" if own is None else _said(own))
    if own is not None:
        raise own
    for number, text in enumerate(said):
        if text:
            raise TrainingError(f"error in process {number} of {world()}: {text}")


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, IsoglossError) else f"{type(error).__name__}: {error}"


def from_main(make: Callable[[], T]) -> T:
    """What the main process makes, in every process; an error there is one everywhere, see `in_step`."""
    with in_step():
        made = make() if is_main() else None
    found: T = broadcast(made)
    return found


def broadcast(what: Any) -> Any:
    """What the main process says, in every process."""
    if world() == 1:
        return what
    from accelerate.utils import broadcast_object_list

    device_of()
    return broadcast_object_list([what])[0]


def add_up(tensor: "Tensor") -> None:
    """Replace a tensor by its sum over the processes."""
    if world() > 1:
        import torch.distributed as dist

        dist.all_reduce(tensor)


def gather(tensor: "Tensor") -> "Tensor":
    """The tensors of all processes (of one shape) one below the other; gradients find their way back."""
    if world() == 1:
        return tensor
    import torch
    import torch.distributed as dist

    class Gather(torch.autograd.Function):  # type: ignore[misc]
        """Every process's loss may depend on every process's rows: their gradients are summed."""

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

    found: Tensor = Gather.apply(tensor)
    return found
