"""Subset files: the examples of a task that were drawn to be answered, and their strata.

`isogloss export --subset` writes one per task. Weights are not stored: that of an example is the size of its stratum
divided by the number of its drawn examples.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from isogloss.data.files import atomic_write, read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import PredictionError
from isogloss.metrics.control import Draw
from isogloss.metrics.statistics import IntArray
from isogloss.predictions.folder import SUBSET_FILE
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.version import __version__

SCHEMA = 1
_AGAIN = "Export the subset again"


class SubsetError(PredictionError):
    """A subset file that is invalid or does not fit the data."""


class CellSubset(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The drawn examples of one language, and the strata of all examples."""

    checksum: str  # of the data
    ids: list[str]  # drawn examples, in the order of the draw
    strata: str  # the stratum of every example as a digit, in the order of the data
    guide: str = ""  # checksum of the guide's statistics
    whole_sources: bool = False  # True if all examples of a source were drawn together

    def kept(self, examples: Examples) -> Examples:
        """Return the drawn examples in the order of the data."""
        drawn = set(self.ids)
        kept = examples.keep([row for row, identifier in enumerate(examples.ids) if identifier in drawn])
        kept.split_ids, kept.drawn = examples.split_ids or examples.ids, True
        return kept


class SubsetFile(msgspec.Struct, frozen=True, kw_only=True):
    """The drawn examples of one task in some languages."""

    task: str
    split: str
    size: int  # requested number of examples per language
    seed: int
    guide: str  # name of the system that the strata are from, "" for none
    languages: dict[str, CellSubset]
    isogloss: str = __version__
    schema_version: int = SCHEMA
    digest: str = ""  # SHA-256 of everything else

    def sealed(self) -> "SubsetFile":
        """Return the record with its digest."""
        bare = msgspec.structs.replace(self, digest="")
        return msgspec.structs.replace(bare, digest=hashlib.sha256(msgspec.json.encode(bare)).hexdigest())

    def write(self, path: Path) -> None:
        """Write the record."""
        with atomic_write(path) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(self.sealed()), indent=1).decode() + "\n")


@dataclass(frozen=True, kw_only=True)
class DrawnCell:
    """The drawn examples of a cell, from the file at `where`."""

    subset: CellSubset
    file: SubsetFile
    where: str
    language: str

    @property
    def digest(self) -> str:
        """Digest of the file."""
        return self.file.digest

    def check(self, examples: Examples, *, same_file: bool = True) -> None:
        """Raise a `SubsetError` unless the subset was drawn from these examples; labels may be from another file."""
        name = f"{self.file.task}/{self.language} {self.file.split}"
        if same_file and examples.checksum != self.subset.checksum:
            raise SubsetError(f"the subset was drawn from other data of {name}", where=self.where, fix=_AGAIN)
        if len(self.subset.strata) != len(examples):
            what = f"the subset was drawn from {len(self.subset.strata)} examples of {name}, not {len(examples)}"
            raise SubsetError(what, where=self.where, fix=_AGAIN)
        if unknown := sorted(set(self.subset.ids).difference(examples.ids)):
            raise SubsetError(f"{unknown[0]!r} is not in {name}", where=self.where, fix=_AGAIN)

    def kept(self, examples: Examples, *, same_file: bool = True) -> Examples:
        """Return the drawn examples in the order of the data; raise a `SubsetError` if it was drawn from others."""
        self.check(examples, same_file=same_file)
        return self.subset.kept(examples)

    def draw(self, examples: Examples) -> tuple[IntArray, Draw]:
        """Return the unit of every example as a number, and the draw of units."""
        units = unit_numbers(examples, whole_sources=self.subset.whole_sources)
        stratum_of = np.unique(list(self.subset.strata), return_inverse=True)[1].astype(np.int64)
        ids = set(self.subset.ids)
        is_drawn = np.fromiter((identifier in ids for identifier in examples.ids), bool, len(examples))
        strata, drawn = np.zeros(int(units.max()) + 1, np.int64), np.zeros(int(units.max()) + 1, bool)
        strata[units], drawn[units] = stratum_of, is_drawn
        draw = Draw(strata, drawn)
        if (strata[units] != stratum_of).any() or (drawn[units] != is_drawn).any():
            raise SubsetError("the subset divides a source", where=self.where, fix=_AGAIN)
        if not draw.possible:
            raise SubsetError("the subset has fewer than two examples of a stratum", where=self.where, fix=_AGAIN)
        return units, draw


@dataclass(frozen=True)
class Subset:
    """Drawn examples of several tasks, by task, language and split."""

    cells: Mapping[tuple[str, str, str], DrawnCell]

    def find(self, task: Task, language: str, split: str) -> DrawnCell | None:
        """Return the drawn examples of a cell, or None if it was not drawn from."""
        return self.cells.get((task.id, language, split))


def unit_numbers(examples: Examples, *, whole_sources: bool) -> IntArray:
    """Return the unit of every example as a number: its source, or itself."""
    if not whole_sources:
        return np.arange(len(examples))
    numbers: dict[str, int] = {}
    names = examples.clusters or examples.ids
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def read_subset(path: str | os.PathLike[str]) -> Subset:
    """Read a subset file, or those of all tasks in the folder that `isogloss export` wrote.

    Raises:
        SubsetError: there is no file, or it is invalid or was edited.
        DataError: a file cannot be read.
    """
    root = Path(path)
    files = sorted(root.glob(f"*/*{SUBSET_FILE}")) if root.is_dir() else [root]
    if not files:
        fix = "Pass the file that isogloss export --subset wrote, or its folder"
        raise SubsetError(f"no {SUBSET_FILE} in the folders of tasks", where=str(root), fix=fix)
    cells: dict[tuple[str, str, str], DrawnCell] = {}
    for file in files:
        record = _read(file)
        for language, subset in record.languages.items():
            cell = DrawnCell(subset=subset, file=record, where=str(file), language=language)
            cells[find_task(record.task).id, language, record.split] = cell
    return Subset(cells)


def own_subset(roots: Iterable[Path]) -> Subset | None:
    """Return the examples drawn for prediction folders, which `isogloss run --subset` writes there; None without any.

    Raises:
        SubsetError: two folders have different subsets of one cell, or a file is invalid.
    """
    cells: dict[tuple[str, str, str], DrawnCell] = {}
    for root in roots:
        for file in sorted(root.glob(f"*/*-{SUBSET_FILE}")):
            for key, cell in read_subset(file).cells.items():
                other = cells.setdefault(key, cell)
                if other.subset.ids != cell.subset.ids:
                    what = f"another subset of {key[0]}/{key[1]} than in {other.where}"
                    raise SubsetError(what, where=cell.where, fix="Compare runs with the same --subset")
    return Subset(cells) if cells else None


def _read(path: Path) -> SubsetFile:
    record: SubsetFile = decode_json(read_bytes(path), str(path), SubsetFile, what="a subset file")
    if record.schema_version > SCHEMA:
        what = f"schema version {record.schema_version}, this isogloss reads up to {SCHEMA}"
        raise SubsetError(what, where=str(path), fix="Update isogloss")
    if record.sealed().digest != record.digest:
        fix = f"Restore the file as isogloss export wrote it. {_AGAIN} to change it"
        raise SubsetError("the subset file was edited", where=str(path), fix=fix)
    for language, subset in record.languages.items():
        if fault := _fault(subset):
            raise SubsetError(f"{record.task}/{language}: {fault}", where=str(path), fix=_AGAIN)
    return record


def _fault(subset: CellSubset) -> str:
    """Return why a subset cannot be a draw, or ""."""
    if not subset.ids:
        return "no examples"
    if len(set(subset.ids)) < len(subset.ids):
        return "duplicate id"
    if not subset.strata.isascii() or not subset.strata.isdecimal():
        return "expected one digit per example in `strata`"
    return ""


def digits(strata: Iterable[int]) -> str:
    """Return strata, of which there are at most ten, as one digit each."""
    return "".join(map(str, strata))
