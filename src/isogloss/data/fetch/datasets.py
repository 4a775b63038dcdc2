"""Fetch datasets into a data folder, and count present files.

Running it again completes what is missing. Unfinished work stays in `.fetch/` in the data folder, so no file under its
final name is ever incomplete, and an interrupted download resumes.
"""

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import msgspec
import pooch
import requests
from filelock import FileLock, Timeout

from isogloss.data.fetch.archive import extract
from isogloss.data.fetch.catalog import Dataset, RemoteFile
from isogloss.data.fetch.downloaders import RetryPolicy
from isogloss.data.fetch.session import ChecksumError, DownloadSession, FileProgress, is_mirror
from isogloss.data.files import find_all, read_bytes, resolve, sha256_of, unpacked_name
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError

WORK = ".fetch"
RECORD = "checksums.json"


@dataclass(frozen=True)
class FetchOutcome:
    """Outcome of one download: `fetched`, `kept` (present and intact) or `failed`."""

    source: RemoteFile
    state: str
    problem: IsoglossError | None = None


@dataclass(frozen=True, kw_only=True)
class DatasetStatus:
    """Completeness of a dataset in a folder: numbers of present and expected files, by file names.

    `size` is the total download size in bytes as far as published, `exact` is True if all sizes are.
    """

    dataset: Dataset
    present: int
    expected: int
    size: int
    exact: bool

    @property
    def state(self) -> str:
        """`present`, `partial`, `missing`, or `by hand` if nothing can be downloaded."""
        if self.present >= self.expected:
            return "present"
        if self.present:
            return "partial"
        return "missing" if self.dataset.sources else "by hand"


def status(dataset: Dataset, data: Path) -> DatasetStatus:
    """Count the present files of a dataset, packed or not, without reading them."""
    files = {source.path for source in dataset.sources if source.path and resolve(data / source.path)}
    patterns = {rule.glob for source in dataset.sources for rule in source.rules}
    for pattern in patterns.union(dataset.by_hand):
        files |= {path.with_name(unpacked_name(path)).relative_to(data).as_posix() for path in find_all(data, pattern)}
    expected = len(dataset.by_hand) + sum(1 if source.path else source.members for source in dataset.sources)
    return DatasetStatus(
        dataset=dataset,
        present=min(len(files), expected),
        expected=expected,
        size=sum(source.size for source in dataset.sources),
        exact=all(source.size for source in dataset.sources),
    )


def fetch(
    datasets: Sequence[Dataset],
    data: Path,
    *,
    mirror: str = "",
    force: bool = False,
    retry: RetryPolicy | None = None,
    progress: FileProgress = lambda source, done: None,
) -> list[FetchOutcome]:
    """Fetch datasets into a data folder; a failed download does not stop the others.

    Args:
        datasets: datasets to fetch.
        data: data folder; created if missing.
        mirror: base URL or folder with `<dataset>/<file name>`, used instead of the official hosts.
        force: True to download intact files again.
        retry: retry settings for slow or broken servers.
        progress: called with every chunk that arrives.

    Returns:
        The outcome of each download, in order.

    Raises:
        DataError: the mirror is neither address nor folder, the data folder cannot be written, or another
            fetch is running in it.
    """
    if mirror and not is_mirror(mirror):
        raise DataError("neither a folder nor a web address", where=mirror, fix="Check --mirror")
    try:
        with _exclusive(data / WORK), requests.Session() as web, _silent_pooch():
            session = DownloadSession(session=web, mirror=mirror, retry=retry or RetryPolicy(), progress=progress)
            path, what, fix = data / RECORD, "a record of checksums", "Move the file away"
            raw = read_bytes(path) if path.exists() else b"{}"
            record = decode_json(raw, str(path), dict[str, FetchedFile], what=what, fix=fix)
            run = _FetchRun(data, record, session, force)
            return [run.fetch_file(source, dataset) for dataset in datasets for source in dataset.sources]
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise DataError(what, where=str(data), fix="Choose a folder with --data") from error


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Lock the folder for this process; the system releases the lock if the process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DataError("another fetch is running", where=str(folder.parent), fix="Wait for it to finish") from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # the file system has no locks: proceed without one
            raise
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _silent_pooch() -> Iterator[None]:
    logger = pooch.get_logger()  # it would log every single file
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


class FetchedFile(msgspec.Struct, frozen=True):
    """A completed download: its checksum, its address, and the checksum of each unpacked file."""

    sha256: str
    url: str
    files: dict[str, str]


@dataclass(frozen=True)
class _FetchRun:
    data: Path
    record: dict[str, FetchedFile]  # by `<dataset>/<file name>`
    session: DownloadSession
    force: bool

    def fetch_file(self, source: RemoteFile, dataset: Dataset) -> FetchOutcome:
        """Fetch one source; return any failure as an outcome."""
        work = self.data / WORK / source.key
        try:
            if not self.force and self._is_intact(source):
                self.session.progress(source, source.size)
                return FetchOutcome(source, "kept")
            self._download_and_place(source, dataset, work)
        except IsoglossError as error:
            return FetchOutcome(source, "failed", error)
        except OSError as error:
            where = str(error.filename or source.key)
            fix = "Free space or grant access, or choose another folder with --data"
            return FetchOutcome(source, "failed", DataError(error.strerror or str(error), where=where, fix=fix))
        finally:
            self._remove_empty(work)
        return FetchOutcome(source, "fetched")

    def _remove_empty(self, work: Path) -> None:
        """Remove a work folder and its parents as far as they are empty."""
        for folder in takewhile(lambda folder: folder.name != WORK, (work, *work.parents)):
            with suppress(OSError):  # not empty, or removed
                folder.rmdir()

    def _is_intact(self, source: RemoteFile) -> bool:
        """Return True if all files of the source are present with the published or recorded checksums."""
        record = self.record.get(source.key)
        if source.path and source.sha256:
            files = {source.path: source.sha256}
        elif record and source.sha256 in ("", record.sha256) and len(record.files) >= source.members:
            files = record.files  # an older version may have unpacked fewer
        else:
            return False
        return all(sha256_of(self.data / path) == sha256 for path, sha256 in files.items())

    def _download_and_place(self, source: RemoteFile, dataset: Dataset, work: Path) -> None:
        if self.force:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        record = self.record.get(source.key)
        sha256 = source.sha256 or (record.sha256 if record else "")
        try:
            download, url = self.session.download(source, sha256, work)
        except ChecksumError as error:
            if source.sha256:
                raise
            what = "the file on the server differs from the one first fetched"
            fix = f"If you trust the new one, remove {source.key!r} from {self.data / RECORD}"
            raise ChecksumError(what, where=error.where, fix=fix) from error
        sha256 = sha256 or sha256_of(download)
        if source.rules:
            files = self._unpack(download, source, dataset)
        else:
            files = {source.path: sha256}
            _move(download, self.data / source.path)
        if source.rules or not source.sha256:
            # Unpublished checksums are taken from the first download and enforced from then on.
            self.record[source.key] = FetchedFile(sha256, url, files)
            new = self.data / WORK / RECORD
            new.write_bytes(msgspec.json.format(msgspec.json.encode(self.record, order="sorted"), indent=1) + b"\n")
            new.replace((self.data / RECORD).resolve())
        shutil.rmtree(work)

    def _unpack(self, archive: Path, source: RemoteFile, dataset: Dataset) -> dict[str, str]:
        """Install the selected members, all or none; files with their own checksum are kept."""
        staging = archive.parent / "unpacked"
        shutil.rmtree(staging, ignore_errors=True)
        owned = frozenset(other.path for other in dataset.sources if other.path)
        try:
            files = extract(archive, source.rules, staging, skip=owned)
            if len(files) < source.members:
                what = f"{len(files)} of the expected {source.members} files"
                raise DataError(what, where=source.key, fix="This is not the published archive")
        except DataError:
            shutil.rmtree(archive.parent)  # otherwise the next run would treat it as a good download
            raise
        for path in files:
            _move(staging / path, self.data / path)
        return files


def _move(file: Path, target: Path) -> None:
    """Move a file to its target; a link is kept and its destination replaced."""
    target = target.resolve() if target.exists() else target
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        part = target.with_name(f".{target.name}.part")
        shutil.copy2(file, part)
        part.replace(target)
