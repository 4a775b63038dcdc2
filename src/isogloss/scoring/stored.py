"""Judged cells on disk: the statistics of each as plain numpy arrays, so that scores follow without gold or answers.

A file holds the arrays (no pickles) and a header in JSON, which names the function that turns column sums into a score.
The same cell gives the same bytes.
"""

import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.data.arrays import read_arrays
from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.metrics.statistics import VALUES, Statistics
from isogloss.scoring.cells import Cell
from isogloss.tasks.kinds import Judgement, LanguagePairs

_HEADER = "header"


class _StoredStatistics(msgspec.Struct, frozen=True):
    """One metric: the name of its value function, and of the arrays with its rows and units ("" for none)."""

    metric: str
    value: str
    rows: str
    units: str = ""


class _StoredCell(msgspec.Struct, frozen=True):
    """All of a cell but the arrays."""

    task: str
    language: str
    split: str
    n: int
    checksum: str
    partial: bool
    notes: list[str]
    dialect: str
    judgement_notes: list[str]
    units: list[str] | None
    metrics: list[_StoredStatistics]
    pairs: _StoredStatistics | None = None
    clusters: list[str] | None = None


class _Arrays:
    """Arrays under names; one that several metrics share is kept once."""

    def __init__(self) -> None:
        self.by_name: dict[str, npt.NDArray[Any]] = {}

    def add(self, array: npt.NDArray[Any]) -> str:
        """Keep an array, and give its name."""
        known = (name for name, kept in self.by_name.items() if kept is array)
        name = next(known, f"array-{len(self.by_name)}")
        self.by_name[name] = array
        return name

    def add_statistics(self, metric: str, statistics: Statistics) -> _StoredStatistics:
        """Keep the arrays of a metric, and say where."""
        units = "" if statistics.units is None else self.add(statistics.units)
        return _StoredStatistics(metric, statistics.value.name, self.add(statistics.rows), units)


def can_store(cell: Cell) -> bool:
    """Whether the value function of every metric has a name to find it by; others are judged anew whenever needed."""
    pairs = [] if cell.judgement.pairs is None else [cell.judgement.pairs.statistics]
    return all(VALUES.get(each.value.name) is each.value for each in (*cell.metrics.values(), *pairs))


def write_cell(path: Path, cell: Cell) -> None:
    """Keep a cell for which `can_store` holds; the file appears under its name only when it is complete."""
    arrays, judgement = _Arrays(), cell.judgement
    pairs = None
    if judgement.pairs is not None:
        pairs = arrays.add_statistics(judgement.pairs.metric, judgement.pairs.statistics)
        arrays.by_name["target_languages"] = judgement.pairs.target_languages
    header = _StoredCell(
        cell.task,
        cell.language,
        cell.split,
        cell.n,
        cell.checksum,
        cell.partial,
        cell.notes,
        judgement.dialect,
        judgement.notes,
        cell.units,
        [arrays.add_statistics(name, statistics) for name, statistics in judgement.metrics.items()],
        pairs,
        cell.clusters,
    )
    arrays.by_name[_HEADER] = np.frombuffer(msgspec.json.encode(header), dtype=np.uint8)
    content = io.BytesIO()
    save: Any = np.savez_compressed  # whose further options differ between versions of numpy
    save(content, **arrays.by_name)
    with atomic_write(path) as stream:
        stream.buffer.write(content.getbuffer())


def read_cell(path: Path) -> Cell | None:
    """A cell that was kept; None where there is none, a damaged one, or one with an unknown value function."""
    try:
        with read_arrays(path) as arrays:
            header: _StoredCell = decode_json(arrays[_HEADER].tobytes(), str(path), _StoredCell)
            pairs = None
            if header.pairs is not None:
                of_pairs = _statistics(header.pairs, arrays)
                pairs = LanguagePairs(header.pairs.metric, of_pairs, arrays["target_languages"])
            metrics = {stored.metric: _statistics(stored, arrays) for stored in header.metrics}
    except DataError:
        return None
    return Cell(
        header.task,
        header.language,
        header.split,
        header.n,
        Judgement(metrics, pairs, header.dialect, header.judgement_notes),
        header.units,
        header.checksum,
        header.partial,
        header.notes,
        header.clusters,
    )


def _statistics(stored: _StoredStatistics, arrays: Any) -> Statistics:
    units = arrays[stored.units] if stored.units else None
    return Statistics(arrays[stored.rows], VALUES[stored.value], units)
