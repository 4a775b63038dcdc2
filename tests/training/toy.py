"""A model and an objective small enough to compute by hand: the mean of a row's embeddings, classified."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from isogloss.training.objective import Arrays, Encoded, Ints, TrainingObjective, padded

VOCABULARY, CLASSES = 20, 3
Array = npt.NDArray[np.float32]


class Bag(nn.Module):
    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 8)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, CLASSES)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        found = self.embedding(tokens) * mask[..., None]
        mean = found.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return self.out(self.norm(self.dropout(mean)))


class Words(TrainingObjective):
    """Rows in which most tokens name the label."""

    def __init__(self, rows: int = 64, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        lengths = random.integers(3, 30, rows)
        tokens = random.integers(1, VOCABULARY, lengths.sum()).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Spread over the whole row, so that a bag of words can learn it.
        labels = random.integers(0, CLASSES, rows)
        tokens = np.where(random.random(len(tokens)) < 0.7, np.repeat(labels + 1, lengths), tokens).astype(np.int32)
        self.encoded = Encoded(tokens, starts, columns={"label": labels})
        self.lengths = self.encoded.lengths

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        labels = np.full(size, -100)
        labels[: len(items)] = self.encoded.columns["label"][items]
        tokens = padded(self.encoded.input_ids, self.encoded.starts, items, width, size, 0)
        return {"tokens": tokens, "mask": (tokens != 0).astype(np.float32), "labels": labels}

    def weight(self, items: Ints) -> float:
        return float(len(items))

    def loss(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        logits = model(batch["tokens"], batch["mask"].to(model.out.weight.dtype)).float()
        return nn.functional.cross_entropy(logits, batch["labels"], ignore_index=-100, reduction="sum")


def bag(seed: int = 0, dropout: float = 0.1) -> Bag:
    torch.manual_seed(seed)
    return Bag(dropout)


def weights(model: nn.Module) -> Array:
    """Return all weights of a model in one array."""
    found: Array = torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()]).numpy()
    return found
