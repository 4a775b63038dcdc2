"""Retrieval, put to any encoder that gives a vector a text: the nearest candidates by cosine."""

import tempfile
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.metrics.search import Matrix
from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.ranking import rank_by_vectors
from isogloss.systems.tokens.inputs import ModelInputs
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.task import Task
from isogloss.training.encoded import Encoded, table
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn

    from isogloss.systems.neural.pooled_encoder import PooledEncoder

_BLOCK = 1 << 16  # texts that are tokenised at the same time
_IN_MEMORY = 1 << 30  # bytes of vectors; more are kept in a file without a name


@dataclass
class RetrievalAdapter(TaskAdapter):
    """Queries and candidates by their unit vectors."""

    _pool: tuple[Pool, list[float], Matrix] | None = field(default=None, repr=False, kw_only=True)

    @cached_property
    def inputs(self) -> ModelInputs:
        """What the model wants to be given."""
        return ModelInputs(self.source)

    @property
    def text_lengths(self) -> tuple[int, int]:
        """The tokens of a query and of a candidate at most: equal where both are sentences (Tatoeba, BUCC)."""
        candidate = self.recipe.max_length
        return (self.recipe.query_length if kind_of(self.task).shared_pool else candidate), candidate

    @abstractmethod
    def pooled_encoder(self, model: "nn.Module") -> "PooledEncoder":
        """What of a model makes the vectors."""

    def predict(self, model: "nn.Module", examples: Examples) -> Sequence[list[str]]:
        """Ranked ids of candidates, by cosine; for mining the id of the translation."""
        return rank_by_vectors(self.task, examples, _TaskVectors(self, self.pooled_encoder(model)))

    def vectors(self, encoder: "PooledEncoder", texts: Sequence[str], longest: int) -> Matrix:
        """The unit vectors of texts, in blocks: a pool of a million has room on disk, if not in memory."""
        from isogloss.training.inference import outputs

        found = _empty_vectors(len(texts), encoder.dimension)
        for start in range(0, len(texts), _BLOCK):
            block = self.inputs.encode([texts[start : start + _BLOCK]], longest)
            for rows, (part,) in outputs(encoder, block.lengths, _batches(block, self.inputs.padding), _forward):
                found[start + rows] = part
        return found

    def pool_vectors(self, encoder: "PooledEncoder", examples: Examples) -> Matrix:
        """The candidates' vectors; kept while the weights stay the same, for languages often share a pool."""
        pool, weights = pool_of(examples), _weight_sums(encoder)
        if self._pool is None or self._pool[0] is not pool or self._pool[1] != weights:
            self._pool = pool, weights, self.vectors(encoder, pool.text, self.text_lengths[1])
        return self._pool[2]


@dataclass
class RetrievalAfterTask(RetrievalAdapter):
    """Retrieval by a model that learns another task first: the states it then has of a text make the vector.

    Nothing is learnt for retrieval itself, so a checkpoint is chosen by the dev sets of what is learnt.

    Attributes:
        first: how the other task is put to the model; None where the model is taken as it is.
    """

    first: TaskAdapter | None

    @property
    def dev_task(self) -> Task:
        """The task that is learnt."""
        return self.task if self.first is None else self.first.task

    @property
    def learns_as(self) -> tuple[str, ...]:
        """As the task that is learnt."""
        return super().learns_as if self.first is None else self.first.learns_as

    def _objective(self, train: Examples) -> TrainingObjective:
        if self.first is None:
            raise SystemFailureError(f"nothing is learnt for {self.task.id}", where=self.source.name)
        return self.first.objective(train)

    def predict(self, model: "nn.Module", examples: Examples) -> Sequence[Any]:
        """Ranked ids of candidates; to the dev sets of the task that is learnt, its own answers."""
        if self.first is not None and examples.task == self.first.task.id:
            return self.first.predict(model, examples)
        return super().predict(model, examples)


@dataclass
class _TaskVectors:
    """The vectors of both sides of a retrieval task."""

    adapter: RetrievalAdapter
    encoder: "PooledEncoder"

    def queries(self, examples: Examples) -> Matrix:
        return self.adapter.vectors(self.encoder, examples["text"], self.adapter.text_lengths[0])

    def candidates(self, examples: Examples) -> Matrix:
        return self.adapter.pool_vectors(self.encoder, examples)


def _batches(block: Encoded, pad: int) -> Callable[[Ints, int, int], Arrays]:
    def batch(items: Ints, width: int, size: int) -> Arrays:
        input_ids, lengths = table(block, items, width, size, pad)
        return {"input_ids": input_ids, "lengths": lengths}

    return batch


def _forward(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> tuple["Tensor", ...]:
    return (model(batch["input_ids"], batch["lengths"]),)


def _empty_vectors(count: int, dimension: int) -> Matrix:
    """Room for vectors, in memory or, where they are many, in a file that vanishes with them."""
    if count * dimension * 4 <= _IN_MEMORY:
        return np.empty((count, dimension), np.float32)
    with tempfile.TemporaryFile(prefix="isogloss-") as file:
        return np.memmap(file, np.float32, mode="w+", shape=(count, dimension))


def _weight_sums(model: "nn.Module") -> list[float]:
    """What every array of weights adds up to: any update changes it."""
    import torch

    with torch.no_grad():
        sums = [weights.sum(dtype=torch.float32) for weights in model.parameters()]
        found: list[float] = torch.stack(sums).tolist()
    return found
