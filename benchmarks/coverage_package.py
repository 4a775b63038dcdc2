"""All calls of the package by the coverage simulation; nothing else in it depends on how intervals are computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.board.ranking import compared_pairs
from isogloss.explain.calibration import calibration
from isogloss.explain.cell_table import CellTable
from isogloss.explain.correction import corrected_findings
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.model import Attribute, AttributeScores, BucketScore, Calibration, Explanation
from isogloss.explain.pairwise import BucketContrast, PairwiseExplanation, attribute_contrasts
from isogloss.explain.selection import AttributeSelection
from isogloss.explain.single import attribute_scores
from isogloss.metrics.discovery import false_discovery_rates
from isogloss.metrics.exchange import exchange
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.student import ALPHA
from isogloss.scoring.cells import Cell
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.main_score import SCORE, main_statistics
from isogloss.scoring.pilots import PilotAssumptions, planned_scores
from isogloss.scoring.planning import PilotStudy, StudyGoal, needed
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Number, Results
from isogloss.scoring.score import score_cell, score_cells, score_runs
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement
from isogloss.tasks.registry import task as find_task

CHECKLIST = "checklist"
# A cell with the values of its attributes, one row each.
ExplainedCell = tuple[CellTable, npt.NDArray[np.float64]]


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
    return Cell(
        task=task,
        language=language,
        split="test",
        n=n,
        judgement=Judgement(dict(metrics)),
        units=units,
        checksum="0" * 12,
        clusters=named,
    )


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


def compared_on_a_board(systems: Sequence[Sequence[Cell]]) -> list[list[ScoreContrast]]:
    """Return the contrasts of every pair of systems as the pages of a board show them."""
    runs = {index: SystemRuns.of(str(index), [cells], []) for index, cells in enumerate(systems)}
    tasks = dict.fromkeys(each.task for cells in systems for each in cells)
    return [list(contrasts.values()) for contrasts in compared_pairs(runs, request(*tasks)).values()]


def scored_seeds(seeds: Sequence[Sequence[Cell]]) -> Results:
    """Return the means of several seeds of a method."""
    return score_runs(seeds, request(*dict.fromkeys(each.task for each in seeds[0])), {"name": "simulated"})


def compared_seeds(
    first: Sequence[Sequence[Cell]], second: Sequence[Sequence[Cell]], names: Sequence[str] = ()
) -> Comparison:
    """Compare two methods with several runs each, seeds unless they have names."""
    sides = [SystemRuns.of(name, runs, [], names=names) for name, runs in (("first", first), ("second", second))]
    return compare_runs(*sides, request(*dict.fromkeys(each.task for each in first[0])))


def seed_interval(seeds: Sequence[Sequence[Cell]]) -> Interval:
    """Return the interval of a task average over seeds."""
    wanted = request(*dict.fromkeys(each.task for each in seeds[0]))
    return interval(score_runs(seeds, wanted, {"name": "simulated"}).tasks[0].score)


def detectable_difference(contrast: SystemContrast) -> float | None:
    """Return the minimum detectable difference (80 % power), 0..1; None if the package gives none."""
    return None if contrast.detectable is None else contrast.detectable / 100


def pilot(methods: Sequence[Sequence[Sequence[Cell]]], names: Sequence[str]) -> PilotStudy | None:
    """Return the variance components of the difference of two methods on one task, or None if there are none."""
    sides = [
        SystemRuns.of(name, runs, [], names=names) for name, runs in zip(("first", "second"), methods, strict=True)
    ]
    wanted = request(*dict.fromkeys(each.task for each in methods[0][0]))
    return next(each for each in planned_scores(sides, wanted, PilotAssumptions()) if each.level == "task").pilot


def needed_number(study: PilotStudy, factor: str, difference: float) -> int | None:
    """Return the number of examples or seeds that a difference needs."""
    return needed(study, factor, study.numbers, StudyGoal(difference=difference))


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
    """Return the buckets of every attribute under the main metric, with sentences corrected over this cell."""
    [scores] = explained_cells([(table, columns)])
    return [each for each in scores if each.metric == table.main]


def explained_cells(cells: Sequence[ExplainedCell]) -> list[list[AttributeScores]]:
    """Return the buckets of every attribute of each cell and metric, with sentences corrected over all cells."""
    scores = [attribute_scores(table, _along(table, columns)) for table, columns in cells]
    system = {"system": {"name": "simulated"}, "suite": "", "split": ""}
    found = corrected_findings([Explanation(**system, facets=facets) for facets in scores], [])
    return [each.facets for each in found.explanations]


def contrasted_buckets(table: CellTable, columns: npt.NDArray[np.float64]) -> list[BucketContrast]:
    """Return the differences of two systems in every bucket of every attribute, corrected over this cell."""
    return contrasted_cells([(table, columns)])


def contrasted_cells(cells: Sequence[ExplainedCell]) -> list[BucketContrast]:
    """Return the differences of two systems in every bucket of some cells, corrected over all of them."""
    facets = [facet for table, columns in cells for facet in attribute_contrasts(table, _along(table, columns), (0, 1))]
    [pair] = corrected_findings([], [PairwiseExplanation("first", "second", facets, [])]).pairs
    return [bucket for each in pair.facets for bucket in each.buckets]


@dataclass(frozen=True)
class Statement:
    """What a sentence says about the buckets of an attribute, by their index."""

    direction: int = 0  # of a trend: 1 if the score rises, -1 if it falls, 0 if there is no trend
    above: tuple[int, int] | None = None  # the first bucket is said to be above the second
    best: int | None = None
    worst: int | None = None


def stated(scores: AttributeScores) -> Statement | None:
    """Return what the sentence about an attribute says, or None if there is none."""
    if not scores.insight:
        return None
    trend, spread = scores.claim("trend"), scores.claim("spread")
    best, worst = (scores.claim(kind) for kind in ("best", "worst"))
    return Statement(
        direction=0 if trend is None else 1 if trend.points > 0 else -1,
        above=None if spread is None else (spread.buckets[0], spread.buckets[1]),
        best=None if best is None else best.buckets[0],
        worst=None if worst is None else worst.buckets[0],
    )


def calibration_of(confidences: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> Calibration:
    """Return the calibration of independent answers."""
    table = cell_table("tatoeba", [{"accuracy": Statistics(right[:, None], MEAN)}], None)
    found = calibration(replace(table, confidences=(confidences,)))
    assert found is not None
    return found


def best_systems(table: CellTable, columns: npt.NDArray[np.float64]) -> list[int | None]:
    """Return the best system in each bucket, or None if none beats all others, as a board's page of buckets does."""
    best, tests = [], []
    for bucketed in _along(table, columns):
        for bucket in range(len(bucketed.buckets)):
            of_rows = (table.by_source(metrics[table.main]) for metrics in table.metrics)
            systems = [each.select(bucketed.rows(bucket)) for each in of_rows]
            first = max(range(len(systems)), key=lambda place: systems[place].score)
            best.append(first)
            tests.append([max(exchange(systems[first], other).p for other in systems if other is not systems[first])])
    return [system if q < ALPHA else None for system, [q] in zip(best, false_discovery_rates(tests), strict=True)]


def says_trend(scores: AttributeScores) -> bool:
    """Return True if a sentence says that the score rises or falls with the attribute."""
    statement = stated(scores)
    return statement is not None and statement.direction != 0


def says_order_turns(contrast: BucketContrast) -> bool:
    """Return True if a bucket is marked as reversing the order of the two systems."""
    return contrast.flips
