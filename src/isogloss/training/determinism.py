"""The same seed, the same model, to the last bit: what that takes on CUDA.

On a processor it is so anyway. On CUDA the quickest attention adds its gradients up in whatever order they come, once a
row is longer than one tile (128 pieces): two runs then differ by what rounding makes of it. torch has kernels that do
not, and takes them where it is told to.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["repeatable"]


@contextmanager
def repeatable(wanted: bool) -> Iterator[None]:
    """Within this, let CUDA compute the same twice, where that is wanted."""
    if not wanted or not torch.cuda.is_available():
        yield
        return
    # Looked at once in a process, before its first matrix product on a device.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    settings = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), settings.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    settings.fill_uninitialized_memory = False  # nothing here reads what it has not written
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        settings.fill_uninitialized_memory = before[1]
