"""Contrastive learning: every query must find its own answer among the answers of its batch.

The recipe sets the number of wrong answers per query, which matters: all answers of the batch, or those of a part of
`candidates` pairs, as in references that accumulate small batches. It does not depend on the hardware: answers of all
processes are gathered, and gradients are cached if a batch does not fit into memory. All vectors are computed in chunks
without keeping their graphs, the loss of the whole batch gives the gradient of every vector, and each chunk is computed
again with the same dropout to propagate its gradient back (Gao et al., 2021, "Scaling Deep Contrastive Learning
Batch Size under Memory Limited Setup"). The result is the gradient of the whole batch.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.systems.neural.modules import PooledEncoder
from isogloss.training import processes
from isogloss.training.batching import widths
from isogloss.training.objective import Arrays, Encoded, Ints, TrainingObjective, padded_column, table

_SIDES = ("query", "answer")


class DualEncoder(PooledEncoder):
    """Texts as unit vectors, and the scale of their cosines; both sides share all weights."""

    def __init__(self, encoder: nn.Module, pooling: str = "pooled", scale: float = 100.0) -> None:
        super().__init__(encoder, pooling)
        self.scale = nn.Parameter(torch.tensor(scale))  # not its logarithm, as in XTREME-R's baseline


def contrastive_loss(
    queries: Tensor,
    answers: Tensor,
    identities: Tensor,
    scale: Tensor,
    *,
    candidates: int = 0,
    both: bool = False,
    hide_duplicates: bool = True,
) -> Tensor:
    """Return the summed loss of unit vectors (n, d) of queries that choose among the answers of all processes.

    `identities`, (n, 2), are the numbers of query and answer, -1 for padding. With `hide_duplicates`, the same answer
    elsewhere in the batch does not count as wrong, nor does another answer to the same query. With `candidates`, the
    batch has independent parts of that many pairs. With `both`, answers choose among queries too, and both losses are
    averaged.
    """
    everyone = processes.gather(identities)
    own_rows = torch.arange(len(identities), device=identities.device) + processes.rank() * len(identities)
    all_rows = torch.arange(len(everyone), device=identities.device)
    others = all_rows != own_rows[:, None]
    duplicates = identities[:, None] == everyone if hide_duplicates else False
    hidden = others & (duplicates | (everyone < 0)).any(dim=-1)
    if candidates:
        hidden |= all_rows // candidates != own_rows[:, None] // candidates
    real = identities[:, 0] >= 0

    def summed(ours: Tensor, others: Tensor) -> Tensor:
        """Return the summed negative log-probability of the correct columns among visible ones, over real rows."""
        scores = scale * ours @ processes.gather(others).T
        right = scores.gather(1, own_rows[:, None]).squeeze(1)
        losses = scores.masked_fill(hidden, float("-inf")).logsumexp(dim=1) - right
        return torch.where(real, losses, 0.0).sum()

    total = summed(queries, answers)
    return (total + summed(answers, queries)) / 2 if both else total


@dataclass(eq=False)
class ContrastiveObjective(TrainingObjective):
    """Pairs of queries and answers; each query must find its own answer among those of its batch."""

    splittable = False
    queries: Encoded
    answers: Encoded
    numbers: Ints  # rows of each query and its answer, (pairs, 2)
    _: KW_ONLY
    pad: int
    chunk: int = 0  # rows per side in a forward pass; 0 for the whole batch
    candidates: int = 0
    both: bool = False
    hide_duplicates: bool = True

    def __post_init__(self) -> None:
        self.lengths = self.answers.lengths[self.numbers[:, 1]]
        # Items come sorted by length; parts of similar length would be harder to tell apart than random ones.
        self._shuffled = np.random.default_rng(0).permutation(len(self.numbers))
        # Queries are padded to the longest in every batch, so that only the answers affect the shape.
        self._query_width = int(widths(self.queries.lengths).max())

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return tokens, lengths and identities of both sides."""
        items = items[np.argsort(self._shuffled[items])] if self.candidates else items
        queries, answers = self.numbers[items].T
        batch = {"identity": padded_column(self.numbers, items, size, -1)}
        batch["query"], batch["query_length"] = table(self.queries, queries, self._query_width, size, self.pad)
        batch["answer"], batch["answer_length"] = table(self.answers, answers, width, size, self.pad)
        return batch

    def loss(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the summed loss, with one forward pass per side."""
        return self._loss(model, {side: _vectors(model, batch, side) for side in _SIDES}, batch)

    def _loss(self, model: nn.Module, vectors: Mapping[str, Tensor], batch: Mapping[str, Tensor]) -> Tensor:
        sides = vectors["query"], vectors["answer"], batch["identity"]
        return contrastive_loss(
            *sides,
            model.scale.float(),
            candidates=self.candidates,
            both=self.both,
            hide_duplicates=self.hide_duplicates,
        )

    def backward(self, model: nn.Module, batch: Mapping[str, Tensor], scale: Tensor) -> Tensor:
        """Add the gradients; with gradient caching if the batch is larger than a chunk."""
        size = len(batch["identity"])
        if not 0 < self.chunk < size:
            return super().backward(model, batch, scale)
        device = batch["identity"].device
        if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            raise RuntimeError("gradient caching repeats the dropout, which a CUDA graph cannot do")
        random, states = torch.get_device_module(device) if device.type != "cpu" else torch, []
        chunks = [slice(start, start + self.chunk) for start in range(0, size, self.chunk)]
        parts = list(product(_SIDES, chunks))
        vectors: dict[str, list[Tensor]] = {side: [] for side in _SIDES}
        for side, rows in parts:
            states.append(random.get_rng_state())
            # Keep the graph, though unused: without it, other kernels with different random draws might be chosen.
            vectors[side].append(_vectors(model, batch, side, rows).detach())
        leaves = {side: torch.cat(chunked).requires_grad_() for side, chunked in vectors.items()}
        loss = self._loss(model, leaves, batch) * scale
        loss.backward()
        for (side, rows), state in zip(parts, states, strict=True):
            random.set_rng_state(state)
            _vectors(model, batch, side, rows).backward(leaves[side].grad[rows])
        return loss.detach()


def _vectors(model: nn.Module, batch: Mapping[str, Tensor], side: str, rows: slice = slice(None)) -> Tensor:
    """Return the vectors of some rows of one side."""
    return model(batch[side][rows], batch[f"{side}_length"][rows])
