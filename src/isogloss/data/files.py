"""Reading of packed and plain files, and atomic writing: compression, checksums, encodings and damage, handled once."""

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

# Maximum file size: the largest real file has 535 MB, so anything beyond this is an accident or an attack.
MAX_BYTES = 4 << 30
# Maximum compression ratio (real files: up to 28) for files that unpack to more than fits in memory.
MAX_RATIO = 100
SAFE_BYTES = 64 << 20
# Maximum bytes per line, for line-by-line reading.
MAX_LINE = 64 << 20
# Environment variable with a larger limit, in bytes.
LIMIT_VARIABLE = "ISOGLOSS_MAX_BYTES"

# Bytes per read. Each may unpack to 64 KiB in a .zst, and smaller reads are not possible.
BLOCK = 1 << 18
_PACKED_BLOCK = 1 << 10


class Digest:
    """Running SHA-256 over the unpacked bytes of several files."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, chunk: bytes | memoryview) -> None:
        """Add bytes."""
        self._hash.update(chunk)

    @property
    def hex(self) -> str:
        """The checksum so far."""
        return self._hash.hexdigest()


Stamp = tuple[int, int]


def stamp(path: Path) -> Stamp:
    """Return a cache key for a file: size and modification time."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def resolve(path: Path) -> Path | None:
    """Return the file or its packed form (.xz, .gz, .zst), or None."""
    candidates = (path.with_name(path.name + suffix) if suffix else path for suffix in SUFFIXES)
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def unpacked_name(path: Path) -> str:
    """Return the file's name without a compression suffix."""
    return path.name.removesuffix(path.suffix) if _is_packed(path) else path.name


def find_all(root: Path, pattern: str) -> list[Path]:
    """Return all files matching a glob below a folder, packed or not, in name order, each once."""
    files: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for path in root.glob(pattern + suffix):
            if path.is_file():
                files.setdefault(str(path.relative_to(root)).removesuffix(suffix), path)
    return [files[name] for name in sorted(files)]


def byte_limit() -> int:
    """Return the maximum file size: the user's limit, or more than any real file has."""
    allowed = os.environ.get(LIMIT_VARIABLE)
    if not allowed:
        return MAX_BYTES
    number = whole_number(allowed)
    if number is None:
        raise DataError(f"{allowed!r} is not a number of bytes", where=LIMIT_VARIABLE)
    return number


def packed_limit(path: Path) -> int:
    """Return the maximum unpacked size of a packed file."""
    if os.environ.get(LIMIT_VARIABLE):
        return byte_limit()
    return min(MAX_BYTES, max(SAFE_BYTES, MAX_RATIO * path.stat().st_size))


def _is_packed(path: Path) -> bool:
    return path.suffix in SUFFIXES[1:]


class _CheckedStream(io.RawIOBase):
    """Binary stream that updates a checksum and stops at absurd sizes."""

    def __init__(self, inner: IO[bytes], path: Path, digest: Digest | None) -> None:
        self._inner, self._path, self._digest = inner, path, digest
        self._limit = packed_limit(path) if _is_packed(path) else byte_limit()
        self._total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._inner.read(len(buffer))
        size = len(chunk)
        buffer[:size] = chunk
        self._total += size
        if self._total > self._limit:
            what = f"{'unpacks to' if _is_packed(self._path) else 'has'} more than {self._limit:,} bytes"
            fix = f"No file of this benchmark does; set {LIMIT_VARIABLE}=… (bytes) to allow larger files"
            raise DataError(what, where=str(self._path), fix=fix)
        if self._digest is not None and size:
            self._digest.update(chunk)
        return size

    def close(self) -> None:
        self._inner.close()
        super().close()


class _ZstandardStream(io.RawIOBase):
    """A .zst stream that detects truncation, unlike the library's reader."""

    def __init__(self, path: Path, library: Any) -> None:
        self._packed, self._library = path.open("rb"), library
        self._frame = library.ZstdDecompressor().decompressobj()
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._frame.unused_data or self._packed.read(_PACKED_BLOCK)
            if not chunk:
                if not self._frame.eof:
                    raise EOFError("unexpected end inside a frame")
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
    if path.suffix in (".xz", ".gz"):
        return cast("IO[bytes]", (lzma if path.suffix == ".xz" else gzip).open(path, "rb"))
    if path.suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            from isogloss.installation import install_command

            fix = f"Run {install_command('zstd')}"
            raise DataError("cannot unpack without zstandard", where=str(path), fix=fix) from None
        return cast("IO[bytes]", io.BufferedReader(_ZstandardStream(path, zstandard), BLOCK))
    return path.open("rb")


@contextmanager
def _reading(path: Path, digest: Digest | None) -> Iterator["io.BufferedReader[_CheckedStream]"]:
    """Open a file, packed or not; turn every kind of damage into a DataError."""
    try:
        if path.is_fifo() and path.parts[1:2] not in (("dev",), ("proc",)):  # allow `<(command)`, /dev/fd/…
            raise DataError("expected a file, got a pipe: reading could block forever", where=str(path))
        with io.BufferedReader(_CheckedStream(_unpacked(path), path, digest), buffer_size=BLOCK) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError("no such file", where=str(path)) from None
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the file is truncated or damaged ({error})"
        raise DataError(what, where=str(path), fix="Fetch or copy it again") from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    except MemoryError:
        raise DataError("does not fit into memory", where=str(path)) from None


def read_bytes(path: Path, digest: Digest | None = None, *, most: int | None = None) -> bytes:
    """Return the unpacked content, or its first `most` bytes."""
    with _reading(path, digest) as stream:
        if most is not None:
            return stream.read(most)
        # Without a size, the stream would read in very small pieces.
        return b"".join(iter(lambda: stream.read(BLOCK), b""))


def read_text(path: Path, digest: Digest | None = None) -> str:
    """Return the unpacked content as text without byte-order mark; report the position of invalid bytes."""
    return decode_text(read_bytes(path, digest).removeprefix(MARK), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file as a table."""
    return decode_toml(read_text(path), str(path))


def blocks(path: Path, digest: Digest | None = None) -> Iterator[bytes]:
    """Yield runs of whole lines, without byte-order mark."""
    mark = MARK
    with _reading(path, digest) as stream:
        while block := stream.read(BLOCK):
            rest = stream.readline(MAX_LINE)
            if len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                raise DataError(f"has a line of more than {MAX_LINE:,} bytes", where=str(path))
            yield (block + rest).removeprefix(mark)
            mark = b""


def sha256_of(path: Path) -> str:
    """Return the checksum of a file's unpacked content, or "" if it cannot be read."""
    packed = resolve(path)
    if packed is None:
        return ""
    digest = Digest()
    try:
        if packed == path:
            with packed.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        with _reading(packed, digest) as unpacked:
            while unpacked.read(BLOCK):
                pass
    except (DataError, OSError):
        return ""
    return digest.hex


def split_lines(block: bytes, path: Path, before: int) -> list[str]:
    r"""Return the lines of a block without line ends; `before` is the number of preceding lines in the file.

    Only `\n` (and `\r\n`) separates lines, as in the datasets. Errors report the position of invalid bytes.
    """
    text = decode_text(block.removesuffix(b"\n"), str(path), before)
    lines = text.split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines


def lines(path: Path, digest: Digest | None = None) -> Iterator[str]:
    """Yield lines without line ends."""
    number = 0
    # Decoding and splitting many lines together takes half the time.
    for block in blocks(path, digest):
        block_lines = split_lines(block, path, number)
        number += len(block_lines)
        yield from block_lines


def keep_files_private() -> None:
    """Make all files that this process writes from now on accessible only to its user."""
    os.umask(0o077)


@contextmanager
def atomic_write(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """Yield a text file that appears under its name only when it is complete; its `buffer` takes bytes.

    Links are followed, and the new file keeps the permissions and owner of the old one. A `private` file is accessible
    only to its owner, from its creation. Special files (a terminal, a pipe, /dev/null) are written to directly and
    never replaced.
    """
    try:
        older = None
        with suppress(FileNotFoundError):
            older = path.stat()
        if older is not None and stat.S_ISDIR(older.st_mode):
            raise DataError("expected a file to write, got a folder", where=str(path))
        if older is not None and (descriptor := _stream_to(path, older)) >= 0:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                yield stream
            return
        with _replacing(path.resolve(), older, private=private) as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(path)) from error


def remove_file(path: Path) -> None:
    """Remove a file or link if it exists; raise DataError if it is a folder or cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be removed ({error.strerror or error})", where=str(path)) from error


def _stream_to(path: Path, status: os.stat_result) -> int:
    """Return a descriptor for a special file that cannot be replaced, or -1 for a regular file."""
    for standard in (1, 2):
        # /dev/stdout may be a regular file: if replaced, later output would go to the old file.
        with suppress(OSError):
            if os.path.samestat(status, os.fstat(standard)):
                if sys.stdout is not None:
                    sys.stdout.flush()
                return os.dup(standard)
    return -1 if stat.S_ISREG(status.st_mode) else os.open(path, os.O_WRONLY)


@contextmanager
def _replacing(path: Path, older: os.stat_result | None, *, private: bool) -> Iterator[TextIO]:
    """Yield a new file that replaces another on success."""
    # A random name, not the process id: on a shared folder another machine may have the same id.
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            if older is not None:  # keep owner and permissions, as far as allowed
                with suppress(OSError):
                    if hasattr(os, "chown"):
                        os.chown(temporary, older.st_uid, older.st_gid)
                with suppress(OSError):
                    if not private:
                        shutil.copymode(path, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
