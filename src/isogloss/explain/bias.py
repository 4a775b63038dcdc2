"""Dataset bias: distributions of attributes in each language, without any system."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Unpack

import msgspec
import numpy as np

from isogloss.errors import DataError
from isogloss.explain.buckets import Binning
from isogloss.explain.cell_table import CellTable, gold_table
from isogloss.explain.distances import Distances, distances
from isogloss.explain.model import Attribute, Column
from isogloss.explain.selection import OURS, AttributeSelection, CellOptions, select_attributes
from isogloss.metrics.statistics import IntArray
from isogloss.notebooks import data_frame
from isogloss.scoring.request import Request
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task

# Number of values of a discrete attribute that are reported by name.
LISTED = 20


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute in one cell: mean and quartiles (minimum, 25, 50, 75 %, maximum), or the share of each value."""

    task: str
    language: str
    split: str
    attribute: str
    title: str
    discrete: bool
    n: int
    mean: float | None = None
    quartiles: list[float] = []
    shares: dict[str, float] = {}


class DatasetBias(msgspec.Struct, frozen=True):
    """Attribute distributions of many cells; `missing` lists cells without gold."""

    split: str
    distributions: list[Distribution]
    distances: list[Distances]
    missing: list[str] = []

    def __repr__(self) -> str:
        cells = len({(distribution.task, distribution.language) for distribution in self.distributions})
        return f"<DatasetBias: {len(self.distributions)} distributions of attributes in {cells} cells ({self.split})>"

    def to_pandas(self) -> Any:
        """Return one row per attribute and cell, as a pandas data frame."""
        return data_frame([msgspec.structs.asdict(distribution) for distribution in self.distributions])


def dataset_bias(
    *, attributes: Sequence[str] | None = None, convention: str = OURS, **cells: Unpack[CellOptions]
) -> DatasetBias:
    """Describe the examples of each language, without any system.

    Args:
        attributes: attributes to include, in the syntax of `choose_attributes`.
        convention: source of the attribute definitions: "ours", "paper" or "explainaboard".
        **cells: `suite`, `data`, `split`, `tasks` and `languages`, as in `isogloss.explain`.

    Returns:
        The distribution of every attribute in every cell that has data, and the distances between languages.

    Raises:
        DataError: no cell has data.
        UnknownNameError: unknown suite, task, language, split, attribute or convention.
    """
    request = Request.of(**cells)
    return bias_request(request, select_attributes(attributes, request, convention))


def bias_request(
    request: Request, selection: AttributeSelection | None = None, progress: Callable[[str], None] | None = None
) -> DatasetBias:
    """Return the distribution of every selected attribute in every cell; raise an error if no cell has data."""
    distributions: list[Distribution] = []
    distance_tables: list[Distances] = []
    missing: list[str] = []
    for name in request.tasks:
        columns: dict[str, tuple[Attribute, dict[str, Column]]] = {}
        sources: dict[str, IntArray] = {}
        for table in _gold_tables(name, request, missing, progress):
            sources[table.examples.language] = table.row_sources
            for attribute, column in _columns(table, selection or AttributeSelection()):
                distributions.append(distribution(table, attribute, column))
                columns.setdefault(attribute.name, (attribute, {}))[1][table.examples.language] = column
        distance_tables += [
            distances(name, attribute, by_language, sources) for attribute, by_language in columns.values()
        ]
    if not distributions:
        raise DataError(
            f"no {request.split} data for {', '.join(request.tasks)}",
            where=str(request.data or ""),
            fix="Run isogloss fetch, or use --split dev for the development sets",
        )
    return DatasetBias(
        request.split, distributions, [table for table in distance_tables if len(table.languages) > 1], missing
    )


def shared_binnings(
    request: Request, selection: AttributeSelection, progress: Callable[[str], None] | None = None
) -> dict[tuple[str, str], Binning]:
    """Return the shared binning of each (task, attribute), learnt from the gold of all languages."""
    binnings: dict[tuple[str, str], Binning] = {}
    if selection.edges not in ("shared", "mixed"):
        return binnings
    for name in request.tasks:
        columns: dict[str, list[Column]] = defaultdict(list)
        attributes: dict[str, Attribute] = {}
        for table in _gold_tables(name, request, [], progress):
            for attribute, column in _columns(table, selection):
                if selection.rule(attribute.name) == "shared":
                    columns[attribute.name].append(column)
                    attributes[attribute.name] = attribute
        for key, parts in columns.items():
            together: Column = np.concatenate(parts)  # type: ignore[assignment]  # all of one type
            binnings[name, key] = selection.binning(attributes[key], together)
    return binnings


def _gold_tables(
    name: str, request: Request, missing: list[str], progress: Callable[[str], None] | None
) -> Iterator[CellTable]:
    """Yield tables without a system; add cells without gold to `missing`."""
    task = find_task(name)
    for language in request.languages_of(task):
        if progress is not None:
            progress(f"{name}/{language}")
        for split in request.splits:
            try:
                examples = load_gold(task, language, split, request.data, allow_partial=request.allow_partial)
            except DataError:
                continue
            yield gold_table(task, examples, request.data)
            break
        else:
            missing.append(f"{name}/{language}")


def _columns(table: CellTable, selection: AttributeSelection) -> Iterator[tuple[Attribute, Column]]:
    for attribute in selection.of(table.task.kind, table.examples):
        column = table.column(attribute)
        if column is not None and len(column):
            yield table.described(attribute), column


def distribution(table: CellTable, attribute: Attribute, column: Column) -> Distribution:
    """Return mean and quartiles of the numbers, or the shares of the most frequent values."""
    values: dict[str, Any] = {}
    if attribute.discrete:
        counts = Counter(column.astype(np.str_).tolist())
        values["shares"] = {value: n / len(column) for value, n in counts.most_common(LISTED)}
    elif len(numbers := (all_numbers := column.astype(np.float64))[~np.isnan(all_numbers)]):
        values["mean"] = float(numbers.mean())
        values["quartiles"] = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Distribution(
        task=table.examples.task,
        language=table.examples.language,
        split=table.examples.split,
        attribute=attribute.name,
        title=attribute.title,
        discrete=attribute.discrete,
        n=len(column),
        **values,
    )
