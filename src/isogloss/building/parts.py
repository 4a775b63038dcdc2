"""Finished parts of a build: a folder per part of an input file, which appears only when it is complete."""

import gzip
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.building.dumps import CHUNK, DumpStream, FilePart
from isogloss.building.inputs import DumpFile
from isogloss.data.files import Stamp, atomic_write, read_bytes, read_text, sha256_of, stamp
from isogloss.decoding import decode_json
from isogloss.errors import DataError

Record = TypeVar("Record")
Hashes = npt.NDArray[np.uint64]
# Changes when parts of older versions cannot be used.
_FORMAT = 2
# Longer than the scan of any part takes.
_LEFTOVER_SECONDS = 3 * 24 * 3600
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


class ScanSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Content to extract from the pages of a wiki.

    Attributes:
        links: True to count the links of its pages.
        descriptions: True to keep the first sentences of its pages.
        documents: share of pages to keep with text and links, from 0 to 1.
        classes: classes of Wikidata items that are left out.
    """

    links: bool = False
    descriptions: bool = False
    documents: float = 0.0
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScanJob:
    """A part of a dump to scan; `folder` is that of all parts."""

    dump: DumpFile
    part: FilePart
    stamp: Stamp
    settings: ScanSettings
    folder: Path

    @property
    def path(self) -> Path:
        """Folder of the result, named by all that it depends on."""
        place = (self.dump.kind, self.dump.wiki, self.dump.columns, self.part.start, self.part.stop)
        identity = msgspec.json.encode((_FORMAT, ascii(self.dump.path.name), self.stamp, place, self.settings))
        return self.folder / _named_by(self.dump.path, identity)

    @property
    def is_finished(self) -> bool:
        """True if the result exists."""
        return self.path.is_dir()


class PartCounts(msgspec.Struct, frozen=True):
    """Counts of a part, and the codes of the wikis that its arrays refer to by position."""

    counts: dict[str, int]
    codes: list[str]


@contextmanager
def finishing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that gets its name when it is complete; of several equal ones, the first stays."""
    temporary = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.part")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        with suppress(FileExistsError, OSError):
            temporary.rename(folder)
        if not folder.is_dir():
            raise DataError("cannot be written", where=str(folder))
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(folder)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed builds left unfinished, if it is old enough that no other build is at it."""
    limit = time.time() - _LEFTOVER_SECONDS
    for path in folder.glob(".*.part"):
        with suppress(OSError):
            if path.stat().st_mtime < limit:
                shutil.rmtree(path, ignore_errors=True)


def _named_by(path: Path, identity: bytes) -> str:
    """Return a name that says what it belongs to and is safe in any file system, whatever the path's name."""
    return f"{_UNSAFE.sub('_', path.name)[:60]}-{hashlib.sha256(identity).hexdigest()[:16]}"


def stored_checksum(path: Path, folder: Path) -> str:
    """Return the SHA-256 of a dump as it is on disk, computed once per size and modification time."""
    stored = folder / f"{_named_by(path, f'{path.name!a}:{stamp(path)}'.encode())}.sha256"
    if not stored.is_file():
        with atomic_write(stored) as stream:
            stream.write(sha256_of(path))
    return read_text(stored)


@contextmanager
def records_file(path: Path) -> Iterator[Any]:
    """Open a packed file of JSON lines for writing; its bytes do not depend on the time."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
        yield packed


def read_records(path: Path, record: type[Record]) -> Iterator[Record]:
    """Yield the records of a packed file of JSON lines."""
    decoder = msgspec.json.Decoder(record)
    try:
        with gzip.open(path, "rb") as stream:
            while block := stream.read(CHUNK):
                yield from decoder.decode_lines(block + stream.readline())
    except FileNotFoundError:
        return
    except (OSError, EOFError, msgspec.DecodeError) as error:
        fix = f"Remove {path.parent} and run the same command again"
        raise DataError(f"damaged result of a scan ({error})", where=str(path), fix=fix) from error


def write_arrays(folder: Path, **arrays: npt.NDArray[Any]) -> None:
    """Save arrays under their names."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def read_part_array(folder: Path, name: str) -> npt.NDArray[Any]:
    """Memory-map an array of a part."""
    try:
        array: npt.NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        fix = f"Remove {folder} and run the same command again"
        raise DataError(f"damaged result of a scan ({error})", where=f"{folder}/{name}.npy", fix=fix) from error
    return array


def join_part_arrays(
    pieces: Iterable[tuple[Path, str] | tuple[Path, str, int, int]], dtype: npt.DTypeLike = np.uint64
) -> npt.NDArray[Any]:
    """Return arrays of parts in one: each is given by its folder and name, and its start and end if it is cut."""
    # Copies, because every mapped array keeps a file open, and a build has thousands of parts.
    copies = [
        np.array(read_part_array(folder, name)[slice(*ends) if ends else slice(None)]) for folder, name, *ends in pieces
    ]
    return np.concatenate(copies) if copies else np.empty(0, dtype)


def write_counts(folder: Path, stream: DumpStream, codes: list[str]) -> None:
    """Save the counts of a part."""
    counts = {name: count for name, count in sorted(stream.counts.items()) if count}
    (folder / "counts.json").write_bytes(msgspec.json.encode(PartCounts(counts, codes)))


def read_counts(folder: Path) -> PartCounts:
    """Return the counts of a part."""
    path = folder / "counts.json"
    counts: PartCounts = decode_json(read_bytes(path), str(path), PartCounts, what="the counts of a part")
    return counts
