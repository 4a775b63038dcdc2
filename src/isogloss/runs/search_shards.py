"""One shard of a search: what a worker does, and the file it leaves.

A shard is finished when its file is there. Doing it twice, or at two places at once, gives the same bytes and costs
time only. Damaged files count as none: an .npz has a checksum of every array.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from isogloss.data.arrays import read_arrays
from isogloss.data.files import Stamp, atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError, PredictionError
from isogloss.metrics.search import Matrix, search, torch_where_it_pays
from isogloss.metrics.statistics import IntArray
from isogloss.runs.search_plan import SearchBlocks, SearchFiles, SearchPlan, read_matrix


class _ShardHeader(msgspec.Struct, frozen=True):
    """What a shard's file is the result of.

    Attributes:
        search: the identity of the plan.
        candidate_stamp: size and time of change of the file of candidates when they were read.
        candidate_checksum: sha256 of the shard's rows.
    """

    search: str
    candidate_stamp: Stamp
    candidate_checksum: str


@dataclass(frozen=True)
class ShardJob:
    """A shard to be searched.

    Attributes:
        plan: the search.
        blocks: how much may be looked at together.
        files: what is searched.
        folder: where the result belongs.
        start: the first row of the shard.
        stop: the first row after it.
        workers: how many share the search.
    """

    plan: SearchPlan
    blocks: SearchBlocks
    files: SearchFiles
    folder: Path
    start: int
    stop: int
    workers: int = 1

    @property
    def path(self) -> Path:
        """The file of the result."""
        return self.folder / f"shard-{self.start}-{self.stop}.npz"

    def result(self) -> tuple[IntArray, Matrix] | None:
        """Rows and scores if the shard is finished: of this search, and of the candidates as they are now."""
        found = _read(self)
        if found is None or found[0].candidate_stamp != self.files.candidate_stamp:
            return None
        return found[1], found[2]


def _read(job: ShardJob) -> tuple[_ShardHeader, IntArray, Matrix] | None:
    """What a shard's file holds, if it is of this search and whole."""
    shape = (job.plan.queries, min(job.plan.k, job.stop - job.start))
    try:
        with read_arrays(job.path, most=16 * shape[0] * shape[1] + (1 << 20)) as arrays:
            header: _ShardHeader = decode_json(arrays["header"].tobytes(), str(job.path), _ShardHeader)
            rows, scores = arrays["rows"], arrays["scores"]
    except DataError:  # there is none, or it is damaged
        return None
    fits = rows.shape == scores.shape == shape and str(scores.dtype) == job.plan.dtype
    return (header, rows, scores) if fits and header.search == job.plan.identity else None


def search_shard(job: ShardJob) -> None:
    """Search a shard and leave its result in a file; nothing but the file's date changes where it was finished before.

    Raises:
        PredictionError: a candidate is not finite, or a file has changed since the search began.
        DataError: a file cannot be read, or the result cannot be written.
    """
    pool = read_matrix(job.files.candidates, "candidates")[job.start : job.stop]
    checksum = _checksum(pool, job.blocks.candidates)
    kept = _read(job)
    if kept is not None and kept[0].candidate_checksum == checksum:
        rows, scores = kept[1:]
    else:
        torch_where_it_pays(job.plan.multiplications // job.workers)
        rows, scores = _search(job, pool)
    job.files.refuse_changed()
    header = msgspec.json.encode(_ShardHeader(job.plan.identity, job.files.candidate_stamp, checksum))
    with atomic_write(job.path) as stream:
        np.savez(stream.buffer, header=np.frombuffer(header, np.uint8), rows=rows, scores=scores)


def _search(job: ShardJob, pool: Matrix) -> tuple[IntArray, Matrix]:
    found: list[tuple[IntArray, Matrix]] = []
    for first in range(0, job.plan.queries, job.blocks.mapped_queries):
        # Mapped anew for each part, so that the pages of the last one are let go.
        some = read_matrix(job.files.queries, "queries")[first : first + job.blocks.mapped_queries]
        try:
            found.append(
                search(
                    some,
                    pool,
                    job.plan.k,
                    query_block=job.blocks.queries,
                    candidate_block=job.blocks.candidates,
                    first_row=job.start,
                )
            )
        except PredictionError as error:
            raise PredictionError(error.what, where=str(job.files.candidates), fix=error.fix) from None
    rows, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, scores


def _checksum(pool: Matrix, block: int) -> str:
    digest = hashlib.sha256()
    for start in range(0, len(pool), block):
        digest.update(np.ascontiguousarray(pool[start : start + block]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
