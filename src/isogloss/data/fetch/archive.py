"""Taking chosen members out of zip and tar archives without trusting them.

An archive decides neither where a file goes (the catalogue does) nor how much is written (there is a limit),
and nothing reaches its final place before the whole archive has been read.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from isogloss.data.fetch.catalog import ExtractRule
from isogloss.errors import DataError

CHUNK = 1 << 18
# Real text shrinks to a tenth; what grows beyond this many times its size is a bomb.
MAX_RATIO = 30
# Below this no ratio is dangerous.
MIN_LIMIT = 64 << 20

_PACKERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # a way of packing that zipfile does not know
)
_FIX = "It is not the published archive: nothing of it was kept"


@dataclass(frozen=True)
class _ArchiveMember:
    name: str
    is_file: bool
    open: Callable[[], io.BufferedReader]


def extract(
    archive: Path, rules: Iterable[ExtractRule], staging: Path, *, skip: Container[str] = (), limit: int = 0
) -> dict[str, str]:
    """Unpack the members that the rules name into `staging`, streaming; give the sha256 of each file by its path.

    An archive is a zip, or a tar that is plain or packed with gzip, bzip2 or xz; recognised by content, not by name.
    Paths in `skip` are not written. A limit of 0 bytes means 30 times the size of the archive, at least 64 MiB.

    Raises:
        DataError: the archive is damaged, too large, or has members that point outside or are links.
    """
    budget = _UnpackLimit(limit or max(MIN_LIMIT, MAX_RATIO * archive.stat().st_size))
    written: dict[str, str] = {}
    try:
        with archive.open("rb") as stream:
            unpack = _zip if zipfile.is_zipfile(stream) else _tar
            stream.seek(0)
            members = unpack(stream, budget)
            for place, member in _chosen(members, tuple(rules), budget):
                path = str(PurePosixPath(_safe(place)))  # a//b is the file a/b
                if path in written:
                    raise DataError(f"has {path} twice", fix=_FIX)
                if path not in skip:
                    written[path] = _write(member, staging / path)
    except DataError as error:
        raise DataError(error.what, where=archive.name, fix=error.fix) from error
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a full disk says nothing about the archive
        raise DataError(f"not a whole archive ({error})", where=archive.name, fix="Fetch it again") from error
    return written


class _UnpackLimit:
    """Counts unpacked bytes over all members and ends the work when there are too many."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise DataError(f"unpacks to more than {self._limit:,} bytes", fix=_FIX)


class _LimitedStream(io.RawIOBase):
    """A stream whose every byte is charged to the budget."""

    def __init__(self, inner: IO[bytes], budget: _UnpackLimit) -> None:
        self._inner = inner
        self._budget = budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._inner.read(len(buffer))
        self._budget.spend(len(chunk))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _metered(stream: IO[bytes], budget: _UnpackLimit) -> io.BufferedReader:
    return io.BufferedReader(_LimitedStream(stream, budget), CHUNK)


def _zip(stream: io.BufferedReader, budget: _UnpackLimit) -> Iterator[_ArchiveMember]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise DataError(f"has an encrypted member, {info.filename}", fix=_FIX)
            if not info.is_dir():
                is_file = not stat.S_ISLNK(info.external_attr >> 16)
                yield _ArchiveMember(info.filename, is_file, partial(_open_zipped, archive, info, budget))


def _tar(stream: io.BufferedReader, budget: _UnpackLimit) -> Iterator[_ArchiveMember]:
    """Members of a tar in one pass; all of it is charged, since skipping a member means unpacking it."""
    head = stream.peek(8)
    unpack = next((packer for magic, packer in _PACKERS.items() if head.startswith(magic)), None)
    plain = cast("IO[bytes]", unpack(stream, "rb")) if unpack else stream
    with tarfile.open(fileobj=_metered(plain, budget), mode="r|") as archive:
        for info in archive:
            if not info.isdir():
                opened = cast("Callable[[], io.BufferedReader]", partial(archive.extractfile, info))
                yield _ArchiveMember(info.name, info.isreg(), opened)


def _open_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _UnpackLimit) -> io.BufferedReader:
    return _metered(archive.open(info), budget)


def _chosen(
    members: Iterable[_ArchiveMember], rules: tuple[ExtractRule, ...], budget: _UnpackLimit
) -> Iterator[tuple[str, _ArchiveMember]]:
    """The members that a rule wants, each with the path it goes to."""
    for member in members:
        name = _safe(member.name)
        for rule in rules:
            match = rule.member.fullmatch(name)
            if match is None:
                continue
            if not member.is_file:
                raise DataError(f"has a link or a device for a file, {name}", fix=_FIX)
            if rule.inside is None:
                yield rule.to.format(*match.groups()), member
            else:
                inner = ExtractRule(rule.inside, _with_groups(rule.to, match))
                yield from _chosen(_tar(member.open(), budget), (inner,), budget)
            break


def _with_groups(to: str, match: re.Match[str]) -> str:
    """The path of a rule with the outer archive's groups filled in; the inner ones count from 0 again."""
    outer = match.groups()
    later = (f"{{{number}}}" for number in range(to.count("{") - len(outer)))
    return to.format(*outer, *later)


def _safe(name: str) -> str:
    """The name without a leading `./`; a name that leads out of the folder is an error."""
    parts = name.replace("\\", "/").split("/")
    if parts[0] == "" or ":" in parts[0] or ".." in parts:
        raise DataError(f"has a member that points outside, {name!r}", fix=_FIX)
    return name.removeprefix("./")


def _write(member: _ArchiveMember, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with member.open() as stream, path.open("wb") as out:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
