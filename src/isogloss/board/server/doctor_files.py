"""Checks of a board's files for `isogloss board doctor`: permissions, owners, secrets, labels, disk and leftovers."""

import os
import pwd
import resource
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from isogloss.board.server.board import FILE, BoardSettings
from isogloss.board.server.pepper import FILE as PEPPER
from isogloss.board.server.retention import abandoned_uploads
from isogloss.tasks.loading import data_folder

# Open files that the server needs for its connections, pages and database.
_OPEN_FILES = 4096
_INODES = 10_000


@dataclass(frozen=True, kw_only=True)
class BoardFinding:
    """Result of one check: what is right or wrong, where, and the command that fixes it."""

    check: str
    ok: bool
    what: str
    where: str = ""
    fix: str = ""


def file_findings(folder: Path, settings: BoardSettings) -> Iterator[BoardFinding]:
    """Check everything that needs no database."""
    yield from _permissions(folder)
    yield from _secrets(folder, settings)
    yield from _labels(settings)
    yield from _space(folder, settings)
    yield from _leftovers(folder)
    yield from _open_files()


def _entries(folder: Path, unreadable: list[str]) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all files and folders with their status, following links only at the top level."""
    tops = [folder, *(path for path in folder.iterdir() if path.is_symlink() and path.is_dir())]
    for top in tops:
        yield top, top.stat()
        for parent, folders, files in os.walk(top, onerror=lambda error: unreadable.append(str(error.filename))):
            for name in (*folders, *files):
                path = Path(parent, name)
                try:
                    yield path, path.lstat()
                except FileNotFoundError:  # temporary
                    continue


def _permissions(folder: Path) -> Iterator[BoardFinding]:
    unreadable: list[str] = []
    exposed, foreign, count, owner = [], [], 0, folder.stat().st_uid
    for path, status in _entries(folder, unreadable):
        count += 1
        if not stat.S_ISLNK(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o077:
            exposed.append(path)
        if status.st_uid != owner:
            foreign.append(path)
    user, board = _user(owner), quote(str(folder))
    if exposed:
        what = f"other users have access to {len(exposed)} of {count} files and folders"
        yield BoardFinding(
            check="files", ok=False, what=what, where=str(exposed[0]), fix=f"chmod -R go-rwx {quote(str(folder))}"
        )
    if foreign:
        what = f"{len(foreign)} files do not belong to {user}, so the server may be unable to change them"
        yield BoardFinding(
            check="files", ok=False, what=what, where=str(foreign[0]), fix=f"chown -R {user} {quote(str(folder))}"
        )
    if unreadable:
        fix = f"runuser -u {user} -- isogloss board doctor {board}"
        yield BoardFinding(check="files", ok=False, what="folder cannot be read", where=unreadable[0], fix=fix)
    if not exposed and not foreign and not unreadable:
        yield BoardFinding(check="files", ok=True, what=f"{count} files and folders, private to {user}")


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _secrets(folder: Path, settings: BoardSettings) -> Iterator[BoardFinding]:
    paths = [folder / PEPPER]
    paths += [folder / settings.database_file] if settings.database_file else []
    paths += [folder / FILE] if "@" in settings.database else []
    exposed = [path for path in paths if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    for path in exposed:
        what = "other users can read this secret"
        fix = f"chmod 600 {quote(str(path))}; then replace the secret, which others may have read"
        yield BoardFinding(check="secrets", ok=False, what=what, where=str(path), fix=fix)
    if not exposed:
        yield BoardFinding(check="secrets", ok=True, what="only the board's user can read them")


def _labels(settings: BoardSettings) -> Iterator[BoardFinding]:
    folder = Path(settings.gold) if settings.gold else data_folder(settings.data or None)
    if not folder.exists():
        if settings.gold or settings.data:
            what, fix = "missing folder of the labels", f"Correct data or gold in {FILE}"
            yield BoardFinding(check="labels", ok=False, what=what, where=str(folder), fix=fix)
    elif not os.access(folder, os.R_OK | os.X_OK):
        what, fix = "the labels cannot be read", "Run isogloss board doctor as the board's user, or chown the folder"
        yield BoardFinding(check="labels", ok=False, what=what, where=str(folder), fix=fix)
    elif _others_can_enter(folder):
        what, fix = "other users can read the labels", f"chmod -R go-rwx {quote(str(folder))}"
        yield BoardFinding(check="labels", ok=False, what=what, where=str(folder), fix=fix)
    else:
        yield BoardFinding(check="labels", ok=True, what="only the board's user can read them")


def _others_can_enter(folder: Path) -> bool:
    """Return True if neither the folder nor any folder above it keeps other users out."""
    path = folder.resolve()
    return all(stat.S_IMODE(part.stat().st_mode) & 0o001 for part in (path, *path.parents))


def _space(folder: Path, settings: BoardSettings) -> Iterator[BoardFinding]:
    free, needed = shutil.disk_usage(folder).free, settings.upload_bytes + settings.unpacked_bytes
    inodes = os.statvfs(folder)
    if free < needed:
        what = f"{free / 1e9:.1f} GB of disk space left; one submission may need {needed / 1e9:.1f} GB"
        fix = f"isogloss board admin purge {quote(str(folder))} --rejected-before 0, or enlarge the disk"
        yield BoardFinding(check="disk", ok=False, what=what, where=str(folder), fix=fix)
    elif inodes.f_files and inodes.f_favail < _INODES:
        what = f"only {inodes.f_favail:,} more files can be created"
        yield BoardFinding(check="disk", ok=False, what=what, where=str(folder), fix="Remove files from this disk")
    else:
        yield BoardFinding(check="disk", ok=True, what=f"{free / 1e9:.1f} GB left")


def _leftovers(folder: Path) -> Iterator[BoardFinding]:
    uploads = [*abandoned_uploads(folder), *folder.glob(".*.part")]
    if uploads:
        what = f"{len(uploads)} unfinished files were left behind"
        fix = "rm " + " ".join(quote(str(path)) for path in uploads[:3])
        yield BoardFinding(check="leftovers", ok=False, what=what, where=str(uploads[0]), fix=fix)
    else:
        yield BoardFinding(check="leftovers", ok=True, what="no abandoned uploads")


def _open_files() -> Iterator[BoardFinding]:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    is_enough = most == resource.RLIM_INFINITY or most >= _OPEN_FILES
    what = f"this shell allows {'any number' if most == resource.RLIM_INFINITY else f'{most:,}'} per process"
    fix = "" if is_enough else "ulimit -Hn 65536, or LimitNOFILE=65536 in the systemd unit"
    yield BoardFinding(check="open files", ok=is_enough, what=what, fix=fix)
