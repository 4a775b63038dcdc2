"""What a search over many workers is of, and how it is cut: shards of candidates that fit a worker's memory."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import Stamp, atomic_write, read_bytes, sha256_of, stamp
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError, PredictionError
from isogloss.metrics.search import Matrix, check_sides

# Multiplications of a shard, where memory allows: about half a minute of one core, which is what a kill costs …
_WORK = 5 * 10**11
# … but not so many shards that their results fill the disk.
_MOST_SHARDS = 512
# Bytes that a worker holds whatever it searches: Python, numpy, and the pairs that are looked at together.
_FIXED = 192 << 20
_QUERY_BLOCK, _CANDIDATE_BLOCK = 512, 16_384
# Fewer candidates at a time would make the search slow.
_LEAST_BLOCK = 256


@dataclass(frozen=True)
class SearchFiles:
    """The files of a search, and the size and time of change that each had when it began."""

    queries: Path
    candidates: Path
    query_stamp: Stamp
    candidate_stamp: Stamp

    @classmethod
    def of(cls, queries: Path, candidates: Path) -> "SearchFiles":
        """The files as they are now.

        Raises:
            DataError: there is no such file.
        """
        for path in (queries, candidates):
            if not path.is_file():
                raise DataError("there is no such file", where=str(path))
        return cls(queries.resolve(), candidates.resolve(), stamp(queries), stamp(candidates))

    def refuse_changed(self) -> None:
        """Raise a PredictionError where a file is another one now."""
        for path, before in ((self.queries, self.query_stamp), (self.candidates, self.candidate_stamp)):
            if stamp(path) != before:
                fix = "Give the command again: it searches again what has changed"
                raise PredictionError("the file has changed while it was searched", where=str(path), fix=fix)


class SearchPlan(msgspec.Struct, frozen=True):
    """A search and its shards.

    Attributes:
        k: how many candidates are wanted for each query.
        queries: how many there are.
        candidates: how many there are.
        dimension: of both.
        dtype: of the scores.
        query_checksum: sha256 of the file of queries.
        candidate_dtype: of the file of candidates.
        shard_rows: candidates of a shard; the last one may have fewer.
    """

    k: int
    queries: int
    candidates: int
    dimension: int
    dtype: str
    query_checksum: str
    candidate_dtype: str
    shard_rows: Annotated[int, msgspec.Meta(ge=1)]

    @property
    def identity(self) -> str:
        """What makes two searches one, whatever their shards are."""
        return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(self, shard_rows=0))).hexdigest()

    @property
    def multiplications(self) -> int:
        """How much there is to do."""
        return self.queries * self.candidates * self.dimension

    @property
    def shards(self) -> Iterator[tuple[int, int]]:
        """First row of each shard, and first row after it."""
        starts = range(0, self.candidates, self.shard_rows)
        return ((start, min(start + self.shard_rows, self.candidates)) for start in starts)


class SearchBlocks(msgspec.Struct, frozen=True):
    """How much a worker looks at together.

    Attributes:
        queries: queries that are multiplied at a time.
        candidates: candidates that are multiplied at a time.
        mapped_queries: queries of the file that are mapped at a time.
        mapped_candidates: candidates of the file that are mapped at a time: the most rows of a shard.
    """

    queries: int
    candidates: int
    mapped_queries: int
    mapped_candidates: int


def read_matrix(path: Path, side: str) -> Matrix:
    """The vectors of a .npy file, memory-mapped.

    Raises:
        DataError: there is no such file, or it is damaged.
        PredictionError: it is no matrix of numbers, or has no rows.
    """
    matrix = read_array(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        what = f"the {side} are an array of {matrix.dtype} with shape {matrix.shape}"
        raise PredictionError(what, where=str(path), fix="Save a matrix of numbers, one row a text")
    if not matrix.size:
        raise PredictionError(f"there are no {side}: the shape is {matrix.shape}", where=str(path))
    return matrix


def plan_search(
    files: SearchFiles, k: int, *, memory: int, jobs: int, shard_rows: int = 0
) -> tuple[SearchPlan, SearchBlocks]:
    """Look at both files and cut the candidates.

    Args:
        files: a .npy file of queries, and one of candidates.
        k: how many candidates are wanted for each query.
        memory: bytes that a worker may use.
        jobs: how many workers there are, so that each gets a shard.
        shard_rows: candidates of a shard, 0 for what seems best.

    Raises:
        PredictionError: a side is not as it must be, or there are fewer than k candidates.
        IsoglossError: the memory is too little for any block.
    """
    vectors, pool = read_matrix(files.queries, "queries"), read_matrix(files.candidates, "candidates")
    if k < 1:
        raise IsoglossError(f"k is {k}", fix="Ask for one candidate at least")
    if k > len(pool):
        what = f"{k} candidates are asked for a query, but there are only {len(pool):,}"
        raise PredictionError(what, where=str(files.candidates), fix=f"--k {len(pool)} gives all of them in order")
    try:
        dtype = check_sides(vectors, pool)
    except PredictionError as error:
        raise PredictionError(error.what, where=f"{files.queries} and {files.candidates}", fix=error.fix) from None
    blocks = _blocks(vectors, pool, k, dtype, memory)
    # Half a minute each, but one for every worker at least, and all in memory.
    by_work = max(_WORK // (len(vectors) * pool.shape[1]), -(-len(pool) // _MOST_SHARDS))
    rows = shard_rows or min(by_work, -(-len(pool) // jobs))
    sizes = (len(vectors), len(pool), pool.shape[1])
    rows = min(rows, blocks.mapped_candidates)
    return SearchPlan(k, *sizes, str(dtype), sha256_of(files.queries), pool.dtype.str, rows), blocks


def _blocks(vectors: Matrix, pool: Matrix, k: int, dtype: np.dtype[Any], memory: int) -> SearchBlocks:
    """How much fits in a worker's memory: half of what is free for the mapped files, half for the products."""
    # A result is held in parts, put together, and written; or merged with another one.
    results = 3 * len(vectors) * k * (8 + dtype.itemsize)
    query_block = min(_QUERY_BLOCK, len(vectors))
    row = dtype.itemsize * (2 * pool.shape[1] + 2 * query_block) + 64
    free = memory - _FIXED - results
    block = min(_CANDIDATE_BLOCK, free // 2 // row)
    if block < _LEAST_BLOCK:
        least = _FIXED + results + 2 * _LEAST_BLOCK * row
        what = f"{memory / 1e6:,.0f} MB of memory a worker is too little for {len(vectors):,} queries with {k} answers"
        raise IsoglossError(what, fix=f"Give --memory {-(-least // 10**6)}MB or more, or search parts of the queries")
    mapped = [max(_LEAST_BLOCK, free // 4 // side.itemsize // side.shape[1]) for side in (vectors, pool)]
    return SearchBlocks(query_block, block, mapped[0], mapped[1])


def settle_plan(path: Path, plan: SearchPlan, blocks: SearchBlocks, *, force: bool) -> SearchPlan:
    """The plan that a folder follows: the one it has, so that finished shards fit, or else the given one.

    Raises:
        IsoglossError: the folder has another search, and that is not to be forgotten.
    """
    if path.is_file() and not force:
        kept: SearchPlan = decode_json(
            read_bytes(path), str(path), SearchPlan, what="the plan of a search", fix="--force forgets it"
        )
        if kept.identity != plan.identity:
            names = [name for name in plan.__struct_fields__ if name != "shard_rows"]
            other = [name for name in names if getattr(kept, name) != getattr(plan, name)]
            what = f"the folder has a search with another {' and '.join(other).replace('_', ' ')}"
            raise IsoglossError(what, where=str(path.parent), fix="--force forgets it; or give another folder")
        if kept.shard_rows <= blocks.mapped_candidates:
            return kept
    with atomic_write(path) as stream:
        stream.buffer.write(msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
    return plan
