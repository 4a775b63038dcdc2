"""The same seed gives the same model to the last bit: what that takes on CUDA.

On a CPU it is so anyway. On CUDA the fastest attention adds up its gradients in no fixed order once a row is longer
than one tile (128 tokens), so that two runs differ by rounding. torch has kernels with a fixed order, and uses them if
told to.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def repeatable(wanted: bool) -> Iterator[None]:
    """Make CUDA's results repeatable within this context, if that is wanted."""
    if not wanted or not torch.cuda.is_available():
        yield
        return
    # cuBLAS reads it once in a process, before its first matrix product on a device.
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
