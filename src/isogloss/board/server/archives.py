"""Unpack untrusted archives: plain files only, limited in number and size, inside the folder.

Names, links, counts and depth are checked for every member, and all problems are listed. Sizes are measured while
unpacking, because the sizes declared by the archive cannot be trusted. Files that are packed themselves count with
their unpacked size: an archive of a few kilobytes must not keep a worker busy with gigabytes.
"""

import errno
import io
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import disk_usage
from typing import IO, cast

from isogloss.board.server.board import BoardSettings
from isogloss.data.archives import CHUNK, DAMAGE, SAFE_BYTES, ArchiveMember, UnpackLimit, open_tar
from isogloss.data.files import SUFFIXES, blocks
from isogloss.errors import DataError, PredictionError
from isogloss.escaping import printable
from isogloss.predictions.problems import Problem, ProblemCode, ProblemText

# Maximum number of problems to list.
_LISTED = 100
_FORMS = "Send a .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz of the prediction folder"
# Files that file managers add to archives.
_LITTER = ("__MACOSX/", ".DS_Store", "Thumbs.db")


class ArchiveError(PredictionError):
    """An archive that is refused; `problems` lists the reasons, `warnings` the warnings before them."""

    def __init__(self, problems: list[Problem], warnings: Sequence[ProblemText] = ()) -> None:
        self.problems = problems
        self.warnings = warnings
        super().__init__(problems[0].what, where=problems[0].where, fix=problems[0].fix)


class DiskError(OSError):
    """A failure of the board's own disk."""


def _problem(what: str, fix: str, name: str = "") -> Problem:
    file = f"archive: {name}" if name else "archive"
    return Problem(code=ProblemCode.INVALID_ARCHIVE, file=file, detail=what, advice=fix)


def _refusal(what: str, fix: str = "Send only the predictions, which are far smaller") -> ArchiveError:
    return ArchiveError([_problem(what, fix)])


def unpack(archive: Path, folder: Path, settings: BoardSettings) -> Path:
    """Unpack an archive into an empty folder and return the prediction folder in it.

    Raises:
        ArchiveError: the archive is damaged, too large, or has entries that prediction folders cannot have.
        DiskError: the board's own disk has too little space for the largest allowed content, or is broken.
    """
    size = archive.stat().st_size
    bytes_allowed = min(settings.unpacked_bytes, max(SAFE_BYTES, settings.unpacked_ratio * size))
    if disk_usage(folder).free < bytes_allowed:
        raise DiskError(errno.ENOSPC, f"less than {bytes_allowed:,} bytes free to unpack an archive")
    try:
        with archive.open("rb") as stream:
            is_zip = stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
            stream.seek(0)
            # A tar is read to its end, including skipped members.
            read = UnpackLimit(2 * bytes_allowed, _refusal)
            members = _zip(stream, settings.files) if is_zip else _tar(stream, read, settings.files)
            limit = UnpackLimit(bytes_allowed, _refusal)
            _write_all(members, folder, settings, limit)
        _count_packed_files(folder, limit)
    except DiskError:
        raise
    except DAMAGE as error:
        reason = printable(str(error), 200)
        raise _refusal(f"damaged or incomplete archive ({reason})", _FORMS) from error
    # The folder with the task folders may be the archive's only entry.
    entries = list(folder.iterdir())
    is_inside = len(entries) == 1 and entries[0].is_dir() and any(child.is_dir() for child in entries[0].iterdir())
    return entries[0] if is_inside else folder


def _count_packed_files(folder: Path, limit: UnpackLimit) -> None:
    for suffix in SUFFIXES[1:]:
        for path in folder.rglob(f"*{suffix}"):
            with suppress(DataError):  # reported with its file when the predictions are read
                for block in blocks(path):
                    limit.spend(len(block))


def _zip(stream: IO[bytes], files: int) -> Iterator[ArchiveMember]:
    # zipfile reads the whole list of members into memory, so count them first.
    entries = 0
    while chunk := stream.read(CHUNK):
        entries += chunk.count(b"PK\x01\x02")
    if entries > 2 * files:
        raise ArchiveError([_too_many(files)])
    stream.seek(0)
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if not info.is_dir():
                opened = cast("Callable[[], io.BufferedReader]", partial(archive.open, info))
                yield ArchiveMember(info.filename, kind in (0, stat.S_IFREG), opened)


def _tar(stream: io.BufferedReader, limit: UnpackLimit, files: int) -> Iterator[ArchiveMember]:
    with open_tar(stream, limit) as archive:
        for count, info in enumerate(archive, 1):
            if count > 2 * files:  # folders take memory too
                raise ArchiveError([_too_many(files)])
            if not info.isdir():
                # A sparse file unpacks to a huge run of zeros.
                is_plain = info.isreg() and not info.issparse()
                opened = cast("Callable[[], io.BufferedReader]", partial(archive.extractfile, info))
                yield ArchiveMember(info.name, is_plain, opened)


def _write_all(members: Iterator[ArchiveMember], folder: Path, settings: BoardSettings, limit: UnpackLimit) -> None:
    problems: list[Problem] = []
    seen: set[str] = set()
    for count, member in enumerate(members, 1):
        if count > settings.files:
            raise ArchiveError([*problems, _too_many(settings.files)])
        if any(part in member.name for part in _LITTER):
            continue
        name = member.name.removeprefix("./")
        fault = _fault(name, member.is_file, seen, settings)
        if fault is not None:
            problems.append(fault)
        elif not problems:
            _write(member, folder / name, limit)
        if len(problems) >= _LISTED:
            break
    if problems:
        raise ArchiveError(problems)
    if not seen:
        raise _refusal("no files", _FORMS)


def _too_many(files: int) -> Problem:
    return _problem(f"more than {files:,} files", "Send only the predictions")


def _fault(name: str, is_plain: bool, seen: set[str], settings: BoardSettings) -> Problem | None:
    parts = name.split("/")
    # Some file systems do not distinguish these names.
    folded = unicodedata.normalize("NFC", name).casefold()
    what, fix = "", "Pack the prediction folder again"
    if "\\" in name or ":" in parts[0] or name.startswith("/") or ".." in parts or "." in parts or "" in parts:
        what = "path outside of the folder"
    elif not name.isprintable():
        what = "unprintable name"
    elif len(name.encode()) > settings.name_length:
        what = f"name longer than {settings.name_length} bytes"
    elif len(parts) > settings.depth:
        what, fix = f"more than {settings.depth} folders deep", "Pack files as <task>/<language>.jsonl"
    elif not is_plain:
        what, fix = "link, device or sparse file", "Pack plain files only (tar --dereference)"
    elif folded in seen:
        what = "duplicate name"
    if what:
        return _problem(what, fix, printable(name, 120))
    seen.add(folded)
    return None


def _write(member: ArchiveMember, path: Path, limit: UnpackLimit) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        # `a` and `a/b` are both files.
        raise ArchiveError([_problem("both a file and a folder", _FORMS, path.name)]) from None
    except OSError as error:
        raise DiskError(error.errno, error.strerror) from error
    with out, member.open() as stream:
        while chunk := stream.read(CHUNK):
            limit.spend(len(chunk))
            try:
                out.write(chunk)
                out.flush()  # so that a full disk fails here and not in close()
            except OSError as error:
                raise DiskError(error.errno, error.strerror) from error
