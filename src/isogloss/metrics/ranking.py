"""Ranking metrics: average precision and reciprocal rank, for one ranking or arrays of rankings.

Every measure follows from one array, the rank at which each target is first found:

* AP@k = (sum over the targets found at ranks r <= k of targets found so far / r) / min(number of targets, k),
* RR@k = 1 / r where r <= k, else 0,
* with the other targets removed from the pool ("limit to one target"), r decreases by those ranked above.

A repeated prediction counts once: repeats are not hits but occupy ranks. `k` of None or 0
means no cut-off; AP then divides by the number of targets. The array forms take integer ids, padded with -1.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from isogloss.errors import DataError
from isogloss.metrics.search import search as search  # noqa: PLC0414 - explicitly part of this API too
from isogloss.metrics.statistics import FloatArray, IntArray

_CELLS = 1 << 15  # ranks compared together, to fit the CPU cache


def average_precision(ranked: Sequence[object], targets: Collection[object], k: int | None = 20) -> float:
    """Return AP@k of one ranking of ids: (sum over hit ranks r <= k of hits so far / r) / min(number of targets, k).

    LAReQA's measure: with 11 targets and k = 20 the denominator is 11, so that 1 can be reached.

    Args:
        ranked: ranked ids, best first.
        targets: correct ids.
        k: cut-off; None or 0 for none.

    Returns:
        Average precision, 0..1.

    Raises:
        DataError: no targets (the reference scorer divides by zero).
        ValueError: k is negative.
    """
    missing = set(targets)
    if not missing:
        raise DataError("a query without targets has no average precision")
    cut = _cut(k, len(ranked))
    denominator = min(len(missing), cut) if k else len(missing)
    hits, total = 0, 0.0
    for rank, item in enumerate(ranked[:cut], start=1):
        if item in missing:
            missing.remove(item)
            hits += 1
            total += hits / rank
    return total / denominator


def reciprocal_rank(ranked: Sequence[object], target: object, k: int | None = 20) -> float:
    """Return 1 / rank of the first match if the rank is at most k, else 0; repeats above it occupy ranks.

    With one target per query, as in Mewsli-X, this equals AP@k.

    Args:
        ranked: ranked ids, best first.
        target: gold id.
        k: cut-off; None or 0 for none.

    Raises:
        ValueError: k is negative.
    """
    for rank, item in enumerate(ranked[: _cut(k, len(ranked))], start=1):
        if item == target:
            return 1 / rank
    return 0.0


def average_precisions(ranked: npt.ArrayLike, targets: npt.ArrayLike, k: int | None = 20) -> FloatArray:
    """Return AP@k of every query (n,) from ids (n, r), best first, and targets (n, t); see `average_precision`."""
    rankings, wanted = _arrays(ranked, targets)
    counts = (wanted >= 0).sum(axis=1)
    if not counts.all():
        raise DataError(f"query {int(np.argmin(counts))} has no targets, so it has no average precision")
    hits = np.arange(1, wanted.shape[1] + 1)
    total = np.empty(len(wanted))
    for part, held in _chunks(rankings[:, : _cut(k, rankings.shape[1])], wanted):
        total[part] = (hits / np.sort(_first_ranks(held, len(hits)), axis=1)).sum(axis=1)
    precisions: FloatArray = total / np.minimum(counts, k or counts)
    return precisions


def limited_reciprocal_ranks(
    ranked: npt.ArrayLike, targets: npt.ArrayLike, k: int | None = 20, *, whole_pool: bool = False
) -> FloatArray:
    """Return RR@k of every target with the query's other targets removed (n, t), NaN for padding.

    "Limit to one target" of the XTREME-R paper, Table 14; its score is the mean over (query, target) pairs. A query
    with t targets needs a ranking of k + t - 1 ids, since t - 1 may be removed, unless it contains the whole pool.
    """
    rankings, wanted = _arrays(ranked, targets)
    counts = (wanted >= 0).sum(axis=1)
    limit = _cut(k, 0) or np.inf
    if not whole_pool:
        short = (rankings >= 0).sum(axis=1) < limit + counts - 1
        if short.any():
            row = int(np.argmax(short))
            depth = f"{k + counts[row] - 1} candidates" if k else "the whole pool"
            raise ValueError(f"the ranking of query {row} is too short: {depth} must be ranked")
    inverse = np.empty(wanted.shape)
    for part, held in _chunks(rankings, wanted):
        ranks = _first_ranks(held, wanted.shape[1])
        above = np.zeros((len(held) + 1, len(ranks)), np.int64)
        np.cumsum(held > 0, axis=0, out=above[1:])
        index = np.where(np.isfinite(ranks), ranks - 1, 0).astype(np.int64)
        ranks -= above[index, np.arange(len(ranks))[:, None]]
        inverse[part] = np.where(ranks <= limit, 1 / ranks, 0.0)
    return np.where(wanted >= 0, inverse, np.nan)


def _cut(k: int | None, length: int) -> int:
    if k is not None and k < 0:
        raise ValueError(f"k must be positive, or None or 0 for no cut-off; got {k}")
    return k or length


def _arrays(ranked: npt.ArrayLike, targets: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Check and convert rankings and targets to matching integer matrices."""
    rankings, wanted = np.asarray(ranked), np.asarray(targets)
    if rankings.ndim != 2 or wanted.ndim != 2 or len(rankings) != len(wanted):
        raise ValueError(f"rankings {rankings.shape} and targets {wanted.shape} must be matrices of equal length")
    if rankings.dtype.kind not in "iu" or wanted.dtype.kind not in "iu":
        raise ValueError(f"ids must be integers, not {rankings.dtype} and {wanted.dtype}")
    ordered = np.sort(wanted, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeated.any():
        raise ValueError(f"query {int(np.argmax(repeated))} has a duplicate target")
    return rankings.astype(np.int64, copy=False), wanted.astype(np.int64, copy=False)


def _first_ranks(held: npt.NDArray[np.int32], count: int) -> FloatArray:
    """Return the rank (from 1) of the first occurrence of each of `count` targets (n, t), infinite if absent."""
    ranks = np.full((held.shape[1], count), np.inf)
    rank, query = np.nonzero(held > 0)
    # The last assignment wins, so the first match must come last.
    ranks[query[::-1], held[rank, query][::-1] - 1] = rank[::-1] + 1
    return ranks


def _chunks(rankings: IntArray, wanted: IntArray) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
    """Yield slices of queries with the target number (from 1) at each rank (r, n), 0 if none.

    Queries lie along the last axis, so that comparisons run over long rows.
    """
    size = max(1, _CELLS // max(1, rankings.shape[1]))
    for start in range(0, len(rankings), size):
        part = slice(start, start + size)
        ids = np.where(rankings[part] < 0, -2, rankings[part]).T.copy()  # padding must not match padding
        held = np.zeros(ids.shape, np.int32)
        for number, target in enumerate(wanted[part].T.copy(), start=1):
            held += (ids == target) * np.int32(number)
        yield part, held
