"""Exact search over many workers, by shards of the candidates that are merged at the end."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from warnings import warn

import numpy as np

from isogloss.data.files import atomic_write, lines
from isogloss.errors import IsoglossError, PredictionError
from isogloss.metrics.search import Matrix, merge_shards
from isogloss.metrics.statistics import IntArray
from isogloss.predictions.write import encode_predictions
from isogloss.runs.locks import wait_for_lock
from isogloss.runs.place import Place, byte_count
from isogloss.runs.search_plan import SearchFiles, ShardJob, plan_search, search_shard, settle_plan
from isogloss.workers import Resources, Workers, in_parallel

ShardProgress = Callable[[int, int], None]


class FoundCandidates(NamedTuple):
    """Rows of the best candidates per query, best first, with their inner products, and the prediction file.

    The file has the rankings as ids; None without id files.
    """

    rows: IntArray
    scores: Matrix
    predictions: Path | None


class SearchIds(NamedTuple):
    """Files with the ids of both sides, one per line, and the path of the rankings."""

    queries: Path
    candidates: Path
    predictions: Path

    @classmethod
    def beside(cls, queries: Path, candidates: Path, folder: Path) -> "SearchIds | None":
        """Return the `<name>.ids.txt` next to both `<name>.npy`, or None if one is missing.

        The rankings of `queries-sw.npy` go to `sw.jsonl`, their name in the folder of a task.
        """
        query_ids, candidate_ids = (
            path.with_name(f"{path.name.removesuffix('.npy')}.ids.txt") for path in (queries, candidates)
        )
        name = queries.name.removesuffix(".npy").replace("queries-", "", 1)
        if not (query_ids.is_file() and candidate_ids.is_file()):
            return None
        return cls(query_ids, candidate_ids, folder / f"{name}.jsonl")

    def check(self, queries: int, candidates: int) -> None:
        """Raise a PredictionError if the ids do not match the number of vectors, or if query ids are duplicate."""
        for path, expected in ((self.queries, queries), (self.candidates, candidates)):
            count = sum(1 for _ in lines(path))
            if count != expected:
                raise PredictionError(f"{expected:,} rows but {count:,} ids", where=str(path))
        query_ids = [line.strip() for line in lines(self.queries)]
        if len(set(query_ids)) != len(query_ids):
            raise PredictionError("duplicate id", where=str(self.queries))

    def write(self, rows: IntArray) -> Path:
        """Write the ranked candidates of every query and return the path."""
        # Only the ids of ranked candidates are kept in memory.
        names, before, stream = {}, -1, map(str.strip, lines(self.candidates))
        for row in np.unique(rows).tolist():
            names[row] = next(islice(stream, row - before - 1, None))
            before = row
        rankings = [[names[row] for row in best] for best in rows.tolist()]
        query_ids = [line.strip() for line in lines(self.queries)]
        with atomic_write(self.predictions) as file:
            file.buffer.write(encode_predictions(self.predictions, query_ids, rankings))
        return self.predictions


def search(  # noqa: PLR0913 - the options of the verb
    queries: str | os.PathLike[str],
    candidates: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    k: int = 20,
    on: str | os.PathLike[str] | Place | None = None,
    jobs: int = 0,
    memory: str | int = "2 GB",
    force: bool = False,
    shard_rows: int = 0,
    progress: ShardProgress | None = None,
) -> FoundCandidates:
    """Find the k candidates with the largest inner product per query, exactly, over any number of workers.

    The result equals that of `isogloss.metrics.ranking.search` to the last bit, ties by the lower row, for any number
    of workers and any memory. Finished shards are kept in `<out>/shards`: the same call resumes.

    Args:
        queries: .npy file with a matrix; the optional `<name>.ids.txt` has the ids of its rows, one per line.
        candidates: .npy file of the candidates, likewise.
        out: output folder; writes `rows.npy`, `scores.npy` and, if both sides have ids, a prediction file.
        k: number of candidates per query.
        on: "processes", "ray", "ray://host:port", "slurm", "slurm:PARTITION", or a TOML file. Workers
            must see the files and the folder under the same paths.
        jobs: number of workers at a time; 0 for this process, or as many as fit on a cluster. Several processes need
            `if __name__ == "__main__":` in a script.
        memory: memory limit per worker: "2 GB", or bytes.
        force: True to discard another search in the folder.
        shard_rows: candidates per shard; 0 to choose by memory and number of workers.
        progress: called with the number of finished shards and their total.

    Returns:
        Rows and scores, as in `rows.npy` and `scores.npy`, and the prediction file.

    Raises:
        PredictionError: not a matrix of finite numbers, dimensions differ, or fewer than k candidates.
        IsoglossError: too little memory, another search in the folder, or workers that die repeatedly.

    Example:
        isogloss.search("queries.npy", "candidates.npy", k=10, jobs=8, out="neighbours")
    """
    place, folder = Place.of(on), Path(out)
    size = memory if isinstance(memory, int) else byte_count(memory, "")
    if place.files == "ship":
        fix = 'Set files = "folder", and use paths that all nodes see'
        raise IsoglossError('search does not support files = "ship"', where=place.address, fix=fix)
    files = SearchFiles.of(Path(queries), Path(candidates))
    jobs = jobs or place.jobs or int(place.is_here)
    planned, blocks = plan_search(files, k, memory=size, jobs=jobs or 1, shard_rows=shard_rows)
    ids = SearchIds.beside(files.queries, files.candidates, folder)
    if ids is not None:
        ids.check(planned.queries, planned.candidates)
    waiting = "another process is searching in this folder"
    # Python shows equal warnings once.
    with wait_for_lock(folder / "search.lock", partial(warn, stacklevel=2), waiting):
        plan = settle_plan(folder / "search.json", planned, blocks, force=force)
        parts = (folder / "shards").resolve()
        shard = partial(ShardJob, plan=plan, blocks=blocks, files=files, folder=parts, workers=jobs or 1)
        shards = [shard(start=start, stop=stop) for start, stop in plan.shards]
        workers = None if place.is_here and jobs == 1 else place.workers(jobs)
        rows, scores = _searched(shards, workers, replace(place.resources, memory=size), progress or (lambda *_: None))
        for name, array in (("rows", rows), ("scores", scores)):
            with atomic_write(folder / f"{name}.npy") as stream:
                np.save(stream.buffer, array)
        # Shards of another size, and unfinished files of killed workers: no other command writes there.
        for path in {*parts.glob("*shard-*")} - {shard.path for shard in shards}:
            path.unlink(missing_ok=True)
        return FoundCandidates(rows, scores, None if ids is None else ids.write(rows))


def _searched(
    shards: list[ShardJob], workers: Workers | None, resources: Resources, progress: ShardProgress
) -> tuple[IntArray, Matrix]:
    missing = [shard for shard in shards if shard.result() is None]
    done = len(shards) - len(missing)
    progress(done, len(shards))
    with workers or nullcontext():
        for _ in in_parallel(workers, search_shard, missing, resources):
            done += 1
            progress(done, len(shards))

    def result_of(shard: ShardJob) -> tuple[IntArray, Matrix]:
        result = shard.result()
        if result is None:
            fix = "Workers must see the folder under the same path; run the same command to search what is missing"
            raise IsoglossError("missing result of a shard", where=str(shard.path), fix=fix)
        return result

    return reduce(partial(merge_shards, k=shards[0].plan.k), map(result_of, shards))
