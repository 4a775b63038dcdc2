"""Single examples and output of `isogloss explain` for the pages of systems.

Only examples with public labels are included, because scores per example reveal the labels.
"""

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.board.ranking import signed_difference
from isogloss.board.system_model import BarChart, BoardExample, PairBar, SingleBar, SystemAnalyses
from isogloss.data.fetch.catalog import datasets
from isogloss.errors import IsoglossError
from isogloss.explain.buckets import bucket_edges
from isogloss.explain.cell_table import CellTable, cell_tables
from isogloss.explain.examples import ExampleCollector, ListedExample
from isogloss.explain.measure import BucketedRows, bucketed_rows
from isogloss.explain.model import AttributeScores, BucketScore, Column
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.statistics import VALUES
from isogloss.predictions.problems import LeftOut
from isogloss.results.system import SystemResult
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import system_words
from isogloss.scoring.request import Request
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tasks.registry import CHECKLIST_TASKS, INVARIANCE_TASKS, task
from isogloss.tasks.suites import Suite

# Maximum number of examples per bar, and length of their texts.
LISTED, TEXT_LENGTH = 10, 400
# Examples by task/language and id.
Cases = Mapping[str, Mapping[str, ListedExample]]
# Maximum number of systems with results per example.
MOST_SYSTEMS = 16
# Number of texts kept per default bucket: the worst, and those on which systems differ most.
TEXTS = 5


class PackedNumbers(msgspec.Struct, frozen=True, array_like=True):
    """Non-negative integers of `width` bytes, little-endian, in base64."""

    width: int
    text: str


class PackedColumn(msgspec.Struct, frozen=True, array_like=True):
    """The distinct values of rows in ascending order (NaN last), and each row's index; no `places` for one value."""

    values: list[float] | list[str]
    places: PackedNumbers | None


class ExampleAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute of rows, or of examples and all their rows."""

    name: str
    title: str
    discrete: bool
    of_examples: bool
    column: PackedColumn


class ExampleText(msgspec.Struct, frozen=True):
    """Inputs and gold of an example."""

    inputs: dict[str, str]
    gold: str


class CellExamples(msgspec.Struct, frozen=True, kw_only=True):
    """Examples of one task in one language.

    Attributes:
        sources: cluster of each example (such as an article); None if examples are independent.
        source: name of the clusters.
        rows: example of each row; None if rows are examples.
        counted: 1 for rows that count towards the size of a bucket, else 0; None if all do.
        texts: texts by index of the example.
    """

    ids: list[str]
    sources: PackedNumbers | None
    source: str
    rows: PackedNumbers | None
    counted: PackedNumbers | None
    attributes: list[ExampleAttribute]
    texts: dict[int, ExampleText]


class MetricStatistics(msgspec.Struct, frozen=True):
    """Statistics of a metric by column; `value` names the function from sums to a score."""

    name: str
    value: str
    lower_is_better: bool
    columns: list[PackedColumn]


class CellStatistics(msgspec.Struct, frozen=True):
    """Statistics of a system on one task in one language, main metric first, and some of its predictions."""

    metrics: list[MetricStatistics]
    answers: dict[int, str]


@dataclass
class ExampleTables:
    """Single examples of a board.

    Attributes:
        cells: examples by task and language.
        systems: statistics by index of the system, then by task and language.
        why_none: reason for missing examples.
    """

    cells: dict[tuple[str, str], CellExamples] = field(default_factory=dict)
    systems: dict[int, dict[tuple[str, str], CellStatistics]] = field(default_factory=dict)
    why_none: str = ""

    def languages(self) -> dict[str, list[str]]:
        """Return the languages with examples, by task."""
        languages: dict[str, list[str]] = {}
        for name, code in self.cells:
            languages.setdefault(name, []).append(code)
        return languages


def has_public_labels(name: str) -> bool:
    """Return True if a task's labels are public: the package generates or fetches them."""
    dataset = datasets().get(task(name).base_id)
    return name in (*CHECKLIST_TASKS, *INVARIANCE_TASKS) or (dataset is not None and bool(dataset.sources))


def example_tables(
    entries: Sequence[SystemResult],
    suite: Suite,
    data: Path | None,
    shown: Collection[str] = (),
    progress: Callable[[str], None] | None = None,
) -> ExampleTables:
    """Return the examples of systems with predictions on one split, from the first seed if there are several.

    `shown` lists the cells, `task/language`, with labels that the board shows already.
    """
    tables = ExampleTables()
    indices = [index for index, entry in enumerate(entries) if entry.predictions][:MOST_SYSTEMS]
    names = tuple(
        name for name in suite.tasks if has_public_labels(name) or any(cell.startswith(f"{name}/") for cell in shown)
    )
    if not indices or not names:
        return tables
    request = Request(suite=suite, tasks=names, split=entries[indices[0]].scorer.split or "test", data=data)
    left_out: list[LeftOut] = []
    try:
        for table in cell_tables([entries[index].predictions[0] for index in indices], request, progress, left_out):
            if has_public_labels(table.task.id) or table.name in shown:
                _add(tables, table, indices)
    except IsoglossError as error:
        return ExampleTables(why_none=str(error))
    if not tables.cells and left_out:
        tables.why_none = left_out[0].reason
    return tables


def _add(tables: ExampleTables, table: CellTable, indices: Sequence[int]) -> None:
    cell = table.task.id, table.examples.language
    along = bucketed_rows(table, AttributeSelection())
    listed = _listed(table, along, [str(index) for index in range(len(indices))])
    texts = {
        index: ExampleText({key: short_text(text) for key, text in each.inputs.items()}, short_text(each.gold))
        for index, each in listed.items()
    }
    tables.cells[cell] = _examples(table, along, texts)
    for system, number in enumerate(table.systems):
        answers = {index: short_text(each.predictions[str(number)]) for index, each in listed.items()}
        metrics = [
            MetricStatistics(
                name,
                statistics.value.name,
                lower_is_better(table.task.id, name),
                [_packed_column(column) for column in statistics.rows.T],
            )
            for name, statistics in table.metrics[system].items()
            if VALUES.get(statistics.value.name) is statistics.value  # the pages can compute it
        ]
        tables.systems.setdefault(indices[number], {})[cell] = CellStatistics(metrics, answers)


def _listed(table: CellTable, along: Sequence[BucketedRows], names: Sequence[str]) -> dict[int, ListedExample]:
    """Return the worst examples of every default bucket and those on which systems differ most, by index."""
    collector = ExampleCollector(TEXTS, names)
    apart = np.ptp(np.stack(table.goodness), axis=0)
    for bucketed in along:
        for bucket in range(len(bucketed.buckets)):
            rows = bucketed.rows(bucket)
            collector.add(table, rows)
            inside = np.unique(table.row_example[rows])
            differing = inside[np.argsort(-apart[inside], kind="stable")[:TEXTS]]
            collector.keep(table, differing[apart[differing] > 0].tolist())
    index = {identifier: row for row, identifier in enumerate(table.examples.ids)}
    return {index[identifier]: example for identifier, example in collector.examples.get(table.name, {}).items()}


def _examples(table: CellTable, along: Sequence[BucketedRows], texts: Mapping[int, ExampleText]) -> CellExamples:
    are_independent = table.source_count == len(table.examples)
    are_examples = np.array_equal(table.row_example, np.arange(len(table.examples)))
    return CellExamples(
        ids=list(table.examples.ids),
        sources=None if are_independent else _packed_numbers(table.example_sources),
        source="" if are_independent else table.task.cluster or "source",
        rows=None if are_examples else _packed_numbers(table.row_example),
        counted=None if table.counted is None else _packed_numbers(table.counted),
        attributes=list(_attributes(table, along)),
        texts=dict(texts),
    )


def _attributes(table: CellTable, along: Sequence[BucketedRows]) -> Iterator[ExampleAttribute]:
    for attribute in (bucketed.attribute for bucketed in along):
        of_examples = attribute.level == "example"
        of_rows = replace(table, row_example=np.arange(len(table.examples))) if of_examples else table
        column = of_rows.column(attribute)
        if column is not None:
            packed = _packed_column(column.astype(np.str_) if attribute.discrete else column.astype(np.float64))
            shared = {key: getattr(attribute, key) for key in ("name", "title", "discrete")}
            yield ExampleAttribute(**shared, of_examples=of_examples, column=packed)


def _packed_column(column: Column) -> PackedColumn:
    values, indices = np.unique(column, return_inverse=True)
    return PackedColumn(values.tolist(), None if len(values) == 1 else _packed_numbers(indices.reshape(-1)))


def _packed_numbers(numbers: npt.NDArray[np.generic]) -> PackedNumbers:
    integers = numbers.astype(np.int64)
    width = next(width for width in (1, 2, 4) if integers.max(initial=0) < 256**width)
    return PackedNumbers(width, b64encode(integers.astype(f"<u{width}").tobytes()).decode())


def system_analyses(
    entries: Sequence[SystemResult], ids: Sequence[str], explained: ExplainRecords
) -> dict[str, SystemAnalyses]:
    """Return the analyses of every explained system, by id; the first system with its name and regime is meant."""
    shown: dict[str, str] = {}
    for name, explanation in explained.explanations.items():
        own_name, regime, _ = system_words(explanation.system)
        same = (
            identifier
            for entry, identifier in zip(entries, ids, strict=True)
            if (entry.name, entry.regime) == (own_name, regime) and identifier not in shown.values()
        )
        if (match := next(same, None)) is not None:
            shown[name] = match
    return {identifier: _analyses(name, explained, shown) for name, identifier in shown.items()}


def _analyses(name: str, explained: ExplainRecords, shown: Mapping[str, str]) -> SystemAnalyses:
    cases = explained.cases
    single = []
    for facet in explained.explanations[name].facets:
        bars = [
            SingleBar(**_bar(facet, row, cases), value=row.value, low=row.low, high=row.high) for row in facet.buckets
        ]
        ends = {kind: claim.buckets[0] for kind in ("best", "worst") if (claim := facet.claim(kind)) is not None}
        single.append(msgspec.structs.replace(_chart(facet, bars, facet.insight), **ends))
    pairwise: dict[str, list[BarChart]] = {}
    for pair in explained.pairs:
        for own, other, sign in ((pair.first, pair.second, 1), (pair.second, pair.first, -1)):
            if own == name and other in shown:
                pairwise[shown[other]] = [
                    _chart(each, [PairBar(**_bar(each, row, cases), **_contrast(row, sign)) for row in each.buckets])
                    for each in pair.facets
                ]
    charts = [*single, *(chart for compared in pairwise.values() for chart in compared)]
    return SystemAnalyses(single, pairwise, _quoted_examples(charts, cases, name))


def _chart(
    facet: AttributeScores | AttributeContrasts, bars: list[SingleBar] | list[PairBar], insight: str = ""
) -> BarChart:
    ends = [row.bucket.high for row in facet.buckets if row.bucket.high is not None]
    shared = {key: getattr(facet, key) for key in ("task", "language", "metric", "attribute", "title")}
    return BarChart(**shared, bars=bars, insight=insight, edges=None if facet.discrete or not ends else ends[:-1])


def _bar(
    facet: AttributeScores | AttributeContrasts, row: BucketScore | BucketContrast, cases: Cases
) -> dict[str, Any]:
    """Return a bar's bucket and the first few examples that may be shown. Other ids would reveal failures."""
    listed = cases.get(f"{facet.task}/{facet.language}", {})
    ids = [identifier for identifier in row.ids if identifier in listed][:LISTED]
    return {"name": row.bucket.name, "edges": bucket_edges(row.bucket), "n": row.bucket.n, "ids": ids}


def _contrast(row: BucketContrast, sign: int) -> dict[str, Any]:
    own, other = (row.first, row.second)[::sign]
    return {
        "own": own,
        "other": other,
        "p": row.p,
        "flips": row.flips,
        **signed_difference(row, (row.low, row.high), sign),
    }


def _quoted_examples(charts: Iterable[BarChart], cases: Cases, name: str) -> dict[str, dict[str, BoardExample]]:
    examples: dict[str, dict[str, BoardExample]] = {}
    for chart in charts:
        cell = f"{chart.task}/{chart.language}"
        for identifier in dict.fromkeys(one for bar in chart.bars for one in bar.ids):
            case = cases.get(cell, {}).get(identifier)
            if case is not None and name in case.predictions:
                inputs = {key: short_text(text) for key, text in case.inputs.items()}
                answer, score = case.predictions[name], case.scores.get(name)
                examples.setdefault(cell, {})[identifier] = BoardExample(
                    inputs, short_text(case.gold), short_text(answer), score
                )
    return examples


def short_text(value: Any) -> str:
    """Return a prediction as one line of text."""
    text = " · ".join(map(short_text, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= TEXT_LENGTH else f"{text[: TEXT_LENGTH - 1]}…"
