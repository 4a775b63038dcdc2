"""Sentence embeddings as predictions, ranked exactly and in blocks from memory-mapped files."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import Stamp, lines, stamp
from isogloss.errors import DataError, PredictionError
from isogloss.predictions.formats import Answers
from isogloss.predictions.problems import Problem, ProblemCode, number_of
from isogloss.predictions.write import split_prefix
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task


def read_vectors(path: Path, where: str) -> tuple[list[str], Any]:
    """Read `<name>.npy`, memory-mapped, and `<name>.ids.txt`, which has one id per row; `where` is for messages."""
    ids_path = path.with_name(path.name.removesuffix(".npy") + ".ids.txt")
    for needed in (path, ids_path):
        if not needed.is_file():
            raise PredictionError("missing file", where=str(needed), fix=f"{where} needs it")
    try:
        vectors = read_array(path)
        ids = [line.strip() for line in lines(ids_path)]
    except DataError as error:
        raise PredictionError(error.what, where=error.where, fix=error.fix) from None
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        what = f"expected a matrix of floats, got {vectors.dtype} with shape {vectors.shape}"
        raise PredictionError(what, where=str(path), fix="Save one row per id")
    if len(ids) != len(vectors):
        raise PredictionError(f"{len(vectors)} rows but {len(ids)} ids", where=str(path))
    if len(set(ids)) != len(ids):
        raise PredictionError("duplicate id", where=str(ids_path))
    for start in range(0, len(vectors), 65_536):
        bad = ~np.isfinite(vectors[start : start + 65_536]).all(axis=1)
        if bad.any():
            row = start + int(bad.argmax())
            raise PredictionError(f"row {row} (id {ids[row]!r}) is not finite", where=str(path))
    return ids, vectors


def _in_order(ids: list[str], vectors: Any, wanted: list[str], where: str) -> Any:
    """Return the vectors in the order of some ids; a file in that order stays memory-mapped."""
    if ids == wanted:
        return vectors
    rows = {identifier: row for row, identifier in enumerate(ids)}
    missing = [identifier for identifier in wanted if identifier not in rows]
    if missing:
        raise PredictionError(f"no vector for {number_of(len(missing), 'id')}, e.g. {missing[0]!r}", where=where)
    return np.asarray(vectors[[rows[identifier] for identifier in wanted]])


@lru_cache(maxsize=1)
def _one_pool(_stamps: tuple[tuple[Path, Stamp], ...], pool_ids: tuple[str, ...]) -> Any:
    """Return the candidates' vectors in pool order; all languages of a task share one pool."""
    parts = [read_vectors(path, "the candidate pool") for path, _ in _stamps]
    dimensions = {part.shape[1] for _, part in parts}
    if len(dimensions) > 1:
        where = ", ".join(str(path) for path, _ in _stamps)
        raise PredictionError(f"different dimensions: {sorted(dimensions)}", where=where)
    ids = [identifier for names, _ in parts for identifier in names]
    vectors = parts[0][1] if len(parts) == 1 else np.concatenate([part for _, part in parts])
    return _in_order(ids, vectors, list(pool_ids), str(_stamps[0][0].parent))


@dataclass(frozen=True)
class VectorFiles:
    """The vectors of a task in a prediction folder.

    `queries-<language>.npy`, and `candidates.npy` or one `candidates-<language>.npy` per language of the pool.
    Files of the dev split start with `dev-`.
    """

    task: Task
    folder: Path

    def _path(self, examples: Examples, name: str) -> Path:
        return self.folder / f"{split_prefix(examples.split)}{name}.npy"

    def queries(self, examples: Examples) -> Any:
        """Return the vectors of the queries, in order."""
        path = self._path(examples, f"queries-{examples.language}")
        if examples.split == "dev" and not path.is_file():
            fix = f"Add dev-queries-{examples.language}.npy and its candidates, or submit the mined pairs"
            raise PredictionError("missing dev vectors, which tune the mining threshold", where=str(path), fix=fix)
        ids, vectors = read_vectors(path, f"{self.task.id}/{examples.language}")
        queries = _in_order(ids, vectors, examples.ids, str(path))
        dimension = self.candidates(examples).shape[1]
        if queries.shape[1] != dimension:
            what = f"{queries.shape[1]} dimensions, but the candidates have {dimension}"
            raise PredictionError(what, where=str(path))
        return queries

    def candidates(self, examples: Examples) -> Any:
        """Return the vectors of the pool, in pool order."""
        pool, whole = examples.pool, self._path(examples, "candidates")
        if pool is None:
            raise PredictionError("the candidate pool is not in the data folder", where=str(whole))
        paths = self._candidate_paths(examples, pool)
        for path in paths:
            if not path.is_file():
                raise PredictionError("missing file", where=str(path), fix="Add the candidates' vectors")
        return _one_pool(tuple((path, stamp(path)) for path in paths), tuple(pool.ids))

    def _candidate_paths(self, examples: Examples, pool: Pool) -> list[Path]:
        whole = self._path(examples, "candidates")
        codes = sorted(set(pool.languages)) if kind_of(self.task).shared_pool else [examples.language]
        return [whole] if whole.is_file() else [self._path(examples, f"candidates-{code}") for code in codes]

    def warnings(self, examples: Examples) -> Iterator[Problem]:
        """Yield warnings about zero vectors, which have no direction but are ranked."""
        queries = self._path(examples, f"queries-{examples.language}")
        pool = [] if examples.pool is None else self._candidate_paths(examples, examples.pool)
        for path in (queries, *pool):
            zero, total = _zero_rows(path, stamp(path))
            if zero:
                yield Problem(code=ProblemCode.ZERO_VECTORS, file=str(path), count=zero, total=total, warning=True)


@lru_cache(maxsize=128)
def _zero_rows(path: Path, _stamp: Stamp) -> tuple[int, int]:
    """Return the number of zero rows of a matrix and the number of all rows."""
    vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    blocks = (vectors[start : start + 65_536] for start in range(0, len(vectors), 65_536))
    return sum(int((~block.any(axis=1)).sum()) for block in blocks), len(vectors)


def answers_of_vectors(task: Task, path: Path, examples: Examples) -> Answers:
    """Return the answers computed from the vectors of `queries-<language>.npy`; empty answers are left out."""
    answers, vectors = Answers(path), VectorFiles(task, path.parent)
    values = kind_of(task).answers_from_vectors(task, examples, vectors)
    answers.problems += vectors.warnings(examples)
    for identifier, value in zip(examples.ids, values, strict=True):
        if value:
            answers.add(identifier, value)
    return answers
