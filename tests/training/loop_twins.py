"""Runs of the loop in two processes, for `systems/neural/test_in_step.py`."""

from pathlib import Path

import numpy as np

from isogloss.training import loop, processes
from isogloss.training.recipes import Recipe
from training.toy import Words, bag, weights

RECIPE = Recipe(name="toy", learning_rate=1e-2, epochs=4, batch=16, weight_decay=0.01, warmup=3)


class Killed(BaseException):
    """A kill in the middle of a run."""


def undropped(optimizer: str) -> Recipe:
    """Return a recipe without dropout, which each process would draw for itself."""
    return Recipe(name="toy", learning_rate=1e-2, optimizer=optimizer, epochs=4, batch=15, dropout=0.0)


def train_twins(folder: Path) -> str:
    """Train with both optimizers, and resume a killed run."""
    for optimizer in loop.OPTIMIZERS:
        model = bag(7)
        trained = loop.train(model, Words(), undropped(optimizer), seed=7)
        if processes.is_main():
            np.savez(folder / f"{optimizer}.npz", losses=trained.losses, weights=weights(model))

    kept = []

    def look(info: loop.CheckpointInfo, model: object) -> None:
        kept.append(info.kept)
        if info.step >= 9:
            raise Killed

    loop.STATE_EVERY = 0
    state, whole, resumed = folder / "state.pt", bag(7), bag(99)
    curve = loop.train(whole, Words(), RECIPE, seed=7).losses
    try:
        loop.train(bag(7), Words(), RECIPE, seed=7, state=state, on_checkpoint=look)
    except Killed:
        assert kept[-1] > 4, kept
    else:
        raise AssertionError("not killed")
    again = loop.train(resumed, Words(), RECIPE, seed=7, state=state)
    assert again.tokens < Words().lengths.sum() * 4 * 0.7
    assert (again.losses == curve).all()
    assert (weights(resumed) == weights(whole)).all()
    return "resumed"
