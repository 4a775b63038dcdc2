"""Bringing datasets into a data folder, and counting what is there.

Running it again does only what is left to do. All unfinished work is kept in `.fetch/` in the data folder, so
no file under its final name is ever half written, and a broken download goes on where it stopped.
"""

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pooch
import requests

from isogloss.data.fetch.archive import extract
from isogloss.data.fetch.catalog import Dataset, RemoteFile
from isogloss.data.fetch.checksums import ChecksumRecord, FetchedFile
from isogloss.data.fetch.downloaders import RetryPolicy
from isogloss.data.fetch.lock import exclusive
from isogloss.data.fetch.session import ChecksumError, DownloadSession, FileProgress, is_mirror
from isogloss.data.files import find_all, resolve, sha256_of, unpacked_name
from isogloss.errors import DataError, IsoglossError

WORK = ".fetch"
RECORD = "checksums.json"


@dataclass(frozen=True)
class FetchOutcome:
    """What became of one download: `fetched`, `kept` (it was there and is intact) or `failed`."""

    source: RemoteFile
    state: str
    problem: IsoglossError | None = None


@dataclass(frozen=True)
class DatasetStatus:
    """How much of a dataset is in a folder, judged by file names.

    Attributes:
        present: files that are there.
        expected: files there should be.
        size: bytes to download for the whole, as far as they are published.
        exact: the size of every download is published.
    """

    dataset: Dataset
    present: int
    expected: int
    size: int
    exact: bool

    @property
    def state(self) -> str:
        """`present`, `partial`, `missing`, or `by hand` where nothing can be downloaded."""
        if self.present >= self.expected:
            return "present"
        if self.present:
            return "partial"
        return "missing" if self.dataset.sources else "by hand"


def status(dataset: Dataset, data: Path) -> DatasetStatus:
    """Count the files of a dataset that are there, packed or not; contents are not read."""
    files = {source.path for source in dataset.sources if source.path and resolve(data / source.path)}
    patterns = {rule.glob for source in dataset.sources for rule in source.rules}
    for pattern in patterns.union(dataset.by_hand):
        files.update(
            path.with_name(unpacked_name(path)).relative_to(data).as_posix() for path in find_all(data, pattern)
        )
    expected = len(dataset.by_hand) + sum(1 if source.path else source.members for source in dataset.sources)
    return DatasetStatus(
        dataset,
        min(len(files), expected),
        expected,
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
    """Bring datasets into a data folder; one download that fails does not keep the others from coming.

    Args:
        datasets: what to bring.
        data: the data folder; it is made where there is none.
        mirror: a base URL or a folder that has `<dataset>/<file name>`, in place of the official hosts.
        force: download again what is already there and intact.
        retry: how patient to be with slow or broken servers.
        progress: called with every chunk that arrives.

    Returns:
        What became of each download, in order.

    Raises:
        DataError: the mirror is neither address nor folder, the data folder cannot be written, or another
            fetch is running in it.
    """
    if mirror and not is_mirror(mirror):
        raise DataError("neither a folder nor a web address", where=mirror, fix="Check --mirror")
    try:
        with exclusive(data / WORK), requests.Session() as web, _silent_pooch():
            session = DownloadSession(web, mirror, retry or RetryPolicy(), progress)
            run = _FetchRun(data, ChecksumRecord(data / RECORD, scratch=data / WORK), session, force)
            return [run.fetch_file(source, dataset) for dataset in datasets for source in dataset.sources]
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror or error})", where=str(data), fix="Choose a folder with --data"
        ) from error


@contextmanager
def _silent_pooch() -> Iterator[None]:
    """Pooch would announce every single file."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


@dataclass(frozen=True)
class _FetchRun:
    """One call of `fetch`."""

    data: Path
    record: ChecksumRecord
    session: DownloadSession
    force: bool

    def fetch_file(self, source: RemoteFile, dataset: Dataset) -> FetchOutcome:
        """Do one source, turning whatever goes wrong into an answer."""
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
            fix = "Make room or give access, or choose another folder with --data"
            return FetchOutcome(source, "failed", DataError(error.strerror or str(error), where=where, fix=fix))
        finally:
            _remove_if_empty(work)
            _remove_if_empty(work.parent)
        return FetchOutcome(source, "fetched")

    def _is_intact(self, source: RemoteFile) -> bool:
        """Whether all files of the source are there with the checksums that are published or recorded."""
        known = self.record.get(source.key)
        if source.path and source.sha256:
            files = {source.path: source.sha256}
        elif known and source.sha256 in ("", known.sha256):
            files = known.files
        else:
            return False
        return all(sha256_of(self.data / path) == sha256 for path, sha256 in files.items())

    def _download_and_place(self, source: RemoteFile, dataset: Dataset, work: Path) -> None:
        if self.force:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        known = self.record.get(source.key)
        sha256 = source.sha256 or (known.sha256 if known else "")
        try:
            download, url = self.session.download(source, sha256, work)
        except ChecksumError as error:
            if source.sha256:
                raise
            what = "the file on the server is not the one that was first fetched"
            fix = f"If you trust the new one, remove {source.key!r} from {self.record.path}"
            raise ChecksumError(what, where=error.where, fix=fix) from error
        sha256 = sha256 or sha256_of(download)
        if source.rules:
            files = self._unpack(download, source, dataset)
        else:
            files = {source.path: sha256}
            _move(download, self.data / source.path)
        if source.rules or not source.sha256:
            self.record.add(source.key, FetchedFile(sha256, url, files))
        shutil.rmtree(work)

    def _unpack(self, archive: Path, source: RemoteFile, dataset: Dataset) -> dict[str, str]:
        """Put the wanted members in their places, all or none; files with a checksum of their own stay."""
        staging = archive.parent / "unpacked"
        shutil.rmtree(staging, ignore_errors=True)
        owned = frozenset(other.path for other in dataset.sources if other.path)
        try:
            files = extract(archive, source.rules, staging, skip=owned)
            if len(files) < source.members:
                raise DataError(
                    f"has {len(files)} of the {source.members} files that were expected",
                    where=source.key,
                    fix="It is not the published archive",
                )
        except DataError:
            shutil.rmtree(archive.parent)  # or the next run would take it for a good download
            raise
        for path in files:
            _move(staging / path, self.data / path)
        return files


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _move(file: Path, place: Path) -> None:
    """Put a file in its place; a link stays, and what it leads to, on another disk perhaps, is replaced."""
    target = place.resolve() if place.exists() else place
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = target.with_name(f".{target.name}.part")
        shutil.copy2(file, beside)
        beside.replace(target)
