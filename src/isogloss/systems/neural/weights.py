"""Weights on disk in transformers' `from_pretrained` format, written atomically."""

import shutil
from pathlib import Path
from secrets import token_hex
from typing import Any

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import Model, Tensor, failure, library, open_pretrained, quiet

LAST = "last"

# Parameters outside the transformer, such as a learned scale.
_OTHERS = "others.safetensors"


def step_name(step: int | str) -> str:
    """Return the folder name of a checkpoint's weights."""
    return f"step-{step:08}" if isinstance(step, int) else f"step-{step}"


def save(model: Model, folder: Path, tokenizer: Any) -> None:
    """Write a model and its tokenizer into a folder, in the precision of the weights."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    part = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}.*.part"):
            shutil.rmtree(leftover, ignore_errors=True)
        pretrained, others = _parts(model)
        with quiet():
            pretrained.save_pretrained(part)
            tokenizer.save_pretrained(part)
        if others:
            save_file({name: tensor.detach().contiguous() for name, tensor in others.items()}, part / _OTHERS)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    except (OSError, SafetensorError) as error:
        fix = "Free disk space, or choose another folder; training resumes from its last state, if there is one"
        raise SystemFailureError(f"cannot write weights ({error})", where=str(folder), fix=fix) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def restore(model: Model, folder: Path) -> None:
    """Load weights from a folder into a model, in their stored precision."""
    import torch
    from safetensors.torch import load_file

    from isogloss.training.model_setup import cast

    pretrained, other_parameters = _parts(model)
    with failure("cannot read weights", folder, f"Remove {folder.parent.parent} to train again"), quiet():
        if not folder.is_dir():  # transformers would take it for a hub name
            raise FileNotFoundError("no such folder")
        stored = open_pretrained(type(pretrained), folder, dtype="auto")
        others = load_file(folder / _OTHERS) if (folder / _OTHERS).exists() else {}
    cast(model, stored.dtype)
    pretrained.load_state_dict(stored.state_dict())
    with torch.no_grad():
        for name, tensor in other_parameters.items():
            tensor.copy_(others[name])


def _parts(model: Model) -> tuple[Model, dict[str, Tensor]]:
    """Return the transformers model, the model itself or a child, and the parameters outside it."""
    base = library("transformers").PreTrainedModel
    pretrained = next((module for module in (model, *model.children()) if isinstance(module, base)), None)
    if pretrained is None:
        raise TypeError(f"{type(model).__name__} does not contain a transformers model")
    own = {id(tensor) for tensor in (*pretrained.parameters(), *pretrained.buffers())}
    named = (*model.named_parameters(), *model.named_buffers())
    return pretrained, {name: tensor for name, tensor in named if id(tensor) not in own}
