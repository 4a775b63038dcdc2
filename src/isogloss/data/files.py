"""Reading files however they are packed, and writing them so that a kill leaves no half of one.

Every other module opens its files here, so compression, checksums, encodings and damage are handled once.
"""

import gzip
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, cast

from isogloss.errors import DataError

SUFFIXES = ("", ".xz", ".gz", ".zst")

# A file that unpacks to more than this is an accident or an attack: the largest real one has 535 MB.
MAX_BYTES = 4 << 30
MAX_LINE = 256 << 20

# Bytes read at a time.
BLOCK = 1 << 18


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
    return path.name.removesuffix(path.suffix) if path.suffix in SUFFIXES[1:] else path.name


def find_all(root: Path, pattern: str) -> list[Path]:
    """All files matching a glob below a folder, packed or not, in name order, each once."""
    found: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for path in root.glob(pattern + suffix):
            if path.is_file():
                found.setdefault(str(path.relative_to(root)).removesuffix(suffix), path)
    return [found[name] for name in sorted(found)]


class _CheckedStream(io.RawIOBase):
    """A binary stream that feeds a checksum and stops at absurd sizes."""

    def __init__(self, inner: IO[bytes], path: Path, digest: Digest | None) -> None:
        self._inner = inner
        self._path = path
        self._digest = digest
        self._total = 0
        self._since_newline = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        chunk = self._inner.read(len(view))
        size = len(chunk)
        view[:size] = chunk
        self._total += size
        last = chunk.rfind(b"\n")
        self._since_newline = self._since_newline + size if last < 0 else size - last - 1
        if self._total > MAX_BYTES or self._since_newline > MAX_LINE:
            what = "unpacks to more than 4 GiB" if self._total > MAX_BYTES else "has a line of more than 256 MiB"
            raise DataError(what, where=str(self._path), fix="This is not a file of this benchmark")
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
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._frame.unused_data or self._packed.read(BLOCK)
            if not chunk:
                if not self._frame.eof:
                    raise EOFError("it ends inside a frame")
                return 0
            if self._frame.eof:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._ready = self._frame.decompress(chunk)
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


def read_bytes(path: Path, digest: Digest | None = None) -> bytes:
    """The whole unpacked content."""
    with _reading(path, digest) as stream:
        # Asked for everything at once, the stream would fetch it in very small pieces.
        return b"".join(iter(lambda: stream.read(BLOCK), b""))


def read_text(path: Path, digest: Digest | None = None) -> str:
    """The whole unpacked content as text; a byte-order mark is dropped, wrong bytes are located."""
    raw = read_bytes(path, digest)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, raw.count(b"\n", 0, error.start) + 1, error) from None


def blocks(path: Path, digest: Digest | None = None) -> Iterator[bytes]:
    """Runs of whole lines, streaming; a byte-order mark is dropped."""
    mark = b"\xef\xbb\xbf"
    with _reading(path, digest) as stream:
        while block := stream.read(BLOCK):
            yield (block + stream.readline()).removeprefix(mark)
            mark = b""


def sha256_of(path: Path) -> str:
    """The checksum of a file's unpacked content, "" where neither it nor a packed form of it can be read."""
    found = resolve(path)
    if found is None:
        return ""
    try:
        with _unpacked(found) if found != path else found.open("rb") as stream:
            return hashlib.file_digest(cast("Any", stream), "sha256").hexdigest()
    except (DataError, OSError, EOFError, zlib.error, lzma.LZMAError):
        return ""


def split_lines(block: bytes, path: Path, before: int) -> list[str]:
    r"""The lines of a block, without their line ends; `before` lines of the file come before it.

    Only `\n` (and `\r\n`) separates, as the datasets have it. Wrong bytes are located.
    """
    try:
        text = block.removesuffix(b"\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, before + block.count(b"\n", 0, error.start) + 1, error) from None
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


def _not_utf8(path: Path, line: int, error: UnicodeDecodeError) -> DataError:
    byte = error.object[error.start]
    return DataError(
        f"not UTF-8: byte 0x{byte:02x}", where=f"{path}:{line}", fix="Convert the file to UTF-8, e.g. with iconv"
    )


@contextmanager
def atomic_write(path: Path) -> Iterator[TextIO]:
    """A text file that appears under its name only when it is complete; its `buffer` takes bytes."""
    if not path.name or path.is_dir():
        raise DataError("is a folder, not a file to write", where=str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
