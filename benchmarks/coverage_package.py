"""All calls of the package by the coverage simulation; nothing else in it depends on how intervals are computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.model import Attribute, AttributeScores, BucketScore
from isogloss.explain.pairwise import BucketContrast, attribute_contrasts
from isogloss.explain.selection import AttributeSelection
from isogloss.explain.single import attribute_scores
from isogloss.metrics.statistics import Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.comparison import Comparison
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.main_score import SCORE, main_statistics
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Number, Results
from isogloss.scoring.score import score_cell, score_cells, score_runs
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement
from isogloss.tasks.registry import task as find_task

CHECKLIST = "checklist"


@dataclass(frozen=True)
class Interval:
    """A 95 % interval on the 0..1 scale; without ends if the package gives none."""

    low: float | None
    high: float | None

    def holds(self, value: float) -> bool | None:
        """Return True if it covers a value; None without ends."""
        return None if self.low is None or self.high is None else self.low <= value <= self.high

    @property
    def width(self) -> float | None:
        """Return its width; None without ends."""
        return None if self.low is None or self.high is None else self.high - self.low


def interval(number: Number | BucketScore | SystemContrast) -> Interval:
    """Return the interval of a number, a bucket or a difference."""
    low, high = number.low, number.high
    return Interval(None if low is None else low / 100, None if high is None else high / 100)


def significant(contrast: SystemContrast | None) -> bool | None:
    """Return True if a difference is significant."""
    return None if contrast is None else contrast.p < 0.05


@cache
def request(*tasks: str) -> Request:
    """Return a request for some tasks, of XTREME-R or of the checklist."""
    return Request.of(CHECKLIST if tasks[0].startswith(CHECKLIST) else "xtreme-r", tasks=tasks)


def cell(task: str, language: str, metrics: Mapping[str, Statistics], clusters: Sequence[str] | None) -> Cell:
    """Return a judged cell; examples of parallel tasks have the same numbers in all languages."""
    n = len(next(iter(metrics.values())))
    units = [f"{row:05}" for row in range(n)] if find_task(task).parallel else None
    named = None if clusters is None else list(clusters)
    return Cell(task, language, "test", n, Judgement(dict(metrics)), units, "0" * 12, clusters=named)


def scored_cell(judged: Cell) -> CellScore:
    """Return one cell with its intervals, as `score_cells` does for each, without averages."""
    return score_cell(judged)


def scored(cells: Sequence[Cell]) -> Results:
    """Return cells, task averages and the overall figure."""
    return score_cells(cells, request(*dict.fromkeys(each.task for each in cells)), {"name": "simulated"})


def compared(first: Sequence[Cell], second: Sequence[Cell]) -> Comparison:
    """Compare two systems on the same cells."""
    sides = [SystemRuns.of(name, [cells], []) for name, cells in (("first", first), ("second", second))]
    return compare_runs(*sides, request(*dict.fromkeys(each.task for each in first)))


def seed_interval(seeds: Sequence[Sequence[Cell]]) -> Interval:
    """Return the interval of a task average over seeds."""
    wanted = request(*dict.fromkeys(each.task for each in seeds[0]))
    return interval(score_runs(seeds, wanted, {"name": "simulated"}).tasks[0].score)


def detectable_difference(contrast: SystemContrast) -> float | None:
    """Return the minimum detectable difference (80 % power), 0..1; None if the package gives none."""
    return None if contrast.detectable is None else contrast.detectable / 100


def cell_table(task: str, systems: Sequence[Mapping[str, Statistics]], clusters: Sequence[str] | None) -> CellTable:
    """Return a cell as `explain` uses it."""
    named = find_task(task)
    n = len(next(iter(systems[0].values())))
    ids = [f"{row:05}" for row in range(n)]
    examples = Examples(task, "en", "test", ids, {}, "", clusters=None if clusters is None else list(clusters))
    metrics = tuple(
        dict(each) if len(named.main) == 1 else {SCORE: main_statistics(task, each), **each} for each in systems
    )
    return CellTable.of_examples(named, examples, tuple([] for _ in systems), metrics)


def _along(table: CellTable, columns: npt.NDArray[np.float64]) -> list[Any]:
    attributes = tuple(
        Attribute(f"a{place}", f"attribute {place}", (), discrete=False, values=lambda examples, column=column: column)
        for place, column in enumerate(columns)
    )
    return bucketed_rows(table, AttributeSelection(attributes=attributes))


def explained(table: CellTable, columns: npt.NDArray[np.float64]) -> list[AttributeScores]:
    """Return the buckets of every attribute under the main metric, with sentences."""
    scores = attribute_scores(table, _along(table, columns))
    return [each for each in scores if each.metric == table.main]


def contrasted_buckets(table: CellTable, columns: npt.NDArray[np.float64]) -> list[BucketContrast]:
    """Return the differences of two systems in every bucket of every attribute."""
    contrasts = attribute_contrasts(table, _along(table, columns), (0, 1))
    return [bucket for each in contrasts for bucket in each.buckets]


def says_trend(scores: AttributeScores) -> bool:
    """Return True if a sentence says that the score rises or falls with the attribute."""
    return "from bucket to bucket" in scores.insight


def says_order_turns(contrast: BucketContrast) -> bool:
    """Return True if a bucket is marked as reversing the order of the two systems."""
    return contrast.flips
