"""Shared code for reading archives: packed tars by magic bytes, members, and a limit on unpacked size."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, cast

from isogloss.errors import IsoglossError

CHUNK = 1 << 18
# Below this size no compression ratio is dangerous.
SAFE_BYTES = 64 << 20
# Exceptions from damaged archives; OSError may also come from the disk.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # a compression method that zipfile does not support
    RuntimeError,  # an encrypted member
    ValueError,  # an impossible name or offset
    OverflowError,
    OSError,
)
# Python would skip a huge declared size at a tar's end with a million reads.
_READS_AT_END = 100
_PACKERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


@dataclass(frozen=True)
class ArchiveMember:
    """A file in an archive; `is_file` is False for links, devices etc."""

    name: str
    is_file: bool
    open: Callable[[], io.BufferedReader]


class UnpackLimit:
    """Counter of unpacked bytes; beyond the limit it raises the error that `refusal` makes of a description."""

    def __init__(self, limit: int, refusal: Callable[[str], IsoglossError]) -> None:
        self._limit, self._left, self._refusal = limit, limit, refusal

    def spend(self, size: int) -> None:
        """Count some bytes."""
        self._left -= size
        if self._left < 0:
            raise self._refusal(f"unpacks to more than {self._limit:,} bytes")


class _LimitedStream(io.RawIOBase):
    def __init__(self, inner: IO[bytes], limit: UnpackLimit) -> None:
        self._inner, self._limit, self._reads_at_end = inner, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._inner.read(min(len(buffer), CHUNK))
        self._limit.spend(len(chunk))
        self._reads_at_end += not chunk
        if self._reads_at_end > _READS_AT_END:
            raise EOFError("unexpected end inside a file")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def limited(stream: IO[bytes], limit: UnpackLimit) -> io.BufferedReader:
    """Return a stream that counts the bytes read from it."""
    return io.BufferedReader(_LimitedStream(stream, limit), CHUNK)


def open_tar(stream: io.BufferedReader, limit: UnpackLimit) -> tarfile.TarFile:
    """Open a plain, gzip, bzip2 or xz tar for one pass; all bytes count, since skipping a member means unpacking it."""
    head = stream.peek(8)
    packer = next((packer for magic, packer in _PACKERS.items() if head.startswith(magic)), None)
    plain = cast("IO[bytes]", packer(stream, "rb")) if packer else stream
    return tarfile.open(fileobj=limited(plain, limit), mode="r|")
