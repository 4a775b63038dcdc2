"""Published results of the papers, exactly as printed.

One CSV per printed table; the README.md next to them lists the sources and inconsistencies in print. `table` reads any
of them; `overall` and `checklist` return typed rows for comparison with new results.
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
    """A system's row in a benchmark's main table.

    Attributes:
        regime: training regime ("zero-shot", "translate-train", ...; "human" for people).
        average: overall score, if printed.
        metrics: task -> metric -> score, 0..100, as far as printed.
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
    """Return the rows of a published table, each cell under its column's name; empty cells were not reported.

    Args:
        name: name of the CSV file, such as "per_language"; README.md lists them.
    """
    files = {path.stem: path for path in Path(__file__).parent.glob("*.csv")}
    if name not in files:
        raise unknown("published table", name, files)
    with files[name].open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def overall(suite: str) -> list[PublishedResult]:
    """Return the main table of "xtreme-r" (its Table 4) or "xtreme" (its Table 2)."""
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES)
    results = []
    for row in table(f"overall_{suite}"):
        metrics: dict[str, dict[str, float]] = {}
        for column, cell in row.items():
            task, colon, metric = column.partition(":")
            if colon and cell:
                metrics.setdefault(task, {})[metric] = float(cell)
        average = float(row["average"]) if row["average"] else None
        results.append(PublishedResult(row["system"], row["regime"], average, metrics))
    return results


def checklist() -> list[PublishedErrorRate]:
    """Return XTREME-R's Tables 10 and 11: two systems, fifty languages (with Hausa, without Romanian), six tests."""
    return [
        PublishedErrorRate(row["system"], row["language"], row["test"], float(row["error_rate"]))
        for row in table("checklist_error_rates")
    ]


def checklist_task(test: str) -> str:
    """Return the task of a printed test in the suite `checklist-released`; the paper writes "vehicles"."""
    return f"checklist-released-{test.replace('vehicles', 'vehicle').replace('_', '-')}"
