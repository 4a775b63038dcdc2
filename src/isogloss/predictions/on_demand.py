"""Predictions computed when they are needed: by a function of examples, by a fitted system, or from embeddings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any, Protocol, runtime_checkable

import numpy as np

from isogloss.errors import PredictionError
from isogloss.notebooks import short_repr
from isogloss.predictions.columns import plain
from isogloss.predictions.folder import PredictionFile
from isogloss.predictions.formats import Answers
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task


@runtime_checkable
class FittedSystem(Protocol):
    """A system that is ready to predict."""

    def predict(self, examples: Examples, /) -> Any:
        """Return one answer per example."""


# A function that returns one answer per example, or their embeddings.
AnswerFunction = Callable[[Examples], Any]


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """Embeddings of the queries and the candidates of one cell: one row each, in the order of `isogloss.load`.

    Attributes:
        queries: one row per example.
        candidates: one row per candidate, in the order of `examples.pool.ids`.
        dev: embeddings of the dev set, on which mining tunes its threshold.
    """

    queries: Any
    candidates: Any
    dev: "Embeddings | None" = None

    __repr__ = short_repr


@dataclass(frozen=True)
class _GivenVectors:
    """Checked rows of embeddings, as tasks ask for them."""

    embeddings: Embeddings
    split: str

    def queries(self, examples: Examples) -> Any:
        """Return the vectors of the examples."""
        return _rows(self._of(examples).queries, len(examples), "queries", examples)

    def candidates(self, examples: Examples) -> Any:
        """Return the vectors of the pool."""
        if examples.pool is None:
            raise PredictionError("the candidate pool is not in the data folder", where=_name(examples))
        return _rows(self._of(examples).candidates, len(examples.pool), "candidates", examples)

    def _of(self, examples: Examples) -> Embeddings:
        if examples.split == self.split:
            return self.embeddings
        if self.embeddings.dev is None:
            fix = "Pass Embeddings(…, dev=Embeddings(…)), or the mined pairs"
            raise PredictionError(
                "missing dev vectors, which tune the mining threshold", where=_name(examples), fix=fix
            )
        return self.embeddings.dev


def _rows(given: Any, count: int, side: str, examples: Examples) -> Any:
    if hasattr(given, "detach"):  # a tensor of torch: it may be on a GPU, need gradients, or have 16-bit numbers
        given = given.detach().cpu()
        given = given.float() if str(given.dtype) == "torch.bfloat16" else given
    try:
        vectors = np.asarray(given)
    except ValueError:
        what = f"{side}: the rows have different lengths"
        raise PredictionError(what, where=_name(examples), fix="Pass one vector per text") from None
    if vectors.ndim != 2 or not vectors.shape[1] or not np.issubdtype(vectors.dtype, np.floating):
        what = f"{side}: expected a matrix of floats, got {vectors.dtype} with shape {vectors.shape}"
        raise PredictionError(what, where=_name(examples))
    if len(vectors) != count:
        fix = "Embed them in the order of isogloss.load"
        raise PredictionError(f"{side}: {len(vectors)} rows, expected {count}", where=_name(examples), fix=fix)
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        raise PredictionError(f"{side}: row {int(bad.argmax())} is not finite", where=_name(examples))
    return vectors


def _name(examples: Examples) -> str:
    return f"{examples.task}/{examples.language}"


def answers_of_embeddings(task: Task, embeddings: Embeddings, path: Path, examples: Examples) -> Answers:
    """Return the answers computed from embeddings; empty answers are left out."""
    answers = Answers(path)
    for identifier, value in zip(examples.ids, ranked(task, embeddings, examples), strict=True):
        if value:
            answers.add(identifier, value)
    return answers


def ranked(task: Task, embeddings: Embeddings, examples: Examples) -> list[Any]:
    """Return one answer per example, computed from embeddings.

    Raises:
        PredictionError: the task has no candidates, or rows that do not fit them.
    """
    kind = kind_of(task)
    if kind.form not in ("ranking", "pairs"):
        what = f"embeddings are for retrieval tasks, not for {task.id}"
        raise PredictionError(what, where=_name(examples), fix=f"Answer with {kind.answer_help}")
    vectors = _GivenVectors(embeddings, examples.split)
    queries, candidates = vectors.queries(examples), vectors.candidates(examples)
    if queries.shape[1] != candidates.shape[1]:
        what = f"{queries.shape[1]} dimensions, but the candidates have {candidates.shape[1]}"
        raise PredictionError(what, where=_name(examples))
    return list(kind.answers_from_vectors(task, examples, vectors))


def answers_of_function(function: AnswerFunction, name: str, examples: Examples) -> Embeddings | Sequence[Any]:
    """Return one answer per example, as a function returns them in a list, an array or a series, or embeddings.

    Raises:
        PredictionError: the function failed, or returned something else.
    """
    try:
        values = function(examples)
    except Exception as error:
        what = f"{name} failed: {type(error).__name__}: {error}{_place_of(error)}"
        raise PredictionError(what, where=_name(examples), cause=what) from error
    if isinstance(values, Embeddings):
        return values
    values = values.tolist() if hasattr(values, "tolist") else values
    what = ""
    if isinstance(values, str) or not isinstance(values, Sequence):
        what = f"{name} returned {type(values).__name__}, expected a list with one answer per example"
    elif len(values) != len(examples):
        what = f"{name} returned {len(values)} answers to {len(examples)} examples"
    if what:
        raise PredictionError(what, where=_name(examples), cause=what)
    # Other sequences, such as replies with facts, are more than a list.
    return list(map(plain, values)) if type(values) in (list, tuple) else values


def _place_of(error: Exception) -> str:
    """Return the line of the user's file, or cell of a notebook, in which a function failed."""
    frames = extract_tb(error.__traceback__)[1:]  # the first is the call
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" (line {own[-1].lineno}: {own[-1].line})" if own and own[-1].line else ""


@dataclass(frozen=True)
class PredictionsOnDemand:
    """Answers of a function to every cell that is asked for."""

    function: AnswerFunction
    name: str

    __repr__ = short_repr

    @classmethod
    def of(cls, given: AnswerFunction | FittedSystem) -> "PredictionsOnDemand":
        """Return the predictions of a function or a fitted system."""
        function = given.predict if isinstance(given, FittedSystem) else given
        name = getattr(given, "name", None) or getattr(given, "__name__", None) or type(given).__name__
        return cls(function, str(name))

    @property
    def root(self) -> Path:
        """Name for messages."""
        return Path(self.name)

    @property
    def system(self) -> dict[str, Any]:
        """Metadata of the system: its name."""
        return {"name": self.name}

    def has(self, task: Task) -> bool:
        """Return True: a function answers every task that it is asked for."""
        return True

    def find(self, task: Task, language: str, split: str) -> PredictionFile:
        """Return the cell; `read` computes its answers."""
        return PredictionFile(self.root / task.id / language, "memory")

    def pseudo_languages(self, task: Task, split: str) -> tuple[str, ...]:
        """Return nothing: languages with a pseudo set are known from the data."""
        return ()

    def read(self, task: Task, file: PredictionFile, examples: Examples) -> Answers:
        """Compute the answers of a cell; a wrong type becomes a problem.

        Raises:
            PredictionError: the function failed, or returned something else than one answer per example.
        """
        values = answers_of_function(self.function, self.name, examples)
        if isinstance(values, Embeddings):
            return answers_of_embeddings(task, values, file.path, examples)
        answers, kind = Answers(file.path), kind_of(task)
        for identifier, value in answers.worth_reading(zip(examples.ids, values, strict=True)):
            answers.convert(kind, identifier, plain(value))
        return answers
