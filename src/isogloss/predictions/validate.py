"""Every problem of a prediction folder at once: files, formats, ids and answers."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.registry import ALIASES, TASKS, chosen_tasks, listed_tasks, task
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
        errors = len(self.errors)
        warnings = len(self.everything()) - errors
        return f"ValidationReport({len(self.cells)} files, {errors} errors, {warnings} warnings)"

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
        progress: told each task and language before it is checked.

    Returns:
        Every problem, by file; nothing is hidden behind the first.

    Raises:
        PredictionError: there is no such folder.
        UnknownNameError: no such task.
        PluginError: the folder has answers to a task that an installed package brings, and it cannot be loaded.
    """
    root = Path(predictions)
    folder = PredictionFolder(root)
    report = ValidationReport(problems=_strange_entries(root))
    examples_of = _examples(data, None if gold is None else Path(gold))
    for name in chosen_tasks(tasks, _tasks_in(root)):
        of = task(name)
        report.problems += [
            Problem(str(path), f"belongs to no language of {of.id}", _file_hint(of))
            for path in folder.unknown_files(of)
        ]
        for language in of.every_language:
            if languages is None or language in languages:
                for split in ("test", "dev"):
                    found = folder.find(of, language, split)
                    if found is not None:
                        if progress is not None:
                            progress(f"{of.id}/{language}")
                        report.cells.append(_checked(folder, of, language, split, found, examples_of))
    if not report.cells and not report.errors:
        what = "no predictions found"
        report.problems.append(Problem(str(root), what, "Expected <task>/<language>.jsonl, e.g. xquad/sw.jsonl"))
    return report


def _tasks_in(root: Path) -> list[str]:
    """The tasks that a folder has anything of; others are not even loaded."""
    names = {_task_name(entry) for entry in root.iterdir()}
    return [name for name in TASKS if name in {ALIASES.get(found, found) for found in names}]


def _task_name(entry: Path) -> str:
    return entry.name.partition(".json")[0]


def _strange_entries(root: Path) -> list[Problem]:
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


def _file_hint(of: Task) -> str:
    return f"Name it <language>.jsonl; languages are {' '.join(of.every_language)}"


ExamplesOf = Callable[[Task, str, str], Examples]


def _examples(data: str | os.PathLike[str] | None, gold: Path | None) -> ExamplesOf:
    """Where the examples to check against come from."""
    if gold is None:
        return lambda of, language, split: load(of, language, split, data_folder(data))

    def labelled(of: Task, language: str, split: str) -> Examples:
        examples = gold_examples(of, language, split, gold)
        if examples is None:
            raise DataError(f"no labels for {of.id}/{language} {split}", where=str(gold))
        return examples

    return labelled


def _checked(
    folder: PredictionFolder, of: Task, language: str, split: str, found: PredictionFile, examples_of: ExamplesOf
) -> CheckedFile:
    try:
        examples = examples_of(of, language, split)
    except DataError as error:
        return _format_only(of, language, split, found, error)
    try:
        answers = folder.read(of, found, examples)
    except IsoglossError as error:
        problem = Problem(error.where or str(found.path), error.what, error.fix)
        return CheckedFile(of.id, language, split, found.path, 0, [problem])
    _, problems = align(of, examples, answers)
    return CheckedFile(of.id, language, split, found.path, len(answers.ids), problems)


def _format_only(of: Task, language: str, split: str, found: PredictionFile, error: DataError) -> CheckedFile:
    """Without the examples only the form of a file with ids can be checked, and its ids against each other."""
    note = Problem(str(found.path), "ids and answers not checked against the examples", str(error), warning=True)
    if found.layout != "jsonl":
        return CheckedFile(of.id, language, split, found.path, 0, [note])
    answers = json_lines(found.path, kind_of(of))
    _, twice = first_rows(answers)
    return CheckedFile(of.id, language, split, found.path, len(answers.ids), [*answers.problems, *twice, note])
