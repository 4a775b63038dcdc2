"""Replay of stored translations: files of pairs, XTREME's released files, or parallel texts."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.checked_settings import checked_settings
from isogloss.data.files import Digest, find_all, lines, resolve, unpacked_name
from isogloss.data.tables import jsonl, rows
from isogloss.errors import DataError
from isogloss.translation.translation_cache import StoredPair
from isogloss.translation.translators import Translator, UntranslatedError

_SUFFIXES = (".jsonl", ".tsv")


class ReplayTranslator(Translator):
    """Translations that exist already.

    `PATH` is one of:

    - JSON lines of `{"source": …, "target": …}`, which the cache consists of
    - a table with tabs: source and target; or XTREME's columns `a, b, a translated, b translated, label`
    - a folder with such files; all of them are read, and the first translation of a text counts
    - the common start of two parallel texts: `replay:news` reads `news.en` and `news.es` for en to es

    Files may be packed. Texts are compared without surrounding white space.

    Args:
        path: the file or folder.
        source: language of the texts.
        target: language of the translations.
        settings: none.
    """

    is_stored = True

    def __init__(self, path: str, source: str, target: str, settings: Mapping[str, Any]) -> None:
        self.name, self.source, self.target = f"replay:{path}", source, target
        checked_settings(settings, {}, "setting of replay", self.name)
        self._translations: dict[str, str] = {}
        checksum = hashlib.sha256()
        for pairs, digest in self._files(Path(path).expanduser()):
            for text, translation in pairs:
                self._translations.setdefault(text.strip(), translation.strip())
            checksum.update(digest.hex.encode())
        if not self._translations:
            raise DataError(
                "no stored translations", where=path, fix="Write one pair per line of a .jsonl or .tsv file"
            )
        self.version = checksum.hexdigest()[:16]

    def _files(self, path: Path) -> Iterator[tuple[Iterator[tuple[str, str]], Digest]]:
        """Yield the pairs of every file, with the checksum that reading them updates."""
        if path.is_dir():
            for suffix in _SUFFIXES:
                for file in find_all(path, f"*{suffix}"):
                    yield _pairs(file)
            return
        if (packed := resolve(path)) is not None:
            yield _pairs(packed)
            return
        sides = [resolve(path.with_name(f"{path.name}.{code}")) for code in (self.source, self.target)]
        if sides[0] is None or sides[1] is None:
            what = "no such file, folder or pair of parallel texts"
            fix = f"For parallel texts, write {path}.{self.source} and {path}.{self.target}"
            raise DataError(what, where=str(path), fix=fix)
        digest = Digest()
        yield _parallel(sides[0], sides[1], digest), digest

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield all stored translations of the texts at once."""
        stored = {text: self._translations[text.strip()] for text in texts if text.strip() in self._translations}
        yield stored
        if missing := [text for text in texts if text not in stored]:
            reasons = dict.fromkeys(missing, "not among the stored ones")
            raise UntranslatedError(reasons, len(texts), where=self.name, fix="Add them to the file, or to its folder")


def _pairs(path: Path) -> tuple[Iterator[tuple[str, str]], Digest]:
    digest = Digest()
    if unpacked_name(path).endswith(".jsonl"):
        return ((pair.source, pair.target) for pair in jsonl(path, StoredPair, digest)), digest
    return _table(path, digest), digest


def _table(path: Path, digest: Digest) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two columns, or of XTREME's four or five; damaged rows of the latter are skipped."""
    wide = None
    for number, row in enumerate(rows(path, (1, 64), digest), 1):
        wide = len(row) > 3 if wide is None else wide
        if wide and len(row) in (4, 5):
            yield from zip(row[:2], row[2:4], strict=True)
        elif not wide and len(row) == 2:
            yield row[0], row[1]
        elif not wide and any(row):
            what = f"expected source and target, got {len(row)} columns"
            raise DataError(what, where=f"{path}:{number}", fix="XTREME's files have 4 or 5 columns")


def _parallel(source: Path, target: Path, digest: Digest) -> Iterator[tuple[str, str]]:
    left, right = list(lines(source, digest)), list(lines(target, digest))
    if len(left) != len(right):
        raise DataError(f"{len(left):,} lines, but {target} has {len(right):,}", where=str(source))
    yield from zip(left, right, strict=True)
