"""Model setup for training: device, precision, dropout, gradient checkpointing and deterministic results."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from isogloss.training.attention import use_row_attention
from isogloss.training.errors import TrainingError
from isogloss.training.recipes import Recipe


def set_up(model: nn.Module, recipe: Recipe, device: torch.device) -> None:
    """Move a model to its device, in training mode, with the recipe's dropout and gradient checkpointing."""
    model.to(device).train()
    if recipe.padding != "full":  # then the states of padding are used, too
        use_row_attention(model, device)
    if recipe.dropout is not None:
        set_dropout(model, recipe.dropout)
    if recipe.checkpointing:
        try:
            model.gradient_checkpointing_enable()
        except ValueError as error:
            fix = "Set it to false, and lower micro to save memory"
            raise TrainingError(f"checkpointing = true: {str(error).rstrip('.')}", fix=fix) from error


def set_dropout(model: nn.Module, share: float) -> None:
    """Set the dropout rate everywhere, overriding the model's configuration."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
            continue
        for name, value in vars(module).items():
            if name.endswith("dropout") and isinstance(value, float):
                setattr(module, name, share)


_PRECISIONS = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


def precision_of(name: str, device: torch.device, *, decoder: bool = False) -> torch.dtype:
    """Return a recipe's precision on a device.

    `auto` is bf16 on a CUDA device that supports it natively, and fp16 on others, except for models with a decoder: the
    states of T5 and mT5 overflow in fp16. Elsewhere it is fp32.
    """
    if name == "auto":
        cuda = device.type == "cuda"
        name = "fp16" if cuda and not decoder else "fp32"
        if cuda and torch.cuda.is_bf16_supported(including_emulation=False):
            name = "bf16"
    if name not in _PRECISIONS:
        raise TrainingError(f"unknown precision {name!r}", fix="Use auto, bf16, fp16 or fp32")
    return _PRECISIONS[name]


def cast(model: nn.Module, dtype: torch.dtype) -> None:
    """Convert a model to a precision; computed buffers (such as rotary frequencies) stay exact."""
    exact = [
        (module, name, module._buffers[name])
        for module in model.modules()
        for name in module._non_persistent_buffers_set
    ]
    model.to(dtype)
    for module, name, buffer in exact:
        module._buffers[name] = buffer


def quick_attention(device: torch.device) -> AbstractContextManager[None]:
    """Select attention kernels without a planning step: cuDNN's take 50 ms for every new batch shape."""
    if device.type != "cuda":
        return nullcontext()
    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    chosen: AbstractContextManager[None] = sdpa_kernel(backends)
    return chosen


@contextmanager
def repeatable(wanted: bool) -> Iterator[None]:
    """Make CUDA results bit-identical within this context if `wanted`; CPU results always are.

    Otherwise, the fastest attention adds up gradients in no fixed order for rows longer than one tile (128 tokens).
    """
    if not wanted or not torch.cuda.is_available():
        yield
        return
    # cuBLAS reads this once per process, before its first matrix product on a device.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    settings = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), settings.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    settings.fill_uninitialized_memory = False  # uninitialised memory is never read here
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        settings.fill_uninitialized_memory = before[1]
