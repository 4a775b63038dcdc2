"""A small contrastive objective and its gradients."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from isogloss.systems.dual.contrastive import ContrastiveObjective, DualEncoder
from isogloss.systems.pretrained import ModelSource
from isogloss.training.objective import Encoded, Ints

PAIRS = 16


def objective(*, chunk: int = 0, candidates: int = 0, both: bool = False) -> ContrastiveObjective:
    """Sixteen pairs of fourteen queries and twelve answers of random tokens, some of them repeated."""
    random = np.random.default_rng(3)

    def encoded(rows: int, longest: int) -> Encoded:
        lengths = random.integers(2, longest + 1, rows)
        pieces = random.integers(5, 200, lengths.sum()).astype(np.int32)
        return Encoded(pieces, np.concatenate([[0], np.cumsum(lengths)]))

    places = np.stack([np.arange(PAIRS) % 14, random.permutation(np.arange(PAIRS) % 12)], axis=1)
    settings: dict[str, Any] = {"pad": 0, "chunk": chunk, "candidates": candidates, "both": both}
    return ContrastiveObjective(encoded(14, 8), encoded(12, 16), places, **settings)


def model(folder: Path, dropout: float = 0.0) -> DualEncoder:
    """Return a dual encoder in training mode."""
    encoder = ModelSource(str(folder)).load_model("AutoModel", 0)
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    made = DualEncoder(encoder, "mean", scale=10.0)
    made.train()
    return made


def gradients(of: DualEncoder, made: ContrastiveObjective, items: Ints, size: int) -> tuple[float, dict[str, Any]]:
    """Return the mean loss of some items and its gradients."""
    batch = {name: torch.from_numpy(array) for name, array in made.batch(items, 16, size).items()}
    torch.manual_seed(7)
    loss = made.backward(of, batch, torch.tensor(1 / PAIRS))
    return float(loss), {name: p.grad.clone() for name, p in of.named_parameters() if p.grad is not None}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Check equality up to rounding, relative to the largest: some gradients are zero in theory."""
    assert found.keys() == expected.keys()
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-5 * largest)
