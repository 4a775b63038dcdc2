"""How a model computes while it is trained: device, precision, dropout, recomputed activations, repeatable results."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from isogloss.training.errors import TrainingError
from isogloss.training.recipes import Recipe


def set_up(model: nn.Module, recipe: Recipe, device: torch.device) -> None:
    """Put a model on its device, in training mode, with the recipe's dropout and gradient checkpointing."""
    model.to(device).train()
    if recipe.dropout is not None:
        set_dropout(model, recipe.dropout)
    if recipe.checkpointing:
        try:
            model.gradient_checkpointing_enable()
        except ValueError as error:
            fix = "Set it to false, and micro for less memory"
            raise TrainingError(f"checkpointing = true: {str(error).rstrip('.')}", fix=fix) from error


def set_dropout(model: nn.Module, share: float) -> None:
    """Drop this share everywhere, whatever the model's configuration says."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
            continue
        for name, value in vars(module).items():
            if name.endswith("dropout") and isinstance(value, float):
                setattr(module, name, share)


def precision_of(name: str, device: torch.device) -> torch.dtype:
    """The precision of a recipe on a device: `auto` is bf16 where the device is made for it."""
    if name not in ("auto", "bf16", "fp32"):
        raise TrainingError(f"unknown precision {name!r}", fix="auto, bf16 or fp32")
    native = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if name == "bf16" or (name == "auto" and native) else torch.float32


def cast(model: nn.Module, dtype: torch.dtype) -> None:
    """Let a model compute in a precision; buffers that are computed, not trained (rotary frequencies) stay exact."""
    exact = [
        (module, name, module._buffers[name])
        for module in model.modules()
        for name in module._non_persistent_buffers_set
    ]
    model.to(dtype)
    for module, name, buffer in exact:
        module._buffers[name] = buffer


def quick_attention(device: torch.device) -> AbstractContextManager[None]:
    """The kernels of attention that need no plan: cuDNN's take 50 ms to make one for every new shape of a batch."""
    if device.type != "cuda":
        return nullcontext()
    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    chosen: AbstractContextManager[None] = sdpa_kernel(backends)
    return chosen


@contextmanager
def repeatable(wanted: bool) -> Iterator[None]:
    """Make CUDA's results equal to the last bit within this context, if that is wanted; on a CPU they always are.

    The fastest attention adds up its gradients in no fixed order once a row is longer than one tile (128 tokens), so
    that two runs differ by rounding. torch has kernels with a fixed order, and uses them if it is told to.
    """
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
