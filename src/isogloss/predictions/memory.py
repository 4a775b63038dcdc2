"""Predictions that are in memory, as a mapping, and what they have in common with a folder of them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from isogloss.predictions.folder import PredictionFile, PredictionFolder
from isogloss.predictions.formats import Answers
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# A prediction folder, or {task: {language: {id: answer}}}.
Predictions = str | os.PathLike[str] | Mapping[str, Mapping[str, Mapping[str, Any]]]


class PredictionSource(Protocol):
    """Whatever has the answers of a system: a folder, or a mapping in memory."""

    @property
    def root(self) -> Path:
        """Where they are, for messages."""

    @property
    def system(self) -> dict[str, Any]:
        """What is known of the system, its name at least."""

    def has(self, task: Task) -> bool:
        """Whether there is anything for the task."""

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """Where the answers of a cell are, None for nowhere."""

    def read(self, task: Task, found: PredictionFile, examples: Examples) -> Answers:
        """The answers of a cell."""


@dataclass(frozen=True)
class PredictionsInMemory:
    """Answers by task id, language and example id; they serve for any split."""

    answers: Mapping[str, Mapping[str, Mapping[str, Any]]]
    root: Path = Path("predictions")

    @property
    def system(self) -> dict[str, Any]:
        """Nothing is known of the system but that it answered."""
        return {"name": "predictions"}

    def has(self, task: Task) -> bool:
        """Whether there is anything for the task."""
        return task.id in self.answers

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """The cell, if it has answers."""
        if language not in self.answers.get(task.id, {}):
            return None
        return PredictionFile(self.root / task.id / language, "memory")

    def read(self, task: Task, found: PredictionFile, examples: Examples) -> Answers:
        """The answers of a cell; one of the wrong type is among their problems."""
        kind, answers = kind_of(task), Answers(found.path)
        for identifier, value in self.answers[task.id][examples.language].items():
            if value is None:
                answers.add(str(identifier), None)
            else:
                answers.convert(kind, str(identifier), value)
        answers.ids = kind.known_ids(answers.ids, examples)
        return answers


def open_predictions(predictions: Predictions) -> PredictionSource:
    """Predictions wherever they are.

    Args:
        predictions: a folder, or {task: {language: {id: answer}}}; aliases of tasks are understood.

    Raises:
        PredictionError: there is no such folder.
        UnknownNameError: no such task, or it has no such language.
    """
    if not isinstance(predictions, Mapping):
        return PredictionFolder(Path(predictions))
    answers: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for name, languages in predictions.items():
        task = find_task(name)
        for code in languages:
            if code not in task.every_language:
                raise no_language(task.id, code, task.every_language)
        answers[task.id] = languages
    return PredictionsInMemory(answers)
