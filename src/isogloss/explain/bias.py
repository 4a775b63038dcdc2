"""Dataset bias: what the examples of each language are like, before any system has seen them."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from isogloss.errors import DataError
from isogloss.explain.buckets import Binning
from isogloss.explain.cell_table import CellTable, gold_table
from isogloss.explain.distances import Distances, distances
from isogloss.explain.model import Attribute, Column
from isogloss.explain.selection import OURS, AttributeSelection, select_attributes
from isogloss.metrics.statistics import IntArray
from isogloss.notebooks import data_frame
from isogloss.scoring.cells import Request
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task

# Values of a discrete attribute that are reported by name.
LISTED = 20


class Distribution(msgspec.Struct, frozen=True):
    """One attribute of one cell: mean and quartiles (minimum, 25, 50, 75 %, maximum), or the share of each value."""

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
    """The attributes of the examples of many cells; `missing` are cells without gold."""

    split: str
    distributions: list[Distribution]
    distances: list[Distances]
    missing: list[str] = []

    def __repr__(self) -> str:
        cells = len({(each.task, each.language) for each in self.distributions})
        return f"<DatasetBias: {len(self.distributions)} distributions of attributes in {cells} cells ({self.split})>"

    def to_pandas(self) -> Any:
        """One row for every attribute of every cell, as a pandas data frame."""
        return data_frame([msgspec.structs.asdict(each) for each in self.distributions])


def dataset_bias(
    *,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    convention: str = OURS,
) -> DatasetBias:
    """What the examples of each language are like, before any system has seen them.

    Args:
        suite: decides tasks and languages.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.
        split: "test", "dev", or "best" (test where it has gold, else dev).
        tasks: only these tasks.
        languages: only these languages.
        attributes: only these, in the words of `choose_attributes`.
        convention: "ours", or "paper" or "explainaboard": whose definitions of attributes are taken.

    Returns:
        The distribution of every attribute in every cell that has data, and how far languages are apart.

    Raises:
        DataError: no cell has data.
        UnknownNameError: no such suite, task, language, split, attribute or convention.
    """
    request = Request.of(suite, tasks=tasks, languages=languages, split=split, data=data)
    return bias_request(request, select_attributes(attributes, request, convention))


def bias_request(
    request: Request, selection: AttributeSelection | None = None, progress: Callable[[str], None] | None = None
) -> DatasetBias:
    """The distribution of every selected attribute, or of all, in every cell; that none has data is an error."""
    distributions: list[Distribution] = []
    apart: list[Distances] = []
    missing: list[str] = []
    for name in request.tasks:
        columns: dict[str, tuple[Attribute, dict[str, Column]]] = {}
        sources: dict[str, IntArray] = {}
        for table in _gold_tables(name, request, missing, progress):
            sources[table.examples.language] = table.row_sources
            for attribute, column in _columns(table, selection or AttributeSelection()):
                distributions.append(distribution(table, attribute, column))
                columns.setdefault(attribute.name, (attribute, {}))[1][table.examples.language] = column
        apart += [distances(name, attribute, by_language, sources) for attribute, by_language in columns.values()]
    if not distributions:
        raise DataError(
            f"no {request.split} data for {', '.join(request.tasks)}",
            where=str(request.data or ""),
            fix="isogloss fetch gets the files; --split dev takes the development sets",
        )
    return DatasetBias(request.split, distributions, [table for table in apart if len(table.languages) > 1], missing)


def shared_binnings(
    request: Request, selection: AttributeSelection, progress: Callable[[str], None] | None = None
) -> dict[tuple[str, str], Binning]:
    """How each (task, attribute) that is cut alike in all languages is cut, from the gold of all of them."""
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
    """Tables without a system; a cell that has no gold joins the missing."""
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
    """Mean and quartiles of the numbers, or the shares of the most frequent values."""
    examples = table.examples
    cell = (examples.task, examples.language, examples.split)
    about = (*cell, attribute.name, attribute.title, attribute.discrete, len(column))
    if attribute.discrete:
        counts = Counter(column.astype(np.str_).tolist())
        return Distribution(*about, shares={value: n / len(column) for value, n in counts.most_common(LISTED)})
    numbers = column.astype(np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return Distribution(*about)
    quartiles = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Distribution(*about, mean=float(numbers.mean()), quartiles=quartiles)
