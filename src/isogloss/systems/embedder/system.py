"""The embedder: retrieval by nearest sentence vectors, from a cache or encoded in batches of similar length."""

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.errors import DataError
from isogloss.escaping import printable
from isogloss.metrics.search import Matrix, normalize_rows
from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.embedder.encoders import (
    ENDPOINT,
    KEY_VARIABLE,
    SentenceEncoder,
    VectorCache,
    default_cache_dir,
    open_encoder,
    text_keys,
)
from isogloss.systems.retrieval import rank_by_vectors, retrieval_refusal
from isogloss.systems.tokens.subwords import unique
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.task import Task
from isogloss.version import __version__

# Texts encoded between two writes to the cache: the most a killed process loses.
_CHUNK = 1024


class EmbedderSystem(System):
    """A sentence encoder that ranks candidates by exact cosine similarity, without training.

    Args:
        model: `muse` (from `isogloss fetch muse`), an `.onnx` file with string input, a sentence-transformers or
            transformers folder, a name on the Hugging Face hub, or `endpoint:MODEL` for a model behind an
            OpenAI-compatible endpoint.
        layer: layer of a plain transformers model to average: a number from 1, or `xtreme` for the layer of XTREME's
            baselines; default: the last.
        label: name in folders and tables; default: derived from the model.
        query_prefix: prefix of every query, for models trained with one ("query: ").
        candidate_prefix: prefix of every candidate ("passage: ").
        cache: folder of cached vectors; default: `isogloss/vectors` in the user's cache folder.
        quiet: True to hide the progress bar and the throughput.
        endpoint: base URL of `endpoint:MODEL`; default ISOGLOSS_ENDPOINT or OPENAI_BASE_URL.
        key_variable: environment variable with the endpoint's key.
    """

    def __init__(  # noqa: PLR0913 - the settings of the system
        self,
        model: str = "muse",
        *,
        layer: int | str = "",
        label: str = "",
        query_prefix: str = "",
        candidate_prefix: str = "",
        cache: str | Path | None = None,
        quiet: bool = False,
        endpoint: str = "",
        key_variable: str = KEY_VARIABLE,
    ) -> None:
        self.model, self.layer = model, str(layer)
        self._server = {"endpoint": endpoint, "key_variable": key_variable}
        self.name = label or f"embedder-{_short(self.model)}{f'-layer-{self.layer}' if self.layer else ''}"
        self.query_prefix, self.candidate_prefix = query_prefix, candidate_prefix
        self._folder = Path(cache) if cache is not None else default_cache_dir()
        self._quiet = quiet
        self._cache: VectorCache | None = None
        self._task: Task | None = None
        self._last: tuple[Pool, Matrix] | None = None

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The model, loaded on first use."""
        return open_encoder(self.model, self.layer, **self._server, cache=self._folder)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, model with hash and library, and settings that differ from their defaults."""
        settings = {"layer": self.layer, "query_prefix": self.query_prefix, "candidate_prefix": self.candidate_prefix}
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
        """Return the metadata only: other settings do not affect the vectors."""
        return {k: v for k, v in super().deciding_settings(configuration, task).items() if k != "settings"}

    def refusal(self, task: Task) -> str:
        """Refuse everything except retrieval: a text vector cannot tag, read or choose."""
        return retrieval_refusal(self.name, task)

    def needs_training(self, task: Task) -> bool:
        """Return False: the encoder is not trained."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "EmbedderSystem":
        """Store the task and load the model; the seed has no effect."""
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        self._task = task
        _ = self.encoder
        return self

    def predict(self, examples: Examples) -> Sequence[list[str]]:
        """Return ranked candidate ids per query; for mining, the id of the translation or an empty list."""
        if self._task is None:
            raise SystemFailureError(f"{self.name} is not fitted", fix="Call fit first")
        return rank_by_vectors(self._task, examples, self, quiet=self._quiet)

    def queries(self, examples: Examples) -> Matrix:
        """Return the unit vectors of the queries."""
        return self._vectors(examples["text"], self.query_prefix, f"{examples.task}/{examples.language} queries")

    def candidates(self, examples: Examples) -> Matrix:
        """Return the pool's unit vectors, cached because the languages of a task often share a pool."""
        pool = pool_of(examples)
        if self._last is None or self._last[0] is not pool:
            title = f"{examples.task}/{examples.language} candidates"
            self._last = pool, self._vectors(pool.text, self.candidate_prefix, title)
        return self._last[1]

    def _vectors(self, texts: Sequence[str], prefix: str, title: str) -> Matrix:
        prefixed = [prefix + text for text in texts] if prefix else texts
        if self._cache is None:
            self._cache = VectorCache(self._folder / self.encoder.identity, self.encoder.dimension)
        return embed(self.encoder, prefixed, self._cache, title=f"{self.name} {title}", quiet=self._quiet)


def _short(model: str) -> str:
    """Return the last part of a path or hub name, without characters unsuitable for folders and tables."""
    if model.startswith(ENDPOINT):
        return f"endpoint-{_short_name(model.rpartition('/')[2].removeprefix(ENDPOINT))}"
    path = Path(model)
    last = path.stem if path.suffix == ".onnx" else path.name
    # Exporters name every file model.onnx, so use the folder's name.
    last = path.absolute().parent.name if last == "model" else last
    return _short_name(last)


def _short_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"


def embed(
    encoder: SentenceEncoder, texts: Sequence[str], cache: VectorCache, *, title: str, quiet: bool = False
) -> Matrix:
    """Return the unit vectors of texts, in order; each distinct text is encoded once, with progress under a title."""
    distinct, text_numbers = unique(texts)
    keys = text_keys(distinct)
    in_cache, cached = cache.find(keys)
    vectors = np.empty((len(distinct), encoder.dimension), np.float32)
    vectors[in_cache] = cached
    missing = np.flatnonzero(~in_cache)
    if len(missing):
        lengths = np.fromiter((len(distinct[row]) for row in missing), np.int64, len(missing))
        # Longest first: a batch that is too large fails early, and time estimates are conservative.
        missing = missing[np.argsort(-lengths, kind="stable")]
        started, tokens = time.perf_counter(), encoder.tokens
        with _progress(title, len(missing), quiet) as advance:
            for rows in np.split(missing, range(_CHUNK, len(missing), _CHUNK)):
                vectors[rows] = _encoded(encoder, distinct, rows, advance)
                try:
                    cache.add(keys[rows], vectors[rows])
                except DataError as error:  # continue without the cache
                    if not quiet:
                        _say(f"vectors are not cached: {error}")
        if not quiet:
            seconds = time.perf_counter() - started
            line = f"{title}: {len(missing):,} texts in {seconds:.1f} s ({len(missing) / max(seconds, 1e-9):,.0f}/s)"
            line += f", {len(cached):,} from the cache" if len(cached) else ""
            _say(f"{line}, {encoder.tokens - tokens:,} tokens" if encoder.tokens > tokens else line)
    return vectors[text_numbers] if len(distinct) < len(texts) else vectors


def _encoded(encoder: SentenceEncoder, texts: Sequence[str], rows: IntArray, advance: Callable[[int], None]) -> Matrix:
    """Return the checked unit vectors of some texts."""
    batches = [
        [texts[row] for row in rows[start : start + encoder.batch].tolist()]
        for start in range(0, len(rows), encoder.batch)
    ]
    vectors = np.empty((len(rows), encoder.dimension), np.float32)
    done = 0
    with ThreadPoolExecutor(encoder.workers) as pool:
        for part in (map if encoder.workers == 1 else pool.map)(encoder.encode, batches):
            size = min(encoder.batch, len(rows) - done)
            if part.shape != (size, encoder.dimension):
                what = f"{size} texts gave an array of shape {part.shape}, expected ({size}, {encoder.dimension})"
                raise SystemFailureError(what, where=encoder.library)
            vectors[done : done + size] = part
            done += size
            advance(size)
    if not (finite := np.isfinite(vectors).all(axis=1)).all():
        text = texts[rows[int((~finite).argmax())]]
        raise SystemFailureError(f"the vector of {text[:60]!r} is not finite", where=encoder.library)
    # Normalise per chunk: doing it at the end would take a second copy of a whole pool.
    return normalize_rows(vectors)


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)}\n")


@contextmanager
def _progress(title: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal's stderr, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        row = bars.add_task(title, total=total)
        yield lambda count: bars.advance(row, count)
