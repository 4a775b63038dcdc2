"""Reading files however they are packed, and writing them so that a kill leaves no half of one.

Every other module opens its files here, so compression, checksums, encodings and damage are handled once.
"""

import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, cast

from isogloss.decoding import MARK, decode_text, decode_toml, whole_number
from isogloss.errors import DataError

SUFFIXES = ("", ".xz", ".gz", ".zst")

# A file that has or unpacks to more than this is an accident or an attack: the largest real one has 535 MB.
MAX_BYTES = 4 << 30
# So is one that unpacks to more times its size (real ones: up to 28 times), if that is more than any memory holds.
MAX_RATIO = 100
SAFE_BYTES = 64 << 20
# Bytes of a line, where lines are read one by one.
MAX_LINE = 64 << 20
# What a user can set to let a larger file through, in bytes.
LIMIT_VARIABLE = "ISOGLOSS_MAX_BYTES"

# Bytes read at a time. Of a .zst each may unpack to 64 KiB at once, and there is no way to ask for less.
BLOCK = 1 << 18
_PACKED_BLOCK = 1 << 10


class Digest:
    """A running sha256 over the unpacked bytes of all files that went into something."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, chunk: bytes | memoryview) -> None:
        """Take in more bytes."""
        self._hash.update(chunk)

    @property
    def hex(self) -> str:
        """The checksum so far."""
        return self._hash.hexdigest()


Stamp = tuple[int, int]


def stamp(path: Path) -> Stamp:
    """Size and time of change: what tells a cached reading of a file that the file is another one now."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def resolve(path: Path) -> Path | None:
    """The file itself or its packed form (.xz, .gz, .zst), whichever is there."""
    for suffix in SUFFIXES:
        candidate = path.with_name(path.name + suffix) if suffix else path
        if candidate.is_file():
            return candidate
    return None


def unpacked_name(path: Path) -> str:
    """The file's name without the suffix of a packer."""
    return path.name.removesuffix(path.suffix) if _is_packed(path) else path.name


def find_all(root: Path, pattern: str) -> list[Path]:
    """All files matching a glob below a folder, packed or not, in name order, each once."""
    found: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for path in root.glob(pattern + suffix):
            if path.is_file():
                found.setdefault(str(path.relative_to(root)).removesuffix(suffix), path)
    return [found[name] for name in sorted(found)]


def byte_limit() -> int:
    """The most bytes that a file may have: what the user allows, or what is more than any real one has.

    Raises:
        DataError: the environment variable is not a number.
    """
    allowed = os.environ.get(LIMIT_VARIABLE)
    if not allowed:
        return MAX_BYTES
    number = whole_number(allowed)
    if number is None:
        raise DataError(f"{allowed!r} is not a number of bytes", where=LIMIT_VARIABLE)
    return number


def packed_limit(path: Path) -> int:
    """The most bytes that a packed file may unpack to."""
    if os.environ.get(LIMIT_VARIABLE):
        return byte_limit()
    return min(MAX_BYTES, max(SAFE_BYTES, MAX_RATIO * path.stat().st_size))


def _is_packed(path: Path) -> bool:
    return path.suffix in SUFFIXES[1:]


class _CheckedStream(io.RawIOBase):
    """A binary stream that feeds a checksum and stops at absurd sizes."""

    def __init__(self, inner: IO[bytes], path: Path, digest: Digest | None) -> None:
        self._inner = inner
        self._path = path
        self._digest = digest
        self._limit = packed_limit(path) if _is_packed(path) else byte_limit()
        self._total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        chunk = self._inner.read(len(view))
        size = len(chunk)
        view[:size] = chunk
        self._total += size
        if self._total > self._limit:
            what = f"{'unpacks to' if _is_packed(self._path) else 'has'} more than {self._limit:,} bytes"
            fix = f"No file of this benchmark does; {LIMIT_VARIABLE}=… lets files of that many bytes through"
            raise DataError(what, where=str(self._path), fix=fix)
        if self._digest is not None and size:
            self._digest.update(chunk)
        return size

    def close(self) -> None:
        self._inner.close()
        super().close()


class _ZstandardStream(io.RawIOBase):
    """A .zst file that notices its own end: the library's reader takes a cut file for a short one."""

    def __init__(self, path: Path, library: Any) -> None:
        self._packed = path.open("rb")
        self._library = library
        self._frame = library.ZstdDecompressor().decompressobj()
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._frame.unused_data or self._packed.read(_PACKED_BLOCK)
            if not chunk:
                if not self._frame.eof:
                    raise EOFError("it ends inside a frame")
                return 0
            if self._frame.eof:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._ready = memoryview(self._frame.decompress(chunk))
            except self._library.ZstdError as error:
                raise EOFError(str(error)) from None
        size = min(len(buffer), len(self._ready))
        memoryview(buffer)[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()


def _unpacked(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, "rb"))
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise DataError(
                "cannot be unpacked without zstandard", where=str(path), fix="pip install 'isogloss[zstd]'"
            ) from None
        return cast("IO[bytes]", io.BufferedReader(_ZstandardStream(path, zstandard), BLOCK))
    return path.open("rb")


@contextmanager
def _reading(path: Path, digest: Digest | None) -> Iterator["io.BufferedReader[_CheckedStream]"]:
    """Open a file, packed or not; every way it can be damaged becomes one kind of error."""
    try:
        if path.is_fifo() and path.parts[1:2] not in (("dev",), ("proc",)):  # `<(command)` is /dev/fd/…, and welcome
            raise DataError("is a pipe, not a file: whoever reads it may wait for ever", where=str(path))
        with io.BufferedReader(_CheckedStream(_unpacked(path), path, digest), buffer_size=BLOCK) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError("there is no such file", where=str(path)) from None
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"the file is cut short or damaged ({error})", where=str(path), fix="Fetch or copy it again"
        ) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    except MemoryError:
        raise DataError("does not fit into memory", where=str(path)) from None


def read_bytes(path: Path, digest: Digest | None = None, *, most: int | None = None) -> bytes:
    """The whole unpacked content, or its first `most` bytes."""
    with _reading(path, digest) as stream:
        if most is not None:
            return stream.read(most)
        # Asked for everything at once, the stream would fetch it in very small pieces.
        return b"".join(iter(lambda: stream.read(BLOCK), b""))


def read_text(path: Path, digest: Digest | None = None) -> str:
    """The whole unpacked content as text; a byte-order mark is dropped, wrong bytes are located."""
    return decode_text(read_bytes(path, digest).removeprefix(MARK), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a table."""
    return decode_toml(read_text(path), str(path))


def blocks(path: Path, digest: Digest | None = None) -> Iterator[bytes]:
    """Runs of whole lines, streaming; a byte-order mark is dropped."""
    mark = MARK
    with _reading(path, digest) as stream:
        while block := stream.read(BLOCK):
            rest = stream.readline(MAX_LINE)
            if len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                raise DataError(f"has a line of more than {MAX_LINE:,} bytes", where=str(path))
            yield (block + rest).removeprefix(mark)
            mark = b""


def sha256_of(path: Path) -> str:
    """The checksum of a file's unpacked content, "" where neither it nor a packed form of it can be read."""
    found = resolve(path)
    if found is None:
        return ""
    digest = Digest()
    try:
        if found == path:
            with found.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        with _reading(found, digest) as unpacked:
            while unpacked.read(BLOCK):
                pass
    except (DataError, OSError):
        return ""
    return digest.hex


def split_lines(block: bytes, path: Path, before: int) -> list[str]:
    r"""The lines of a block, without their line ends; `before` lines of the file come before it.

    Only `\n` (and `\r\n`) separates, as the datasets have it. Wrong bytes are located.
    """
    text = decode_text(block.removesuffix(b"\n"), str(path), before)
    found = text.split("\n")
    return [line.rstrip("\r") for line in found] if "\r" in text else found


def lines(path: Path, digest: Digest | None = None) -> Iterator[str]:
    """Lines without their line ends, streaming."""
    number = 0
    # Decoding and splitting many lines at a time takes half the time of one by one.
    for block in blocks(path, digest):
        found = split_lines(block, path, number)
        number += len(found)
        yield from found


@contextmanager
def atomic_write(path: Path) -> Iterator[TextIO]:
    """A text file that appears under its name only when it is complete; its `buffer` takes bytes.

    A link stays, and the file it leads to is written; an older file leaves its permissions and owner to the new one.
    What is no file (a terminal, a pipe, /dev/null) is written to as it is, and never replaced.
    """
    try:
        older = _status(path)
        if older is not None and stat.S_ISDIR(older.st_mode):
            raise DataError("is a folder, not a file to write", where=str(path))
        if older is not None and (descriptor := _stream_to(path, older)) >= 0:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
        with _replacing(path.resolve(), older) as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(path)) from error


def remove_file(path: Path) -> None:
    """Remove a file, or a link, where there is one.

    Raises:
        DataError: it is a folder, or cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be removed ({error.strerror or error})", where=str(path)) from error


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _stream_to(path: Path, status: os.stat_result) -> int:
    """A descriptor to write to what cannot be replaced; -1 for a regular file."""
    for standard in (1, 2):
        # /dev/stdout may be a regular file: replaced, all that is printed later would go to the one before.
        with suppress(OSError):
            if os.path.samestat(status, os.fstat(standard)):
                if sys.stdout is not None:
                    sys.stdout.flush()
                return os.dup(standard)
    return -1 if stat.S_ISREG(status.st_mode) else os.open(path, os.O_WRONLY)


@contextmanager
def _replacing(path: Path, older: os.stat_result | None) -> Iterator[TextIO]:
    """A new file that takes the place of another, if nothing goes wrong."""
    # By chance, not by process: on another machine that sees the folder a process may have the same number.
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            if older is not None:
                _take_over(temporary, path, older)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _take_over(new: Path, path: Path, older: os.stat_result) -> None:
    """Owner and permissions, as far as the user may give them."""
    with suppress(OSError):
        if hasattr(os, "chown"):
            os.chown(new, older.st_uid, older.st_gid)
    with suppress(OSError):
        shutil.copymode(path, new)
