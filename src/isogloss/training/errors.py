"""Errors of training, and memory errors that say what to change."""

from collections.abc import Iterator
from contextlib import contextmanager

from isogloss.errors import IsoglossError


class TrainingError(IsoglossError):
    """Training cannot begin or cannot go on; the state before is kept."""


def out_of_memory(error: Exception) -> bool:
    """Whether an error is for want of memory: torch has a class for accelerators, and a plain one for the CPU."""
    return type(error).__name__ in ("OutOfMemoryError", "MemoryError") or "DefaultCPUAllocator" in str(error)


@contextmanager
def memory_explained(what: str, device: object, fix: str) -> Iterator[None]:
    """Say what memory is short for, and what to change."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise TrainingError(f"memory is short {what}", where=str(device), fix=fix) from error
