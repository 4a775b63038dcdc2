"""Verified downloads from official hosts, a web mirror, or a folder."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import pooch
import requests

from isogloss.data.fetch import downloaders
from isogloss.data.fetch.catalog import RemoteFile
from isogloss.data.fetch.downloaders import DownloadLimit, HostError, RetryPolicy
from isogloss.data.files import byte_limit
from isogloss.errors import DataError, IsoglossError

# A host that exhausts all attempts for this many files in a row is skipped for this run.
MAX_HOST_FAILURES = 3

# Called with a source and the number of its bytes received so far.
FileProgress = Callable[[RemoteFile, int], None]


class ChecksumError(DataError):
    """The download is not the requested file."""


def is_mirror(mirror: str) -> bool:
    """Return True if the text is an existing folder or a web address."""
    return mirror.startswith(("http://", "https://")) or Path(mirror).is_dir()


@dataclass(kw_only=True)
class DownloadSession:
    """Downloads through pooch from the official hosts or a mirror (base URL or folder), with a record of failed hosts.

    `failures` counts consecutive failed files by host; `dead` has the hosts to skip, with their last error.
    """

    session: requests.Session
    mirror: str
    retry: RetryPolicy
    progress: FileProgress
    failures: Counter[str] = field(default_factory=Counter)
    dead: dict[str, HostError] = field(default_factory=dict)

    def download(self, source: RemoteFile, sha256: str, work: Path) -> tuple[Path, str]:
        """Download to the folder `work` and verify; return the file and its address.

        Addresses are tried in order; `sha256` is "" if no checksum is known. Unfinished downloads stay in `work`. If
        none has the file, raise a ChecksumError if one answered with another file, or else the error of the first.
        """
        problems: list[IsoglossError] = []
        addresses = source.urls
        if self.mirror:
            is_folder = Path(self.mirror).is_dir()
            addresses = (source.key if is_folder else f"{self.mirror.rstrip('/')}/{quote(source.key)}",)
        for address in addresses:
            try:
                return self._download_from(address, source, sha256, work), address
            except IsoglossError as error:
                problems.append(error)
        raise next((error for error in problems if isinstance(error, ChecksumError)), problems[0])

    def _download_from(self, address: str, source: RemoteFile, sha256: str, work: Path) -> Path:
        host = urlsplit(address).netloc
        if host in self.dead:
            raise self.dead[host]
        try:
            path = self._download_verified(address, source, sha256, work)
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

    def _download_verified(self, address: str, source: RemoteFile, sha256: str, work: Path) -> Path:
        """Download and verify through pooch, with one more attempt from scratch after damage in transit."""
        downloader = self._downloader(address, source, sha256, work)
        known_hash = f"sha256:{sha256}" if sha256 else None
        for _ in range(2):
            with suppress(ValueError):  # pooch's message for a wrong checksum
                return Path(pooch.retrieve(address, known_hash, source.file_name, work, downloader=downloader))
        fix = "The copy is damaged or modified: get the file elsewhere and use --mirror"
        raise ChecksumError(f"not the published file: its SHA-256 is not {sha256}", where=address, fix=fix)

    def _downloader(self, address: str, source: RemoteFile, sha256: str, work: Path) -> Callable[..., None]:
        progress = partial(self.progress, source)
        # Without a checksum the size in the catalogue is not guaranteed either.
        published = bool(sha256 and source.size)
        limit = DownloadLimit(source.size if published else byte_limit(), published)
        if self.mirror and Path(self.mirror).is_dir():
            # For a single file, another data folder also works as a mirror.
            paths = dict.fromkeys((source.key, source.path or source.key))
            return partial(downloaders.copy_from_folder, [Path(self.mirror, file) for file in paths], progress, limit)
        if address.startswith(downloaders.SCHEME):
            return partial(downloaders.download_wheel, source.key, self.retry, progress)
        part = work / f"{source.file_name}.part"
        return downloaders.ResumingDownloader(
            session=self.session, part=part, retry=self.retry, checked=bool(sha256), progress=progress, limit=limit
        )
