"""Weights on disk, as transformers' `from_pretrained` wants them, written whole or not at all."""

import shutil
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import open_pretrained, quiet, transformers

if TYPE_CHECKING:
    from torch import nn

LAST = "last"

# Parameters that are not the transformer's own: a learned scale, say.
_OTHERS = "others.safetensors"


def step_name(step: int | str) -> str:
    """What the weights of a checkpoint are called."""
    return f"step-{step:08}" if isinstance(step, int) else f"step-{step}"


def save(model: "nn.Module", folder: Path, tokenizer: Any) -> None:
    """Write a model and its tokenizer into a folder, in the precision the weights have."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    part = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}.*.part"):
            shutil.rmtree(leftover, ignore_errors=True)
        pretrained = _pretrained(model)
        with quiet():
            pretrained.save_pretrained(part)
            tokenizer.save_pretrained(part)
        others = _others(model, pretrained)
        if others:
            save_file({name: tensor.detach().contiguous() for name, tensor in others.items()}, part / _OTHERS)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    except (OSError, SafetensorError) as error:
        fix = "Make room there, or choose another folder; training goes on from its last state, if it had one"
        raise SystemFailureError(f"weights cannot be written ({error})", where=str(folder), fix=fix) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def restore(model: "nn.Module", folder: Path) -> None:
    """Give a model the weights of a folder, in the precision they have there."""
    import torch
    from safetensors.torch import load_file

    from isogloss.training.model_setup import cast

    pretrained = _pretrained(model)
    try:
        if not folder.is_dir():  # or transformers would take it for a name on the hub
            raise FileNotFoundError("there is no such folder")
        with quiet():
            found = open_pretrained(type(pretrained), folder, dtype="auto")
        others = load_file(folder / _OTHERS) if (folder / _OTHERS).exists() else {}
    except Exception as error:  # what transformers raises has no base of its own
        what = f"weights cannot be read ({str(error).strip().splitlines()[0]})"
        fix = f"Remove {folder.parent.parent} to train again"
        raise SystemFailureError(what, where=str(folder), fix=fix) from error
    cast(model, found.dtype)
    pretrained.load_state_dict(found.state_dict())
    with torch.no_grad():
        for name, tensor in _others(model, pretrained).items():
            tensor.copy_(others[name])


def _pretrained(model: "nn.Module") -> Any:
    """The transformers model: the model itself, or the one part of it that is one."""
    base = transformers().PreTrainedModel
    found = [module for module in (model, *model.children()) if isinstance(module, base)]
    if not found:
        raise TypeError(f"{type(model).__name__} has no transformers model in it")
    return found[0]


def _others(model: "nn.Module", pretrained: "nn.Module") -> dict[str, Any]:
    known = {id(tensor) for tensor in (*pretrained.parameters(), *pretrained.buffers())}
    named = (*model.named_parameters(), *model.named_buffers())
    return {name: tensor for name, tensor in named if id(tensor) not in known}
