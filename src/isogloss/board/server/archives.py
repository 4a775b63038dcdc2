"""Unpacking an archive that a stranger sent: only plain files, only so many, only so large, only inside the folder.

Names, links, counts and depth are looked at for every member, and all problems listed; sizes are counted as bytes
come out, whatever the archive says of them.
"""

import io
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

from isogloss.board.server.settings import BoardSettings
from isogloss.data.archives import CHUNK, DAMAGE, SAFE_BYTES, ArchiveMember, UnpackLimit, open_tar
from isogloss.errors import PredictionError
from isogloss.escaping import printable
from isogloss.predictions.problems import Problem

# So many problems say enough.
_LISTED = 100
_FORMS = "Send a .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz of the prediction folder"
# What the file managers of some systems put into every archive.
_LITTER = ("__MACOSX/", ".DS_Store", "Thumbs.db")


class ArchiveError(PredictionError):
    """An archive that is not unpacked; `problems` are all that was found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(problems[0].what, where=problems[0].where, fix=problems[0].fix)


class DiskError(OSError):
    """Trouble with what is written, which is no fault of the archive."""


def _refusal(what: str) -> ArchiveError:
    return ArchiveError([Problem("archive", what, "Real predictions are far smaller: send them alone")])


def unpack(archive: Path, folder: Path, settings: BoardSettings) -> Path:
    """Unpack an archive into an empty folder; the prediction folder in it, which may be its only entry.

    Raises:
        ArchiveError: the archive is damaged, too large, or has what no prediction folder has.
        DiskError: the board's own disk is full, or broken.
    """
    size = archive.stat().st_size
    bytes_allowed = min(settings.unpacked_bytes, max(SAFE_BYTES, settings.unpacked_ratio * size))
    try:
        with archive.open("rb") as stream:
            is_zip = stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
            stream.seek(0)
            # All of a tar is read, what is left out of it included.
            read = UnpackLimit(2 * bytes_allowed, _refusal)
            members = _zip(stream, settings.files) if is_zip else _tar(stream, read, settings.files)
            _write_all(members, folder, settings, UnpackLimit(bytes_allowed, _refusal))
    except DiskError:
        raise
    except DAMAGE as error:
        reason = printable(str(error), 200)
        raise ArchiveError([Problem("archive", f"not a whole archive ({reason})", _FORMS)]) from error
    return _innermost(folder)


def _zip(stream: IO[bytes], files: int) -> Iterator[ArchiveMember]:
    # The list of all members is read at once, so that it is measured first.
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
            if count > 2 * files:  # folders too are kept in memory
                raise ArchiveError([_too_many(files)])
            if not info.isdir():
                # A sparse file says that it is large, and is zeros.
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
        found = _fault(name, member.is_file, seen, settings)
        if found is not None:
            problems.append(found)
        elif not problems:
            _write(member, folder / name, limit)
        if len(problems) >= _LISTED:
            break
    if problems:
        raise ArchiveError(problems)
    if not seen:
        raise ArchiveError([Problem("archive", "has no files", _FORMS)])


def _too_many(files: int) -> Problem:
    return Problem("archive", f"has more than {files:,} files", "Send the predictions alone")


def _fault(name: str, is_plain: bool, seen: set[str], settings: BoardSettings) -> Problem | None:
    """What is wrong with a member, None if nothing is."""
    where = f"archive: {printable(name, 120)}"
    parts = name.split("/")
    # Some disks take these for one name.
    folded = unicodedata.normalize("NFC", name).casefold()
    what, fix = "", "Pack the prediction folder again"
    if "\\" in name or ":" in parts[0] or name.startswith("/") or ".." in parts or "." in parts or "" in parts:
        what = "is no path inside the folder"
    elif not name.isprintable():
        what = "has a name that cannot be printed"
    elif len(name.encode()) > settings.name_length:
        what = f"has a name of more than {settings.name_length} bytes"
    elif len(parts) > settings.depth:
        what, fix = f"is more than {settings.depth} folders deep", "<task>/<language>.jsonl is all it takes"
    elif not is_plain:
        what, fix = "is a link, a device or a sparse file", "Pack plain files only (tar --dereference)"
    elif folded in seen:
        what = "is there twice"
    if what:
        return Problem(where, what, fix)
    seen.add(folded)
    return None


def _write(member: ArchiveMember, path: Path, limit: UnpackLimit) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        # `a` and `a/b` are both files.
        raise ArchiveError([Problem(f"archive: {path.name}", "is a file and a folder", _FORMS)]) from None
    except OSError as error:
        raise DiskError(error.errno, error.strerror) from error
    with out, member.open() as stream:
        while chunk := stream.read(CHUNK):
            limit.spend(len(chunk))
            try:
                out.write(chunk)
                out.flush()  # or the last of it would fail where nobody knows what failed
            except OSError as error:
                raise DiskError(error.errno, error.strerror) from error


def _innermost(folder: Path) -> Path:
    """The folder with the tasks' folders: an archive of a folder has that folder as its only entry."""
    entries = list(folder.iterdir())
    if len(entries) == 1 and entries[0].is_dir() and any(child.is_dir() for child in entries[0].iterdir()):
        return entries[0]
    return folder
