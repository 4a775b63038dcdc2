"""The record of a cell: what it scored, how it ended, and everything needed to do it again."""

import platform
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from isogloss.data.files import Stamp, atomic_write, stamp
from isogloss.scoring.results import CellScore
from isogloss.tasks.examples import Examples
from isogloss.version import __version__

Status = Literal["done", "failed", "skipped"]


class Files(msgspec.Struct, frozen=True):
    """What was read: sha256 over the unpacked bytes, size and time of change of every file, and what is to be said."""

    sha256: str
    stamps: dict[str, Stamp]
    notes: list[str] = []

    @classmethod
    def of(cls, examples: Examples) -> "Files":
        """The files of some examples."""
        return cls(examples.checksum, {source: stamp(Path(source)) for source in examples.sources}, examples.notes)

    @property
    def untouched(self) -> bool:
        """Whether every file is as it was, by its stamp."""
        try:
            return all(stamp(Path(source)) == was for source, was in self.stamps.items())
        except OSError:
            return False


class Provenance(msgspec.Struct, frozen=True):
    """Where a cell comes from.

    Attributes:
        config: the system's metadata.
        data: the files of the cell's examples; `training` those the system learnt from.
        fit_seconds: what the fit took that this cell shares with others.
        seconds: what the cell itself took: reading, predicting, writing and scoring.
        peak_memory_mb: the most memory the process had while the cell was filled.
    """

    config: dict[str, Any]
    started: str
    data: Files | None = None
    training: Files | None = None
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
