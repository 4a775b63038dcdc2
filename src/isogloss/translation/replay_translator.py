"""Replay of stored translations: files of pairs, XTREME's released files, or parallel texts."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.checked_settings import checked_settings
from isogloss.data.files import Digest, find_all, lines, resolve, sha256_of, unpacked_name
from isogloss.data.tables import jsonl, rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task
from isogloss.translation.stored_examples import StoredExamples, match_stored
from isogloss.translation.translation_cache import StoredPair
from isogloss.translation.translators import Translator, UntranslatedError

_SUFFIXES = (".jsonl", ".tsv")
EXAMPLES = "examples"


class ReplaySettings:
    """Settings of stored translations.

    Attributes:
        examples: True if the file has examples of the task instead of pairs of texts.
        covered: True to keep only the examples that the file covers; by default, it must have all.
    """

    examples: bool
    covered: bool


class ReplayTranslator(Translator):
    """Translations that exist already.

    `PATH` is one of:

    - JSON lines of `{"source": …, "target": …}`, which the cache consists of
    - a table with tabs: source and target; or XTREME's columns `a, b, a translated, b translated, label`
    - a folder with such files; all of them are read, and the first translation of a text counts
    - the common start of two parallel texts: `replay:news` reads `news.en` and `news.es` for en to es
    - with the setting `examples`, or if it ends in `.json`: the same examples of a task in another language, by id or
      row by row, in a format that the task is read from (see `stored_examples`)

    Files may be packed. Texts are compared without surrounding white space.

    Args:
        path: the file or folder.
        source: language of the texts.
        target: language of the translations.
        settings: settings by the names of `ReplaySettings`.
    """

    is_stored = True

    def __init__(self, path: str, source: str, target: str, settings: Mapping[str, Any]) -> None:
        self.name, self.source, self.target = f"replay:{path}", source, target
        checked = checked_settings(settings, ReplaySettings, "setting of replay", self.name)
        self._path = Path(path).expanduser()
        self._translations: dict[str, str] = {}
        self._matched = ""
        self._covered: bool = checked.get("covered", False)
        self._has_examples: bool = checked.get("examples", _is_json(self._path))
        if self._has_examples:
            self.version = sha256_of(file)[:16] if (file := resolve(self._path)) else ""
        else:
            self.version = self._read_pairs()

    @property
    def notes(self) -> list[str]:
        """Number of examples that the file has."""
        return [self._matched] if self._matched else []

    def _read_pairs(self) -> str:
        """Read pairs of texts, and return their version."""
        checksum = hashlib.sha256()
        try:
            for pairs, digest in self._files(self._path):
                for text, translation in pairs:
                    self._translations.setdefault(text.strip(), translation.strip())
                checksum.update(digest.hex.encode())
        except DataError as error:
            hint = f"If the file has examples of the task, add {EXAMPLES!r}: {self.name}#{EXAMPLES}"
            fix = f"{error.fix}. {hint}" if error.fix else hint
            raise DataError(error.what, where=error.where, fix=fix) from error
        if not self._translations:
            fix = "Write one pair per line of a .jsonl or .tsv file"
            raise DataError("no stored translations", where=str(self._path), fix=fix)
        return checksum.hexdigest()[:16]

    def stored_examples(self, task: Task, originals: Examples) -> StoredExamples | None:
        """Return the stored examples; from then on, their texts are known as pairs too."""
        if not self._has_examples:
            return None
        stored = match_stored(task, originals, self._path, (self.target, self.source), covered=self._covered)
        self._matched = f"{len(stored.rows):,} of {stored.total:,} examples are in the file"
        kept = originals.keep(stored.rows)
        for name in (name for name in kind_of(task).translatable if name in originals.columns):
            for before, after in zip(kept.column(name), stored.translated.column(name), strict=True):
                pair = ((before,), (after,)) if isinstance(before, str) else (before, after)
                for text, translation in zip(*pair, strict=True):
                    self._translations.setdefault(text.strip(), translation.strip())
        return stored

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


def _is_json(path: Path) -> bool:
    return path.name.endswith(".json") or unpacked_name(path).endswith(".json")


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
