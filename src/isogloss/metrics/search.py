"""Exact inner-product search in blocks: a matrix product proposes candidates, one fixed sum decides.

The last bits of a BLAS product depend on the block, the processor and the neighbouring rows, so equal candidates need
not tie. Here it only proposes: every pair that its rounding error cannot rule out (a rigorous bound, |error| <=
gamma_d |q| |c|) is scored again with additions in a fixed order, and only that score and the row number decide. Block
sizes, threads and device change the time, never the result. The same holds for searching shards of the pool
separately and merging them in any order.
"""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.errors import PredictionError
from isogloss.metrics.statistics import FloatArray, IntArray

Matrix = npt.NDArray[Any]  # (rows, dimension), float16, float32 or float64
BlockProgress = Callable[[int, int], None]  # called with (blocks done, total blocks)
PairBlocks = Iterator[tuple[slice, IntArray, IntArray]]

_GROUP = 32  # columns per group; only the group maximum is used to find the threshold
_PAIRS = 1 << 19  # maximum number of pairs scored together: keeps memory flat if nearly everything ties
_CHUNK = 1 << 18  # elements gathered together: two chunks fit in a core's cache
_WORTH_IMPORTING = 4 * 10**12  # multiplications (about a minute on two cores) that justify importing torch


def search(
    queries: npt.ArrayLike,
    candidates: npt.ArrayLike,
    k: int = 20,
    *,
    query_block: int = 512,
    candidate_block: int = 16_384,
    progress: BlockProgress | None = None,
    first_row: int = 0,
) -> tuple[IntArray, Matrix]:
    """Return the k candidates with the largest inner product for each query, best first, ties by the lower row.

    The search is exact and keeps at most one block of the score matrix in memory; candidates may be memory-mapped and
    are read once. It computes in float32, or in float64 if both sides are float64. It uses a CUDA device if torch has
    one; on CPUs numpy is at least as fast.

    Args:
        queries: (n, d) numbers.
        candidates: (m, d) numbers.
        k: number of results; at most m.
        query_block: queries scored together.
        candidate_block: candidates scored together.
        progress: called after each block with the blocks done and their total.
        first_row: row number of the first candidate, for a shard of a larger pool.

    Returns:
        Rows of the candidates, int64 (n, min(k, m)), and their scores.

    Raises:
        PredictionError: the two sides differ in dimension, or hold a number that is not finite.
        ValueError: k or a block size is below 1, or a side is not a numeric matrix.
    """
    if min(k, query_block, candidate_block) < 1:
        raise ValueError("k and the block sizes must be at least 1")
    vectors, pool, dtype = _both(queries, candidates)
    lengths = _lengths(vectors, dtype, "queries", query_block)
    width = min(k, len(pool))
    scores, rows = np.full((len(vectors), width), -np.inf, dtype), np.full((len(vectors), width), -1, np.int64)
    torch = _torch_with_device(len(vectors) * pool.size, dtype)
    done, total = 0, -(-len(vectors) // query_block) * -(-len(pool) // candidate_block)
    for columns in _parts(len(pool), candidate_block):
        block, kept, longest = _contenders(*_read(pool, columns, dtype, "candidates", first_row), width)
        slack = _rounding(lengths * longest, block.shape[1], dtype)
        product = _TorchProduct(torch, block) if torch else _NumpyProduct(block, min(query_block, len(vectors)), width)
        for part in _parts(len(vectors), query_block):
            batch = np.ascontiguousarray(vectors[part], dtype)
            best, held = scores[part], rows[part]
            for some, query, column in product.pairs(batch, best[:, -1] - slack[part], slack[part], width):
                decided = _pair_scores(batch, query, block, column)
                _merge(best[some], held[some], query - some.start, decided, first_row + columns.start + kept[column])
            done += 1
            if progress:
                progress(done, total)
    return rows, scores


def merge_shards(first: tuple[IntArray, Matrix], second: tuple[IntArray, Matrix], k: int) -> tuple[IntArray, Matrix]:
    """Merge the `search` results of two shards, given with rows of the whole pool."""
    rows, scores = (np.concatenate(both, axis=1) for both in zip(first, second, strict=True))
    width = min(k, rows.shape[1])
    best_rows, best_scores = np.empty((len(rows), width), rows.dtype), np.empty((len(rows), width), scores.dtype)
    for part in _parts(len(rows), 4096):  # keeps memory flat for many queries
        order = np.lexsort((rows[part], -scores[part]), axis=1)[:, :width]
        best_rows[part] = np.take_along_axis(rows[part], order, axis=1)
        best_scores[part] = np.take_along_axis(scores[part], order, axis=1)
    return best_rows, best_scores


def check_sides(queries: npt.ArrayLike, candidates: npt.ArrayLike) -> np.dtype[Any]:
    """Check the inputs of `search`, except the candidates' values; return the dtype of scores."""
    vectors, _, dtype = _both(queries, candidates)
    _lengths(vectors, dtype, "queries", 4096)
    return dtype


def nearest(queries: npt.ArrayLike, candidates: npt.ArrayLike) -> IntArray:
    """Return the row of the candidate with the highest cosine for each query, ties by the lowest row.

    Equals the Euclidean nearest neighbour between unit vectors, as used to score Tatoeba: no margin, one direction.
    """
    vectors, pool = normalize_rows(queries, side="queries"), normalize_rows(candidates, side="candidates")
    if not len(pool):
        raise ValueError("no candidates to choose from")
    rows: IntArray = search(vectors, pool, k=1)[0][:, 0]
    return rows


def normalize_rows(matrix: npt.ArrayLike, *, side: str = "embeddings") -> Matrix:
    """Return a copy with every row at unit length, float32 unless given float64; zero rows stay zero.

    A non-finite number raises an error with the row and the `side`.
    """
    numbers = _numbers(matrix, side)
    dtype = np.dtype(np.float64 if numbers.dtype == np.float64 else np.float32)
    unit = np.empty(numbers.shape, dtype)
    for part in _parts(len(unit), 4096):
        values, lengths = _read(numbers, part, dtype, side)
        np.divide(values, np.where(lengths > 0, lengths, 1)[:, None], out=unit[part], casting="same_kind")
    return unit


def _both(queries: npt.ArrayLike, candidates: npt.ArrayLike) -> tuple[Matrix, Matrix, np.dtype[Any]]:
    """Check both sides; return them as matrices with the dtype to compute in."""
    vectors, pool = _numbers(queries, "queries"), _numbers(candidates, "candidates")
    if vectors.shape[1] != pool.shape[1]:
        what = f"queries have {vectors.shape[1]} dimensions but candidates have {pool.shape[1]}"
        raise PredictionError(what, fix="Encode both sides with the same model")
    double = vectors.dtype == pool.dtype == np.float64
    return vectors, pool, np.dtype(np.float64 if double else np.float32)


def _numbers(given: npt.ArrayLike, side: str) -> Matrix:
    """Return the array unchanged (memory maps included), after checking that it is a numeric matrix."""
    matrix = np.asarray(given)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise ValueError(f"{side} must be a matrix of numbers, not {matrix.dtype} of shape {matrix.shape}")
    return matrix


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _lengths(matrix: Matrix, dtype: np.dtype[Any], side: str, block: int) -> FloatArray:
    lengths = np.empty(len(matrix))
    for part in _parts(len(matrix), block):
        lengths[part] = _read(matrix, part, dtype, side)[1]
    return lengths


def _read(matrix: Matrix, part: slice, dtype: np.dtype[Any], side: str, first: int = 0) -> tuple[Matrix, FloatArray]:
    """Read some rows and their norms; raise an error for non-finite numbers."""
    with np.errstate(over="ignore", invalid="ignore"):  # either gives a non-finite norm
        values = np.ascontiguousarray(matrix[part], dtype)
        lengths = np.sqrt(np.einsum("nd,nd->n", values, values, dtype=np.float64))
    usable = lengths < np.sqrt(np.finfo(dtype).max) / 2  # so that inner products cannot overflow
    if not usable.all():
        row = int(np.argmin(usable))
        finite = np.isfinite(values[row]).all()
        what = f"vector too long for {dtype}" if finite else f"value that is not a finite {dtype}"
        fix = "Scale the embeddings" if finite else "Encode that text again"
        raise PredictionError(f"{what} in row {first + part.start + row} of the {side}", fix=fix)
    return values, lengths


def _contenders(block: Matrix, lengths: FloatArray, k: int) -> tuple[Matrix, IntArray, float]:
    """Return the block without rows that have k equal rows before them, which would win every tie.

    Without this, identical embeddings would have every pair scored twice. Returns the remaining rows, their indices in
    the block and the largest norm.
    """
    weights = np.cos(np.arange(block.shape[1]), dtype=block.dtype)  # arbitrary weights
    keys = np.einsum("nd,d->n", block, weights)
    order = np.argsort(keys, kind="stable")
    position = np.arange(len(order))
    head = np.maximum.accumulate(np.where(np.diff(keys[order], prepend=np.nan) != 0, position, 0))
    if (position - head >= k).any():
        equal = np.empty(len(order), np.bool_)  # equal keys are only a hint, equal rows are proof
        for part in _parts(len(order), max(1, _CHUNK // max(1, block.shape[1]))):
            equal[part] = (block[order[part]] == block[order[head[part]]]).all(axis=1)
        before = np.cumsum(equal)
        position = np.sort(order[~equal | (before - before[head] < k)])
    return (block if len(position) == len(block) else block[position]), position, float(lengths.max())


def _rounding(sizes: FloatArray, dimension: int, dtype: np.dtype[Any]) -> FloatArray:
    """Return the largest possible difference between two ways of summing inner products of sizes |q| |c|.

    Each way is within gamma_d |q| |c| of the exact value, gamma_d = d u / (1 - d u), for any order of additions.
    """
    kind = np.finfo(dtype)
    share = (dimension + 2) * float(kind.eps) / 2
    return 2 * share / (1 - share) * sizes + dimension * float(kind.tiny)


class _NumpyProduct:
    """Candidate pairs of a batch and a block for the k best, found with one matrix product.

    Sorting or partitioning whole rows would cost more than the product. Instead the columns are split into groups: the
    k-th largest group maximum bounds the k-th largest score from below, and only groups that reach it are examined.
    """

    def __init__(self, block: Matrix, batch_size: int, k: int) -> None:
        self.block = block
        self.size = max(1, min(_GROUP, len(block) // (4 * k)))
        self.groups = -(-len(block) // self.size)
        self.buffer = np.empty((batch_size, self.size * self.groups), block.dtype)
        self.buffer[:, len(block) :] = -np.inf

    def pairs(self, batch: Matrix, floor: FloatArray, slack: FloatArray, k: int) -> PairBlocks:
        """Yield slices of the batch with (query, column) pairs that may reach `floor` and the k-th best."""
        scores = self.buffer[: len(batch)]
        np.matmul(batch, self.block.T, out=scores[:, : len(self.block)])
        dealt = scores.reshape(len(batch), self.size, self.groups)
        peaks = dealt.max(axis=1)
        if self.groups >= k:
            kth = np.partition(peaks, self.groups - k, axis=1)[:, self.groups - k]
            floor = np.maximum(floor, kth - 2 * slack)
        least = _round_down(floor, batch.dtype)
        reached = peaks >= least
        for some in _few(len(batch), int(reached.sum()) * self.size):
            query, group = np.nonzero(reached[some])
            query += some.start
            opened, member = np.nonzero(dealt[query, :, group] >= least[query])
            yield some, query[opened], member * self.groups + group[opened]


class _TorchProduct:
    """`_NumpyProduct` on torch's device, with `topk`."""

    def __init__(self, torch: Any, block: Matrix) -> None:
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.block = self._tensor(block)

    def _tensor(self, matrix: Matrix) -> Any:
        # Torch warns about read-only memory such as a mapped file.
        return self.torch.from_numpy(matrix if matrix.flags.writeable else matrix.copy()).to(self.device)

    def pairs(self, batch: Matrix, floor: FloatArray, slack: FloatArray, k: int) -> PairBlocks:
        """See `_NumpyProduct.pairs`."""
        scores = self._tensor(batch) @ self.block.T
        if scores.shape[1] >= k:
            kth = self.torch.topk(scores, k).values[:, -1].cpu().numpy()
            floor = np.maximum(floor, kth - 2 * slack)
        reached = scores >= self._tensor(_round_down(floor, batch.dtype))
        for some in _few(len(batch), int(reached.sum())):
            query, column = reached[some].nonzero().cpu().numpy().T
            yield some, query + some.start, column


def _round_down(floor: FloatArray, dtype: np.dtype[Any]) -> Matrix:
    """Return the floor as a column of the given dtype, rounded down so that no pair is lost."""
    column: Matrix = np.nextafter(floor.astype(dtype), -np.inf, dtype=dtype)[:, None]
    return column


def _few(count: int, pairs: int) -> Iterator[slice]:
    """Yield slices of a batch of `count` queries with about `_PAIRS` pairs each."""
    return _parts(count, max(1, count * _PAIRS // max(pairs, _PAIRS)))


def _pair_scores(left: Matrix, i: IntArray, right: Matrix, j: IntArray) -> Matrix:
    """Return inner products of left[i] and right[j], each depending only on its two rows.

    Product and sum are separate steps because numpy then sums each row pairwise. In BLAS and, for long rows, `einsum`
    the row's position affects how its sum is split.
    """
    scores = np.empty(len(i), left.dtype)
    for part in _parts(len(i), max(1, _CHUNK // max(1, left.shape[1]))):
        products = left[i[part]]
        products *= right[j[part]]
        np.add.reduce(products, axis=1, out=scores[part])
    return scores


def _merge(best: Matrix, held: IntArray, query: IntArray, scores: Matrix, rows: IntArray) -> None:
    """Merge newly scored rows of some queries into the best so far, in place."""
    count, k = best.shape
    owners = np.concatenate([np.repeat(np.arange(count), k), query])
    all_scores = np.concatenate([best.ravel(), scores])
    all_rows = np.concatenate([held.ravel(), rows])
    order = np.lexsort((all_rows, -all_scores, owners))
    sizes = k + np.bincount(query, minlength=count)
    chosen = order[(np.cumsum(sizes) - sizes)[:, None] + np.arange(k)]
    best[:], held[:] = all_scores[chosen], all_rows[chosen]


def torch_where_it_pays(multiplications: int) -> Any:
    """Return torch if it is loaded or worth importing for this number of multiplications, else None."""
    wanted = "torch" in sys.modules or multiplications >= _WORTH_IMPORTING
    return import_module("torch") if wanted and find_spec("torch") is not None else None


def _torch_with_device(multiplications: int, dtype: np.dtype[Any]) -> Any:
    """Return torch if it is available, has a CUDA device and rounds as the bound assumes."""
    torch = torch_where_it_pays(multiplications)
    if torch is None:
        return None
    trusted = dtype == np.float64 or torch.get_float32_matmul_precision() == "highest"
    return torch if trusted and torch.cuda.is_available() else None
