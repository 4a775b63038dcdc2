"""Tables of cells: the rows of one cell of one or more systems, with what is known of each row.

A row is an example, or whatever the kind of task judges: an entity of a tagged sentence, say. All systems of a table
share its rows, so that attributes and buckets are the same for all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isogloss.errors import PredictionError
from isogloss.explain import tagging
from isogloss.explain.model import Attribute, Column
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Answered, Request, Resample, answered_cells
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values, kind_of
from isogloss.tasks.kinds.tagging import SPANS
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class CellTable:
    """One cell of some systems.

    Attributes:
        task: what is asked.
        examples: with their gold.
        values: for each system its answers.
        row_example: the example each row belongs to.
        metrics: for each system its statistics by metric; the first metric is the one the task is known by.
        counted: the rows that make the size of a bucket (the gold entities of a tagging task); all if None.
        entities: the entities behind the rows, for tagging.
        data: the data folder, for the training set.
        systems: the places of these systems among all that were asked for.
        resample: whether examples of one source (an article, say) are thought of as drawn together.
        confidences: for each system how sure it was of its answer to each example, 0..1, not a number where it does not
            say, and None where it never does; empty where no system does.
    """

    task: Task
    examples: Examples
    values: tuple[Values, ...]
    row_example: IntArray
    metrics: tuple[dict[str, Statistics], ...]
    counted: npt.NDArray[np.bool_] | None = None
    entities: tagging.Entities | None = None
    data: Path | None = None
    systems: tuple[int, ...] = (0,)
    resample: Resample = "source"
    confidences: tuple[FloatArray | None, ...] = ()

    @cached_property
    def example_sources(self) -> IntArray:
        """The source of every example, as a number."""
        if self.resample == "example" or self.examples.clusters is None:
            return np.arange(len(self.examples))
        _, codes = np.unique(np.array(self.examples.clusters), return_inverse=True)
        return codes.astype(np.int64)

    @property
    def source_count(self) -> int:
        """How many sources the examples have."""
        return int(self.example_sources.max(initial=-1)) + 1

    def by_source(self, statistics: Statistics) -> Statistics:
        """Statistics of the table's rows with the sources as units."""
        return replace(statistics, units=self.row_sources)

    @property
    def row_sources(self) -> IntArray:
        """The source of every row."""
        return self.example_sources[self.row_example]

    @property
    def name(self) -> str:
        """The cell, `task/language`."""
        return f"{self.task.id}/{self.examples.language}"

    @property
    def main(self) -> str:
        """The metric the task is known by."""
        return next(iter(self.metrics[0]))

    @cached_property
    def _entity_columns(self) -> dict[str, Column]:
        if self.entities is None:
            return {}
        return self.entities.columns(self.examples, tagging.training_entities(self.task.id, self.data))

    def described(self, attribute: Attribute) -> Attribute:
        """The attribute as this cell measures it, in the words that suit its task."""
        if self.entities is None or attribute.level != "entity":
            return attribute
        return tagging.described(attribute, self.task, spans=self.entities.spans)

    def column(self, attribute: Attribute) -> Column | None:
        """The attribute of every row; None where this cell has not what it is made from."""
        if attribute.level == "entity":
            return self._entity_columns.get(attribute.name)
        values = attribute.values(self.examples) if attribute.values is not None else None
        return None if values is None else values[self.row_example]

    @cached_property
    def scores(self) -> list[FloatArray]:
        """For each system the main score of every example, 0..1.

        A sentence in which there is nothing to find, and nothing was found, is right.
        """
        return [self._example_scores(metrics[self.main]) for metrics in self.metrics]

    @property
    def goodness(self) -> list[FloatArray]:
        """The scores of every example, turned round where less is better: 1 is all right, 0 all wrong."""
        turned = lower_is_better(self.task.id, self.main)
        return [1 - scores if turned else scores for scores in self.scores]

    def _example_scores(self, statistics: Statistics) -> FloatArray:
        size = len(self.examples)
        counts = np.bincount(self.row_example, minlength=size)
        sums = [np.bincount(self.row_example, weights=part, minlength=size) for part in statistics.rows.T]
        empty = counts == 0 if self.entities is None else (sums[1] + sums[2]) == 0
        return np.where(empty, 1.0, statistics.value(np.stack(sums, axis=1), counts))


def cell_tables(
    systems: Sequence[Predictions],
    request: Request,
    progress: Callable[[str], None] | None = None,
    left_out: list[LeftOut] | None = None,
) -> Iterator[CellTable]:
    """The cells that any of the systems has, one after the other, with all those systems; see `answered_cells`."""
    return (table_of(row, request) for row in answered_cells(systems, request, progress, left_out))


def table_of(row: Sequence[Answered | None], request: Request) -> CellTable:
    """One cell of some systems, with those that have answered it: one at least."""
    present = {place: answered for place, answered in enumerate(row) if answered is not None}
    table = _cell_table(list(present.values()), request.data)
    sure = tuple(map(_confidences, present.values()))
    return replace(table, systems=tuple(present), resample=request.resample, confidences=sure)


def _confidences(answered: Answered) -> FloatArray | None:
    given = answered.confidences
    return None if given is None else np.array([np.nan if one is None else one for one in given])


def gold_table(task: Task, examples: Examples, data: Path | None) -> CellTable:
    """A cell without a system: what its examples are like."""
    if kind_of(task).rows == "entity":
        return _entity_table(task, examples, (), data)
    return CellTable(task, examples, (), np.arange(len(examples)), ())


def _cell_table(answered: Sequence[Answered], data: Path | None) -> CellTable:
    first = answered[0]
    task, examples, judgement = first.task, first.examples, first.cell.judgement
    for other in answered[1:]:
        same = other.examples.ids == examples.ids and other.cell.judgement.dialect == judgement.dialect
        if not same:
            what = f"the systems were scored on different examples of {task.id}/{examples.language}"
            raise PredictionError(what, fix="Score all on the same split, with the same kind of answers")
    values = tuple(each.values for each in answered)
    if kind_of(task).rows == "entity":
        return _entity_table(task, examples, values, data, spans=judgement.dialect == SPANS)
    rows = np.arange(len(examples)) if judgement.row_example is None else judgement.row_example
    metrics = tuple(_main_metrics(task, each.cell.metrics) for each in answered)
    return CellTable(task, examples, values, rows, metrics, data=data)


def _entity_table(
    task: Task, examples: Examples, values: tuple[Values, ...], data: Path | None, *, spans: bool = False
) -> CellTable:
    """One row for every entity that the gold or a system has."""
    found = tagging.entities(task, examples, values, spans=spans)
    metrics = tuple({"f1": found.statistics(system)} for system in range(len(values)))
    return CellTable(task, examples, values, found.example, metrics, found.gold, found, data)


def _main_metrics(task: Task, metrics: Mapping[str, Statistics]) -> dict[str, Statistics]:
    """The metrics the task is known by; where there are two their mean stands first."""
    main = {name: metrics[name] for name in task.main}
    return main if len(main) == 1 else {SCORE: main_statistics(task.id, metrics), **main}
