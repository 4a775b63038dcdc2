"""Single examples for the pages: what each is like, and how each system did on it, so that buckets can be cut anew.

Only labels that anyone can fetch are told of. Whoever knows the score of every answer knows the labels.
"""

from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.board.analyses import short_text
from isogloss.board.entries import BoardEntry
from isogloss.data.fetch.catalog import datasets
from isogloss.errors import IsoglossError
from isogloss.explain.cell_table import CellTable, cell_tables
from isogloss.explain.examples import ExampleCollector, ListedExample
from isogloss.explain.measure import BucketedRows, bucketed_rows
from isogloss.explain.model import Column
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.statistics import VALUES
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Request
from isogloss.scoring.main_score import lower_is_better
from isogloss.tasks.registry import CHECKLIST_TASKS, INVARIANCE_TASKS, task
from isogloss.tasks.suites import Suite

# Single examples are told of so many systems with answers, those that are given first.
MOST_TOLD = 16
# Examples of each usual bucket whose texts are kept: the worst of them, and those on which systems differ most.
TEXTS = 5


class PackedNumbers(msgspec.Struct, frozen=True, array_like=True):
    """Whole numbers from 0 on, each of so many bytes, little-endian, in base64."""

    width: int
    text: str


class PackedColumn(msgspec.Struct, frozen=True, array_like=True):
    """A value for each row: the different values in ascending order (not a number last), and which of them it is.

    Where there is but one value, `places` is left out.
    """

    values: list[float] | list[str]
    places: PackedNumbers | None


class ExampleAttribute(msgspec.Struct, frozen=True):
    """Something that is known of every row, or of every example, and so of all its rows."""

    name: str
    title: str
    discrete: bool
    of_examples: bool
    column: PackedColumn


class ExampleText(msgspec.Struct, frozen=True):
    """What was asked, and what is right."""

    inputs: dict[str, str]
    gold: str


class CellExamples(msgspec.Struct, frozen=True):
    """The examples of one task in one language.

    Attributes:
        sources: what is drawn together (an article), for each example; None where each stands alone.
        source: what that is, in a word.
        rows: the example of each row; None where rows are examples.
        counted: 1 for rows that make the size of a bucket, 0 for others; None where all do.
        texts: those that are kept, by the place of the example.
    """

    ids: list[str]
    sources: PackedNumbers | None
    source: str
    rows: PackedNumbers | None
    counted: PackedNumbers | None
    attributes: list[ExampleAttribute]
    texts: dict[int, ExampleText]


class MetricStatistics(msgspec.Struct, frozen=True):
    """A metric's statistics, column by column; `value` is the name of what makes a score of their sums."""

    name: str
    value: str
    lower_is_better: bool
    columns: list[PackedColumn]


class CellStatistics(msgspec.Struct, frozen=True):
    """A system on one task in one language: its statistics, the task's own figure first, and some of its answers."""

    metrics: list[MetricStatistics]
    answers: dict[int, str]


@dataclass
class ExampleTables:
    """What the pages know of single examples.

    Attributes:
        cells: by task and language.
        systems: by system's place, then by task and language.
        why_none: why there are none, where one expects them.
    """

    cells: dict[tuple[str, str], CellExamples] = field(default_factory=dict)
    systems: dict[int, dict[tuple[str, str], CellStatistics]] = field(default_factory=dict)
    why_none: str = ""

    def languages(self) -> dict[str, list[str]]:
        """The languages of each task whose examples are known."""
        found: dict[str, list[str]] = {}
        for name, code in self.cells:
            found.setdefault(name, []).append(code)
        return found


def has_public_labels(name: str) -> bool:
    """Whether the labels of a task can be had by anyone: the package makes them, or fetches them."""
    found = datasets().get(task(name).base_id)
    return name in (*CHECKLIST_TASKS, *INVARIANCE_TASKS) or (found is not None and bool(found.sources))


def example_tables(
    entries: Sequence[BoardEntry],
    suite: Suite,
    data: Path | None,
    shown: Collection[str] = (),
    progress: Callable[[str], None] | None = None,
) -> ExampleTables:
    """The examples behind the systems whose answers are here; of several seeds the first.

    Args:
        entries: all systems of a board, scored on one split.
        suite: its tasks.
        data: the data folder with gold.
        shown: cells, `task/language`, whose examples are shown on the board already, with their labels.
        progress: told each cell before it is judged.
    """
    found = ExampleTables()
    places = [place for place, entry in enumerate(entries) if entry.predictions][:MOST_TOLD]
    names = tuple(
        name for name in suite.tasks if has_public_labels(name) or any(cell.startswith(f"{name}/") for cell in shown)
    )
    if not places or not names:
        return found
    request = Request(suite, names, None, entries[places[0]].scorer[1] or "test", data)
    left_out: list[LeftOut] = []
    try:
        for table in cell_tables([entries[place].predictions[0] for place in places], request, progress, left_out):
            if has_public_labels(table.task.id) or table.name in shown:
                _add(found, table, places)
    except IsoglossError as error:
        return ExampleTables(why_none=str(error))
    if not found.cells and left_out:
        found.why_none = left_out[0].reason
    return found


def _add(found: ExampleTables, table: CellTable, places: Sequence[int]) -> None:
    """Take in a cell; systems are known by their places among all that were asked."""
    cell = table.task.id, table.examples.language
    along = bucketed_rows(table, AttributeSelection())
    listed = _listed(table, along, [str(place) for place in range(len(places))])
    texts = {
        place: ExampleText({key: short_text(text) for key, text in each.inputs.items()}, short_text(each.gold))
        for place, each in listed.items()
    }
    found.cells[cell] = _examples(table, along, texts)
    for system, place in enumerate(table.systems):
        answers = {at: short_text(each.predictions[str(place)]) for at, each in listed.items()}
        told = CellStatistics(list(_metrics(table, system)), answers)
        found.systems.setdefault(places[place], {})[cell] = told


def _listed(table: CellTable, along: Sequence[BucketedRows], names: Sequence[str]) -> dict[int, ListedExample]:
    """The worst examples of every usual bucket and those on which systems differ most, by their places."""
    collector = ExampleCollector(TEXTS, names)
    apart = np.ptp(np.stack(table.goodness), axis=0)
    for bucketed in along:
        for bucket in range(len(bucketed.buckets)):
            rows = bucketed.rows(bucket)
            collector.add(table, rows)
            inside = np.unique(table.row_example[rows])
            differing = inside[np.argsort(-apart[inside], kind="stable")[:TEXTS]]
            collector.keep(table, differing[apart[differing] > 0].tolist())
    at = {identifier: place for place, identifier in enumerate(table.examples.ids)}
    return {at[identifier]: example for identifier, example in collector.found.get(table.name, {}).items()}


def _examples(table: CellTable, along: Sequence[BucketedRows], texts: Mapping[int, ExampleText]) -> CellExamples:
    alone = table.source_count == len(table.examples)
    are_examples = np.array_equal(table.row_example, np.arange(len(table.examples)))
    return CellExamples(
        list(table.examples.ids),
        None if alone else _packed_numbers(table.example_sources),
        "" if alone else table.task.cluster or "source",
        None if are_examples else _packed_numbers(table.row_example),
        None if table.counted is None else _packed_numbers(table.counted),
        list(_attributes(table, along)),
        dict(texts),
    )


def _attributes(table: CellTable, along: Sequence[BucketedRows]) -> Iterator[ExampleAttribute]:
    for attribute in (bucketed.attribute for bucketed in along):
        of_examples = attribute.level == "example"
        of_rows = replace(table, row_example=np.arange(len(table.examples))) if of_examples else table
        column = of_rows.column(attribute)
        if column is not None:
            packed = _packed_column(column.astype(np.str_) if attribute.discrete else column.astype(np.float64))
            yield ExampleAttribute(attribute.name, attribute.title, attribute.discrete, of_examples, packed)


def _metrics(table: CellTable, system: int) -> Iterator[MetricStatistics]:
    """The statistics of those metrics whose values the pages can make too."""
    for name, statistics in table.metrics[system].items():
        if VALUES.get(statistics.value.name) is statistics.value:
            columns = [_packed_column(column) for column in statistics.rows.T]
            yield MetricStatistics(name, statistics.value.name, lower_is_better(table.task.id, name), columns)


def _packed_column(column: Column) -> PackedColumn:
    values, places = np.unique(column, return_inverse=True)
    return PackedColumn(values.tolist(), None if len(values) == 1 else _packed_numbers(places.reshape(-1)))


def _packed_numbers(numbers: npt.NDArray[np.generic]) -> PackedNumbers:
    given = numbers.astype(np.int64)
    width = next(each for each in (1, 2, 4) if given.max(initial=0) < 256**each)
    return PackedNumbers(width, b64encode(given.astype(f"<u{width}").tobytes()).decode())
