"""The papers' published figures: facts to compare with, kept exactly as printed.

One CSV per printed table; README.md beside them gives the sources and what is inconsistent in print. `table` reads
any of them; `overall` and `checklist` give those that are shown beside new results, with types.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from isogloss.errors import unknown

__all__ = ["PublishedErrorRate", "PublishedResult", "checklist", "overall", "table"]

SUITES = ("xtreme-r", "xtreme")


@dataclass(frozen=True)
class PublishedResult:
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
class PublishedErrorRate:
    """A system's error rate on one MultiCheckList test in one language, 0..100."""

    system: str
    language: str
    test: str
    error_rate: float


def table(name: str) -> list[dict[str, str]]:
    """The rows of a published table, each cell under its column's name; empty cells were not reported.

    Args:
        name: the name of its CSV file, such as "per_language"; README.md lists them.

    Raises:
        UnknownNameError: there is no such table.
    """
    files = {path.stem: path for path in Path(__file__).parent.glob("*.csv")}
    if name not in files:
        raise unknown("published table", name, files)
    with files[name].open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def overall(suite: str) -> list[PublishedResult]:
    """The main table of "xtreme-r" (its Table 4) or "xtreme" (its Table 2).

    Raises:
        UnknownNameError: for any other suite.
    """
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES)
    return [
        PublishedResult(row["system"], row["regime"], float(row["average"]) if row["average"] else None, _metrics(row))
        for row in table(f"overall_{suite}")
    ]


def _metrics(row: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The `task:metric` columns of a row, nested; empty cells left out."""
    nested: dict[str, dict[str, float]] = {}
    for column, cell in row.items():
        task, colon, metric = column.partition(":")
        if colon and cell:
            nested.setdefault(task, {})[metric] = float(cell)
    return nested


def checklist() -> list[PublishedErrorRate]:
    """XTREME-R's Tables 10 and 11: two systems, fifty languages (Hausa in, Romanian out), six tests."""
    return [
        PublishedErrorRate(row["system"], row["language"], row["test"], float(row["error_rate"]))
        for row in table("checklist_error_rates")
    ]
