"""Failure cases of a system on checklist tests: context, question, answer and prediction, as in XTREME-R's Table 12."""

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from isogloss.checklist.kind import Invariance, Match, case_of
from isogloss.checklist.released_kind import IMPOSSIBLE
from isogloss.errors import IsoglossError
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Answered, answered_cells
from isogloss.scoring.request import Request
from isogloss.tasks.kinds import kind_of


class FailureCase(msgspec.Struct, frozen=True, kw_only=True):
    """An example that a system answered wrongly.

    Attributes:
        failed: number of failed cases of the cell, and `cases` of all its cases.
        impossible: True if the test scores every answer from the context as wrong.
    """

    task: str
    language: str
    example: str
    context: str
    question: str
    answer: str
    prediction: str
    failed: int
    cases: int
    impossible: bool = False


def failures(
    predictions: Predictions,
    request: Request,
    *,
    examples: int = 1,
    progress: Callable[[str], None] | None = None,
    left_out: list[LeftOut] | None = None,
) -> list[FailureCase]:
    """Return the first failures of each cell, each from a different case.

    A failure counts by the rule of the task's main metric. Examples that no extractive system can answer are returned
    only if a cell has too few others.

    Args:
        predictions: a prediction folder, or answers in memory.
        request: the cells; all tasks must be checklist tests with correct answers.
        examples: number of failures per cell.
        progress: called with each cell.
        left_out: list to which answers that cannot be scored are added.

    Raises:
        IsoglossError: a task is not such a test.
        PredictionError: invalid predictions.
    """
    for name in request.tasks:
        kind = kind_of(request.task(name))
        if not isinstance(kind, Match) or isinstance(kind, Invariance):
            fix = "Use --suite checklist or checklist-released, and their tasks"
            raise IsoglossError(f"{name} is not a checklist test with correct answers", fix=fix)
    cells = answered_cells([predictions], request, progress, left_out)
    return [failure for (cell,) in cells if cell is not None for failure in _of_cell(cell, examples)]


def _of_cell(cell: Answered, count: int) -> Iterator[FailureCase]:
    kind, rows = kind_of(cell.task), cell.examples
    assert isinstance(kind, Match)  # noqa: S101 - checked for every task of the request
    failed = kind.failures(rows, cell.values, kind.rules[cell.task.main[0]], Counter())
    defects = rows["defects"] if "defects" in rows.columns else [()] * len(rows)
    cases = dict.fromkeys(case_of(rows.ids[row]) for row in failed)
    # The first answerable failure of each case, or else its first; answerable ones first.
    ordered = sorted(failed, key=lambda row: bool(IMPOSSIBLE.intersection(defects[row])))
    first = {case_of(rows.ids[row]): row for row in reversed(ordered)}
    chosen = sorted(first.values(), key=ordered.index)[:count]
    for row in chosen:
        yield FailureCase(
            task=cell.task.id,
            language=rows.language,
            example=rows.ids[row],
            context=rows["context"][row],
            question=rows["question"][row],
            answer=rows["answers"][row][0],
            prediction=cell.values[row] or "",
            failed=len(cases),
            cases=len({case_of(name) for name in rows.ids}),
            impossible=bool(IMPOSSIBLE.intersection(defects[row])),
        )
