"""Every problem of a prediction folder at once: files, formats, ids and answers."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, IsoglossError, near_names
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.align import align, first_rows
from isogloss.predictions.folder import PredictionFile, PredictionFolder
from isogloss.predictions.formats import json_lines
from isogloss.predictions.gold import gold_examples
from isogloss.predictions.problems import Problem
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import ALIASES, TASKS, chosen_tasks, listed_tasks
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# What may lie beside the task folders.
_COMPANIONS = {"system.toml", "results.json", "scores.csv", "README.md"}


@dataclass(frozen=True)
class CheckedFile:
    """One cell that was looked at: its file, how many answers it has, and what is wrong."""

    task: str
    language: str
    split: str
    path: Path
    answers: int
    problems: list[Problem]


@dataclass(repr=False)
class ValidationReport:
    """What is wrong with a prediction folder.

    Attributes:
        cells: the files that were looked at, one a task, language and split, each with its problems.
        problems: those of the folder itself: entries that belong to no task or language.
    """

    cells: list[CheckedFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"ValidationReport({self.summary})"

    @property
    def summary(self) -> str:
        """How many files, errors and warnings there are, in words."""
        errors = len(self.errors)
        return f"{len(self.cells)} files, {errors} errors, {len(self.everything()) - errors} warnings"

    def everything(self) -> list[Problem]:
        """All problems: of the folder, then of each file."""
        return [*self.problems, *(problem for cell in self.cells for problem in cell.problems)]

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep predictions from being scored."""
        return [problem for problem in self.everything() if not problem.warning]

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = [(row["severity"], row["where"], row["what"], row["fix"]) for row in self._rows()]
        return html_table(repr(self), ("", "where", "what", "fix"), rows)

    def to_pandas(self) -> Any:
        """Every problem as a row of a pandas data frame."""
        return data_frame(self._rows(), ("severity", "where", "what", "fix"))

    def _rows(self) -> list[dict[str, str]]:
        return [
            {"severity": "warning" if one.warning else "error", "where": one.where, "what": one.what, "fix": one.fix}
            for one in self.everything()
        ]


def validate(
    predictions: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ValidationReport:
    """Check a folder of predictions: files, formats, ids and answers. Gold is not needed, only the inputs.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings.
        data: the data folder with the inputs; default ISOGLOSS_DATA or the user's cache.
        tasks: only these tasks; default all that the folder has.
        languages: only these languages.
        gold: a folder of labels in XTREME's layout, which knows the ids too, instead of the data folder.
        progress: called with each task and language before it is checked.

    Returns:
        Every problem, by file; nothing is hidden behind the first.

    Raises:
        PredictionError: there is no such folder.
        UnknownNameError: no such task.
        PluginError: the folder has answers to a task that an installed package brings, and it cannot be loaded.
    """
    root = Path(predictions)
    folder = PredictionFolder(root)
    report = ValidationReport(problems=_unknown_entries(root))
    for name in chosen_tasks(tasks, _tasks_in(root)):
        task = find_task(name)
        fix = f"Name it <language>.jsonl; languages are {' '.join(task.every_language)}"
        report.problems += [
            Problem(str(path), f"belongs to no language of {task.id}", fix) for path in folder.unknown_files(task)
        ]
        codes = [code for code in task.every_language if languages is None or code in languages]
        for language, split in product(codes, ("test", "dev")):
            found = folder.find(task, language, split)
            if found is not None:
                if progress is not None:
                    progress(f"{task.id}/{language}")
                answers, problems = _check(folder, task, language, split, found, data, gold)
                report.cells.append(CheckedFile(task.id, language, split, found.path, answers, problems))
    if not report.cells and not report.errors:
        what = "no predictions found"
        report.problems.append(Problem(str(root), what, "Expected <task>/<language>.jsonl, e.g. xquad/sw.jsonl"))
    return report


def _tasks_in(root: Path) -> list[str]:
    """The tasks that a folder has anything of; others are not even loaded."""
    names = (_task_name(entry) for entry in root.iterdir())
    present = {ALIASES.get(name, name) for name in names}
    return [name for name in TASKS if name in present]


def _task_name(entry: Path) -> str:
    return entry.name.partition(".json")[0]


def _unknown_entries(root: Path) -> list[Problem]:
    problems: list[Problem] = []
    known = {*TASKS, *ALIASES}
    for entry in sorted(root.iterdir()):
        name = _task_name(entry)
        if entry.name.startswith(".") or entry.name in _COMPANIONS or name in known:
            continue
        close = near_names(name, known, 1)
        hint = f"Did you mean {close[0]}?" if close else f"Tasks are {', '.join(found.id for found in listed_tasks())}"
        problems.append(Problem(str(entry), "is not named after a task", hint, warning=not close))
    return problems


def _check(
    folder: PredictionFolder,
    task: Task,
    language: str,
    split: str,
    found: PredictionFile,
    data: str | os.PathLike[str] | None,
    gold: str | os.PathLike[str] | None,
) -> tuple[int, list[Problem]]:
    """How many answers a file has, and what is wrong with them."""
    try:
        examples = load(task, language, split, data) if gold is None else _labelled(task, language, split, Path(gold))
    except DataError as error:
        return _check_format_only(task, found, error)
    try:
        answers = folder.read(task, found, examples)
    except IsoglossError as error:
        return 0, [Problem(error.where or str(found.path), error.what, error.fix)]
    _, problems = align(task, examples, answers)
    return len(answers.ids), problems


def _labelled(task: Task, language: str, split: str, gold: Path) -> Examples:
    examples = gold_examples(task, language, split, gold)
    if examples is None:
        raise DataError(f"no labels for {task.id}/{language} {split}", where=str(gold))
    return examples


def _check_format_only(task: Task, found: PredictionFile, error: DataError) -> tuple[int, list[Problem]]:
    """Without the examples only the form of a file with ids can be checked, and its ids against each other."""
    note = Problem(str(found.path), "ids and answers not checked against the examples", str(error), warning=True)
    if found.layout != "jsonl":
        return 0, [note]
    answers = json_lines(found.path, kind_of(task))
    _, twice = first_rows(answers)
    return len(answers.ids), [*answers.problems, *twice, note]
