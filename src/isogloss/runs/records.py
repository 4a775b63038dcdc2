"""The record of a cell: what it scored, how it ended, and everything needed to do it again."""

import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from isogloss.data.files import Stamp, atomic_write, stamp
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.runs.plan import CellKey, Plan
from isogloss.scoring.results import CellScore
from isogloss.tasks.examples import Examples
from isogloss.version import __version__

CellStatus = Literal["done", "failed", "skipped"]


class InputFiles(msgspec.Struct, frozen=True):
    """Files that were read: sha256 over the unpacked bytes, size and time of change of each, and notes on them."""

    sha256: str
    stamps: dict[str, Stamp]
    notes: list[str] = []

    @classmethod
    def of(cls, examples: Examples) -> "InputFiles":
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
        data: the files of the cell's examples; `training` those of its training set.
        fit_seconds: what the fit took that this cell shares with others.
        seconds: what the cell itself took: reading, predicting, writing and scoring.
        peak_memory_mb: the most memory the process had while the cell was filled.
    """

    config: dict[str, Any]
    started: str
    data: InputFiles | None = None
    training: InputFiles | None = None
    fit_seconds: float = 0.0
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    isogloss: str = __version__
    python: str = platform.python_version()
    numpy: str = np.__version__
    platform: str = platform.platform()


class CellRecord(msgspec.Struct, frozen=True):
    """One cell: scores (None where the split has no gold, or the cell is not done), the reason, the provenance."""

    system: str
    regime: str
    seed: int
    task: str
    language: str
    split: str
    status: CellStatus
    provenance: Provenance
    score: CellScore | None = None
    reason: str = ""
    traceback: str = ""


def write_record(path: Path, record: CellRecord) -> None:
    """Write a record; the cell is finished from this moment."""
    with atomic_write(path) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")


# What was read before, by path, with what tells whether the file is still that one: atomic writes change the inode.
_Version = tuple[int, int, int]
_READ: dict[Path, tuple[_Version, CellRecord | None]] = {}


def read_record(path: Path) -> CellRecord | None:
    """The record of a cell; None where there is none, or a damaged one. A file that stays the same is read once."""
    try:
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        known = _READ.get(path)
        if known is None or known[0] != version:
            _READ[path] = known = version, _decode(path.read_bytes())
    except FileNotFoundError:
        return None
    return known[1]


def _decode(content: bytes) -> CellRecord | None:
    try:
        found: CellRecord = decode_json(content, "", CellRecord)
    except DataError:
        return None
    return found


def read_records(plan: Plan, cells: Iterable[CellKey]) -> dict[CellKey, CellRecord]:
    """The records of those cells that have one; a look at each folder spares asking for files that are not there."""
    names: dict[Path, set[str]] = {}
    found = {}
    for cell in cells:
        path = plan.record_path(cell)
        if path.parent not in names:
            names[path.parent] = {each.name for each in path.parent.iterdir()} if path.parent.is_dir() else set()
        record = read_record(path) if path.name in names[path.parent] else None
        if record is not None:
            found[cell] = record
    return found
