"""The record of a cell: what it scored, how it ended, and everything needed to do it again."""

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from warnings import warn

import msgspec
import numpy as np

from isogloss.data.files import Stamp, atomic_write, read_bytes, resolve, sha256_of, stamp
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.runs.plan import CellKey, Plan
from isogloss.scoring.results import CellScore, write_json
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
        config: the system's configuration.
        data: the files of the cell's examples; `training` those of its training set.
        fit_seconds: what the fit took that this cell shares with others.
        seconds: what the cell itself took: reading, predicting, writing and scoring.
        peak_memory_mb: the most memory the process had while the cell was filled.
        node: the name of the machine, "" where it is not known.
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
    node: str = ""


class AnswerChecksums(msgspec.Struct, frozen=True):
    """The sha256 of a cell's files as they were written: its answers, and its statistics ("" where it has none)."""

    predictions: str
    statistics: str = ""


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
    checksums: AnswerChecksums | None = None


def write_record(path: Path, record: CellRecord) -> None:
    """Write a record; the cell is finished from this moment."""
    write_json(path, record, indent=1)


# What tells whether a file is still the one that was read: atomic writes change the inode.
_Version = tuple[int, int, int]
_READ: dict[Path, tuple[_Version, CellRecord | None]] = {}


def _version(path: Path) -> _Version:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def checksum(path: Path) -> str:
    """The sha256 of a file, "" where it is not there; one that stays the same is read once."""
    found = resolve(path)
    return "" if found is None else _checksum(path, _version(found))


@cache
def _checksum(path: Path, version: _Version) -> str:
    return sha256_of(path)


def damage(plan: Plan, cell: CellKey, record: CellRecord | None) -> str:
    """Why the record or the answers of a finished cell are not to be trusted, "" where they are."""
    if record is None:
        return "its record cannot be read"
    if record.status != "done":
        return ""
    if record.score is None and not record.reason:
        return "its record has no score"
    if record.checksums is None:
        return "its record has no checksum of its answers"
    found = checksum(plan.predictions_path(cell))
    if found != record.checksums.predictions:
        return "its answers are not those that were recorded" if found else "its answers are gone"
    return ""


def damaged_statistics(plan: Plan, cell: CellKey, record: CellRecord) -> bool:
    """Whether the statistics of a cell are not those that were recorded."""
    recorded = record.checksums.statistics if record.checksums else ""
    return bool(recorded) and checksum(plan.statistics_path(cell)) != recorded


def warn_of_damage(found: Mapping[CellKey, str], consequence: str) -> None:
    """Say which cells are damaged and what follows, in one line for each sort of damage."""
    by_reason: dict[str, list[CellKey]] = {}
    for cell, reason in found.items():
        by_reason.setdefault(reason, []).append(cell)
    for reason, cells in by_reason.items():
        more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        warn(f"{consequence}: {cells[0]}{more}: {reason}", stacklevel=3)


def read_record(path: Path) -> CellRecord | None:
    """The record of a cell; None where there is none, or a damaged one. A file that stays the same is read once.

    Raises:
        DataError: something is there that cannot be read at all.
    """
    try:
        version = _version(path)
        known = _READ.get(path)
        if known is None or known[0] != version:
            _READ[path] = known = version, _decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        # Such as a folder: nothing that a run makes, so nothing that it may remove.
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(path), fix="Remove it") from error
    return known[1]


def _decode(content: bytes) -> CellRecord | None:
    try:
        found: CellRecord = decode_json(content, "", CellRecord)
    except DataError:
        return None
    return found


class ResultsRecord(msgspec.Struct, frozen=True):
    """Checksums of a `results.json` and of all it was made from, by which it is known to be whole and up to date."""

    results: str
    made_from: str

    @classmethod
    def of(cls, plan: Plan, seed: int, records: Mapping[CellKey, CellRecord]) -> "ResultsRecord":
        """The checksums of the result record of a seed as it is, and of its cells as they are."""
        cells = [(cell.task, cell.language, record.checksums, record.score) for cell, record in records.items()]
        system = checksum(plan.seed_folder(seed) / "system.toml")
        made_from = msgspec.json.encode((plan.request.suite.id, __version__, system, cells))
        return cls(checksum(plan.results_path(seed)), sha256(made_from).hexdigest())

    @classmethod
    def read(cls, path: Path) -> "ResultsRecord | None":
        """Those that were written with the result record; None where there are none, or damaged ones."""
        try:
            found: ResultsRecord = decode_json(read_bytes(path), str(path), cls)
        except DataError:
            return None
        return found

    def write(self, path: Path) -> None:
        """Keep them; the result record has been written."""
        with atomic_write(path) as stream:
            stream.write(msgspec.json.encode(self).decode() + "\n")


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
