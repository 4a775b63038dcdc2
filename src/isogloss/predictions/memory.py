"""Predictions in memory, used like prediction folders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.notebooks import short_repr
from isogloss.predictions.folder import PredictionFile, PredictionFolder
from isogloss.predictions.formats import Answers
from isogloss.predictions.run_folders import run_folders, single_run, system_of_runs
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import is_tag
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# A prediction folder, or {task: {language: {id: answer}}}.
Predictions = str | os.PathLike[str] | Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class PredictionsInMemory:
    """Answers by task id, language and example id, for any split."""

    answers: Mapping[str, Mapping[str, Mapping[str, Any]]]
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
        kind, answers = kind_of(task), Answers(file.path)
        for identifier, value in answers.worth_reading(self.answers[task.id][examples.language].items()):
            if value is None:
                answers.add(str(identifier), None)
            else:
                answers.convert(kind, str(identifier), value)
        answers.ids = kind.known_ids(answers.ids, examples)
        return answers


# The answers of a system.
PredictionSource = PredictionFolder | PredictionsInMemory


def open_predictions(predictions: Predictions, *, pseudo: bool = False) -> PredictionSource:
    """Open the predictions of one run: a folder, or a mapping with task ids or aliases.

    With `pseudo`, a mapping may have further languages, with answers to pseudo test sets.

    Raises:
        PredictionError: the folder does not exist, or is a folder of runs.
        UnknownNameError: unknown task or language in a mapping.
    """
    if isinstance(predictions, str | os.PathLike):
        return single_run(Path(predictions))
    if not isinstance(predictions, Mapping):
        advice = "; pass several folders one by one" if isinstance(predictions, list | tuple | set) else ""
        what = f"predictions are a folder or {{task: {{language: {{id: answer}}}}}}, got {type(predictions).__name__}"
        raise TypeError(f"{what}{advice}")
    answers: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for name, languages in predictions.items():
        task = find_task(name)
        for code in languages:
            if code not in task.every_language and not (pseudo and is_tag(code)):
                raise no_language(task.id, code, task.every_language)
        answers[task.id] = languages
    return PredictionsInMemory(answers)


@dataclass(frozen=True)
class OpenedSystem:
    """The predictions of a system: its runs by name, "" for the only run of a plain folder or mapping."""

    runs: Mapping[str, PredictionSource]
    system: dict[str, Any]  # metadata

    __repr__ = short_repr


def open_system(predictions: Predictions, *, pseudo: bool = False) -> OpenedSystem:
    """Open the predictions of a system with one run or several; see `open_predictions` and `run_folders`."""
    if isinstance(predictions, str | os.PathLike):
        folder = PredictionFolder(Path(predictions))
        runs = {name: PredictionFolder(path) for name, path in run_folders(folder.root).items()}
        return OpenedSystem(runs, system_of_runs(folder, next(iter(runs.values()))))
    run = open_predictions(predictions, pseudo=pseudo)
    return OpenedSystem({"": run}, run.system)
