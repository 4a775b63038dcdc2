"""Every problem of a prediction folder at once: files, formats, ids and answers."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, IsoglossError
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.check import check_answers
from isogloss.predictions.folder import PredictionFile, PredictionFolder
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.misnamed import misnamed_entries, tasks_in
from isogloss.predictions.problems import LeftOut, Problem, number_of
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import chosen_tasks
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class CheckedFile:
    """One cell that was looked at: its file, the number of answers, what is wrong, and why it is left out of scores."""

    task: str
    language: str
    split: str
    path: Path
    answers: int
    problems: list[Problem]
    left_out: LeftOut | None = None


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
        counts = {"file": len(self.cells), "error": len(self.errors)}
        counts["warning"] = len(self.everything()) - counts["error"]
        return ", ".join(number_of(count, noun) for noun, count in counts.items())

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
    """Check a folder of predictions: files, formats, ids and answers.

    Gold is not needed, only the inputs; that `score` will leave a cell out for want of gold is a warning.

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
    names = chosen_tasks(tasks, tasks_in(root))
    report = ValidationReport(problems=[*_of_system(folder), *misnamed_entries(folder, names)])
    source = GoldSource(data_folder(data), None if gold is None else Path(gold))
    for task in map(find_task, names):
        codes = [code for code in task.every_language if languages is None or code in languages]
        try:
            for language, split in product(codes, ("test", "dev")):
                found = folder.find(task, language, split)
                if found is not None:
                    if progress is not None:
                        progress(f"{task.id}/{language}")
                    report.cells.append(_check(folder, task, language, split, found, source))
        except DataError as error:
            report.problems.append(Problem(error.where, error.what, error.fix))
    if not report.cells and not report.errors:
        what = "no predictions found"
        report.problems.append(Problem(str(root), what, "Expected <task>/<language>.jsonl, e.g. xquad/sw.jsonl"))
    return report


def _of_system(folder: PredictionFolder) -> list[Problem]:
    """What keeps `system.toml` from being read."""
    try:
        _ = folder.system
    except IsoglossError as error:
        return [Problem(error.where, error.what, error.fix)]
    return []


def _check(
    folder: PredictionFolder, task: Task, language: str, split: str, file: PredictionFile, gold: GoldSource
) -> CheckedFile:
    checked = check_answers(folder, task, language, {split: file}, gold)
    problems = checked.problems
    if checked.left_out is not None:
        why = checked.left_out.problem
        problems.append(replace(why, where=f"left out: {why.where}", warning=True))
    return CheckedFile(task.id, language, split, file.path, checked.count, problems, checked.left_out)
