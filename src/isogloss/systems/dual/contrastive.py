"""Contrastive learning: every query must find its own answer among the answers of its batch.

How many wrong answers a query sees is what matters here. A recipe says it: all of the batch, or those of a part of so
many candidates, as where a reference accumulates small batches. It is the same whatever the hardware: the answers of
all processes are gathered, and where a batch does not fit into memory its gradients are cached. All vectors are
computed in chunks and the graphs thrown away; the loss of the whole batch gives the gradient of every vector; then each
chunk is computed once more, with the same dropout, and that gradient is sent back through it (Gao et al., 2021,
"Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup"). The result is the gradient of the whole
batch.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.systems.neural.pooled_encoder import PooledEncoder
from isogloss.training import processes
from isogloss.training.batching import widths
from isogloss.training.encoded import Encoded, padded_column, table
from isogloss.training.objective import Arrays, Ints, TrainingObjective

_SIDES = ("query", "answer")
_ALL = slice(None)


class DualEncoder(PooledEncoder):
    """Texts as unit vectors, and the scale of their cosines; both sides share all weights.

    The scale is a trained number itself, not its logarithm, and begins at 100: as in XTREME-R's baseline.
    """

    def __init__(self, encoder: nn.Module, pooling: str = "pooled", scale: float = 100.0) -> None:
        super().__init__(encoder, pooling)
        self.scale = nn.Parameter(torch.tensor(scale))


def contrastive_loss(
    queries: Tensor, answers: Tensor, identities: Tensor, scale: Tensor, *, candidates: int = 0, both: bool = False
) -> Tensor:
    """The summed loss of queries that choose among the answers of all processes, or among their part of them.

    Args:
        queries: unit vectors (n, d) of this process.
        answers: those of their answers.
        identities: (n, 2), which query and which answer it is, -1 for padding. The same answer elsewhere in the batch
            is not a wrong one, nor is another answer to the same query.
        scale: what cosines are multiplied with.
        candidates: the batch is in parts of so many pairs, which do not see each other; 0 for one part.
        both: answers choose among queries as well, and the loss is the mean of both.
    """
    everyone = processes.gather(identities)
    places = torch.arange(len(identities), device=identities.device) + processes.rank() * len(identities)
    all_places = torch.arange(len(everyone), device=identities.device)
    others = all_places != places[:, None]
    hidden = others & ((identities[:, None] == everyone) | (everyone < 0)).any(dim=2)
    if candidates:
        hidden |= all_places // candidates != places[:, None] // candidates
    real = identities[:, 0] >= 0
    total = _summed_loss(scale * queries @ processes.gather(answers).T, hidden, places, real)
    if not both:
        return total
    return (total + _summed_loss(scale * answers @ processes.gather(queries).T, hidden, places, real)) / 2


def _summed_loss(scores: Tensor, hidden: Tensor, places: Tensor, real: Tensor) -> Tensor:
    """The summed negative log-probability of the right places among those that are not hidden, over real rows."""
    right = scores.gather(1, places[:, None]).squeeze(1)
    losses = scores.masked_fill(hidden, float("-inf")).logsumexp(dim=1) - right
    return torch.where(real, losses, 0.0).sum()


class ContrastiveObjective(TrainingObjective):
    """Pairs of queries and answers; every query must find its own answer among those of its batch.

    Args:
        queries: all batches have the width of the longest, so that the answers alone decide the shape.
        answers: the texts that answer them.
        places: (pairs, 2), the rows of a query and of its answer.
        chunk: rows of one side in a forward pass at most; 0 for the whole batch.
        candidates, both: see `contrastive_loss`.
    """

    splittable = False

    def __init__(
        self,
        queries: Encoded,
        answers: Encoded,
        places: Ints,
        *,
        pad: int,
        chunk: int = 0,
        candidates: int = 0,
        both: bool = False,
    ) -> None:
        self.queries, self.answers, self.places = queries, answers, places
        self.lengths = answers.lengths[places[:, 1]]
        self.pad, self.chunk, self.candidates, self.both = pad, chunk, candidates, both
        # Items come sorted by length; parts of similar length would be told apart less easily than those of chance.
        self._shuffled = np.random.default_rng(0).permutation(len(places))
        self._query_width = int(widths(queries.lengths).max())

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Both sides as tokens and lengths, and which they are."""
        items = items[np.argsort(self._shuffled[items])] if self.candidates else items
        queries, answers = self.places[items].T
        query, query_length = table(self.queries, queries, self._query_width, size, self.pad)
        answer, answer_length = table(self.answers, answers, width, size, self.pad)
        return {
            "query": query,
            "query_length": query_length,
            "answer": answer,
            "answer_length": answer_length,
            "identity": padded_column(self.places, items, size, -1),
        }

    def weight(self, items: Ints) -> float:
        """The number of queries."""
        return float(len(items))

    def loss(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """The summed loss, in one forward pass a side."""
        queries, answers = (_vectors(model, batch, side) for side in _SIDES)
        return self._loss(model, queries, answers, batch)

    def _loss(self, model: nn.Module, queries: Tensor, answers: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        identities, scale = batch["identity"], model.scale.float()
        return contrastive_loss(queries, answers, identities, scale, candidates=self.candidates, both=self.both)

    def backward(self, model: nn.Module, batch: Mapping[str, Tensor], scale: Tensor) -> Tensor:
        """Add the gradients; with cached ones where the batch is larger than a chunk."""
        size = len(batch["identity"])
        if not 0 < self.chunk < size:
            return super().backward(model, batch, scale)
        draws = _RandomStates(batch["identity"].device)
        parts = list(product(_SIDES, _chunks(size, self.chunk)))
        vectors: dict[str, list[Tensor]] = {side: [] for side in _SIDES}
        for side, rows in parts:
            draws.note()
            # With a graph, though it is not needed: without, other kernels might be chosen, which draw otherwise.
            vectors[side].append(_vectors(model, batch, side, rows).detach())
        leaves = {side: torch.cat(found).requires_grad_() for side, found in vectors.items()}
        loss = self._loss(model, leaves["query"], leaves["answer"], batch) * scale
        loss.backward()
        for (side, rows), _ in zip(parts, draws.again(), strict=True):
            _vectors(model, batch, side, rows).backward(leaves[side].grad[rows])
        return loss.detach()


def _vectors(model: nn.Module, batch: Mapping[str, Tensor], side: str, rows: slice = _ALL) -> Tensor:
    """The vectors of some rows of one side."""
    found: Tensor = model(batch[side][rows], batch[f"{side}_length"][rows])
    return found


def _chunks(size: int, chunk: int) -> list[slice]:
    return [slice(start, start + chunk) for start in range(0, size, chunk)]


class _RandomStates:
    """Random numbers that can be drawn a second time."""

    def __init__(self, device: torch.device) -> None:
        if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            raise RuntimeError("cached gradients draw the same dropout twice, which a CUDA graph cannot")
        self._on_device = torch.get_device_module(device) if device.type != "cpu" else torch
        self._states: list[Tensor] = []

    def note(self) -> None:
        """Remember the state of the generator."""
        self._states.append(self._on_device.get_rng_state())

    def again(self) -> Iterator[None]:
        """Put the generator into each of these states, one after the other."""
        for state in self._states:
            self._on_device.set_rng_state(state)
            yield
