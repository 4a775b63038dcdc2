"""From texts to vectors: what the cache has is taken from it, the rest is encoded in batches of like length."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from isogloss.errors import DataError
from isogloss.escaping import printable
from isogloss.metrics.search import Matrix, normalize_rows
from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import SentenceEncoder
from isogloss.systems.tokens.subwords import unique
from isogloss.systems.vector_cache import VectorCache, text_keys

# Texts encoded between two writes to the cache: what a killed process loses at most.
_CHUNK = 1024


def embed(
    encoder: SentenceEncoder, texts: Sequence[str], cache: VectorCache, *, title: str, quiet: bool = False
) -> Matrix:
    """The unit vectors of texts, in order; each distinct text is encoded once, ever.

    The progress bar and the line with the throughput begin with the title. A model that gives something that is no
    vector is a SystemFailureError.
    """
    distinct, of_text = unique(texts)
    keys = text_keys(distinct)
    known, cached = cache.find(keys)
    vectors = np.empty((len(distinct), encoder.dimension), np.float32)
    vectors[known] = cached
    missing = np.flatnonzero(~known)
    if len(missing):
        lengths = np.fromiter((len(distinct[row]) for row in missing), np.int64, len(missing))
        # The longest first: too large a batch fails at once, and the estimate of the time left errs to the safe side.
        missing = missing[np.argsort(-lengths, kind="stable")]
        started = time.perf_counter()
        with _progress(title, len(missing), quiet) as advance:
            for rows in np.split(missing, range(_CHUNK, len(missing), _CHUNK)):
                vectors[rows] = _encoded(encoder, distinct, rows, advance)
                _keep(cache, keys[rows], vectors[rows], quiet)
        if not quiet:
            seconds = time.perf_counter() - started
            line = f"{title}: {len(missing):,} texts in {seconds:.1f} s ({len(missing) / max(seconds, 1e-9):,.0f}/s)"
            _say(f"{line}, {len(cached):,} from the cache" if len(cached) else line)
    return vectors[of_text] if len(distinct) < len(texts) else vectors


def _encoded(encoder: SentenceEncoder, texts: Sequence[str], rows: IntArray, advance: Callable[[int], None]) -> Matrix:
    """The unit vectors of some texts, checked."""
    batches = [
        [texts[row] for row in rows[start : start + encoder.batch].tolist()]
        for start in range(0, len(rows), encoder.batch)
    ]
    vectors = np.empty((len(rows), encoder.dimension), np.float32)
    done = 0
    for part in _parallel(encoder, batches):
        size = min(encoder.batch, len(rows) - done)
        if part.shape != (size, encoder.dimension):
            what = f"{size} texts gave an array of shape {part.shape}, not ({size}, {encoder.dimension})"
            raise SystemFailureError(what, where=encoder.library)
        vectors[done : done + size] = part
        done += size
        advance(size)
    if not (finite := np.isfinite(vectors).all(axis=1)).all():
        text = texts[rows[int((~finite).argmax())]]
        raise SystemFailureError(f"the vector of {text[:60]!r} is not finite", where=encoder.library)
    # Here and not at the end, where it would take a second copy of a whole pool.
    return normalize_rows(vectors)


def _parallel(encoder: SentenceEncoder, batches: list[list[str]]) -> Iterator[Matrix]:
    if encoder.workers == 1:
        yield from map(encoder.encode, batches)
        return
    with ThreadPoolExecutor(encoder.workers) as pool:
        yield from pool.map(encoder.encode, batches)


def _keep(cache: VectorCache, keys: np.ndarray, vectors: Matrix, quiet: bool) -> None:
    """Add to the cache; where it cannot be written, the work goes on without."""
    try:
        cache.add(keys, vectors)
    except DataError as error:
        if not quiet:
            _say(f"vectors are not kept: {error}")


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)}\n")


@contextmanager
def _progress(title: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's error stream; silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        row = bars.add_task(title, total=total)
        yield lambda count: bars.advance(row, count)
