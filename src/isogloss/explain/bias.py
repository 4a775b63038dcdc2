"""Dataset bias: distributions of attributes in each language, without any system, and distances between languages."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec
import numpy as np

from isogloss.errors import DataError
from isogloss.explain.buckets import Binning
from isogloss.explain.cell_table import CellTable, gold_table
from isogloss.explain.model import Attribute, Column
from isogloss.explain.selection import OURS, AttributeSelection, CellOptions, select_attributes
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.notebooks import arrow_table, data_frame, rich_html, short_repr, to_latex
from isogloss.scoring.cells import Progress
from isogloss.scoring.request import Request
from isogloss.scoring.results import json_of
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task

# Number of values of a discrete attribute that are reported by name.
LISTED = 20
# Wasserstein distances use this many quantiles: exact if sizes divide it, close otherwise.
QUANTILES = 1000
# Number of permutations of examples over languages, and number of classes for numbers in them.
PERMUTATIONS = 99
CLASSES = 200
# Share of permutations below the noise level.
BELOW = 0.95


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

    __repr__ = short_repr


class Distances(msgspec.Struct, frozen=True, kw_only=True):
    """Distances between the languages of a task in one attribute: a symmetric matrix in the order of `languages`.

    `noise` is the distance that 95 % of sample pairs of these sizes stay below if all languages are alike, estimated by
    permuting examples, source by source, over the languages. A distance below it is not significant.
    """

    task: str
    attribute: str
    measure: str  # "wasserstein-1" (in the attribute's own unit) or "total variation" (0..1)
    languages: list[str]
    table: list[list[float]]
    noise: list[list[float]] = []

    __repr__ = short_repr


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

    def to_arrow(self) -> Any:
        """Return one row per attribute and cell, as an Arrow table."""
        return arrow_table([msgspec.structs.asdict(distribution) for distribution in self.distributions])

    def to_json(self, path: Path | str | None = None) -> str:
        """Return everything as JSON; with a path, also write it."""
        return json_of(self, path)

    _repr_html_ = rich_html
    to_latex = to_latex


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
    request: Request, selection: AttributeSelection | None = None, progress: Progress = None
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
        what, fix = f"no {request.split} data for {', '.join(request.tasks)}", "Run isogloss fetch, or use --split dev"
        raise DataError(what, where=str(request.data or ""), fix=f"{fix} for the development sets")
    between_languages = [table for table in distance_tables if len(table.languages) > 1]
    return DatasetBias(request.split, distributions, between_languages, missing)


def shared_binnings(
    request: Request, selection: AttributeSelection, progress: Progress = None
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


def _gold_tables(name: str, request: Request, missing: list[str], progress: Progress) -> Iterator[CellTable]:
    """Yield tables without a system; add cells without gold to `missing`."""
    task = find_task(name)
    for language in request.languages_of(task):
        if progress is not None:
            progress(f"{name}/{language}")
        for split in request.splits_of(task, language):
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
    described = partial(
        Distribution,
        task=table.examples.task,
        language=table.examples.language,
        split=table.examples.split,
        attribute=attribute.name,
        title=attribute.title,
        discrete=attribute.discrete,
        n=len(column),
    )
    if attribute.discrete:
        counts = Counter(column.astype(np.str_).tolist())
        return described(shares={value: n / len(column) for value, n in counts.most_common(LISTED)})
    numbers = column.astype(np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return described()
    return described(mean=float(numbers.mean()), quartiles=np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).tolist())


def distances(
    name: str, attribute: Attribute, columns: Mapping[str, Column], sources: Mapping[str, IntArray] | None = None
) -> Distances:
    """Return the distance between the distributions of one attribute for every pair of languages.

    Wasserstein-1: the mean distance of equal quantiles. Total variation: half the summed differences of shares.
    `columns` and `sources` are by language; by default each value is its own source.
    """
    is_number = not attribute.discrete
    used = {
        code: ~np.isnan(column.astype(float)) if is_number else np.ones(len(column), dtype=bool)
        for code, column in columns.items()
    }
    used = {code: rows for code, rows in used.items() if rows.any()}
    parts = [columns[code][rows] for code, rows in used.items()]
    groups = [np.arange(len(rows)) if sources is None else sources[code] for code, rows in used.items()]
    if not parts:
        return Distances(task=name, attribute=attribute.name, measure="", languages=[], table=[])
    owners = _Owners.of([group[rows] for group, rows in zip(groups, used.values(), strict=True)])
    if is_number:
        measure, numbers = "wasserstein-1", [part.astype(float) for part in parts]
        points = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = [np.quantile(column, points, method="inverted_cdf") for column in numbers]
        table = np.array([[np.abs(a - b).mean() for b in quantiles] for a in quantiles])
        codes, means = _classes(np.concatenate(numbers))
        noise = _noise(lambda shares: _transports(shares, means), codes, owners)
    else:
        measure = "total variation"
        _, codes = np.unique(np.concatenate([part.astype(np.str_) for part in parts]), return_inverse=True)
        table = _variations(_shares(codes, owners.languages[owners.sources]))
        noise = _noise(_variations, codes, owners)
    about = {"task": name, "attribute": attribute.name, "measure": measure}
    return Distances(**about, languages=list(used), table=table.tolist(), noise=noise.tolist())


class _Owners(NamedTuple):
    """Source of each value, numbered over all languages, and language of each source."""

    sources: IntArray
    languages: IntArray

    @classmethod
    def of(cls, groups: Sequence[IntArray]) -> "_Owners":
        numbered = [np.unique(group, return_inverse=True)[1] for group in groups]
        counts = [int(group.max()) + 1 for group in numbered]
        starts = np.cumsum([0, *counts[:-1]])
        sources = np.concatenate([group + start for group, start in zip(numbered, starts, strict=True)])
        return cls(sources, np.repeat(np.arange(len(groups)), counts))


def _shares(codes: IntArray, owners: IntArray) -> FloatArray:
    """Return shares (languages, classes) of each class in each language, from the language of each value."""
    shape = (int(owners.max()) + 1, int(codes.max(initial=0)) + 1)
    counted = np.bincount(owners * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)
    shares: FloatArray = counted / counted.sum(axis=1, keepdims=True)
    return shares


def _classes(numbers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return numbers as classes of about equal size, and the mean of each class."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, CLASSES + 1), method="inverted_cdf"))
    codes = np.searchsorted(edges, numbers)
    counts = np.bincount(codes, minlength=len(edges))
    return codes, np.bincount(codes, weights=numbers, minlength=len(edges)) / np.maximum(counts, 1)


def _noise(distance: Callable[[FloatArray], FloatArray], codes: IntArray, owners: _Owners) -> FloatArray:
    """Return the distances that chance rarely exceeds, permuting values over languages, source by source."""
    rng = np.random.default_rng(0)
    dealt = (rng.permutation(owners.languages)[owners.sources] for _ in range(PERMUTATIONS))
    drawn = [distance(_shares(codes, languages)) for languages in dealt]
    limits: FloatArray = np.quantile(np.array(drawn), BELOW, axis=0, method="higher")
    return limits


def _variations(shares: FloatArray) -> FloatArray:
    """Return the total variation between every two rows, row by row to keep memory flat."""
    return np.array([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _transports(shares: FloatArray, positions: FloatArray) -> FloatArray:
    """Return Wasserstein-1 between all rows of shares at ascending positions: the area between cumulated shares."""
    below = np.cumsum(shares, axis=1)[:, :-1]
    widths = np.diff(positions)
    return np.array([np.abs(below - row) @ widths for row in below])
