"""Taking chosen members out of zip and tar archives without trusting them.

An archive decides neither where a file goes (the catalogue does) nor how much is written (there is a limit),
and nothing reaches its final place before the whole archive has been read.
"""

import hashlib
import io
import re
import stat
import zipfile
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

from isogloss.data.archives import CHUNK, DAMAGE, SAFE_BYTES, ArchiveMember, UnpackLimit, limited, open_tar
from isogloss.data.fetch.catalog import ExtractRule
from isogloss.errors import DataError

# Real text shrinks to a tenth; what grows beyond this many times its size is a bomb.
MAX_RATIO = 30

_FIX = "It is not the published archive: nothing of it was kept"


def extract(
    archive: Path, rules: Iterable[ExtractRule], staging: Path, *, skip: Container[str] = (), limit: int = 0
) -> dict[str, str]:
    """Unpack the members that the rules name into `staging`, streaming; give the sha256 of each file by its path.

    An archive is a zip, or a tar that is plain or packed with gzip, bzip2 or xz; recognised by content, not by name.
    Paths in `skip` are not written. A limit of 0 bytes means 30 times the size of the archive, at least 64 MiB.

    Raises:
        DataError: the archive is damaged, too large, or has members that point outside or are links.
    """
    budget = UnpackLimit(limit or max(SAFE_BYTES, MAX_RATIO * archive.stat().st_size), _refusal)
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
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a full disk says nothing about the archive
        raise DataError(f"not a whole archive ({error})", where=archive.name, fix="Fetch it again") from error
    return written


def _refusal(what: str) -> DataError:
    return DataError(what, fix=_FIX)


def _zip(stream: io.BufferedReader, budget: UnpackLimit) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise DataError(f"has an encrypted member, {info.filename}", fix=_FIX)
            if not info.is_dir():
                is_file = not stat.S_ISLNK(info.external_attr >> 16)
                yield ArchiveMember(info.filename, is_file, partial(_open_zipped, archive, info, budget))


def _tar(stream: io.BufferedReader, budget: UnpackLimit) -> Iterator[ArchiveMember]:
    with open_tar(stream, budget) as archive:
        for info in archive:
            if not info.isdir():
                opened = cast("Callable[[], io.BufferedReader]", partial(archive.extractfile, info))
                yield ArchiveMember(info.name, info.isreg(), opened)


def _open_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: UnpackLimit) -> io.BufferedReader:
    return limited(archive.open(info), budget)


def _chosen(
    members: Iterable[ArchiveMember], rules: tuple[ExtractRule, ...], budget: UnpackLimit
) -> Iterator[tuple[str, ArchiveMember]]:
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


def _write(member: ArchiveMember, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with member.open() as stream, path.open("wb") as out:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
