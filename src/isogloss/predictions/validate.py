"""Find all problems of a prediction folder: files, formats, ids and answers."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.errors import DataError, IsoglossError, PredictionError, named, unknown
from isogloss.metrics.crossed import Design
from isogloss.notebooks import arrow_table, data_frame, html_table, short_repr
from isogloss.predictions.check import CheckedAnswers, check_answers
from isogloss.predictions.folder import PredictionFolder, misnamed_entries, tasks_in
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.memory import Predictions, PredictionsInMemory, PredictionSource, open_predictions
from isogloss.predictions.on_demand import PredictionsOnDemand
from isogloss.predictions.problems import (
    MAX_PROBLEMS,
    LeftOut,
    Problem,
    ProblemCode,
    number_of,
    number_of_errors,
    stopped,
)
from isogloss.predictions.run_folders import (
    COMPLETE_RUNS,
    FINISH_RUNS,
    NOTHING_SHARED,
    in_some_runs,
    run_folders,
    run_levels,
)
from isogloss.predictions.subset import own_subset, read_subset
from isogloss.tasks.loading import data_folder
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS
from isogloss.tasks.registry import chosen_tasks
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import use_tasks_of

# Columns of the problems.
_COLUMNS = ("severity", "where", "what", "fix")


@dataclass(frozen=True, kw_only=True)
class CheckedFile:
    """A checked cell: its file, number of answers, problems, and the reason if no score includes it.

    `run` is empty in a plain prediction folder.
    """

    task: str
    language: str
    split: str
    path: Path
    answers: int
    problems: list[Problem]
    left_out: LeftOut | None = None
    run: str = ""

    __repr__ = short_repr


@dataclass(repr=False)
class ValidationReport:
    """Problems of a prediction folder, or of a folder of runs."""

    cells: list[CheckedFile] = field(default_factory=list)  # with their problems: by run, task, language and split
    problems: list[Problem] = field(default_factory=list)  # of the folder, such as misnamed entries

    def __repr__(self) -> str:
        return f"ValidationReport({self.summary})"

    @property
    def summary(self) -> str:
        """Numbers of files, errors and warnings, in words."""
        runs = len({cell.run for cell in self.cells if cell.run})
        counts = {"run": runs} if runs else {}
        counts |= {"file": len(self.cells), "error": len(self.errors)}
        counts["warning"] = len(self.everything()) - counts["error"]
        return ", ".join(number_of(count, noun) for noun, count in counts.items())

    def everything(self) -> list[Problem]:
        """Return all problems: of the folder, then of each file."""
        return [*self.problems, *(problem for cell in self.cells for problem in cell.problems)]

    @property
    def errors(self) -> list[Problem]:
        """Problems that prevent scoring."""
        return [problem for problem in self.everything() if not problem.warning]

    def _repr_html_(self) -> str:
        return html_table(repr(self), ("", "where", "what", "fix"), [tuple(row.values()) for row in self._rows()])

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per problem."""
        return data_frame(self._rows(), _COLUMNS)

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per problem."""
        return arrow_table(self._rows(), _COLUMNS)

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the problems as a JSON list; with a path, also write it."""
        text = json.dumps(self._rows(), ensure_ascii=False, indent=2)
        if path is not None:
            with atomic_write(Path(path)) as stream:
                stream.write(text + "\n")
        return text

    def _rows(self) -> list[dict[str, str]]:
        return [
            {
                "severity": "warning" if text.warning else "error",
                "where": text.where,
                "what": text.what,
                "fix": text.fix,
            }
            for text in (problem.text for problem in self.everything())
        ]


def validate(
    predictions: "Predictions",
    data: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    subset: str | os.PathLike[str] | None = None,
    split: str = "test",
) -> ValidationReport:
    """Check predictions: files, formats, ids and answers, in a folder, in every run of a folder of runs, or in memory.

    Only the inputs are needed; a cell that `score` leaves out because its gold is missing is a warning.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings; or a folder of runs
            (`seed-0`, `seed-1`, …; `prompt-short/seed-0`, …); or predictions in memory, as `score` takes them.
        data: data folder with the inputs; default ISOGLOSS_DATA or the user's cache.
        tasks: tasks to check; default all tasks in the predictions; required for a function or a system.
        languages: languages to check; default all.
        gold: label folder in XTREME's layout, used instead of the data folder.
        progress: called with each task and language before it is checked.
        subset: subset file of `export`, or its folder, if only the drawn examples are answered.
        split: split of predictions in memory, "test" or "dev"; files have it in their names.

    Returns:
        All problems, by file.

    Raises:
        PredictionError: the folder is missing, or has predictions beside its runs.
        UnknownNameError: unknown task.
        PluginError: the plugin of a task in the folder cannot be loaded.

    Example:
        isogloss.validate("my-predictions", data="data").errors
    """
    languages = named("language", languages)
    if not isinstance(predictions, str | os.PathLike):
        return _validate_in_memory(predictions, data, tasks, languages, gold, progress, subset, split)
    root = PredictionFolder(Path(predictions))
    runs = run_folders(root.root)
    drawn = own_subset(runs.values()) if subset is None else read_subset(subset)
    use_tasks_of(data)
    source = GoldSource(data_folder(data), None if gold is None else Path(gold), subset=drawn)
    reports = {}
    for run, path in runs.items():
        chosen = list(map(find_task, chosen_tasks(tasks, tasks_in(path))))
        reports[run] = check_folder(PredictionFolder(path), chosen, source, languages=languages, progress=progress)
    return reports[""] if "" in reports else _of_runs(root, reports)


def _validate_in_memory(  # noqa: PLR0917 - the arguments of `validate`
    predictions: Predictions,
    data: str | os.PathLike[str] | None,
    tasks: Sequence[str] | None,
    languages: Sequence[str] | None,
    gold: str | os.PathLike[str] | None,
    progress: Callable[[str], None] | None,
    subset: str | os.PathLike[str] | None,
    split: str,
) -> ValidationReport:
    if split not in ("test", "dev"):
        raise unknown("split", split, ("test", "dev"))
    use_tasks_of(data)
    source = open_predictions(predictions)
    answered = list(source.answers) if isinstance(source, PredictionsInMemory) else []
    if tasks is None and not answered:
        fix = "Name its tasks, such as tasks=['xquad']" if isinstance(source, PredictionsOnDemand) else ""
        raise PredictionError("nothing to check", where=str(source.root), fix=fix)
    chosen = [find_task(name) for name in chosen_tasks(tasks, answered)]
    drawn = None if subset is None else read_subset(subset)
    labels = GoldSource(data_folder(data), None if gold is None else Path(gold), subset=drawn)
    return check_folder(source, chosen, labels, languages=languages, progress=progress, splits=(split,))


def _of_runs(root: PredictionFolder, reports: Mapping[str, ValidationReport]) -> ValidationReport:
    """Merge the reports of the runs in a folder, and check that they belong together."""
    problems = list(_unreadable_metadata(root))
    incomplete = partial(Problem, code=ProblemCode.INCOMPLETE_RUNS, file=str(root.root))
    try:
        Design.of(list(map(run_levels, reports)))
    except ValueError as error:
        problems.append(incomplete(detail=f"incomplete runs: {error}", advice=COMPLETE_RUNS))
    cells = {run: {(cell.task, cell.language, cell.split) for cell in report.cells} for run, report in reports.items()}
    if all(cells.values()) and not set.intersection(*cells.values()):
        problems.append(incomplete(detail=NOTHING_SHARED, advice=FINISH_RUNS))
    for (task, language, split), reason in in_some_runs(cells).items():
        left_out = LeftOut(reason=reason, fix=FINISH_RUNS, task=task, language=language, split=split)
        problems.append(replace(left_out.problem, warning=True))
    return ValidationReport(
        cells=[replace(cell, run=run) for run, report in reports.items() for cell in report.cells],
        problems=[*problems, *(problem for report in reports.values() for problem in report.problems)],
    )


def _unreadable_metadata(folder: PredictionFolder) -> Iterator[Problem]:
    try:
        _ = folder.metadata
    except IsoglossError as error:
        yield Problem.of_error(error)


def check_folder(
    folder: PredictionSource,
    tasks: Sequence[Task],
    gold: GoldSource,
    *,
    languages: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    receive: Callable[[Task, str, CheckedAnswers], None] | None = None,
    splits: Sequence[str] = ("test", "dev"),
) -> ValidationReport:
    """Check the cells of a folder one by one; `receive` gets each task, language and its checked answers.

    Checking stops after `MAX_PROBLEMS` errors; the report then ends with a problem that says so.
    """
    report = ValidationReport()
    if isinstance(folder, PredictionFolder):
        misnamed = misnamed_entries(folder, [task.id for task in tasks])
        report.problems += [*_unreadable_metadata(folder), *misnamed]
    errors = number_of_errors(report.problems)
    for task in tasks:
        codes = [code for code in task.every_language if languages is None or code in languages]
        try:
            cells = [*product(codes, splits), *_pseudo_cells(folder, task, languages)]
            for language, split in cells:
                file = folder.find(task, language, split)
                if file is None:
                    continue
                if errors >= MAX_PROBLEMS:
                    return _stopped_report(report, folder, errors)
                if progress is not None:
                    progress(f"{task.id}/{language}")
                checked = check_answers(folder, task, language, {split: file}, gold)
                problems, left_out = list(checked.problems), checked.left_out
                errors += number_of_errors(problems)
                if left_out is not None:
                    problems.append(replace(left_out.problem, warning=True))
                report.cells.append(
                    CheckedFile(
                        task=task.id,
                        language=language,
                        split=split,
                        path=file.path,
                        answers=checked.count,
                        problems=problems,
                        left_out=left_out,
                    )
                )
                if receive is not None:
                    receive(task, language, checked)
        except DataError as error:
            report.problems.append(Problem.of_error(error))
    if not report.cells and not report.errors:
        report.problems.append(Problem(code=ProblemCode.NO_PREDICTIONS, file=str(folder.root)))
    return report


def _pseudo_cells(folder: PredictionSource, task: Task, languages: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return language and split of the answers to pseudo test sets."""
    if not isinstance(folder, PredictionFolder):
        return []
    return [
        (code, split)
        for split in ORIGINAL_SPLITS
        for code in folder.pseudo_languages(task, split)
        if languages is None or code in languages
    ]


def _stopped_report(report: ValidationReport, folder: PredictionSource, errors: int) -> ValidationReport:
    if not any(problem.code is ProblemCode.TOO_MANY_PROBLEMS for problem in report.problems):
        report.problems.append(stopped(str(folder.root), errors))
    return report
