"""Getting one file over a bad network, or from a folder: the two downloaders that are plugged into pooch.

Pooch keeps the cache rules (a file appears under its name only when its checksum is right); these classes add
what it lacks: going on where a broken download stopped, retries, and a limit on silence and on size.
"""

import gzip
import lzma
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import requests

from isogloss.data.files import LIMIT_VARIABLE
from isogloss.decoding import whole_number
from isogloss.errors import DataError
from isogloss.version import __version__

# Small, because the chunk in which a connection breaks is lost.
CHUNK = 1 << 14
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_PAUSE = 60.0
_UNPACKERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}

# Called with the number of bytes that are here so far.
BytesProgress = Callable[[int], None]


@dataclass(frozen=True)
class RetryPolicy:
    """How patient a download is with a slow or broken server.

    Attributes:
        attempts: tries in a row that bring nothing new before giving up.
        stall: seconds without a byte after which a connection counts as dead.
        pause: seconds before the second try; doubled before each further one.
    """

    attempts: int = 5
    stall: float = 30.0
    pause: float = 1.0


@dataclass(frozen=True)
class DownloadLimit:
    """How many bytes a download may have: those of the published file, or more than any dataset has."""

    size: int
    published: bool

    def check(self, size: int, where: str) -> None:
        """Refuse a size beyond the limit, be it announced by a server or already here."""
        if size <= self.size:
            return
        if self.published:
            what, fix = f"longer than the {self.size:,} bytes the file has", "It is not the published file"
        else:
            what = f"longer than {self.size:,} bytes, which is more than any dataset has"
            fix = f"{LIMIT_VARIABLE}=… lets files of that many bytes through"
        raise DataError(what, where=where, fix=fix)


class HostError(DataError):
    """All tries are used up. Where the host was never reached, its other files need not be tried either."""

    unreachable = False


class _RetryableError(Exception):
    """Something that may be gone at the next try."""

    def __init__(self, what: str, wait: float = 0.0, unreachable: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.unreachable = unreachable


@dataclass(frozen=True)
class ResumingDownloader:
    """Downloads to a `.part` file that outlives failures and kills, and goes on from its end.

    The version tag the server gave (ETag or Last-Modified) is kept beside the part and sent back with the
    range, so that two versions of a file are never glued together; without tag and checksum it starts over.

    Attributes:
        part: where the unfinished file is kept; `<part>.tag` is beside it.
        checked: the checksum is known, so a wrongly continued file cannot go unnoticed.
        limit: beyond it the server is sending something else.
    """

    session: requests.Session
    part: Path
    retry: RetryPolicy
    checked: bool
    progress: BytesProgress
    limit: DownloadLimit

    @property
    def _tag(self) -> Path:
        return self.part.with_name(self.part.name + ".tag")

    def __call__(self, url: str, output_file: str, _pooch: object = None) -> None:
        """Pooch's downloader protocol: leave the whole file at `output_file`."""
        failures, best = 0, self._size()
        while True:
            try:
                self._transfer(url)
                break
            except _RetryableError as error:
                # A connection that breaks again and again but brings bytes each time is worth staying with.
                failures = 1 if self._size() > best else failures + 1
                best = max(best, self._size())
                if failures >= self.retry.attempts:
                    raise _given_up(url, error) from None
                time.sleep(min(max(error.wait, self.retry.pause * 2 ** (failures - 1)), LONGEST_PAUSE))
        self.part.replace(output_file)
        self._tag.unlink(missing_ok=True)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _transfer(self, url: str) -> None:
        """One request; on return the part is complete."""
        have = self._resume_point()
        headers = {"Accept-Encoding": "identity", "User-Agent": f"isogloss/{__version__}"}
        if have:
            headers["Range"] = f"bytes={have}-"
            if tag := self._known_version():
                headers["If-Range"] = tag
        answered = False
        try:
            with self.session.get(url, headers=headers, stream=True, timeout=self.retry.stall) as response:
                answered = True
                self._receive(url, response, have)
        except requests.exceptions.Timeout as error:
            raise _RetryableError(f"no answer for {self.retry.stall:g} s", unreachable=True) from error
        except requests.exceptions.ChunkedEncodingError as error:
            raise _RetryableError(f"cut off after {self._size():,} bytes") from error
        except requests.exceptions.ConnectionError as error:
            # Silence in the middle of a body comes out here too, and says nothing against the host.
            what = f"broken off or silent after {self._size():,} bytes" if answered else "no connection"
            raise _RetryableError(what, unreachable=not answered) from error
        except requests.exceptions.RequestException as error:
            raise DataError(f"{type(error).__name__}: {error}", where=url, fix="Use --mirror") from error

    def _resume_point(self) -> int:
        if not self.checked and not self._known_version():
            self._discard()
        return self._size()

    def _discard(self) -> None:
        # In this order: a kill in between must not leave a part that a later tag seems to vouch for.
        self.part.unlink(missing_ok=True)
        self._tag.unlink(missing_ok=True)

    def _known_version(self) -> str:
        return self._tag.read_text(encoding="utf-8") if self._tag.exists() else ""

    def _receive(self, url: str, response: requests.Response, have: int) -> None:
        if response.status_code == requests.codes.requested_range_not_satisfiable and have:
            if _range_total(response.headers) == have:
                return
            self._discard()
            raise _RetryableError("the kept part does not fit the file on the server")
        _check_status(url, response)
        version = _version(response.headers)
        if response.status_code != requests.codes.partial_content:
            have = 0
            self._discard()
            self._tag.write_text(version, encoding="utf-8")
        elif _range_start(response.headers) != have or (version and version != self._known_version()):
            self._discard()
            raise _RetryableError("the server answered with a part of another file")
        total = _total(response.headers, have)
        chunks = response.iter_content(CHUNK)
        try:
            self.limit.check(total, url)
            with self.part.open("ab") as out:
                _copy(chunks, out, url, limit=self.limit, done=have, progress=self.progress)
        except DataError:
            self._discard()  # nothing of it is worth keeping
            raise
        # urllib3 notices this itself only since version 2.
        if total and self._size() < total:
            raise _RetryableError(f"cut off after {self._size():,} of {total:,} bytes")


@dataclass(frozen=True)
class FolderDownloader:
    """Copies from a local mirror, unpacking `.xz` and `.gz` copies of the wanted file.

    Attributes:
        places: where to look, best first.
        limit: beyond it the file is not the wanted one.
    """

    places: tuple[Path, ...]
    progress: BytesProgress
    limit: DownloadLimit

    def __call__(self, url: str, output_file: str, _pooch: object = None) -> None:
        """Pooch's downloader protocol: leave the whole file at `output_file`."""
        packed = [Path(f"{place}{suffix}") for place in self.places for suffix in ("", ".xz", ".gz")]
        path = next((path for path in packed if path.is_file()), None)
        if path is None:
            places = " or ".join(map(str, self.places))
            raise DataError("not in the mirror", where=url, fix=f"Put it, or its .xz or .gz, at {places}")
        opener = open if path in self.places else _UNPACKERS[path.suffix]
        Path(output_file).unlink(missing_ok=True)  # pooch made it readable for the user alone
        try:
            with opener(path, "rb") as stream, Path(output_file).open("wb") as out:
                chunks = iter(partial(stream.read, CHUNK), b"")
                _copy(chunks, out, str(path), limit=self.limit, done=0, progress=self.progress)
        except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"damaged ({error})", where=str(path), fix="Copy it again") from error


def _copy(
    chunks: Iterable[bytes], out: IO[bytes], where: str, *, limit: DownloadLimit, done: int, progress: BytesProgress
) -> None:
    for chunk in chunks:
        done += len(chunk)
        limit.check(done, where)
        out.write(chunk)
        progress(done)


def _check_status(url: str, response: requests.Response) -> None:
    code = response.status_code
    if code in BUSY:
        wait = response.headers.get("Retry-After", "")
        raise _RetryableError(f"HTTP {code} {response.reason}", wait=float(wait) if wait.isdecimal() else 0.0)
    if code not in (requests.codes.ok, requests.codes.partial_content):
        raise DataError(
            f"HTTP {code} {response.reason}",
            where=url,
            fix="The file has moved or is closed: get it elsewhere and use --mirror",
        )


def _version(headers: Mapping[str, str]) -> str:
    """What the server calls this version of the file, "" where it has no name for it."""
    if _is_packed(headers):
        return ""
    etag = headers.get("ETag", "")
    # A weak tag promises the same meaning, not the same bytes, and may not be used for ranges.
    return etag if etag and not etag.startswith("W/") else headers.get("Last-Modified", "")


def _range_start(headers: Mapping[str, str]) -> int:
    """The first byte of a partial answer, -1 where the server does not say: `bytes 5-9/10` gives 5."""
    start = whole_number(headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0])
    return -1 if start is None else start


def _range_total(headers: Mapping[str, str]) -> int:
    """The size of the whole file, 0 where the server does not say: `bytes 5-9/10` gives 10."""
    return whole_number(headers.get("Content-Range", "").rpartition("/")[2]) or 0


def _total(headers: Mapping[str, str], have: int) -> int:
    length = whole_number(headers.get("Content-Length", ""))
    return have + length if length is not None and not _is_packed(headers) else 0


def _is_packed(headers: Mapping[str, str]) -> bool:
    """Whether the server packs what it sends although it was asked not to; its lengths then mean nothing to us."""
    return headers.get("Content-Encoding", "identity") != "identity"


def _given_up(url: str, error: _RetryableError) -> HostError:
    if error.unreachable:
        problem = HostError(str(error), where=urlsplit(url).netloc, fix="Check the network, or use --mirror")
    else:
        again = "Run the same command again: it goes on where it stopped; or use --mirror"
        problem = HostError(str(error), where=url, fix=again)
    problem.unreachable = error.unreachable
    return problem
