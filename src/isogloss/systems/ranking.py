"""From vectors to answers: nearest candidates by cosine, or translation pairs by margin above a tuned threshold."""

import sys
from typing import Protocol

from isogloss.errors import DataError
from isogloss.metrics import mining
from isogloss.metrics.search import Matrix, search
from isogloss.predictions.embeddings import gold_pairs, scored_pairs
from isogloss.systems.base import SystemFailureError
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds.retrieval import CUTOFF
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task

# The kinds of tasks that vectors answer.
RETRIEVAL = ("bitext", "pool", "mining")
# LAReQA's one-target figures look at 20 places after up to ten other targets are taken out.
_DEPTH_OF_COMPETING = 30
# The ratio margin from which CCMatrix (Schwenk et al., 2021) takes two sentences for translations.
_USUAL_MARGIN = 1.06

Scored = list[tuple[str, str, float]]


class Vectors(Protocol):
    """Whatever turns both sides of a retrieval task into unit vectors; `name` is for messages."""

    name: str

    def queries(self, examples: Examples) -> Matrix:
        """The vectors of the queries, in order."""

    def candidates(self, examples: Examples) -> Matrix:
        """The vectors of the pool, in its order."""


def ranked(task: Task, examples: Examples, vectors: Vectors, *, quiet: bool = False) -> list[list[str]]:
    """Ranked candidate ids for every query; for mining the id of the translation, or an empty list.

    Raises:
        SystemFailureError: there is no pool.
    """
    pool = pool_of(examples)
    if task.kind == "mining":
        return _mined(task, examples, vectors, quiet)
    rows, _ = search(vectors.queries(examples), vectors.candidates(examples), k=_depth(task, examples))
    return [[pool.ids[row] for row in best] for best in rows.tolist()]


def pool_of(examples: Examples) -> Pool:
    """The candidates.

    Raises:
        SystemFailureError: there are none.
    """
    if examples.pool is None or not len(examples.pool):
        where = f"{examples.task}/{examples.language}"
        fix = f"isogloss fetch {examples.task} brings the candidates"
        raise SystemFailureError("there is no pool to search", where=where, fix=fix)
    return examples.pool


def _depth(task: Task, examples: Examples) -> int:
    """How many candidates to rank: enough for every figure the task has."""
    if task.kind != "pool":
        return CUTOFF
    targets = max((len(row) for row in examples["targets"] if row), default=1) if examples.has_gold else None
    if targets == 1:
        return CUTOFF
    return max(_DEPTH_OF_COMPETING, CUTOFF + (targets or 1) - 1)


def _mined(task: Task, examples: Examples, vectors: Vectors, quiet: bool) -> list[list[str]]:
    """One-to-one pairs by ratio margin, above the threshold that is best on dev."""
    pairs = _scored(examples, vectors)
    cut = _threshold(task, examples, pairs, vectors, quiet)
    found = {source: [target] for source, target, score in pairs if score >= cut}
    return [found.get(identifier, []) for identifier in examples.ids]


def _scored(examples: Examples, vectors: Vectors) -> Scored:
    return scored_pairs(examples, vectors.queries(examples), vectors.candidates(examples))


def _threshold(task: Task, examples: Examples, pairs: Scored, vectors: Vectors, quiet: bool) -> float:
    if examples.split == "dev" and examples.has_gold:
        return mining.threshold(pairs, gold_pairs(examples))
    try:
        dev = load(task, examples.language, "dev", examples.root)
    except DataError:
        dev = None
    if dev is not None and dev.has_gold:
        return mining.threshold(_scored(dev, vectors), gold_pairs(dev))
    if not quiet:
        where = f"{examples.task}/{examples.language}"
        sys.stderr.write(f"{vectors.name} {where}: no dev set to tune on, pairs cut at margin {_USUAL_MARGIN}\n")
    return _USUAL_MARGIN
