"""Task adapters: the mapping of a task to a model family, one per form of answer; retrieval by one vector per text."""

import contextlib
import hashlib
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from secrets import token_hex
from typing import Any, ClassVar

import msgspec
import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import read_bytes
from isogloss.data.location import cache_dir
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.metrics.search import Matrix
from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.pretrained import Model, ModelSource
from isogloss.systems.retrieval import rank_by_vectors
from isogloss.systems.tokens.inputs import ModelInputs
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.task import Task
from isogloss.training.objective import Array, Arrays, Encoded, Ints, TrainingObjective, table
from isogloss.training.recipes import Recipe
from isogloss.version import __version__

_BLOCK = 1 << 16  # texts tokenised at a time
_IN_MEMORY = 1 << 30  # bytes of vectors; more go into an anonymous file


# Systems with answers of the forms that few have.
_ANSWERING = {
    "text": "ngram, text2text or llm",
    "labels": "ngram, encoder or llm",
    "number": "ngram, encoder or llm",
}


def use_instead(form: str) -> str:
    """Return the advice to use other systems for a form of answer, "" if there is none."""
    return f": use {_ANSWERING[form]}" if form in _ANSWERING else ""


@dataclass
class TaskAdapter(ABC):
    """Turns a task's examples into a training objective, and model outputs into answers."""

    name: ClassVar[str]  # part of the key of cached tokens and fits: other ways to tokenise or train have another
    auto_class = "AutoModel"  # transformers class of the model with the task's head
    task: Task
    recipe: Recipe
    source: ModelSource

    @cached_property
    def inputs(self) -> ModelInputs:
        """Input conventions of the model."""
        return ModelInputs(self.source)

    @property
    def dev_task(self) -> Task:
        """The task with dev sets that choose the checkpoint: `task`, unless the model learns another one for it."""
        return self.task

    @property
    def learns_as(self) -> tuple[str, ...]:
        """Key of the training besides model, recipe and training set; tasks with equal keys train identically."""
        # All tasks learn questions in the same way.
        return (self.name,) if kind_of(self.task).form == "answer" else (self.name, self.task.id)

    @property
    def head_settings(self) -> dict[str, Any]:
        """Settings that the head adds to the model's configuration."""
        return {}

    def load_model(self, seed: int) -> Model:
        """Load the pretrained model with the task's head; parameters that are not pretrained come from the seed."""
        from isogloss.systems.neural.modules import use_float32_logits

        model = self.source.load_model(self.auto_class, seed, **self.head_settings)
        use_float32_logits(model)
        return model

    def objective(self, train: Examples) -> TrainingObjective:
        """Return training examples as an objective."""
        if not len(train) or not train.has_gold:
            what = f"the training set {'has no gold labels' if len(train) else 'is empty'}"
            raise SystemFailureError(what, where=dataset_name(train), fix="Use a training split with gold labels")
        return self._objective(train)

    @abstractmethod
    def _objective(self, train: Examples) -> TrainingObjective:
        """Return the objective of examples with gold labels."""

    def check(self, examples: Examples) -> None:  # noqa: B027 - most models take any language
        """Raise `SystemFailureError` if the model needs the examples' language and does not support it."""

    @abstractmethod
    def predict(self, model: Model, examples: Examples) -> Sequence[Any]:
        """Return one answer per example, in order, in the form of the task's kind."""

    def _tokenised(self, contents: Sequence[Any], settings: Sequence[object], make: Callable[[], Encoded]) -> Encoded:
        """Return the tokens cached for some contents, adapter, tokenizer and settings, calling `make` on a miss."""
        text = hashlib.blake2b(msgspec.json.encode(contents), digest_size=16).hexdigest()
        return cached([self.name, __version__, self.source.tokenizer_hash, text, *map(str, settings)], make)


@dataclass
class RetrievalAdapter(TaskAdapter):
    """Retrieval by the unit vectors of queries and candidates."""

    _pool: tuple[Pool, list[float], Matrix] | None = field(default=None, repr=False, kw_only=True)

    @property
    def text_lengths(self) -> tuple[int, int]:
        """Maximum tokens of a query and of a candidate: equal if both are sentences (Tatoeba, BUCC)."""
        candidate = self.recipe.max_length
        return (self.recipe.query_length if kind_of(self.task).shared_pool else candidate), candidate

    def pooled_encoder(self, model: Model) -> Model:
        """Return the `PooledEncoder` of a model, which computes vectors: the model itself, unless overridden."""
        return model

    def refuse_language_ids(self) -> None:
        """Raise `SystemFailureError` if the model needs the language of a text."""
        source = self.source
        translates = source.config.is_encoder_decoder and hasattr(source.tokenizer, "src_lang")
        if translates or self.inputs.languages is not None:
            what = "the model needs the language of a text, which multilingual pools do not provide"
            fix = "Use a model without language ids (mBERT, XLM-R, mT5)"
            raise SystemFailureError(what, where=source.name, fix=fix)

    def predict(self, model: Model, examples: Examples) -> Sequence[list[str]]:
        """Return ranked candidate ids by cosine; for mining, the id of the translation."""
        return rank_by_vectors(self.task, examples, _TaskVectors(self, self.pooled_encoder(model)))

    def vectors(self, encoder: Model, texts: Sequence[str], longest: int) -> Matrix:
        """Return the unit vectors of texts, block by block; a pool of a million is kept on disk."""
        from isogloss.training.inference import outputs

        def batch(block: Encoded, items: Ints, width: int, size: int) -> Arrays:
            input_ids, lengths = table(block, items, width, size, self.inputs.padding)
            return {"input_ids": input_ids, "lengths": lengths}

        shape = len(texts), int(encoder.config.hidden_size)
        if shape[0] * shape[1] * 4 <= _IN_MEMORY:
            vectors = np.empty(shape, np.float32)
        else:
            with tempfile.TemporaryFile(prefix="isogloss-") as file:
                vectors = np.memmap(file, np.float32, mode="w+", shape=shape)
        for start in range(0, len(texts), _BLOCK):
            block = self.inputs.encode([texts[start : start + _BLOCK]], longest)
            batches = partial(batch, block)
            for rows, (part,) in outputs(encoder, block.lengths, batches, lambda model, inputs: (model(**inputs),)):
                vectors[start + rows] = part
        return vectors

    def pool_vectors(self, encoder: Model, examples: Examples) -> Matrix:
        """Return the candidates' vectors, cached while the weights stay the same: languages often share a pool."""
        import torch

        pool = pool_of(examples)
        with torch.no_grad():  # any update changes the sum of a weight array
            sums = torch.stack([weights.sum(dtype=torch.float32) for weights in encoder.parameters()]).tolist()
        if self._pool is None or self._pool[0] is not pool or self._pool[1] != sums:
            self._pool = pool, sums, self.vectors(encoder, pool.text, self.text_lengths[1])
        return self._pool[2]


@dataclass
class RetrievalAfterTask(RetrievalAdapter):
    """Retrieval by the states of a model that learns another task first, and selects checkpoints by its dev sets."""

    first: TaskAdapter | None  # adapter of the other task; None to use the model without training

    @property
    def dev_task(self) -> Task:
        """The learned task."""
        return self.task if self.first is None else self.first.task

    @property
    def learns_as(self) -> tuple[str, ...]:
        """Key of the learned task."""
        return super().learns_as if self.first is None else self.first.learns_as

    def load_model(self, seed: int) -> Model:
        """Load the pretrained model with the head of the task learned first, or without a head."""
        self.refuse_language_ids()
        return self.source.load_model("AutoModel", seed) if self.first is None else self.first.load_model(seed)

    def _objective(self, train: Examples) -> TrainingObjective:
        if self.first is None:
            raise SystemFailureError(f"{self.task.id} has no training task", where=self.source.name)
        return self.first.objective(train)

    def predict(self, model: Model, examples: Examples) -> Sequence[Any]:
        """Return ranked candidate ids; for dev sets of the learned task, its answers."""
        if self.first is not None and examples.task == self.first.task.id:
            return self.first.predict(model, examples)
        return super().predict(model, examples)


@dataclass
class _TaskVectors:
    adapter: RetrievalAdapter
    encoder: Model

    def queries(self, examples: Examples) -> Matrix:
        return self.adapter.vectors(self.encoder, examples["text"], self.adapter.text_lengths[0])

    def candidates(self, examples: Examples) -> Matrix:
        return self.adapter.pool_vectors(self.encoder, examples)


_VERSION = "2"  # of the file format and its content; a new number invalidates every entry
_INDEX = "whole.json"  # lists the other files of an entry; written last


def tokens_dir() -> Path:
    """Return the `tokens` folder of the cache folder."""
    return cache_dir() / "tokens"


def cached(parts: Sequence[str], make: Callable[[], Encoded], folder: Path | None = None) -> Encoded:
    """Return the cached tokens for a key, calling `make` on a miss; `parts` must determine the result."""
    key = hashlib.sha256("\x1f".join((_VERSION, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    entry = (folder or tokens_dir()) / key
    encoded = _read(entry)
    if encoded is None:
        made = make()
        _write(entry, made)
        # A full or read-only disk costs time but does not stop the run.
        encoded = _read(entry) or made
    return encoded


def _read(entry: Path) -> Encoded | None:
    """Return the content of an entry, or None if a file is missing or damaged."""
    parts: dict[str, dict[str, Array]] = {"aligned": {}, "columns": {}, "": {}}
    try:
        for file in decode_json(read_bytes(entry / _INDEX), _INDEX, list[str]):
            kind, _, name = file.removesuffix(".npy").rpartition("-")
            parts[kind][name] = read_array(entry / file)
        return Encoded(parts[""]["pieces"], parts[""]["starts"], parts["aligned"], parts["columns"])
    except (DataError, KeyError, ValueError):
        return None


def _write(entry: Path, encoded: Encoded) -> None:
    # Processes that train together write the same entry in parallel; the first to finish wins.
    kinds: dict[str, Mapping[str, Array]] = {
        "": {"pieces": encoded.input_ids, "starts": encoded.starts},
        "aligned-": encoded.aligned,
        "columns-": encoded.columns,
    }
    files = {f"{kind}{name}.npy": array for kind, arrays in kinds.items() for name, array in arrays.items()}
    part = entry.with_name(f".{entry.name}.{token_hex(4)}.part")
    with contextlib.suppress(OSError):
        part.mkdir(parents=True)
        try:
            for file, array in files.items():
                np.save(part / file, array, allow_pickle=False)
            (part / _INDEX).write_bytes(msgspec.json.encode(list(files)))
            if _read(entry) is None:
                shutil.rmtree(entry, ignore_errors=True)
                part.replace(entry)
        finally:
            shutil.rmtree(part, ignore_errors=True)
