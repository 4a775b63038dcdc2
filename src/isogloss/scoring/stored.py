"""Store judged cells on disk as plain numpy arrays, so that they can be scored without gold or answers.

A file holds the arrays (no pickles) and a JSON header, which names the function that turns column sums into a score.
Equal cells give equal bytes.
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
from isogloss.metrics.statistics import VALUES, Statistics, Value
from isogloss.reply_outcomes import ReplyCounts
from isogloss.scoring.cells import Cell
from isogloss.tasks.kinds import Judgement, LanguagePairs

_HEADER = "header"


class _StoredCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell without its arrays."""

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
    metrics: "list[_StoredStatistics]"
    pairs: "_StoredStatistics | None" = None
    clusters: list[str] | None = None
    unanswered: float | msgspec.UnsetType = msgspec.UNSET
    replies: ReplyCounts | msgspec.UnsetType = msgspec.UNSET
    settings: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


class _StoredStatistics(msgspec.Struct, frozen=True):
    """One metric: names of its value function and of the arrays with its rows and units ("" if absent)."""

    metric: str
    value: str
    rows: str
    units: str = ""


# Fields that a cell and its header share.
_SHARED = ("task", "language", "split", "n", "checksum", "partial", "notes", "units", "clusters")


class _Arrays:
    """Arrays by name; an array shared by several metrics is stored once."""

    def __init__(self) -> None:
        self.by_name: dict[str, npt.NDArray[Any]] = {}

    def add(self, array: npt.NDArray[Any]) -> str:
        same = (name for name, stored in self.by_name.items() if stored is array)
        name = next(same, f"array-{len(self.by_name)}")
        self.by_name[name] = array
        return name

    def add_statistics(self, metric: str, statistics: Statistics) -> _StoredStatistics:
        units = "" if statistics.units is None else self.add(statistics.units)
        return _StoredStatistics(metric, statistics.value.name, self.add(statistics.rows), units)


def can_store(cell: Cell) -> bool:
    """Return True if the value function of every metric is registered; other cells are judged again when needed.

    Cells estimated from a subset are not stored.
    """
    if cell.drawn is not None:
        return False
    pairs = [] if cell.judgement.pairs is None else [cell.judgement.pairs.statistics]
    several = (*cell.metrics.values(), *pairs)
    return all(_value(statistics.value.name) is statistics.value for statistics in several)


def _value(name: str) -> Value | None:
    """Return a registered value function, or None."""
    if name in VALUES:
        return VALUES[name]
    from isogloss.metrics.correlation import CORRELATION
    from isogloss.metrics.label_sets import MACRO_F1
    from isogloss.metrics.translation_quality import BLEU, CHRF

    return {value.name: value for value in (BLEU, CHRF, CORRELATION, MACRO_F1)}.get(name)


def write_cell(path: Path, cell: Cell) -> None:
    """Write a cell for which `can_store` holds, atomically."""
    arrays, judgement = _Arrays(), cell.judgement
    pairs = None
    if judgement.pairs is not None:
        pairs = arrays.add_statistics(judgement.pairs.metric, judgement.pairs.statistics)
        arrays.by_name["target_languages"] = judgement.pairs.target_languages
    header = _StoredCell(
        **{name: getattr(cell, name) for name in _SHARED},
        dialect=judgement.dialect,
        judgement_notes=judgement.notes,
        metrics=[arrays.add_statistics(name, statistics) for name, statistics in judgement.metrics.items()],
        pairs=pairs,
        unanswered=cell.unanswered or msgspec.UNSET,
        replies=cell.replies or msgspec.UNSET,
        settings=judgement.settings or msgspec.UNSET,
    )
    arrays.by_name[_HEADER] = np.frombuffer(msgspec.json.encode(header), dtype=np.uint8)
    content = io.BytesIO()
    save: Any = np.savez_compressed  # its signature differs between versions of numpy
    save(content, **arrays.by_name)
    with atomic_write(path) as stream:
        stream.buffer.write(content.getbuffer())


def read_cell(path: Path) -> Cell | None:
    """Read a stored cell; None if it is missing, damaged or has an unknown value function."""
    try:
        with read_arrays(path) as arrays:
            header: _StoredCell = decode_json(arrays[_HEADER].tobytes(), str(path), _StoredCell)
            pairs = None
            if header.pairs is not None:
                statistics = _statistics(header.pairs, arrays)
                pairs = LanguagePairs(header.pairs.metric, statistics, arrays["target_languages"])
            metrics = {stored.metric: _statistics(stored, arrays) for stored in header.metrics}
    except DataError:
        return None
    settings = header.settings or {}
    judgement = Judgement(metrics, pairs, dialect=header.dialect, notes=header.judgement_notes, settings=settings)
    shared = {name: getattr(header, name) for name in _SHARED}
    return Cell(**shared, judgement=judgement, unanswered=header.unanswered or 0.0, replies=header.replies or None)


def _statistics(stored: _StoredStatistics, arrays: Any) -> Statistics:
    value = _value(stored.value)
    if value is None:
        raise DataError(f"unknown value function {stored.value!r}")
    return Statistics(arrays[stored.rows], value, arrays[stored.units] if stored.units else None)
