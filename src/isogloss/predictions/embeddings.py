"""Sentence embeddings as predictions: ranked exactly, in blocks, straight from memory-mapped files."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.data.files import Stamp, lines, stamp
from isogloss.errors import PredictionError
from isogloss.metrics import mining
from isogloss.metrics.search import nearest, search
from isogloss.predictions.formats import Answers
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.retrieval import CUTOFF
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


def matrix(path: Path, where: str) -> tuple[list[str], Any]:
    """Ids and vectors: `<name>.npy`, memory-mapped, with one id a line in `<name>.ids.txt`."""
    ids_path = path.with_name(path.name.removesuffix(".npy") + ".ids.txt")
    for needed in (path, ids_path):
        if not needed.is_file():
            raise PredictionError("there is no such file", where=str(needed), fix=f"{where} needs it")
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise PredictionError(f"not a plain .npy array: {error}", where=str(path)) from None
    if not isinstance(vectors, np.ndarray):
        raise PredictionError("an .npz archive, not a plain .npy array", where=str(path))
    ids = [line.strip() for line in lines(ids_path)]
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        what = f"an array of {vectors.dtype} with shape {vectors.shape}"
        raise PredictionError(what, where=str(path), fix="Save a matrix of floats, one row per id")
    if len(ids) != len(vectors):
        raise PredictionError(f"{len(vectors)} rows but {len(ids)} ids", where=str(path))
    if len(set(ids)) != len(ids):
        raise PredictionError("an id occurs twice", where=str(ids_path))
    _refuse_non_finite(path, vectors, ids)
    return ids, vectors


def _refuse_non_finite(path: Path, vectors: Any, ids: list[str]) -> None:
    for start in range(0, len(vectors), 65_536):
        bad = ~np.isfinite(vectors[start : start + 65_536]).all(axis=1)
        if bad.any():
            row = start + int(bad.argmax())
            raise PredictionError(f"row {row} (id {ids[row]!r}) is not finite", where=str(path))


def _in_order(ids: list[str], vectors: Any, wanted: list[str], where: str) -> Any:
    """The vectors of some ids, in their order; memory stays mapped where the file already has that order."""
    if ids == wanted:
        return vectors
    rows = {identifier: row for row, identifier in enumerate(ids)}
    missing = [identifier for identifier in wanted if identifier not in rows]
    if missing:
        raise PredictionError(f"no vector for {len(missing)} ids, e.g. {missing[0]!r}", where=where)
    return np.asarray(vectors[[rows[identifier] for identifier in wanted]])


@lru_cache(maxsize=1)
def _one_pool(_stamps: tuple[tuple[Path, Stamp], ...], pool_ids: tuple[str, ...]) -> Any:
    """The candidates' vectors in pool order; one pool serves all languages of a task."""
    parts = [matrix(path, "the candidate pool") for path, _ in _stamps]
    dimensions = {part.shape[1] for _, part in parts}
    if len(dimensions) > 1:
        where = ", ".join(str(path) for path, _ in _stamps)
        raise PredictionError(f"the dimensions differ: {sorted(dimensions)}", where=where)
    ids = [identifier for names, _ in parts for identifier in names]
    vectors = parts[0][1] if len(parts) == 1 else np.concatenate([part for _, part in parts])
    return _in_order(ids, vectors, list(pool_ids), str(_stamps[0][0].parent))


def _candidates(path: Path, examples: Examples) -> Any:
    """The pool's vectors: one `candidates.npy`, or `candidates-<language>.npy` for each language of the pool."""
    if examples.pool is None:
        raise PredictionError("the candidate pool is not in the data folder", where=str(path))
    prefix = path.name.partition("queries-")[0]
    whole = path.with_name(f"{prefix}candidates.npy")
    shared = sorted(set(examples.pool.languages)) if find_task(examples.task).kind == "pool" else [examples.language]
    paths = [whole] if whole.is_file() else [path.with_name(f"{prefix}candidates-{code}.npy") for code in shared]
    for needed in paths:
        if not needed.is_file():
            raise PredictionError("there is no such file", where=str(needed), fix="Give the candidates' vectors too")
    return _one_pool(tuple((needed, stamp(needed)) for needed in paths), tuple(examples.pool.ids))


def answer(task: Task, path: Path, examples: Examples) -> Answers:
    """Rank (or mine) with the vectors of `queries-<language>.npy`."""
    ids, found = matrix(path, f"{task.id}/{examples.language}")
    queries = _in_order(ids, found, examples.ids, str(path))
    candidates = _candidates(path, examples)
    if queries.shape[1] != candidates.shape[1]:
        what = f"{queries.shape[1]} dimensions, the candidates have {candidates.shape[1]}"
        raise PredictionError(what, where=str(path))
    if task.kind == "mining":
        return _mined(path, examples, queries, candidates)
    if examples.pool is None:
        raise PredictionError("the candidate pool is not in the data folder", where=str(path))
    names = examples.pool.ids
    answers = Answers(path)
    if task.kind == "bitext":
        ranked = nearest(queries, candidates)[:, None]
    else:
        targets = max((len(row) for row in examples["targets"]), default=1) if examples.has_gold else 1
        ranked, _ = search(queries, candidates, k=CUTOFF + targets - 1)
    for identifier, row in zip(examples.ids, ranked.tolist(), strict=True):
        answers.add(identifier, [names[place] for place in row])
    return answers


def _mined(path: Path, examples: Examples, queries: Any, candidates: Any) -> Answers:
    """Pairs mined by margin and cut at the threshold tuned on dev."""
    pairs = scored_pairs(examples, queries, candidates)
    cut = _dev_threshold(path, examples, pairs)
    answers = Answers(path)
    for source, target, score in pairs:
        if score >= cut:
            answers.add(source, [target])
    return answers


def scored_pairs(examples: Examples, queries: Any, candidates: Any) -> list[tuple[str, str, float]]:
    """Mined (source id, English id, score); a sentence that occurs more than once cannot be told apart and is lost."""
    if examples.pool is None:
        raise PredictionError("the English side is not in the data folder", where=f"bucc/{examples.language}")
    rows, times = mining.unify(examples["text"])
    target_rows, target_times = mining.unify(examples.pool.text)
    return [
        (examples.ids[rows[i]], examples.pool.ids[target_rows[j]], score)
        for score, i, j in mining.mine(queries[rows], candidates[target_rows])
        if times[i] == 1 and target_times[j] == 1
    ]


def _dev_threshold(path: Path, examples: Examples, pairs: list[tuple[str, str, float]]) -> float:
    if examples.split == "dev":
        return mining.threshold(pairs, gold_pairs(examples))
    from isogloss.tasks.loading import load

    dev_path = path.with_name(f"dev-{path.name}")
    if not dev_path.is_file():
        fix = f"Give dev-queries-{examples.language}.npy and its candidates, or the mined pairs themselves"
        raise PredictionError("mining needs a threshold, and that is tuned on dev", where=str(dev_path), fix=fix)
    dev = load(examples.task, examples.language, "dev", examples.root)
    ids, found = matrix(dev_path, f"bucc/{examples.language} dev")
    queries = _in_order(ids, found, dev.ids, str(dev_path))
    return mining.threshold(scored_pairs(dev, queries, _candidates(dev_path, dev)), gold_pairs(dev))


def gold_pairs(examples: Examples) -> list[tuple[str, str]]:
    """The translation pairs of a mining task."""
    return [(i, j) for i, targets in zip(examples.ids, examples["targets"], strict=True) for j in targets]
