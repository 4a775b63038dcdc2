"""Append-only cache of translations, for any number of processes.

Every translator, version and pair of languages has a folder with one file per writer, so that no two processes write to
the same file. A line is a text and its translation. A process that dies while it writes leaves an incomplete last line,
which readers skip.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from isogloss.data.files import atomic_write
from isogloss.data.location import cache_dir
from isogloss.errors import DataError
from isogloss.translation.translators import Translator

_POLL = 0.1
_LONGEST_NAME = 48
RECORD = "translator.json"


class StoredPair(msgspec.Struct):
    """A text and its translation: a line of the cache, and of files to replay."""

    source: str
    target: str


_decode = msgspec.json.Decoder(StoredPair).decode
_encode = msgspec.json.Encoder().encode


def default_translations_dir() -> Path:
    """Return the `translations` folder of the cache folder."""
    return cache_dir() / "translations"


class TranslationCache:
    """Translations by one translator from one language to another.

    The first translation of a text counts; later ones are ignored.

    Args:
        translator: the translator; its name, version and languages decide the folder.
        root: folder of all caches; default `translations` in the cache folder.
    """

    def __init__(self, translator: Translator, root: Path | None = None) -> None:
        facts = [translator.name, translator.version, translator.source, translator.target]
        digest = hashlib.sha256("\0".join(facts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        slug = re.sub(r"[^\w.-]+", "-", translator.name).strip("-.")[:_LONGEST_NAME]
        pair = f"{translator.source}-{translator.target}"
        self.folder = (root or default_translations_dir()) / pair / f"{slug or 'translator'}-{digest}"
        self._facts = dict(zip(("name", "version", "source", "target"), facts, strict=True))
        self._translations: dict[str, str] = {}
        self._origins: dict[str, str] = {}  # segment of each translation
        self._read: dict[str, int] = {}  # bytes of each segment that are indexed
        self._descriptor: int | None = None

    def __len__(self) -> int:
        self.refresh()
        return len(self._translations)

    def find(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the translations of those texts that have one, in the given order."""
        self.refresh()
        return {text: self._translations[text] for text in texts if text in self._translations}

    def refresh(self) -> None:
        """Read what processes have added since the last time."""
        try:
            with os.scandir(self.folder) as entries:
                sizes = {each.name: each.stat().st_size for each in entries if each.name.endswith(".jsonl")}
            if any(sizes.get(name, 0) < size for name, size in self._read.items()):  # removed or cut by hand
                self._translations, self._origins, self._read = {}, {}, {}
            for name in sorted(sizes):
                if sizes[name] > self._read.get(name, 0):
                    self._index(name)
        except FileNotFoundError:
            self._translations, self._origins, self._read = {}, {}, {}
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror or error})", where=str(self.folder)) from None

    def _index(self, name: str) -> None:
        """Read the complete new lines of a segment; damaged ones are skipped, and translated again."""
        offset = self._read.get(name, 0)
        with (self.folder / name).open("rb") as stream:
            stream.seek(offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                offset += len(line)
                try:
                    pair = _decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    continue
                # The same line counts in whatever order processes read the segments.
                if name < self._origins.get(pair.source, "\U0010ffff"):
                    self._translations[pair.source], self._origins[pair.source] = pair.target, name
        self._read[name] = offset

    def add(self, translations: Mapping[str, str]) -> None:
        """Write translations; they are stored when this returns.

        Raises:
            DataError: they cannot be written, e.g. because the disk is full.
        """
        pairs = (StoredPair(*map(_valid, pair)) for pair in translations.items())
        block = b"".join(_encode(pair) + b"\n" for pair in pairs)
        try:
            if self._descriptor is None:
                self._descriptor = self._opened()
            written = os.write(self._descriptor, block)
        except OSError as error:
            self.close()
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(self.folder)) from None
        if written != len(block):
            self.close()  # the next line must not continue this one
            raise DataError("cannot be written (the disk is full)", where=str(self.folder))

    def _opened(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / RECORD).exists():
            with atomic_write(self.folder / RECORD) as stream:
                stream.write(msgspec.json.format(_encode(self._facts)).decode(errors="replace") + "\n")
        # In order of time; random, since machines that share a folder may have the same process ids.
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{os.urandom(6).hex()}.jsonl"
        return os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)

    def close(self) -> None:
        """End writing; later translations begin a new file."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    @contextmanager
    def lock(self, on_waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Context with the right to translate, which one process has at a time.

        `on_waiting` is called once if another process has it.
        """
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / ".lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if on_waiting is not None:
                    on_waiting()
                lock.acquire(poll_interval=_POLL)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(self.folder)) from None
        try:
            yield
        finally:
            lock.release()


def _valid(text: str) -> str:
    """Replace lone surrogates, which JSON in UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
