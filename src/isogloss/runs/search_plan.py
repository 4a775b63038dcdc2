"""Plan of a search over many workers: shards of candidates that fit a worker's memory, and their result files.

A shard is finished when its file exists. Searching it twice, even concurrently, gives the same bytes. Damaged files
count as missing: an .npz file has a checksum of every array.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from isogloss.data.arrays import read_array, read_arrays
from isogloss.data.files import Stamp, atomic_write, read_bytes, sha256_of, stamp
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError, PredictionError
from isogloss.metrics.search import Matrix, check_sides, search, torch_where_it_pays
from isogloss.metrics.statistics import IntArray

# Multiplications per shard if memory allows: about half a minute on one core, the cost of a kill.
_WORK = 5 * 10**11
# Limits the disk space of the results.
_MOST_SHARDS = 512
# Fixed bytes of a worker: Python, numpy, and the pairs compared at a time.
_FIXED = 192 << 20
_QUERY_BLOCK, _CANDIDATE_BLOCK = 512, 16_384
# Smaller blocks would make the search slow.
_LEAST_BLOCK = 256


@dataclass(frozen=True)
class SearchFiles:
    """Files of a search, with their size and modification time at its start."""

    queries: Path
    candidates: Path
    query_stamp: Stamp
    candidate_stamp: Stamp

    @classmethod
    def of(cls, queries: Path, candidates: Path) -> "SearchFiles":
        """Return the files in their current state."""
        for path in (queries, candidates):
            if not path.is_file():
                raise DataError("missing file", where=str(path))
        return cls(queries.resolve(), candidates.resolve(), stamp(queries), stamp(candidates))

    def check_unchanged(self) -> None:
        """Raise a PredictionError if a file has changed."""
        for path, before in ((self.queries, self.query_stamp), (self.candidates, self.candidate_stamp)):
            if stamp(path) != before:
                fix = "Run the same command again to search what has changed"
                raise PredictionError("the file changed during the search", where=str(path), fix=fix)


class SearchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A search for the best `k` of some candidates per query, in shards of `shard_rows` candidates.

    `dtype` is the type of the scores, `query_checksum` the sha256 of the query file.
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
        """Checksum of the search, independent of its shards."""
        return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(self, shard_rows=0))).hexdigest()

    @property
    def shards(self) -> Iterator[tuple[int, int]]:
        """Start and stop row of each shard."""
        starts = range(0, self.candidates, self.shard_rows)
        return ((start, min(start + self.shard_rows, self.candidates)) for start in starts)


class SearchBlocks(msgspec.Struct, frozen=True):
    """Vectors that a worker multiplies at a time, and those it maps at a time (the maximum size of a shard)."""

    queries: int
    candidates: int
    mapped_queries: int
    mapped_candidates: int


def read_matrix(path: Path, side: str) -> Matrix:
    """Memory-map the vectors of a .npy file; raise a PredictionError if it has none."""
    matrix = read_array(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        what = f"the {side} are an array of {matrix.dtype} with shape {matrix.shape}"
        raise PredictionError(what, where=str(path), fix="Save a matrix of numbers, one row per text")
    if not matrix.size:
        raise PredictionError(f"no {side}: the shape is {matrix.shape}", where=str(path))
    return matrix


def plan_search(
    files: SearchFiles, k: int, *, memory: int, jobs: int, shard_rows: int = 0
) -> tuple[SearchPlan, SearchBlocks]:
    """Read both files and divide the candidates into shards of `shard_rows`, or by memory per worker and jobs."""
    vectors, pool = read_matrix(files.queries, "queries"), read_matrix(files.candidates, "candidates")
    if k < 1:
        raise IsoglossError(f"invalid k: {k}", fix="Use a k of at least 1")
    if k > len(pool):
        what = f"k is {k}, but there are only {len(pool):,} candidates"
        raise PredictionError(what, where=str(files.candidates), fix=f"Use --k {len(pool)} to rank all of them")
    try:
        dtype = check_sides(vectors, pool)
    except PredictionError as error:
        raise PredictionError(error.what, where=f"{files.queries} and {files.candidates}", fix=error.fix) from None
    blocks = _blocks(vectors, pool, k, dtype, memory)
    # Half a minute each, at least one per worker, and each in memory.
    by_work = max(_WORK // (len(vectors) * pool.shape[1]), -(-len(pool) // _MOST_SHARDS))
    rows = shard_rows or min(by_work, -(-len(pool) // jobs))
    plan = SearchPlan(
        k=k,
        queries=len(vectors),
        candidates=len(pool),
        dimension=pool.shape[1],
        dtype=str(dtype),
        query_checksum=sha256_of(files.queries),
        candidate_dtype=pool.dtype.str,
        shard_rows=min(rows, blocks.mapped_candidates),
    )
    return plan, blocks


def _blocks(vectors: Matrix, pool: Matrix, k: int, dtype: np.dtype[Any], memory: int) -> SearchBlocks:
    """Return block sizes that fit a worker's memory: half for the mapped files, half for the products."""
    # Three copies of a result: its parts, their concatenation, and the one written or merged.
    results = 3 * len(vectors) * k * (8 + dtype.itemsize)
    query_block = min(_QUERY_BLOCK, len(vectors))
    row = dtype.itemsize * (2 * pool.shape[1] + 2 * query_block) + 64
    free = memory - _FIXED - results
    block = min(_CANDIDATE_BLOCK, free // 2 // row)
    if block < _LEAST_BLOCK:
        least = _FIXED + results + 2 * _LEAST_BLOCK * row
        what = f"{memory / 1e6:,.0f} MB per worker is too little for {len(vectors):,} queries with k = {k}"
        raise IsoglossError(what, fix=f"Use --memory {-(-least // 10**6)}MB or more, or search parts of the queries")
    mapped = [max(_LEAST_BLOCK, free // 4 // side.itemsize // side.shape[1]) for side in (vectors, pool)]
    return SearchBlocks(query_block, block, mapped[0], mapped[1])


def settle_plan(path: Path, plan: SearchPlan, blocks: SearchBlocks, *, force: bool) -> SearchPlan:
    """Return the plan stored in a folder, so that finished shards stay valid, or store the given plan."""
    if path.is_file() and not force:
        stored: SearchPlan = decode_json(
            read_bytes(path), str(path), SearchPlan, what="the plan of a search", fix="Use --force to discard it"
        )
        if stored.identity != plan.identity:
            names = [name for name in plan.__struct_fields__ if name != "shard_rows"]
            other = [name for name in names if getattr(stored, name) != getattr(plan, name)]
            what = f"the folder has a search with another {' and '.join(other).replace('_', ' ')}"
            raise IsoglossError(what, where=str(path.parent), fix="Use --force to discard it, or another folder")
        if stored.shard_rows <= blocks.mapped_candidates:
            return stored
    with atomic_write(path) as stream:
        stream.buffer.write(msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
    return plan


class _ShardHeader(msgspec.Struct, frozen=True):
    """Input of a shard's result: identity of the plan, state of the candidate file, sha256 of the shard's rows."""

    search: str
    candidate_stamp: Stamp
    candidate_checksum: str


@dataclass(frozen=True, kw_only=True)
class ShardJob:
    """A shard to search: the rows from `start` to `stop`; `folder` is for the results of all shards."""

    plan: SearchPlan
    blocks: SearchBlocks
    files: SearchFiles
    folder: Path
    start: int
    stop: int
    workers: int = 1

    @property
    def path(self) -> Path:
        """Path of the result."""
        return self.folder / f"shard-{self.start}-{self.stop}.npz"

    def result(self) -> tuple[IntArray, Matrix] | None:
        """Return rows and scores if the shard is finished for the current candidates, else None."""
        stored = _read(self)
        if stored is None or stored[0].candidate_stamp != self.files.candidate_stamp:
            return None
        return stored[1], stored[2]


def _read(job: ShardJob) -> tuple[_ShardHeader, IntArray, Matrix] | None:
    """Return the content of a shard's file, or None if it is damaged or of another search."""
    shape = (job.plan.queries, min(job.plan.k, job.stop - job.start))
    try:
        with read_arrays(job.path, most=16 * shape[0] * shape[1] + (1 << 20)) as arrays:
            header: _ShardHeader = decode_json(arrays["header"].tobytes(), str(job.path), _ShardHeader)
            rows, scores = arrays["rows"], arrays["scores"]
    except DataError:  # missing or damaged
        return None
    fits = rows.shape == scores.shape == shape and str(scores.dtype) == job.plan.dtype
    return (header, rows, scores) if fits and header.search == job.plan.identity else None


def search_shard(job: ShardJob) -> None:
    """Search a shard and write its result; the result of an unchanged shard is only stamped again."""
    pool = read_matrix(job.files.candidates, "candidates")[job.start : job.stop]
    digest = hashlib.sha256()
    for start in range(0, len(pool), job.blocks.candidates):
        block = pool[start : start + job.blocks.candidates]
        digest.update(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
    stored = _read(job)
    if stored is not None and stored[0].candidate_checksum == digest.hexdigest():
        rows, scores = stored[1:]
    else:
        plan, blocks = job.plan, job.blocks
        torch_where_it_pays(plan.queries * plan.candidates * plan.dimension // job.workers)
        parts = []
        for first in range(0, plan.queries, blocks.mapped_queries):
            # Mapped again for each part, which frees the pages of the last one.
            queries = read_matrix(job.files.queries, "queries")[first : first + blocks.mapped_queries]
            sizes: Any = {"query_block": blocks.queries, "candidate_block": blocks.candidates}
            try:
                parts.append(search(queries, pool, plan.k, **sizes, first_row=job.start))
            except PredictionError as error:
                raise PredictionError(error.what, where=str(job.files.candidates), fix=error.fix) from None
        rows, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    job.files.check_unchanged()
    header = msgspec.json.encode(_ShardHeader(job.plan.identity, job.files.candidate_stamp, digest.hexdigest()))
    with atomic_write(job.path) as stream:
        np.savez(stream.buffer, header=np.frombuffer(header, np.uint8), rows=rows, scores=scores)
