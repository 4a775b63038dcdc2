"""Exact search over many workers: shards of the candidates are searched anywhere and merged into what one finds."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import NamedTuple
from warnings import warn

import numpy as np

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.metrics.search import Matrix, merge_shards
from isogloss.metrics.statistics import IntArray
from isogloss.runs.locks import wait_for_lock
from isogloss.runs.place import Place, byte_count
from isogloss.runs.search_ids import SearchIds
from isogloss.runs.search_plan import SearchFiles, plan_search, settle_plan
from isogloss.runs.search_shards import ShardJob, search_shard
from isogloss.workers import Resources, Workers, in_parallel

ShardProgress = Callable[[int, int], None]


class FoundCandidates(NamedTuple):
    """What a search has found, and where it is.

    Attributes:
        rows: of the best candidates for each query, best first.
        scores: their inner products with the query.
        predictions: the rankings as ids, a prediction file; None where no ids lie beside the vectors.
    """

    rows: IntArray
    scores: Matrix
    predictions: Path | None


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
    progress: ShardProgress = lambda done, total: None,
) -> FoundCandidates:
    """Find the k candidates with the largest inner product for each query, exactly, over any number of workers.

    The result is that of `isogloss.metrics.ranking.search` to the last bit, ties by the lower row, whatever the number
    of workers and their memory. Finished shards are kept in `<out>/shards`: the same call goes on from them.

    Args:
        queries: a .npy file with a matrix; the ids of its rows, one a line, are in `<name>.ids.txt` if anywhere.
        candidates: another one.
        out: the folder of the results, `rows.npy`, `scores.npy` and, where both sides have ids, a prediction file.
        k: how many candidates are wanted for each query.
        on: where it is done: "processes", "ray", "ray://host:port", "slurm", "slurm:PARTITION", or a TOML file. Workers
            must see the files and the folder under the same paths.
        jobs: workers at a time; 0 for this process, or as many as a cluster has room for. Several processes need
            `if __name__ == "__main__":` in a script.
        memory: that each worker may use: "2 GB", or bytes.
        force: forget what another search has left in the folder.
        shard_rows: candidates of a shard; 0 for what the memory and the number of workers suggest.
        progress: called with the shards that are finished, and their total.

    Returns:
        Rows and scores, as `rows.npy` and `scores.npy` have them, and the prediction file.

    Raises:
        PredictionError: a file is no matrix of finite numbers, dimensions differ, or there are fewer than k candidates.
        IsoglossError: the memory is too little, the folder has another search, or workers die again and again.
    """
    place, folder = Place.of(on), Path(out)
    size = memory if isinstance(memory, int) else byte_count(memory, "")
    if place.files == "ship":
        fix = 'Give files = "folder", and paths that all nodes see'
        raise IsoglossError("the files of a search do not travel with its jobs", where=place.address, fix=fix)
    files = SearchFiles.of(Path(queries), Path(candidates))
    jobs = jobs or place.jobs or int(place.is_here)
    found, blocks = plan_search(files, k, memory=size, jobs=jobs or 1, shard_rows=shard_rows)
    ids = SearchIds.beside(files.queries, files.candidates, folder)
    if ids is not None:
        ids.check(found.queries, found.candidates)
    with wait_for_lock(folder / "search.lock", _tell_waiting, "another process searches in this folder"):
        plan = settle_plan(folder / "search.json", found, blocks, force=force)
        where = (folder / "shards").resolve()
        shards = [ShardJob(plan, blocks, files, where, start, stop, jobs or 1) for start, stop in plan.shards]
        workers = None if place.is_here and jobs == 1 else place.workers(jobs)
        rows, scores = _searched(shards, workers, replace(place.resources, memory=size), progress)
        for name, array in (("rows", rows), ("scores", scores)):
            with atomic_write(folder / f"{name}.npy") as stream:
                np.save(stream.buffer, array)
        _remove_leftovers(shards)
        return FoundCandidates(rows, scores, None if ids is None else ids.write(rows))


def _tell_waiting(waiting: str) -> None:
    """Say what is waited for; Python shows the same warning once."""
    warn(waiting, stacklevel=2)


def _searched(
    shards: list[ShardJob], workers: Workers | None, resources: Resources, progress: ShardProgress
) -> tuple[IntArray, Matrix]:
    """Have the shards searched that are not finished, and merge all."""
    missing = [shard for shard in shards if shard.result() is None]
    done = len(shards) - len(missing)
    progress(done, len(shards))
    with workers or nullcontext():
        for _ in in_parallel(workers, search_shard, missing, resources):
            done += 1
            progress(done, len(shards))
    return reduce(partial(merge_shards, k=shards[0].plan.k), map(_result, shards))


def _result(shard: ShardJob) -> tuple[IntArray, Matrix]:
    found = shard.result()
    if found is None:
        fix = "Workers must see the folder under the same path; give the command again to search what is missing"
        raise IsoglossError("the result of a shard is not there", where=str(shard.path), fix=fix)
    return found


def _remove_leftovers(shards: list[ShardJob]) -> None:
    """Remove the files of shards of another size, and of workers that were killed while they wrote.

    The search's lock is held: no other command has workers that write there.
    """
    wanted = {shard.path for shard in shards}
    for path in shards[0].folder.glob("*shard-*"):
        if path not in wanted:
            path.unlink(missing_ok=True)
