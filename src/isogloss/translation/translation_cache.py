"""Append-only cache of translations, for any number of processes.

Every translator, version and pair of languages has a folder of lines, each a text and its translation.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from isogloss.data.files import atomic_write
from isogloss.data.location import cache_dir
from isogloss.data.segments import Segments
from isogloss.translation.translators import Translator

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
        self._lines = Segments(self.folder)
        self._translations: dict[str, str] = {}
        self._origins: dict[str, str] = {}  # segment of each translation

    def __len__(self) -> int:
        self.refresh()
        return len(self._translations)

    def find(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the translations of those texts that have one, in the given order."""
        self.refresh()
        known = ((text, self._translations.get(_valid(text))) for text in texts)
        return {text: translation for text, translation in known if translation is not None}

    def refresh(self) -> None:
        """Read what processes have added since the last time; damaged lines are skipped, and translated again."""
        for name, _, line in self._lines.new_lines(self._reset):
            try:
                pair = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            # The same line counts in whatever order processes read the segments.
            known = self._origins.get(pair.source)
            if known is None or name < known:
                self._translations[pair.source], self._origins[pair.source] = pair.target, name

    def _reset(self) -> None:
        self._translations, self._origins = {}, {}

    def add(self, translations: Mapping[str, str]) -> None:
        """Write translations; they are stored when this returns.

        Raises:
            DataError: they cannot be written, e.g. because the disk is full.
        """
        if not (self.folder / RECORD).exists():
            with atomic_write(self.folder / RECORD) as stream:
                stream.write(msgspec.json.format(_encode(self._facts)).decode(errors="replace") + "\n")
        pairs = (StoredPair(*map(_valid, pair)) for pair in translations.items())
        self._lines.write(b"".join(_encode(pair) + b"\n" for pair in pairs))

    def close(self) -> None:
        """End writing; later translations begin a new file."""
        self._lines.close()

    def lock(self, on_waiting: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Return a context with the right to translate, which one process has at a time.

        `on_waiting` is called repeatedly while another process has it.
        """
        return self._lines.lock(on_waiting)


def _valid(text: str) -> str:
    """Replace lone surrogates, which JSON in UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
