"""Validate and judge a prediction folder in one pass, so that exactly the validated files are scored."""

from dataclasses import dataclass
from typing import Any

from isogloss.errors import DataError, PredictionError
from isogloss.predictions.check import CheckedAnswers
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.problems import LeftOut, ProblemCode
from isogloss.predictions.validate import ValidationReport, check_folder
from isogloss.scoring.cells import Cell, judge_checked
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.scoring.score import score_cells
from isogloss.tasks.task import Task

_MISNAMED = (ProblemCode.UNKNOWN_TASK, ProblemCode.UNKNOWN_LANGUAGE, ProblemCode.FILE_INSTEAD_OF_FOLDER)


@dataclass(frozen=True, kw_only=True)
class ValidatedPredictions:
    """A prediction folder after one reading; cells are by task and language."""

    request: Request
    system: dict[str, Any]
    report: ValidationReport  # of all files, including those outside of the request
    cells: dict[tuple[str, str], Cell]
    without_gold: dict[tuple[str, str], LeftOut]  # requested cells without usable gold

    def score(self) -> Results:
        """Return the result record of the judged cells; nothing is read again."""
        if self.report.errors or not self.cells:
            raise PredictionError("no cell can be scored")
        names = [
            (task.id, language)
            for task in map(self.request.task, self.request.tasks)
            for language in self.request.languages_of(task)
        ]
        misnamed = [LeftOut.misnamed(problem) for problem in self.report.problems if problem.code in _MISNAMED]
        without_gold = [self.without_gold[name] for name in names if name in self.without_gold]
        cells = [self.cells[name] for name in names if name in self.cells]
        return score_cells(cells, self.request, self.system, [*misnamed, *without_gold])


def validate_and_judge(folder: PredictionFolder, request: Request) -> ValidatedPredictions:
    """Validate a prediction folder and judge its valid cells of the request.

    Every file is read and aligned once. Folders of seeds and the split "best" are not supported.
    """
    cells: dict[tuple[str, str], Cell] = {}
    without_gold: dict[tuple[str, str], LeftOut] = {}

    def judge(task: Task, language: str, checked: CheckedAnswers) -> None:
        if checked.split != request.split or language not in request.languages_of(task):
            return
        name = task.id, language
        if checked.left_out is not None:
            without_gold[name] = checked.left_out
        elif checked.can_be_judged:
            try:
                cells[name] = judge_checked(task, checked).cell
            except DataError as error:
                without_gold[name] = LeftOut.of_error(error, task.id, language, checked.split)

    tasks = [request.task(name) for name in request.tasks]
    report = check_folder(folder, tasks, request.gold_source, receive=judge)
    system = {} if report.errors else folder.system
    return ValidatedPredictions(request=request, system=system, report=report, cells=cells, without_gold=without_gold)
