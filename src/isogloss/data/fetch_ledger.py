"""What was unpacked from which download (`checksums.json` in the data folder), and the lock on the folder.

Checksums that nobody has published are taken from the first download and hold from then on.
"""

import gzip
import hashlib
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import resolve
from isogloss.errors import DataError


class Entry(msgspec.Struct, frozen=True):
    """An archive that was fetched: its checksum, its address, and the checksum of each file taken out."""

    sha256: str
    url: str
    files: dict[str, str]


class Ledger:
    """The entries of a data folder by `<dataset>/<archive name>`; every change is written at once.

    Args:
        path: the record.
        scratch: folder for the new record until it is whole.
    """

    def __init__(self, path: Path, *, scratch: Path) -> None:
        self.path = path
        self._new = scratch / path.name
        self._entries: dict[str, Entry] = {}
        if self.path.exists():
            try:
                self._entries = msgspec.json.decode(self.path.read_bytes(), type=dict[str, Entry])
            except msgspec.MsgspecError as error:
                raise DataError(
                    f"not a record of checksums ({error})", where=str(self.path), fix="Move the file away"
                ) from error

    def get(self, key: str) -> Entry | None:
        """The entry of an archive, None where it was never fetched."""
        return self._entries.get(key)

    def record(self, key: str, entry: Entry) -> None:
        """Keep an entry."""
        self._entries[key] = entry
        packed = msgspec.json.encode(self._entries, order="sorted")
        self._new.write_bytes(msgspec.json.format(packed, indent=1) + b"\n")
        self._new.replace(self.path)


def sha256_of(path: Path) -> str:
    """The checksum of a file's unpacked content, "" where neither it nor a packed form of it can be read."""
    found = resolve(path)
    if found is None:
        return ""
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    opener = openers.get(found.suffix if found != path else "", open)
    try:
        with opener(found, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return ""


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder for one process; the system lets go of it when the process dies, however it dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            _lock(lock.fileno())
        except (BlockingIOError, PermissionError):
            raise DataError(
                "another fetch is at work here", where=str(folder.parent), fix="Wait for it to end"
            ) from None
        except OSError:
            pass  # a file system without locks: nothing can be known about others
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
