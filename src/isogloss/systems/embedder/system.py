"""The embedder: texts become vectors, and the nearest vectors are the answer."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.metrics.search import Matrix
from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.embedder.embedding import embed
from isogloss.systems.embedder.encoders import SentenceEncoder, open_encoder
from isogloss.systems.ranking import rank_by_vectors, retrieval_refusal
from isogloss.systems.vector_cache import VectorCache, default_cache_dir
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.task import Task
from isogloss.version import __version__


class EmbedderSystem(System):
    """A sentence encoder that answers the retrieval tasks by cosine, exactly; nothing is trained.

    Args:
        model: `muse` (what `isogloss fetch muse` brings), an `.onnx` file that takes strings, a folder of
            sentence-transformers or transformers, or a name on the Hugging Face hub.
        layer: which layer of a plain transformers model is averaged: its number from 1, or `xtreme` for that of
            XTREME's baselines; the last where it is not given.
        label: what it is called in folders and tables; made from the model where it is not given.
        query_prefix: put before every query, for models that were trained so ("query: ").
        candidate_prefix: put before every candidate ("passage: ").
        cache: folder of the vectors; default `isogloss/vectors` in the user's cache folder.
        quiet: no progress bar and no throughput.
    """

    def __init__(
        self,
        model: str = "muse",
        *,
        layer: int | str = "",
        label: str = "",
        query_prefix: str = "",
        candidate_prefix: str = "",
        cache: str | Path | None = None,
        quiet: bool = False,
    ) -> None:
        self.model, self.layer = model, str(layer)
        self.name = label or f"embedder-{_short(self.model)}{f'-layer-{self.layer}' if self.layer else ''}"
        self.query_prefix = query_prefix
        self.candidate_prefix = candidate_prefix
        self._cache = Path(cache) if cache is not None else default_cache_dir()
        self._quiet = quiet
        self._task: Task | None = None
        self._last: tuple[Pool, Matrix] | None = None

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The model, loaded when it is first needed."""
        return open_encoder(self.model, self.layer)

    @cached_property
    def _vector_cache(self) -> VectorCache:
        return VectorCache(self._cache / self.encoder.identity, self.encoder.dimension)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The name, the model with its hash and library, and the settings that are not the usual ones."""
        settings = {
            "layer": self.layer,
            "query_prefix": self.query_prefix,
            "candidate_prefix": self.candidate_prefix,
        }
        return {
            "name": self.name,
            "version": __version__,
            "description": "sentence embeddings, ranked by cosine",
            "model": self.model,
            "model_hash": self.encoder.identity,
            "library": self.encoder.library,
            "dimension": self.encoder.dimension,
            **{key: value for key, value in settings.items() if value},
        }

    def deciding_settings(self, configuration: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        """What its metadata say: the other settings change no vector."""
        return {k: v for k, v in super().deciding_settings(configuration, task).items() if k != "settings"}

    def refusal(self, task: Task) -> str:
        """Anything but retrieval: a vector of a whole text neither tags, nor reads, nor chooses."""
        return retrieval_refusal(self.name, task)

    def needs_training(self, task: Task) -> bool:
        """Never: the encoder is taken as it is."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "EmbedderSystem":
        """Remember the task and load the model; the seed changes nothing.

        Raises:
            SystemFailureError: the task is refused, or the model cannot be loaded.
        """
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        self._task = task
        _ = self.encoder
        return self

    def predict(self, examples: Examples) -> Sequence[list[str]]:
        """Ranked candidate ids for every query; for mining the id of the translation, or an empty list."""
        if self._task is None:
            raise SystemFailureError(f"{self.name} does not know its task yet", fix="Call fit first")
        return rank_by_vectors(self._task, examples, self, quiet=self._quiet)

    def queries(self, examples: Examples) -> Matrix:
        """The unit vectors of the queries."""
        title = f"{self.name} {examples.task}/{examples.language} queries"
        return self._vectors(examples["text"], self.query_prefix, title)

    def candidates(self, examples: Examples) -> Matrix:
        """The pool's unit vectors, kept because all languages of a task often share one pool."""
        pool = pool_of(examples)
        if self._last is None or self._last[0] is not pool:
            title = f"{self.name} {examples.task}/{examples.language} candidates"
            self._last = pool, self._vectors(pool.text, self.candidate_prefix, title)
        return self._last[1]

    def _vectors(self, texts: Sequence[str], prefix: str, title: str) -> Matrix:
        prefixed = [prefix + text for text in texts] if prefix else texts
        return embed(self.encoder, prefixed, self._vector_cache, title=title, quiet=self._quiet)


def _short(model: str) -> str:
    """The last part of a path or hub name, without what folders and tables cannot show."""
    path = Path(model)
    last = path.stem if path.suffix == ".onnx" else path.name
    # Exporters call every file so; the folder has the name.
    last = path.absolute().parent.name if last == "model" else last
    return re.sub(r"[^\w.-]+", "-", last) or "model"
