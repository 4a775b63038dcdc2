"""Append-only lines in a folder, for any number of processes.

There is one file (segment) per writer, so that no two processes write to the same file. A process that dies while it
writes leaves an incomplete last line, which readers skip.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from isogloss.errors import DataError

_POLL = 0.1
SUFFIX = ".jsonl"


class Segments:
    """The segments of a folder: their new lines, a writer, and a lock.

    Args:
        folder: the folder; it is created when something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, int] = {}  # bytes of each segment that were given out
        self._descriptor: int | None = None

    def new_lines(self, on_reset: Callable[[], None]) -> Iterator[tuple[str, int, bytes]]:
        """Yield the complete lines added since the last time, with their segment and offset, in order of segments.

        Args:
            on_reset: called before the first line if earlier lines no longer count, because segments were removed or
                cut by hand; all lines follow again.

        Raises:
            DataError: the folder cannot be read.
        """
        try:
            sizes = _sizes(self.folder)
            if any(sizes.get(name, 0) < size for name, size in self._read.items()):
                self._read = {}
                on_reset()
            for name in sorted(sizes):
                if sizes[name] > self._read.get(name, 0):
                    yield from self._lines(name)
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror or error})", where=str(self.folder)) from None

    def _lines(self, name: str) -> Iterator[tuple[str, int, bytes]]:
        offset = self._read.setdefault(name, 0)
        with (self.folder / name).open("rb") as stream:
            stream.seek(offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                yield name, offset, line
                offset += len(line)
                self._read[name] = offset

    def write(self, lines: bytes) -> None:
        """Append complete lines to the segment of this writer; they are stored when this returns.

        Raises:
            DataError: they cannot be written, e.g. because the disk is full.
        """
        try:
            if self._descriptor is None:
                self.folder.mkdir(parents=True, exist_ok=True)
                # In order of time; random, since machines that share a folder may have the same process ids.
                name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{os.urandom(6).hex()}{SUFFIX}"
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
                self._descriptor = os.open(self.folder / name, flags, 0o666)
            written = os.write(self._descriptor, lines)
        except OSError as error:
            self.close()
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(self.folder)) from None
        if written != len(lines):
            self.close()  # the next line must not continue this one
            raise DataError("cannot be written (the disk is full)", where=str(self.folder))

    def close(self) -> None:
        """End writing; later lines begin a new segment."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    @contextmanager
    def lock(self, on_waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Context with a right that one process has at a time.

        `on_waiting` is called repeatedly while another process has it; an exception that it raises ends the waiting.
        """
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / ".lock")
            while not lock.is_locked:
                try:
                    lock.acquire(timeout=-1 if on_waiting is None else _POLL, poll_interval=_POLL / 2)
                except Timeout:
                    if on_waiting is not None:
                        on_waiting()
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(self.folder)) from None
        try:
            yield
        finally:
            lock.release()


def _sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of the segments of a folder; other entries are not segments, whatever their names."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return {}
    sizes: dict[str, int] = {}
    with entries:
        for each in entries:
            with suppress(FileNotFoundError):  # removed meanwhile
                if each.name.endswith(SUFFIX) and each.is_file():
                    sizes[each.name] = each.stat().st_size
    return sizes
