"""The record of a cell: scores, outcome, and everything needed to reproduce it."""

import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
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
from isogloss.grouping import group_by
from isogloss.runs.plan import CellKey, Plan
from isogloss.scoring.results import CellScore, write_json
from isogloss.tasks.examples import Examples
from isogloss.version import __version__

CellStatus = Literal["done", "failed", "skipped"]


class InputFiles(msgspec.Struct, frozen=True):
    """Input files: sha256 over the unpacked bytes, size and modification time of each, and notes."""

    sha256: str
    stamps: dict[str, Stamp]
    notes: list[str] = []

    @classmethod
    def of(cls, examples: Examples) -> "InputFiles":
        """Return the files of some examples."""
        return cls(examples.checksum, {source: stamp(Path(source)) for source in examples.sources}, examples.notes)

    @property
    def untouched(self) -> bool:
        """True if the size and modification time of every file are unchanged."""
        try:
            return all(stamp(Path(source)) == was for source, was in self.stamps.items())
        except OSError:
            return False


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Provenance of a cell: configuration of the system, files of its examples and training set, and environment.

    Attributes:
        fit_seconds: duration of the fit, which the cell shares with others.
        seconds: duration of reading, predicting, writing and scoring the cell.
        peak_memory_mb: peak memory of the process while filling the cell.
        node: name of the machine, "" if unknown.
        subset: number of examples to draw from the cell; 0 for all.
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
    subset: int = 0


class AnswerChecksums(msgspec.Struct, frozen=True):
    """Checksums of a cell's predictions and statistics ("" without any) as written."""

    predictions: str
    statistics: str = ""


class CellRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Record of a cell; the score is None if the split has no gold or the cell is not done.

    `cause` is the reason without the cell's name, if that differs.
    """

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
    cause: str | msgspec.UnsetType = msgspec.UNSET
    traceback: str = ""
    checksums: AnswerChecksums | None = None

    @property
    def general_reason(self) -> str:
        """Reason without the cell's name, which is the same for all cells that fail alike."""
        return self.cause or self.reason

    def write(self, path: Path) -> None:
        """Write the record, which finishes the cell."""
        write_json(path, self, indent=1)


# Cache key of a file: atomic writes change the inode.
_Version = tuple[int, int, int]


def _version(path: Path) -> _Version:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@cache
def _checksum(path: Path, version: _Version) -> str:
    return sha256_of(path)


def checksum(path: Path) -> str:
    """Return the sha256 of a file, "" if it is missing; unchanged files are read once."""
    file = resolve(path)
    return "" if file is None else _checksum(path, _version(file))


def damage(plan: Plan, cell: CellKey, record: CellRecord | None) -> str:
    """Describe the damage to the record or predictions of a finished cell, "" for none."""
    if record is None:
        return "unreadable record"
    if record.status != "done":
        return ""
    if record.score is None and not record.reason:
        return "record without a score"
    if record.checksums is None:
        return "record without a checksum of its predictions"
    current = checksum(plan.predictions_path(cell))
    if current != record.checksums.predictions:
        return "predictions differ from the recorded checksum" if current else "missing predictions"
    return ""


def damaged_statistics(plan: Plan, cell: CellKey, record: CellRecord) -> bool:
    """Return True if the statistics of a cell differ from the recorded checksum."""
    recorded = record.checksums.statistics if record.checksums else ""
    return bool(recorded) and checksum(plan.statistics_path(cell)) != recorded


def warn_of_damage(damaged: Mapping[CellKey, str], consequence: str) -> None:
    """Warn of damaged cells and the consequence, once per kind of damage."""
    for reason, cells in group_by(damaged, damaged.__getitem__).items():
        more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        warn(f"{consequence}: {cells[0]}{more}: {reason}", stacklevel=3)


@cache
def _record(path: Path, version: _Version) -> CellRecord | None:
    record: CellRecord | None = None
    with suppress(DataError):  # damaged
        record = decode_json(path.read_bytes(), "", CellRecord)
    return record


def read_record(path: Path) -> CellRecord | None:
    """Return the record of a cell, or None if it is missing or damaged; unchanged files are read once."""
    try:
        return _record(path, _version(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(path), fix="Remove it") from error


class ResultsRecord(msgspec.Struct, frozen=True):
    """Checksums of a `results.json` and its inputs, to verify that it is complete and up to date."""

    results: str
    made_from: str

    @classmethod
    def of(cls, plan: Plan, seed: int, records: Mapping[CellKey, CellRecord]) -> "ResultsRecord":
        """Return the checksums of a seed's current results and cells."""
        cells = [(cell.task, cell.language, record.checksums, record.score) for cell, record in records.items()]
        system = checksum(plan.seed_folder(seed) / "system.toml")
        made_from = msgspec.json.encode((plan.request.suite.id, __version__, system, cells))
        return cls(checksum(plan.results_path(seed)), sha256(made_from).hexdigest())

    @classmethod
    def read(cls, path: Path) -> "ResultsRecord | None":
        """Return the checksums written with the results, or None if they are missing or damaged."""
        record: ResultsRecord | None = None
        with suppress(DataError):
            record = decode_json(read_bytes(path), str(path), cls)
        return record

    def write(self, path: Path) -> None:
        """Write the checksums, after the results."""
        with atomic_write(path) as stream:
            stream.write(msgspec.json.encode(self).decode() + "\n")


def read_records(plan: Plan, cells: Iterable[CellKey]) -> dict[CellKey, CellRecord]:
    """Return the records of the cells that have one, listing each folder once."""
    file_names = cache(plan.file_names)
    present = (cell for cell in cells if plan.record_name(cell.language) in file_names(cell.seed, cell.task))
    records = ((cell, read_record(plan.record_path(cell))) for cell in present)
    return {cell: record for cell, record in records if record is not None}
