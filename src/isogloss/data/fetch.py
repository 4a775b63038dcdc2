"""Fetching datasets: what is missing is downloaded, verified, unpacked and put in its place.

Running it again does only what is left to do. All unfinished work is kept in `.fetch/` in the data folder, so
no file under its final name is ever half written, and a broken download goes on where it stopped.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pooch
import requests

from isogloss.data.fetch_archive import extract
from isogloss.data.fetch_download import Patience
from isogloss.data.fetch_ledger import Entry, Ledger, exclusive, sha256_of
from isogloss.data.fetch_retrieve import ChecksumError, Progress, Retriever, is_mirror
from isogloss.data.files import SUFFIXES, existing, resolve
from isogloss.data.sources import Dataset, Source
from isogloss.errors import DataError, IsoglossError

WORK = ".fetch"
RECORD = "checksums.json"


@dataclass(frozen=True)
class Outcome:
    """What became of one download: `fetched`, `kept` (it was there and is intact) or `failed`."""

    source: Source
    state: str
    problem: IsoglossError | None = None


@dataclass(frozen=True)
class Status:
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


def status(dataset: Dataset, data: Path) -> Status:
    """Count the files of a dataset that are there, packed or not; contents are not read."""
    files = {source.path for source in dataset.sources if source.path and resolve(data / source.path)}
    patterns = {rule.glob for source in dataset.sources for rule in source.rules}
    for pattern in patterns.union(dataset.by_hand):
        files.update(_plain_name(path.relative_to(data)) for path in existing(data, pattern))
    expected = len(dataset.by_hand) + sum(1 if source.path else source.members for source in dataset.sources)
    return Status(
        dataset,
        min(len(files), expected),
        expected,
        size=sum(source.size for source in dataset.sources),
        exact=all(source.size for source in dataset.sources),
    )


def _plain_name(path: Path) -> str:
    """The path without the suffix of a packed file."""
    return (path.with_suffix("") if path.suffix and path.suffix in SUFFIXES else path).as_posix()


def fetch(
    datasets: Sequence[Dataset],
    data: Path,
    *,
    mirror: str = "",
    force: bool = False,
    patience: Patience | None = None,
    progress: Progress = lambda source, done: None,
) -> list[Outcome]:
    """Bring datasets into a data folder; one download that fails does not keep the others from coming.

    Args:
        datasets: what to bring.
        data: the data folder; it is made where there is none.
        mirror: a base URL or a folder that has `<dataset>/<file name>`, in place of the official hosts.
        force: download again what is already there and intact.
        patience: how long to bear with slow or broken servers.
        progress: told about every chunk that arrives.

    Returns:
        What became of each download, in order.

    Raises:
        DataError: the mirror is neither address nor folder, the data folder cannot be written, or another
            fetch is at work in it.
    """
    if mirror and not is_mirror(mirror):
        raise DataError("neither a folder nor a web address", where=mirror, fix="Check --mirror")
    try:
        with exclusive(data / WORK), requests.Session() as session, _silent_pooch():
            retriever = Retriever(session, mirror, patience or Patience(), progress)
            run = _Run(data, Ledger(data / RECORD, scratch=data / WORK), retriever, force)
            return [run.outcome(source, dataset) for dataset in datasets for source in dataset.sources]
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror or error})",
            where=str(data),
            fix="Choose a folder with --data",
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
class _Run:
    """One call of `fetch`."""

    data: Path
    ledger: Ledger
    retriever: Retriever
    force: bool

    def outcome(self, source: Source, dataset: Dataset) -> Outcome:
        """Do one source, turning whatever goes wrong into an answer."""
        work = self.data / WORK / source.key
        try:
            if not self.force and self._intact(source):
                self.retriever.progress(source, source.size)
                return Outcome(source, "kept")
            self._bring(source, dataset, work)
        except IsoglossError as error:
            return Outcome(source, "failed", error)
        except OSError as error:
            where = str(error.filename or source.key)
            fix = "Make room or give access, or choose another folder with --data"
            return Outcome(source, "failed", DataError(error.strerror or str(error), where=where, fix=fix))
        finally:
            _remove_if_empty(work)
            _remove_if_empty(work.parent)
        return Outcome(source, "fetched")

    def _intact(self, source: Source) -> bool:
        """Whether all files of the source are there with the checksums that are published or recorded."""
        entry = self.ledger.get(source.key)
        if source.path and source.sha256:
            files = {source.path: source.sha256}
        elif entry and source.sha256 in ("", entry.sha256):
            files = entry.files
        else:
            return False
        return all(sha256_of(self.data / path) == sha256 for path, sha256 in files.items())

    def _bring(self, source: Source, dataset: Dataset, work: Path) -> None:
        if self.force:
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        entry = self.ledger.get(source.key)
        sha256 = source.sha256 or (entry.sha256 if entry else "")
        try:
            download, url = self.retriever.retrieve(source, sha256, work)
        except ChecksumError as error:
            if source.sha256:
                raise
            raise self._changed(error, source) from error
        sha256 = sha256 or sha256_of(download)
        if source.rules:
            files = self._unpack(download, source, dataset)
        else:
            files = {source.path: sha256}
            _put(download, self.data / source.path)
        if source.rules or not source.sha256:
            self.ledger.record(source.key, Entry(sha256, url, files))
        shutil.rmtree(work)

    def _unpack(self, archive: Path, source: Source, dataset: Dataset) -> dict[str, str]:
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
            _put(staging / path, self.data / path)
        return files

    def _changed(self, error: ChecksumError, source: Source) -> ChecksumError:
        return ChecksumError(
            "the file on the server is not the one that was first fetched",
            where=error.where,
            fix=f"If you trust the new one, remove {source.key!r} from {self.ledger.path}",
        )


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _put(file: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    file.replace(place)
