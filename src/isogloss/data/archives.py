"""What all readers of archives share: packed tars by their first bytes, members, and a limit to what they unpack to."""

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
# Below this no ratio is dangerous.
SAFE_BYTES = 64 << 20
# What reading a damaged archive raises; OSError too, which may also come of the disk.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # a way of packing that zipfile does not know
    RuntimeError,  # an encrypted member
    ValueError,  # a name or a place that there cannot be
    OverflowError,
    OSError,
)
# To skip gigabytes that a tar only says it has, Python would read at its end a million times.
_READS_AT_END = 100
_PACKERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


@dataclass(frozen=True)
class ArchiveMember:
    """A file of an archive; `is_file` is false of links, devices and the like."""

    name: str
    is_file: bool
    open: Callable[[], io.BufferedReader]


class UnpackLimit:
    """Counts unpacked bytes, and ends the work when there are too many.

    Args:
        limit: how many there may be.
        refusal: the error to raise, made of what is wrong.
    """

    def __init__(self, limit: int, refusal: Callable[[str], IsoglossError]) -> None:
        self._limit, self._left, self._refusal = limit, limit, refusal

    def spend(self, size: int) -> None:
        """Count some bytes."""
        self._left -= size
        if self._left < 0:
            raise self._refusal(f"unpacks to more than {self._limit:,} bytes")


class _LimitedStream(io.RawIOBase):
    """A stream whose every byte is counted."""

    def __init__(self, inner: IO[bytes], limit: UnpackLimit) -> None:
        self._inner, self._limit, self._reads_at_end = inner, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._inner.read(min(len(buffer), CHUNK))
        self._limit.spend(len(chunk))
        self._reads_at_end += not chunk
        if self._reads_at_end > _READS_AT_END:
            raise EOFError("it ends inside a file")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def limited(stream: IO[bytes], limit: UnpackLimit) -> io.BufferedReader:
    """A stream that counts what is read from it."""
    return io.BufferedReader(_LimitedStream(stream, limit), CHUNK)


def open_tar(stream: io.BufferedReader, limit: UnpackLimit) -> tarfile.TarFile:
    """A tar that is plain or packed with gzip, bzip2 or xz, to be read in one pass.

    All of it is counted, since skipping a member means unpacking it.
    """
    head = stream.peek(8)
    packer = next((packer for magic, packer in _PACKERS.items() if head.startswith(magic)), None)
    plain = cast("IO[bytes]", packer(stream, "rb")) if packer else stream
    return tarfile.open(fileobj=limited(plain, limit), mode="r|")
