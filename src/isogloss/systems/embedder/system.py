"""The embedder: texts become vectors, and the nearest vectors are the answer."""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.errors import DataError
from isogloss.metrics import mining
from isogloss.metrics.search import Matrix, search
from isogloss.predictions.embeddings import gold_pairs, scored_pairs
from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.embedder.embedding import embed
from isogloss.systems.embedder.encoders import Encoder, open_encoder
from isogloss.systems.vectors import VectorStore, default_cache_dir
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds.retrieval import CUTOFF
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.version import __version__

__all__ = ["EmbedderSystem"]

_KINDS = ("bitext", "pool", "mining")
# LAReQA's one-target figures look at 20 places after up to ten other targets are taken out.
_DEPTH_OF_COMPETING = 30
# The ratio margin from which CCMatrix (Schwenk et al., 2021) takes two sentences for translations.
_USUAL_MARGIN = 1.06

Scored = list[tuple[str, str, float]]


class EmbedderSystem(System):
    """A sentence encoder that answers the retrieval tasks by cosine, exactly; nothing is trained.

    Args:
        model: `muse` (what `isogloss fetch muse` brings), an `.onnx` file that takes strings, a folder of
            sentence-transformers or transformers, or a name on the Hugging Face hub.
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
        label: str = "",
        query_prefix: str = "",
        candidate_prefix: str = "",
        cache: str | Path | None = None,
        quiet: bool = False,
    ) -> None:
        self.model = model
        self.name = label or f"embedder-{_short(model)}"
        self.query_prefix = query_prefix
        self.candidate_prefix = candidate_prefix
        self._cache = Path(cache) if cache is not None else default_cache_dir()
        self._quiet = quiet
        self._task: Task | None = None
        self._last: tuple[Pool, Matrix] | None = None

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded when it is first needed."""
        return open_encoder(self.model)

    @cached_property
    def _store(self) -> VectorStore:
        return VectorStore(self._cache / self.encoder.identity, self.encoder.dimension)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The name, the model with its hash and library, and the prefixes where there are any."""
        prefixes = {"query_prefix": self.query_prefix, "candidate_prefix": self.candidate_prefix}
        return {
            "name": self.name,
            "version": __version__,
            "description": "sentence embeddings, ranked by cosine",
            "model": self.model,
            "model_hash": self.encoder.identity,
            "library": self.encoder.library,
            "dimension": self.encoder.dimension,
            **{key: prefix for key, prefix in prefixes.items() if prefix},
        }

    def refusal(self, task: Task) -> str:
        """Anything but retrieval: a vector of a whole text neither tags, nor reads, nor chooses."""
        if task.kind in _KINDS:
            return ""
        return f"{self.name} does retrieval only ({', '.join(_KINDS)}), and {task.id} is {task.kind}"

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
        if self._task.kind == "mining":
            return self._mine(self._task, examples)
        pool = _pool(examples)
        rows, _ = search(self._queries(examples), self._candidates(examples), k=_depth(self._task, examples))
        return [[pool.ids[row] for row in ranked] for ranked in rows.tolist()]

    def _queries(self, examples: Examples) -> Matrix:
        title = f"{self.name} {examples.task}/{examples.language} queries"
        return self._vectors(examples["text"], self.query_prefix, title)

    def _candidates(self, examples: Examples) -> Matrix:
        """The pool's vectors, kept because all languages of a task often share one pool."""
        pool = _pool(examples)
        if self._last is None or self._last[0] is not pool:
            title = f"{self.name} {examples.task}/{examples.language} candidates"
            self._last = pool, self._vectors(pool.text, self.candidate_prefix, title)
        return self._last[1]

    def _vectors(self, texts: Sequence[str], prefix: str, title: str) -> Matrix:
        asked = [prefix + text for text in texts] if prefix else texts
        return embed(self.encoder, asked, self._store, title=title, quiet=self._quiet)

    def _mine(self, task: Task, examples: Examples) -> list[list[str]]:
        """One-to-one pairs by ratio margin, above the threshold that is best on dev."""
        pairs = self._scored(examples)
        cut = self._threshold(task, examples, pairs)
        found = {source: [target] for source, target, score in pairs if score >= cut}
        return [found.get(identifier, []) for identifier in examples.ids]

    def _scored(self, examples: Examples) -> Scored:
        return scored_pairs(examples, self._queries(examples), self._candidates(examples))

    def _threshold(self, task: Task, examples: Examples, pairs: Scored) -> float:
        if examples.split == "dev" and examples.has_gold:
            return mining.threshold(pairs, gold_pairs(examples))
        try:
            dev = load(task, examples.language, "dev", examples.root)
        except DataError:
            dev = None
        if dev is not None and dev.has_gold:
            return mining.threshold(self._scored(dev), gold_pairs(dev))
        if not self._quiet:
            where = f"{examples.task}/{examples.language}"
            sys.stderr.write(f"{self.name} {where}: no dev set to tune on, pairs cut at margin {_USUAL_MARGIN}\n")
        return _USUAL_MARGIN


def _short(model: str) -> str:
    """The last part of a path or hub name, without what folders and tables cannot show."""
    path = Path(model)
    last = path.stem if path.suffix == ".onnx" else path.name
    # Exporters call every file so; the folder has the name.
    last = path.absolute().parent.name if last == "model" else last
    return re.sub(r"[^\w.-]+", "-", last) or "model"


def _pool(examples: Examples) -> Pool:
    if examples.pool is None or not len(examples.pool):
        where = f"{examples.task}/{examples.language}"
        fix = f"isogloss fetch {examples.task} brings the candidates"
        raise SystemFailureError("there is no pool to search", where=where, fix=fix)
    return examples.pool


def _depth(task: Task, examples: Examples) -> int:
    """How many candidates to rank: enough for every figure the task has."""
    if task.kind != "pool":
        return CUTOFF
    targets = max((len(row) for row in examples["targets"] if row), default=1) if examples.has_gold else None
    if targets == 1:
        return CUTOFF
    return max(_DEPTH_OF_COMPETING, CUTOFF + (targets or 1) - 1)
