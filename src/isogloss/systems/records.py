"""The record of a cell: what it scored, how it ended, and everything needed to do it again."""

import platform
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from isogloss.data.files import atomic_write
from isogloss.scoring.results import CellScore
from isogloss.systems.plan import Place, Plan
from isogloss.version import __version__

__all__ = ["Provenance", "Record", "forget", "read_record", "write_record"]

Status = Literal["done", "failed", "skipped"]


class Provenance(msgspec.Struct, frozen=True):
    """Where a cell comes from.

    Attributes:
        config: the system's metadata.
        data: sha256 over the files of the cell's examples; `training` the same of what the system learnt from.
        fit_seconds: what the fit took that this cell shares with others.
        seconds: what the cell itself took: reading, predicting, writing and scoring.
        peak_memory_mb: the most memory the process had while the cell was filled.
    """

    config: dict[str, Any]
    started: str
    data: str = ""
    training: str = ""
    fit_seconds: float = 0.0
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    isogloss: str = __version__
    python: str = platform.python_version()
    numpy: str = np.__version__
    platform: str = platform.platform()


class Record(msgspec.Struct, frozen=True):
    """One cell: scores (None where the split has no gold, or the cell is not done), the reason, the provenance."""

    system: str
    regime: str
    seed: int
    task: str
    language: str
    split: str
    status: Status
    provenance: Provenance
    score: CellScore | None = None
    reason: str = ""
    traceback: str = ""


def write_record(path: Path, record: Record) -> None:
    """Write a record; the cell is settled from this moment."""
    with atomic_write(path) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")


def read_record(path: Path) -> Record | None:
    """The record of a cell; None where there is none, or a damaged one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def forget(plan: Plan, *, everything: bool = False) -> int:
    """Make cells missing again: the failed, the skipped, those without their answers, or all; says how many."""
    count = 0
    for place in plan.places:
        path = plan.record(place)
        if path.exists() and (everything or not _stands(plan, place)):
            path.unlink(missing_ok=True)
            count += 1
    return count


def _stands(plan: Plan, place: Place) -> bool:
    record = read_record(plan.record(place))
    return record is not None and record.status == "done" and plan.predictions(place).exists()
