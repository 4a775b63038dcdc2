"""Retrieval, put to a dual encoder."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.metrics.search import Matrix
from isogloss.systems.base import SystemFailureError
from isogloss.systems.dual.pairs import encoded, pairs_of
from isogloss.systems.embedder.ranking import pool_of, ranked
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.tokens.inputs import Inputs, check_length
from isogloss.tasks.examples import Examples, Pool
from isogloss.training.encoded import Encoded, table
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isogloss.systems.dual.model import DualEncoder

# How the states of a text become its vector, see `DualEncoder`.
POOLINGS = ("pooled", "mean", "cls")
_BLOCK = 1 << 16  # texts that are pieces at the same time
_IN_MEMORY = 1 << 30  # bytes of vectors; more are kept in a file without a name


@dataclass
class RetrievalAdapter(TaskAdapter):
    """Queries and candidates by their unit vectors; trained on questions with passages, or mentions with entities.

    Queries have the recipe's `query_length` at most and answers its `max_length`; where both sides are sentences
    (Tatoeba, BUCC) both have the latter.

    Attributes:
        pooling: see `DualEncoder`.
        both: whether answers choose among queries as well.
    """

    pooling: str = "pooled"
    both: bool = False
    _pool: tuple[Pool, list[float], Matrix] | None = field(default=None, repr=False)

    @cached_property
    def inputs(self) -> Inputs:
        """The habits of the model."""
        return Inputs(self.source)

    def open(self, seed: int) -> "nn.Module":
        """The pretrained model with a scale.

        Raises:
            SystemFailureError: it cannot be opened, or is no encoder that can do this.
        """
        from isogloss.systems.dual.model import DualEncoder

        if problem := self._unfit():
            raise SystemFailureError(problem, where=self.source.name, fix="Give an encoder such as mBERT or XLM-R")
        encoder = self.source.open("AutoModel", seed)
        if self.pooling == "pooled" and getattr(encoder, "pooler", None) is None:
            what, fix = "the architecture has no pooler over the first piece", "Set pooling to mean or cls"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return DualEncoder(encoder, self.pooling)

    def _unfit(self) -> str:
        """Why the model cannot be a dual encoder, "" if it can."""
        if getattr(self.source.config, "is_encoder_decoder", False):
            return "a text-to-text model is no encoder"
        if self.inputs.languages is not None:
            return "the model must be told the language of every piece, and a pool may be in fifty"
        return ""

    def _exercise(self, train: Examples) -> TrainingObjective:
        """Every query with its answer, among the answers of its batch."""
        from isogloss.systems.dual.contrastive import Contrast

        pairs = pairs_of(train)
        queries = self._encoded(pairs.queries, self.recipe.query_length)
        answers = self._encoded(pairs.answers, self.recipe.max_length)
        padding = self.inputs.padding
        objective = Contrast(queries, answers, pairs.places, pad=padding, chunk=self.recipe.micro, both=self.both)
        objective.notes = pairs.notes
        return objective

    def _encoded(self, texts: Sequence[str], longest: int) -> Encoded:
        check_length(self.source, longest)
        return self._tokenised(texts, (longest,), lambda: encoded(self.inputs, texts, longest))

    def answers(self, model: "nn.Module", examples: Examples) -> Sequence[list[str]]:
        """Ranked ids of candidates, by cosine; for mining the id of the translation."""
        return ranked(self.task, examples, _Asked(f"dual encoder of {self.source.name}", self, model))

    def vectors(self, model: "DualEncoder", texts: Sequence[str], longest: int) -> Matrix:
        """The unit vectors of texts, in blocks: a pool of a million has room on disk, if not in memory."""
        from isogloss.training.inference import outputs

        found = _room(len(texts), model.dimension)
        for start in range(0, len(texts), _BLOCK):
            block = encoded(self.inputs, texts[start : start + _BLOCK], longest)
            for rows, (part,) in outputs(model, block.lengths, _batches(block, self.inputs.padding), _forward):
                found[start + rows] = part
        return found

    def pool_vectors(self, model: "DualEncoder", examples: Examples) -> Matrix:
        """The candidates' vectors; kept while the weights stay the same, for languages often share a pool."""
        pool, weights = pool_of(examples), _fingerprint(model)
        if self._pool is None or self._pool[0] is not pool or self._pool[1] != weights:
            self._pool = pool, weights, self.vectors(model, pool.text, self.recipe.max_length)
        return self._pool[2]


@dataclass
class _Asked:
    """Both sides of a retrieval task as a model sees them."""

    name: str
    adapter: RetrievalAdapter
    model: Any

    def queries(self, examples: Examples) -> Matrix:
        recipe = self.adapter.recipe
        longest = recipe.query_length if self.adapter.task.kind == "pool" else recipe.max_length
        return self.adapter.vectors(self.model, examples["text"], longest)

    def candidates(self, examples: Examples) -> Matrix:
        return self.adapter.pool_vectors(self.model, examples)


def _batches(block: Encoded, pad: int) -> Callable[[Ints, int, int], Arrays]:
    def batch(items: Ints, width: int, size: int) -> Arrays:
        pieces, lengths = table(block, items, width, size, pad)
        return {"pieces": pieces, "lengths": lengths}

    return batch


def _forward(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> tuple["Tensor", ...]:
    return (model(batch["pieces"], batch["lengths"]),)


def _room(count: int, dimension: int) -> Matrix:
    """Room for vectors, in memory or, where they are many, in a file that vanishes with them."""
    if count * dimension * 4 <= _IN_MEMORY:
        return np.empty((count, dimension), np.float32)
    with tempfile.TemporaryFile(prefix="isogloss-") as file:
        return np.memmap(file, np.float32, mode="w+", shape=(count, dimension))


def _fingerprint(model: "nn.Module") -> list[float]:
    """What every array of weights adds up to: an update changes it, whoever made it."""
    import torch

    with torch.no_grad():
        sums = [weights.sum(dtype=torch.float32) for weights in model.parameters()]
        found: list[float] = torch.stack(sums).tolist()
    return found
