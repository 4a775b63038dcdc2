"""Tables of cells: the rows of one cell of one or more systems.

A row is an example, or the unit that the kind of task judges, such as an entity. All systems of a table share its rows,
so they share attributes and buckets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.errors import PredictionError
from isogloss.explain import tagging
from isogloss.explain.model import Attribute, Column
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Answered, Progress, answered_cells
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics
from isogloss.scoring.request import Request, Resample
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values, kind_of
from isogloss.tasks.kinds.tagging import SPANS
from isogloss.tasks.task import Task

# Outcome of a reply without facts.
UNKNOWN_REPLY = "unknown"


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """One cell of some systems.

    `confidences` are 0..1 per example, NaN if missing for an example and None if missing for all; empty if no system
    has any. `outcomes` are those of a language model's replies, "unknown" if missing for an example.
    """

    task: Task
    examples: Examples  # with gold
    values: tuple[Values, ...]  # answers of each system
    row_example: IntArray  # the example each row belongs to
    metrics: tuple[dict[str, Statistics], ...]  # of each system; the first is the main metric
    counted: npt.NDArray[np.bool_] | None = None  # rows in a bucket's size, such as gold entities; all if None
    entities: tagging.Entities | None = None  # behind the rows, for tagging
    data: Path | None = None  # for the training set
    systems: tuple[int, ...] = (0,)  # indices among all requested systems
    resample: Resample = "source"
    confidences: tuple[FloatArray | None, ...] = ()
    outcomes: tuple[npt.NDArray[np.str_] | None, ...] = ()
    notes: tuple[list[str], ...] = ()  # the scorer's remarks on each system

    @classmethod
    def of_examples(
        cls,
        task: Task,
        examples: Examples,
        values: tuple[Values, ...],
        metrics: Sequence[dict[str, Statistics]],
        **further: Any,
    ) -> "CellTable":
        """Return a table with one row per example, unless `row_example` is among the `further` fields."""
        fields: dict[str, Any] = {"row_example": np.arange(len(examples)), "systems": tuple(range(len(values)))}
        return cls(task=task, examples=examples, values=values, metrics=tuple(metrics), **(fields | further))

    @cached_property
    def example_sources(self) -> IntArray:
        """Source of every example, as a number."""
        if self.resample == "example" or self.examples.clusters is None:
            return np.arange(len(self.examples))
        _, codes = np.unique(np.array(self.examples.clusters), return_inverse=True)
        return codes.astype(np.int64)

    @property
    def source_count(self) -> int:
        """Number of sources."""
        return int(self.example_sources.max(initial=-1)) + 1

    def by_source(self, statistics: Statistics) -> Statistics:
        """Return statistics of the table's rows with sources as units."""
        return replace(statistics, units=self.row_sources)

    @property
    def row_sources(self) -> IntArray:
        """Source of every row."""
        return self.example_sources[self.row_example]

    @property
    def name(self) -> str:
        """The cell, `task/language`."""
        return f"{self.task.id}/{self.examples.language}"

    @property
    def main(self) -> str:
        """Main metric of the task."""
        return next(iter(self.metrics[0]))

    @cached_property
    def _entity_columns(self) -> dict[str, Column]:
        if self.entities is None:
            return {}
        return self.entities.columns(self.examples, tagging.training_entities(self.task.id, self.data))

    def described(self, attribute: Attribute) -> Attribute:
        """Return the attribute with the title that suits this cell's task."""
        if self.entities is None or attribute.level != "entity":
            return attribute
        return tagging.described(attribute, self.task, spans=self.entities.spans)

    def column(self, attribute: Attribute) -> Column | None:
        """Return the attribute of every row, or None if the cell lacks its inputs."""
        if attribute.level == "entity":
            return self._entity_columns.get(attribute.name)
        values = attribute.values(self.examples) if attribute.values is not None else None
        return None if values is None else values[self.row_example]

    @cached_property
    def scores(self) -> list[FloatArray]:
        """Main score of every example, 0..1, for each system.

        An example without a weight, such as a sentence without gold and predicted entities, counts as correct.
        """
        size = len(self.examples)
        counts = np.bincount(self.row_example, minlength=size)
        scores = []
        for statistics in (metrics[self.main] for metrics in self.metrics):
            sums = [np.bincount(self.row_example, weights=part, minlength=size) for part in statistics.rows.T]
            scores.append(statistics.value.of_examples(np.stack(sums, axis=1), counts))
        return scores

    @property
    def goodness(self) -> list[FloatArray]:
        """Scores of every example, inverted if lower is better: 1 is correct, 0 is wrong."""
        turned = lower_is_better(self.task.id, self.main)
        return [1 - scores if turned else scores for scores in self.scores]


def cell_tables(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, left_out: list[LeftOut] | None = None
) -> Iterator[CellTable]:
    """Yield the cells that any of the systems has, with all those systems; see `answered_cells`."""
    return (table_of(row, request) for row in answered_cells(systems, request, progress, left_out))


def table_of(row: Sequence[Answered | None], request: Request) -> CellTable:
    """Return one cell with the systems that have answered it, at least one."""
    present = {index: answered for index, answered in enumerate(row) if answered is not None}
    first, *others = answered = list(present.values())
    task, examples, judgement = first.task, first.examples, first.cell.judgement
    if any(other.examples.ids != examples.ids or other.cell.judgement.dialect != judgement.dialect for other in others):
        what = f"the systems were scored on different examples of {task.id}/{examples.language}"
        raise PredictionError(what, fix="Score all systems on the same split, with the same kind of answers")
    values = tuple(system.values for system in answered)
    if kind_of(task).rows == "entity":
        table = _entity_table(task, examples, values, request.data, spans=judgement.dialect == SPANS)
    else:
        rows = {} if judgement.row_example is None else {"row_example": judgement.row_example}
        main = [{name: system.cell.metrics[name] for name in task.main} for system in answered]
        # If there are several main metrics, their mean comes first.
        metrics = [own if len(own) == 1 else {SCORE: main_statistics(task.id, own), **own} for own in main]
        table = CellTable.of_examples(task, examples, values, metrics, data=request.data, **rows)
    sure = tuple(
        None if given is None else np.array([np.nan if value is None else value for value in given])
        for given in (system.confidences for system in answered)
    )
    outcomes = tuple(
        None if facts is None else np.array([UNKNOWN_REPLY if each is None else each.outcome.value for each in facts])
        for facts in (system.replies for system in answered)
    )
    notes = tuple(system.cell.judgement.notes for system in answered)
    of_answers: dict[str, Any] = {"confidences": sure, "outcomes": outcomes, "notes": notes}
    return replace(table, systems=tuple(present), resample=request.resample, **of_answers)


def gold_table(task: Task, examples: Examples, data: Path | None) -> CellTable:
    """Return a cell without a system."""
    if kind_of(task).rows == "entity":
        return _entity_table(task, examples, (), data)
    return CellTable.of_examples(task, examples, (), ())


def _entity_table(
    task: Task, examples: Examples, values: tuple[Values, ...], data: Path | None, *, spans: bool = False
) -> CellTable:
    """Return one row per entity in the gold or in a system's answers."""
    entities = tagging.entities(task, examples, values, spans=spans)
    metrics = [{"f1": entities.statistics(system)} for system in range(len(values))]
    rows = {"row_example": entities.example, "counted": entities.gold, "entities": entities}
    return CellTable.of_examples(task, examples, values, metrics, data=data, **rows)
