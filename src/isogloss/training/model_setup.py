"""How a recipe changes a model before it learns: dropout, and what is recomputed to save memory."""

import torch
from torch import nn

from isogloss.training.errors import TrainingError
from isogloss.training.recipes import Recipe


def set_up(model: nn.Module, recipe: Recipe, device: torch.device) -> None:
    """Put a model on its device, in training mode, with the recipe's dropout and gradient checkpointing.

    Raises:
        TrainingError: the model cannot recompute its activations, as the recipe wants it to.
    """
    model.to(device).train()
    if recipe.dropout is not None:
        set_dropout(model, recipe.dropout)
    if recipe.checkpointing:
        _checkpoint_gradients(model)


def set_dropout(model: nn.Module, share: float) -> None:
    """Drop this share everywhere, whatever the model's configuration says."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
            continue
        for name, value in vars(module).items():
            if name.endswith("dropout") and isinstance(value, float):
                setattr(module, name, share)


def _checkpoint_gradients(model: nn.Module) -> None:
    """Keep only the activations between layers, and compute the others again in the backward pass."""
    try:
        model.gradient_checkpointing_enable()
    except ValueError as error:
        fix = "Set it to false, and micro for less memory"
        raise TrainingError(f"checkpointing = true: {str(error).rstrip('.')}", fix=fix) from error
