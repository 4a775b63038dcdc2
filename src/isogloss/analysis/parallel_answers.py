"""Predictions for parallel test sets: the same questions in every language.

An item is a row of the task's score: an example, or a checklist case. It is right if it has full marks by the task's
metric, for question answering an exact match, and failed if its score is zero: no word in common with the gold answer.

An item that every system fails in every language may have a wrong gold answer. One that every system fails in one
language and gets right in all others may be badly translated. Partly right answers count as neither, since the
boundaries of answers can differ without an error in the data.

Measures of agreement are `Statistics`: one row per item and a value of column sums, so that their errors follow from
the jackknife over sources, like those of every score.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from isogloss.analysis.answers import score_values
from isogloss.analysis.finding import Value
from isogloss.metrics.estimate import ROUNDING, Estimate, Interval, estimate
from isogloss.metrics.statistics import MEAN, FloatArray, IntArray, Statistics
from isogloss.metrics.statistics import Value as Kappa
from isogloss.scoring.cells import Answered, Cell
from isogloss.scoring.main_score import lower_is_better, main_statistics
from isogloss.scoring.request import Resample
from isogloss.scoring.sources import Sources
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

BoolArray = npt.NDArray[np.bool_]
# With two languages it is unclear which one is the odd one out.
FEWEST_LANGUAGES = 3
# Answers of these forms do not depend on the language and can be compared across languages.
SHARED_FORMS = ("label", "option")


@dataclass(frozen=True, eq=False, kw_only=True)
class ParallelCell:
    """Predictions of one system in one language of a parallel task.

    Attributes:
        units: id that each item shares with its translations.
        right: True for items with full marks.
        failed: True for items with a score of zero.
        answers: predictions as text; `texts` are the inputs, `gold` the gold answers.
        cell: judged cell, for its sources.
        example: representative example of each item.
    """

    system: str
    language: str
    units: list[str]
    right: BoolArray
    failed: BoolArray
    answers: list[str]
    texts: list[str]
    gold: list[str]
    cell: Cell
    example: IntArray


def is_parallel(task: Task) -> bool:
    """Return True if a task's test sets are translations of each other and predictions are right or wrong."""
    kind = kind_of(task)
    return bool(task.parallel) and not kind.retrieval and kind.rows == "example"


def parallel_cell(system: str, answered: Answered) -> ParallelCell | None:
    """Return the items of a cell, or None if its examples share no ids across languages."""
    task, examples, cell = answered.task, answered.examples, answered.cell
    if examples.units is None:
        return None
    statistics = main_statistics(task.id, cell.metrics)
    scores = statistics.value.of_examples(statistics.rows, np.ones(len(statistics)))
    marks = 1 - scores if lower_is_better(task.id) else scores
    rows = cell.judgement.row_example
    chosen: IntArray = np.arange(len(examples)) if rows is None else rows
    texts, gold = kind_of(task).main_text(examples), examples[examples.gold]
    return ParallelCell(
        system=system,
        language=examples.language,
        units=[examples.units[row] for row in chosen],
        right=marks > 1 - ROUNDING,
        failed=marks < ROUNDING,
        answers=[_as_text(answered.values[row]) for row in chosen],
        texts=[texts[row] for row in chosen],
        gold=[_as_text(gold[row]) for row in chosen],
        cell=cell,
        example=chosen,
    )


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return " / ".join(map(str, value))
    return "" if value is None else str(int(value)) if isinstance(value, bool | float) else str(value)


class ParallelAnswers:
    """All cells of one task and split, over their common items (`units`, in the order of the first cell)."""

    def __init__(self, task: Task, cells: Sequence[ParallelCell], resample: Resample = "source") -> None:
        self.task, self.cells = task, cells
        common = set(cells[0].units).intersection(*(cell.units for cell in cells[1:]))
        self.units = [unit for unit in cells[0].units if unit in common]
        self.languages = list(dict.fromkeys(cell.language for cell in cells))
        self.systems = list(dict.fromkeys(cell.system for cell in cells))
        self._sources = Sources((cell.cell for cell in cells), resample)
        self._rows = {(one.system, one.language): {unit: row for row, unit in enumerate(one.units)} for one in cells}

    def of(self, system: str, language: str) -> ParallelCell | None:
        """Return a cell, or None."""
        return next((cell for cell in self.cells if (cell.system, cell.language) == (system, language)), None)

    def rows(self, cell: ParallelCell, units: Iterable[str]) -> IntArray:
        """Return the rows of items in a cell."""
        row_of = self._rows[cell.system, cell.language]
        return np.fromiter((row_of[unit] for unit in units), np.int64)

    def common_units(self, cells: Sequence[ParallelCell]) -> list[str]:
        """Return the items common to some cells, in the order of the first."""
        others = [self._rows[cell.system, cell.language] for cell in cells[1:]]
        return [unit for unit in cells[0].units if all(unit in other for other in others)]

    def marks(
        self, mark: Callable[[ParallelCell], BoolArray], cells: Sequence[ParallelCell], units: Sequence[str]
    ) -> BoolArray:
        """Return the marks of items (rows) in cells (columns): right, or failed."""
        return np.column_stack([mark(cell)[self.rows(cell, units)] for cell in cells])

    def estimate(self, cell: ParallelCell, rows: IntArray, statistics: Statistics) -> Estimate:
        """Estimate statistics over some rows of a cell, by the cell's sources."""
        return estimate(replace(statistics, units=cell.example[rows]), *self._sources.of_examples(cell.cell))


def failed_everywhere(grid: ParallelAnswers, pivot: str) -> list[list[Value]]:
    """Return the items that every system fails in every language, those with most agreement first.

    Gold and text are the pivot's if it has answers.
    """
    nowhere = grid.marks(lambda cell: cell.failed, grid.cells, grid.units).all(axis=1)
    rows: list[list[Value]] = []
    for unit in np.array(grid.units, dtype=object)[nowhere]:
        items = [(cell, int(grid.rows(cell, [unit])[0])) for cell in grid.cells]
        [(answer, times)] = Counter(cell.answers[row] for cell, row in items).most_common(1)
        cell, row = next((item for item in items if item[0].language == pivot), items[0])
        rows.append([grid.task.id, unit, len(items), cell.gold[row], answer, times, cell.texts[row]])
    return sorted(rows, key=lambda row: -int(row[5] or 0))


def failed_in_one(grid: ParallelAnswers, pivot: str) -> list[list[Value]]:
    """Return the items that every system fails in one language and gets right in all others.

    The answer is the first system's. The text elsewhere is the pivot's, or another language's if it is the pivot.
    """
    rows: list[list[Value]] = []
    for language, (only, _) in _only_here(grid).items():
        here = next(cell for cell in grid.cells if cell.language == language)
        rest = [cell for cell in grid.cells if cell.language != language]
        there = next((cell for cell in rest if cell.language == pivot), rest[0])
        systems = len(grid.cells) - len(rest)
        for unit in np.array(grid.units, dtype=object)[only]:
            row, other = int(grid.rows(here, [unit])[0]), int(grid.rows(there, [unit])[0])
            details = here.gold[row], here.answers[row], here.texts[row], there.texts[other]
            rows.append([grid.task.id, language, unit, systems, *details])
    return rows


def one_language_counts(grid: ParallelAnswers) -> list[list[Value]]:
    """Count the items that every system fails in one language and gets right in all others."""
    counts: list[list[Value]] = []
    reference = grid.cells[0]
    rows = grid.rows(reference, grid.units)
    for language, (only, failed) in _only_here(grid).items():
        share = grid.estimate(reference, rows, Statistics(only[:, None].astype(float), MEAN))
        count = int(only.sum())
        of_failed = 100 * count / int(failed.sum()) if failed.any() else None
        counts.append([grid.task.id, language, len(grid.units), count, *score_values(share), of_failed])
    return counts


def _only_here(grid: ParallelAnswers) -> dict[str, tuple[BoolArray, BoolArray]]:
    """Return, by language, the items that fail only there, and those that every system fails there."""
    if len(grid.languages) < FEWEST_LANGUAGES or not grid.units:
        return {}
    right = grid.marks(lambda cell: cell.right, grid.cells, grid.units)
    failed = grid.marks(lambda cell: cell.failed, grid.cells, grid.units)
    by_language = {}
    for language in grid.languages:
        inside = np.array([cell.language == language for cell in grid.cells])
        here: BoolArray = np.all(failed[:, inside], axis=1)
        by_language[language] = np.all(right[:, ~inside], axis=1) & here, here
    return by_language


def cohen_statistics(first: npt.NDArray[np.generic], second: npt.NDArray[np.generic]) -> Statistics:
    """Return the statistics of Cohen's kappa (1960): equality of two ratings, then indicators of their categories."""
    categories, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    chosen = np.eye(len(categories))[codes]
    rows = np.column_stack([first == second, chosen[: len(first)], chosen[len(first) :]]).astype(np.float64)
    return Statistics(rows, _COHEN)


def fleiss_statistics(right: npt.NDArray[np.bool_]) -> Statistics:
    """Return the statistics of Fleiss' kappa (1971) of binary ratings, (items, raters); Scott's pi for two raters."""
    raters = right.shape[1]
    yes = right.sum(axis=1)
    alike = (yes * (yes - 1) + (raters - yes) * (raters - yes - 1)) / (raters * (raters - 1))
    return Statistics(np.column_stack([alike, yes / raters]).astype(np.float64), _FLEISS)


def agreement_shares(statistics: Statistics) -> tuple[float, float]:
    """Return the observed and the expected share of equal ratings, from `cohen_statistics`."""
    same, chance = _cohen_shares(statistics.sums, np.asarray(float(len(statistics))))
    return float(same), float(chance)


def kappa_interval(estimate: Estimate) -> Interval | None:
    """Return the interval of a kappa, clipped to -1..1, or None if nothing varies."""
    interval = estimate.score_interval()
    return None if interval is None else (max(-1.0, interval[0]), min(1.0, interval[1]))


def counts_if_independent(shares: Sequence[float]) -> FloatArray:
    """Return the probabilities of 0, 1, … successes in independent trials with these probabilities."""
    chances: FloatArray = np.ones(1)
    for share in shares:
        chances = np.convolve(chances, [1 - share, share])
    return chances


def _cohen_shares(sums: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    categories = (sums.shape[-1] - 1) // 2
    first, second = sums[..., 1 : 1 + categories], sums[..., 1 + categories :]
    items = np.maximum(count, 1)
    return sums[..., 0] / items, (first * second).sum(axis=-1) / items**2


def _beyond_chance(same: FloatArray, chance: FloatArray) -> FloatArray:
    """Return (same - chance) / (1 - chance), or NaN if chance explains everything."""
    left = 1 - chance
    kappa: FloatArray = np.divide(same - chance, left, out=np.full(np.shape(left), np.nan), where=left > ROUNDING)
    return kappa


def _fleiss(sums: FloatArray, count: FloatArray) -> FloatArray:
    items = np.maximum(count, 1)
    right = sums[..., 1] / items
    return _beyond_chance(sums[..., 0] / items, right**2 + (1 - right) ** 2)


_COHEN = Kappa("cohen's kappa", (), lambda sums, count: _beyond_chance(*_cohen_shares(sums, count)), is_share=False)
_FLEISS = Kappa("fleiss' kappa", ("alike", "right"), _fleiss, is_share=False)
