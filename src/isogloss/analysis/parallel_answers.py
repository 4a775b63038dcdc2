"""The answers of systems to parallel test sets, side by side: the same question in every language.

An item is what a row of the task's score is: an example, or a case of the checklist. It is right where it has full
marks by the task's score, which for question answering is an exact match, and failed where it has none at all: no word
in common with the gold.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, Estimate, estimate
from isogloss.metrics.statistics import IntArray, Statistics
from isogloss.scoring.cells import Answered, Cell, Resample
from isogloss.scoring.main_score import lower_is_better, main_statistics
from isogloss.scoring.sources import Sources
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

# Answers of these forms are words of the task, not of the language, and can be compared across languages.
SHARED_FORMS = ("label", "option")


@dataclass(frozen=True, eq=False)
class ParallelCell:
    """One system's answers in one language of a parallel task.

    Attributes:
        units: the id that each item shares with its translations.
        right: whether each has full marks.
        failed: whether each has none.
        answers: what was said, as text.
        texts: what was asked.
        gold: what is right, as text.
        cell: the judged cell, for its sources.
        example: the example that stands for each item.
    """

    system: str
    language: str
    units: list[str]
    right: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.bool_]
    answers: list[str]
    texts: list[str]
    gold: list[str]
    cell: Cell
    example: IntArray


def is_parallel(task: Task) -> bool:
    """Whether the test sets of a task are translations of each other, and answers to them right or wrong."""
    kind = kind_of(task)
    return bool(task.parallel) and not kind.retrieval and kind.rows == "example"


def parallel_cell(system: str, answered: Answered) -> ParallelCell | None:
    """The items of a cell; None where its examples have no ids in common with other languages."""
    task, examples, cell = answered.task, answered.examples, answered.cell
    if examples.units is None:
        return None
    scores = main_statistics(task.id, cell.metrics).rows[:, 0]
    marks = 1 - scores if lower_is_better(task.id) else scores
    rows = cell.judgement.row_example
    chosen: IntArray = np.arange(len(examples)) if rows is None else rows
    texts, gold = kind_of(task).main_text(examples), examples[examples.gold]
    return ParallelCell(
        system,
        examples.language,
        [examples.units[row] for row in chosen],
        marks > 1 - ROUNDING,
        marks < ROUNDING,
        [_as_text(answered.values[row]) for row in chosen],
        [texts[row] for row in chosen],
        [_as_text(gold[row]) for row in chosen],
        cell,
        chosen,
    )


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return " / ".join(map(str, value))
    return "" if value is None else str(int(value)) if isinstance(value, bool | float) else str(value)


class ParallelAnswers:
    """All cells of one task and split, over the items that every one of them has.

    Attributes:
        cells: of all systems and languages.
        units: the items that all cells have, in the order of the first.
        languages: in the order they came.
        systems: in the order they came.
    """

    def __init__(self, task: Task, cells: Sequence[ParallelCell], resample: Resample = "source") -> None:
        self.task, self.cells = task, cells
        common = set(cells[0].units).intersection(*(cell.units for cell in cells[1:]))
        self.units = [unit for unit in cells[0].units if unit in common]
        self.languages = list(dict.fromkeys(cell.language for cell in cells))
        self.systems = list(dict.fromkeys(cell.system for cell in cells))
        self._sources = Sources((cell.cell for cell in cells), resample)
        self._place = {
            (cell.system, cell.language): {unit: row for row, unit in enumerate(cell.units)} for cell in cells
        }

    def of(self, system: str, language: str) -> ParallelCell | None:
        """A cell, None where there is none."""
        return next((cell for cell in self.cells if (cell.system, cell.language) == (system, language)), None)

    def rows(self, cell: ParallelCell, units: Iterable[str]) -> IntArray:
        """Where some items stand in a cell."""
        place = self._place[cell.system, cell.language]
        return np.fromiter((place[unit] for unit in units), np.int64)

    def common_units(self, cells: Sequence[ParallelCell]) -> list[str]:
        """The items that some cells have in common, in the order of the first."""
        others = [self._place[cell.system, cell.language] for cell in cells[1:]]
        return [unit for unit in cells[0].units if all(unit in other for other in others)]

    def right(self, cells: Sequence[ParallelCell], units: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether each item (rows) is right in each cell (columns)."""
        return np.column_stack([cell.right[self.rows(cell, units)] for cell in cells])

    def failed(self, cells: Sequence[ParallelCell], units: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether each item (rows) has failed in each cell (columns)."""
        return np.column_stack([cell.failed[self.rows(cell, units)] for cell in cells])

    def estimate(self, cell: ParallelCell, rows: IntArray, statistics: Statistics) -> Estimate:
        """The estimate of something that has one row for each of some rows of a cell, by the cell's sources."""
        return estimate(replace(statistics, units=cell.example[rows]), *self._sources.of_examples(cell.cell))
