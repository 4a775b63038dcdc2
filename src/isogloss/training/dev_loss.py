"""The loss on a dev set: the training objective of examples that are not learnt from."""

from dataclasses import replace

import torch
from torch import nn

from isogloss.training import processes
from isogloss.training.batching import BatchSchedule
from isogloss.training.objective import TrainingObjective
from isogloss.training.recipes import Recipe
from isogloss.training.train_step import to_device


def mean_loss(model: nn.Module, objective: TrainingObjective, recipe: Recipe) -> float:
    """The mean loss over all items once, in batches as in training, the same ones each time; nothing is dropped out.

    This process computes it for itself: others that it trains with need not call it.

    Args:
        model: its mode is restored.
        objective: of the dev set.
        recipe: says how large a batch is; where items are each other's negatives, that decides the loss.
    """
    device = next(model.parameters()).device
    once = replace(recipe, epochs=1.0, steps=0)
    schedule = BatchSchedule(objective.lengths, objective.rows, once, 0, objective.splittable)
    total, weight = torch.zeros((), device=device), 0.0
    training = model.training
    model.eval()
    try:
        with processes.alone(), torch.inference_mode():
            for batches in schedule.updates():
                for batch in batches:
                    arrays = objective.batch(batch.items, batch.width, batch.size)
                    total += objective.loss(model, to_device(arrays, device))
                    weight += objective.weight(batch.items)
    finally:
        model.train(training)
    return float(total) / max(weight, 1e-9)
