"""Predictions in memory, used like prediction folders: `open_predictions` takes every form that users pass."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from isogloss.errors import PredictionError
from isogloss.notebooks import short_repr
from isogloss.predictions.columns import Tabular, answers_in_table, is_table, plain
from isogloss.predictions.folder import PredictionFile, PredictionFolder
from isogloss.predictions.formats import Answers
from isogloss.predictions.on_demand import (
    AnswerFunction,
    Embeddings,
    FittedSystem,
    PredictionsOnDemand,
    answers_of_embeddings,
)
from isogloss.predictions.run_folders import run_folders, single_run, system_of_runs
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import is_tag
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


@runtime_checkable
class AnswersById(Protocol):
    """A mapping from id to answer, or a pandas series with the ids as its index."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return ids and answers."""


# The answers of a cell by id, or as `import_files` returns them, or its embeddings.
CellAnswers = AnswersById | Answers | Embeddings
_SHAPE = "{task: {language: {id: answer}}}"
AnswersByCell = Mapping[str, Mapping[str, CellAnswers]]
# A prediction folder, answers by cell, a table of answers, a function of examples, or a fitted system.
Predictions = str | os.PathLike[str] | AnswersByCell | Tabular | AnswerFunction | FittedSystem


@dataclass(frozen=True)
class PredictionsInMemory:
    """Answers by task id, language and example id, for any split."""

    answers: Mapping[str, Mapping[str, Mapping[str, Any] | Embeddings]]
    root: Path = Path("predictions")

    __repr__ = short_repr

    @property
    def system(self) -> dict[str, Any]:
        """Metadata of the system: a fixed name."""
        return {"name": "predictions"}

    def has(self, task: Task) -> bool:
        """Return True if there are answers to the task."""
        return task.id in self.answers

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """Return the file of a cell, or None."""
        if language not in self.answers.get(task.id, {}):
            return None
        return PredictionFile(self.root / task.id / language, "memory")

    def pseudo_languages(self, task: Task, split: str) -> tuple[str, ...]:
        """Return the languages with answers to pseudo test sets: those that the task does not have."""
        return tuple(code for code in self.answers.get(task.id, {}) if code not in task.every_language)

    def read(self, task: Task, file: PredictionFile, examples: Examples) -> Answers:
        """Read the answers of a cell; a wrong type becomes a problem."""
        given = self.answers[task.id][examples.language]
        if isinstance(given, Embeddings):
            return answers_of_embeddings(task, given, file.path, examples)
        kind, answers = kind_of(task), Answers(file.path)
        for identifier, value in answers.worth_reading(given.items()):
            answers.convert(kind, str(identifier), value)
        answers.ids = kind.known_ids(answers.ids, examples)
        return answers


# The answers of a system.
PredictionSource = PredictionFolder | PredictionsInMemory | PredictionsOnDemand


def open_predictions(predictions: Predictions, *, pseudo: bool = False) -> PredictionSource:
    """Open the predictions of one run: a folder, answers by cell or in a table, a function, or a fitted system.

    Tasks may be given by an alias. With `pseudo`, answers may have further languages, those of pseudo test sets.

    Raises:
        PredictionError: the folder does not exist or is a folder of runs, a table has no such column or cell, or the
            predictions have none of these forms.
        UnknownNameError: unknown task or language.
    """
    if isinstance(predictions, str | os.PathLike):
        return single_run(_folder(predictions))
    if is_table(predictions):
        return PredictionsInMemory(answers_in_table(cast("Tabular", predictions), pseudo=pseudo))
    if isinstance(predictions, Mapping):
        return PredictionsInMemory(_known_cells(cast("AnswersByCell", predictions), pseudo=pseudo))
    if isinstance(predictions, type):
        what = f"{predictions.__name__} is a class, not a fitted system"
        raise PredictionError(what, fix="Pass an object, or run the class with isogloss.run")
    if callable(predictions) or isinstance(predictions, FittedSystem):
        return PredictionsOnDemand.of(predictions)
    what = f"predictions cannot be of type {type(predictions).__name__}"
    forms = f"Pass a folder, {_SHAPE}, a table, a function of examples or a fitted system"
    advice = "; pass several one by one, and records as a table: pandas.DataFrame(records)"
    raise PredictionError(what, fix=forms + advice * isinstance(predictions, list | tuple | set))


def _folder(given: str | os.PathLike[str]) -> Path:
    """Return the path; raise PredictionError for a text that cannot be one, such as the content of a file."""
    path = Path(given)
    try:
        path.is_dir()
    except OSError as error:
        fix = "Pass the folder with one subfolder per task"
        raise PredictionError(f"not a path ({error.strerror})", where=str(path), fix=fix) from None
    return path


def source_name(predictions: object) -> str:
    """Return the path of predictions for messages and commands, or that they are in memory."""
    return str(predictions) if isinstance(predictions, str | os.PathLike) else "<predictions in memory>"


def _known_cells(predictions: AnswersByCell, *, pseudo: bool) -> dict[str, dict[str, Mapping[str, Any] | Embeddings]]:
    """Return answers by the ids of tasks; unknown tasks and languages are errors."""
    answers: dict[str, dict[str, Mapping[str, Any] | Embeddings]] = {}
    for name, languages in predictions.items():
        if not isinstance(languages, Mapping) or is_table(languages):
            what = f"expected {_SHAPE}, but {name!r} has a {type(languages).__name__}"
            raise PredictionError(what, where="predictions")
        task = find_task(name)
        for code, cell in languages.items():
            where = f"{task.id}/{code}"
            if not isinstance(cell, Embeddings | Answers | AnswersById):
                what = f"expected {{id: answer}} or Embeddings, got {type(cell).__name__}"
                raise PredictionError(what, where=where, fix=f"Pass {_SHAPE}")
            if code not in task.every_language and not (pseudo and is_tag(code)):
                raise no_language(task.id, code, task.every_language)
            if code in answers.setdefault(task.id, {}):
                raise PredictionError("two sets of answers, one under an alias of the task", where=where)
            answers[task.id][code] = cell if isinstance(cell, Embeddings) else _by_id(cell, where)
    return answers


def _by_id(cell: Answers | AnswersById, where: str) -> Mapping[str, Any]:
    """Return the answers of a mapping, a pandas series or an import by id, as Python values."""
    pairs = list(zip(cell.ids, cell.values, strict=True) if isinstance(cell, Answers) else cell.items())
    answers = {identifier: plain(value) for identifier, value in pairs}
    if len(answers) < len(pairs):
        raise PredictionError("ids occur more than once", where=where, fix="Give one answer per id")
    return answers


@dataclass(frozen=True)
class OpenedSystem:
    """The predictions of a system: its runs by name, "" for the only run of a plain folder or mapping."""

    runs: Mapping[str, PredictionSource]
    system: dict[str, Any]  # metadata

    __repr__ = short_repr


def open_system(predictions: Predictions, *, pseudo: bool = False) -> OpenedSystem:
    """Open the predictions of a system with one run or several; see `open_predictions` and `run_folders`."""
    if isinstance(predictions, str | os.PathLike):
        folder = PredictionFolder(_folder(predictions))
        runs = {name: PredictionFolder(path) for name, path in run_folders(folder.root).items()}
        return OpenedSystem(runs, system_of_runs(folder, next(iter(runs.values()))))
    run = open_predictions(predictions, pseudo=pseudo)
    return OpenedSystem({"": run}, run.system)
