"""The papers' published figures: facts to compare with, kept exactly as printed.

One CSV per printed table; README.md beside them gives the sources and what is inconsistent in print. A header
cell names a field of the row's dataclass, or is `task:metric` for a figure of a wide table. Empty cells were
not reported.
"""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from isogloss.errors import unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "Average",
    "CheckListRow",
    "DiversityRow",
    "Figure",
    "GapRow",
    "OverallRow",
    "SelectionFigure",
    "SubsetRow",
    "SystemRow",
    "checklist",
    "diversity",
    "overall",
    "per_language",
    "printed_averages",
    "retrieval_subsets",
    "selection",
    "systems",
    "transfer_gap",
]

SUITES = ("xtreme-r", "xtreme")


@dataclass(frozen=True)
class OverallRow:
    """A system's line in a benchmark's main table.

    Attributes:
        system: the system's name.
        regime: how it was trained ("zero-shot", "translate-train", ...; "human" for people).
        average: the overall score, where one was printed.
        metrics: task to metric to figure, 0..100, only what was printed.
    """

    system: str
    regime: str
    average: float | None
    metrics: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class GapRow:
    """A system's transfer gaps: English minus the mean of the other languages, task to metric to points."""

    system: str
    average: float
    metrics: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Figure:
    """A system's score on one task in one language, 0..100."""

    source_table: str
    task: str
    metric: str
    system: str
    regime: str
    language: str
    value: float


@dataclass(frozen=True)
class Average:
    """The average over languages printed beside a row of figures, right or wrong, 0..100."""

    source_table: str
    task: str
    metric: str
    system: str
    regime: str
    value: float


@dataclass(frozen=True)
class CheckListRow:
    """A system's error rate on one MultiCheckList test in one language, 0..100."""

    source_table: str
    system: str
    language: str
    test: str
    error_rate: float


@dataclass(frozen=True)
class SystemRow:
    """A system's size and training data, in the units it was reported in ("" where it was not)."""

    system: str
    parameters_millions: int
    monolingual_data: str
    parallel_data: str


@dataclass(frozen=True)
class SubsetRow:
    """Mean AP@20 with one target, over all pairs or by whether query and answer share a language, 0..100."""

    task: str
    system: str
    subset: str
    value: float


@dataclass(frozen=True)
class DiversityRow:
    """A diversity index ("typology" or "family") of a benchmark's languages, 0..1."""

    index: str
    suite: str
    value: float


@dataclass(frozen=True)
class SelectionFigure:
    """One cell of Keung et al.'s tables on checkpoint selection and its variance.

    Attributes:
        source_table: the table it was printed in.
        task: mldoc, xnli, mlqa or conll.
        metric: accuracy, f1 or em (0..100), or agreement (a share, 0..1).
        system: the model.
        row: the line's label: a cited paper, "Max", "Best En dev", ...; "Δ" for the spread of the lines.
        split: what was scored; "dev" only for the English column of Table 2.
        language: ISO 639-1.
        value: the figure.
    """

    source_table: str
    task: str
    metric: str
    system: str
    row: str
    split: str
    language: str
    value: float


def overall(suite: str) -> list[OverallRow]:
    """The main table of "xtreme-r" (its Table 4) or "xtreme" (its Table 2)."""
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES)
    return list(_read(f"overall_{suite}", OverallRow))


def per_language(task: str | None = None, system: str | None = None, regime: str | None = None) -> list[Figure]:
    """XTREME-R's Tables 15 to 24, whole or for one task, system or regime."""
    everything = _read("per_language", Figure)
    figures = list(everything)
    for field, wanted in (("task", task), ("system", system), ("regime", regime)):
        if wanted is None:
            continue
        known = {getattr(figure, field) for figure in everything}
        if wanted not in known:
            raise unknown(field, wanted, known)
        figures = [figure for figure in figures if getattr(figure, field) == wanted]
    return figures


def printed_averages() -> list[Average]:
    """The averages printed in XTREME-R's Tables 15 to 24; some are not the means of their rows."""
    return list(_read("printed_averages", Average))


def transfer_gap() -> list[GapRow]:
    """XTREME's Table 3; its average is over the five sentence and QA tasks only."""
    return list(_read("transfer_gap", GapRow))


def checklist() -> list[CheckListRow]:
    """XTREME-R's Tables 10 and 11: two systems, fifty languages (Hausa in, Romanian out), six tests."""
    return list(_read("checklist_error_rates", CheckListRow))


def systems() -> list[SystemRow]:
    """XTREME-R's Table 13: what the systems submitted to XTREME were made of."""
    return list(_read("systems", SystemRow))


def retrieval_subsets() -> list[SubsetRow]:
    """XTREME-R's Table 14: retrieval within and across languages."""
    return list(_read("retrieval_subsets", SubsetRow))


def diversity() -> list[DiversityRow]:
    """XTREME-R's Table 8: how diverse the languages of three benchmarks are."""
    return list(_read("diversity", DiversityRow))


def selection() -> list[SelectionFigure]:
    """Keung et al.'s Tables 1 to 8."""
    return list(_read("keung", SelectionFigure))


Row = TypeVar("Row", bound="DataclassInstance")

_CELL: dict[object, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    float | None: lambda cell: float(cell) if cell else None,
}


@cache
def _read(table: str, row_type: type[Row]) -> tuple[Row, ...]:
    """The rows of a table; its first columns are the dataclass's own fields, in order."""
    path = Path(__file__).with_name(f"{table}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    readers = [_CELL[field.type] for field in fields(row_type) if field.name != "metrics"]
    fixed = len(readers)
    rows = []
    for line in lines:
        values = [read(cell) for read, cell in zip(readers, line, strict=False)]
        if len(header) > fixed:
            values.append(_metrics(header[fixed:], line[fixed:]))
        rows.append(row_type(*values))
    return tuple(rows)


def _metrics(columns: list[str], cells: list[str]) -> dict[str, dict[str, float]]:
    """The `task:metric` columns of a wide table, nested; empty cells left out."""
    nested: dict[str, dict[str, float]] = {}
    for column, cell in zip(columns, cells, strict=True):
        if cell:
            task, _, metric = column.partition(":")
            nested.setdefault(task, {})[metric] = float(cell)
    return nested
