"""Training errors, and memory errors that suggest a fix."""

from collections.abc import Iterator
from contextlib import contextmanager

from isogloss.errors import IsoglossError


class TrainingError(IsoglossError):
    """Training cannot start or continue; the last saved state is kept."""


def out_of_memory(error: Exception) -> bool:
    """Return True if an error means out of memory: torch raises its own class on accelerators, a plain one on CPU."""
    return type(error).__name__ in ("OutOfMemoryError", "MemoryError") or "DefaultCPUAllocator" in str(error)


@contextmanager
def memory_explained(what: str, device: object, fix: str) -> Iterator[None]:
    """Turn an out-of-memory error into a `TrainingError` that names the need and the fix."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise TrainingError(f"out of memory {what}", where=str(device), fix=fix) from error
