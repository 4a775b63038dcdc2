"""Safe extraction of archives: the catalogue decides where files go, and the unpacked size is limited."""

import hashlib
import io
import stat
import zipfile
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

from isogloss.data.archives import CHUNK, DAMAGE, SAFE_BYTES, ArchiveMember, UnpackLimit, limited, open_tar
from isogloss.data.fetch.catalog import ExtractRule
from isogloss.errors import DataError

# Real text shrinks to a tenth; anything beyond this ratio is a decompression bomb.
MAX_RATIO = 30

_FIX = "This is not the published archive; nothing was installed"


def extract(
    archive: Path, rules: Iterable[ExtractRule], staging: Path, *, skip: Container[str] = (), limit: int = 0
) -> dict[str, str]:
    """Unpack the members selected by the rules into `staging`, streaming; return SHA-256 checksums by path.

    An archive is a zip, or a tar that is plain or packed with gzip, bzip2 or xz; recognised by content, not by name.
    Paths in `skip` are not written. A limit of 0 bytes means 30 times the size of the archive, at least 64 MiB.
    """
    most = limit or max(SAFE_BYTES, MAX_RATIO * archive.stat().st_size)
    budget = UnpackLimit(most, lambda what: DataError(what, fix=_FIX))
    written: dict[str, str] = {}
    try:
        with archive.open("rb") as stream:
            unpack = _zip if zipfile.is_zipfile(stream) else _tar
            stream.seek(0)
            for target, member in _chosen(unpack(stream, budget), tuple(rules), budget):
                path = str(PurePosixPath(_safe(target)))  # a//b is the file a/b
                if path in written:
                    raise DataError(f"duplicate member {path}", fix=_FIX)
                if path not in skip:
                    written[path] = _write(member, staging / path)
    except DataError as error:
        raise DataError(error.what, where=archive.name, fix=error.fix) from error
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a full disk is not the archive's fault
        raise DataError(f"incomplete or damaged archive ({error})", where=archive.name, fix="Fetch it again") from error
    return written


def _zip(stream: io.BufferedReader, budget: UnpackLimit) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise DataError(f"encrypted member {info.filename}", fix=_FIX)
            if not info.is_dir():
                opened = partial(lambda info: limited(archive.open(info), budget), info)
                yield ArchiveMember(info.filename, not stat.S_ISLNK(info.external_attr >> 16), opened)


def _tar(stream: io.BufferedReader, budget: UnpackLimit) -> Iterator[ArchiveMember]:
    with open_tar(stream, budget) as archive:
        for info in archive:
            if not info.isdir():
                opened = cast("Callable[[], io.BufferedReader]", partial(archive.extractfile, info))
                yield ArchiveMember(info.name, info.isreg(), opened)


def _chosen(
    members: Iterable[ArchiveMember], rules: tuple[ExtractRule, ...], budget: UnpackLimit
) -> Iterator[tuple[str, ArchiveMember]]:
    for member in members:
        name = _safe(member.name)
        for rule in rules:
            match = rule.member.fullmatch(name)
            if match is None:
                continue
            if not member.is_file:
                raise DataError(f"link or device instead of a file: {name}", fix=_FIX)
            if rule.inside is None:
                yield rule.to.format(*match.groups()), member
            else:
                # Inner groups count from 0 again.
                outer = match.groups()
                later = (f"{{{number}}}" for number in range(rule.to.count("{") - len(outer)))
                inner = ExtractRule(rule.inside, rule.to.format(*outer, *later))
                yield from _chosen(_tar(member.open(), budget), (inner,), budget)
            break


def _safe(name: str) -> str:
    """Return the name without a leading `./`; raise an error for paths outside the folder."""
    parts = name.replace("\\", "/").split("/")
    if parts[0] == "" or ":" in parts[0] or ".." in parts:
        raise DataError(f"member {name!r} points outside the target folder", fix=_FIX)
    return name.removeprefix("./")


def _write(member: ArchiveMember, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with member.open() as stream, path.open("wb") as out:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
