"""Items of parallel test sets that should be read by somebody: failed everywhere, or in one language alone.

What every system fails in every language may have a wrong gold answer; what every system has right in all languages
but one, and fails there, may be badly translated into that one. Both are looked for over all systems and languages of a
task. An answer that is partly right is neither: boundaries of answers differ without anything being broken.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import Value
from isogloss.analysis.parallel_answers import ParallelAnswers
from isogloss.metrics.estimate import Estimate
from isogloss.metrics.statistics import MEAN, Statistics

BoolArray = npt.NDArray[np.bool_]
# With two languages nothing tells which of them is the odd one.
FEWEST_LANGUAGES = 3
_TIMES = 5


@dataclass(frozen=True)
class OneLanguageCount:
    """How many items every system fails in one language and has right in all others.

    `share` is of all items, `of_failed` the percentage of those that every system fails in the language.
    """

    task: str
    language: str
    n: int
    count: int
    share: Estimate
    of_failed: float | None


def failed_everywhere(grid: ParallelAnswers, pivot: str) -> list[list[Value]]:
    """The items that every system fails in every language, first those on which they agree most.

    A row is task, id, number of cells, gold, the commonest answer and in how many cells it is given, and the text; gold
    and text are the pivot's where it has answers.
    """
    nowhere = grid.failed(grid.cells, grid.units).all(axis=1)
    rows: list[list[Value]] = []
    for unit in np.array(grid.units, dtype=object)[nowhere]:
        places = [(cell, int(grid.rows(cell, [unit])[0])) for cell in grid.cells]
        [(answer, times)] = Counter(cell.answers[row] for cell, row in places).most_common(1)
        cell, row = next((each for each in places if each[0].language == pivot), places[0])
        rows.append([grid.task.id, unit, len(places), cell.gold[row], answer, times, cell.texts[row]])
    return sorted(rows, key=lambda row: -int(row[_TIMES] or 0))


def failed_in_one(grid: ParallelAnswers, pivot: str) -> list[list[Value]]:
    """The items that every system fails in one language and has right in all others.

    A row is task, language, id, how many systems answered in that language, gold, the first system's answer, the text,
    and the text in the pivot, or where that is the language itself, in another one.
    """
    rows: list[list[Value]] = []
    for language, (only, _) in _only_here(grid).items():
        here = next(cell for cell in grid.cells if cell.language == language)
        rest = [cell for cell in grid.cells if cell.language != language]
        there = next((cell for cell in rest if cell.language == pivot), rest[0])
        systems = len(grid.cells) - len(rest)
        for unit in np.array(grid.units, dtype=object)[only]:
            row, other = int(grid.rows(here, [unit])[0]), int(grid.rows(there, [unit])[0])
            told = here.gold[row], here.answers[row], here.texts[row], there.texts[other]
            rows.append([grid.task.id, language, unit, systems, *told])
    return rows


def one_language_counts(grid: ParallelAnswers) -> list[OneLanguageCount]:
    """For each language how many items fail there alone."""
    found = []
    reference = grid.cells[0]
    places = grid.rows(reference, grid.units)
    for language, (only, failed) in _only_here(grid).items():
        share = grid.estimate(reference, places, Statistics(only[:, None].astype(float), MEAN))
        count = int(only.sum())
        of_failed = 100 * count / int(failed.sum()) if failed.any() else None
        found.append(OneLanguageCount(grid.task.id, language, len(grid.units), count, share, of_failed))
    return found


def _only_here(grid: ParallelAnswers) -> dict[str, tuple[BoolArray, BoolArray]]:
    """For each language the items that fail there alone, and all that every system fails there."""
    if len(grid.languages) < FEWEST_LANGUAGES or not grid.units:
        return {}
    right, failed = grid.right(grid.cells, grid.units), grid.failed(grid.cells, grid.units)
    found = {}
    for language in grid.languages:
        inside = np.array([cell.language == language for cell in grid.cells])
        here: BoolArray = np.all(failed[:, inside], axis=1)
        elsewhere: BoolArray = np.all(right[:, ~inside], axis=1)
        found[language] = np.logical_and(here, elsewhere), here
    return found
