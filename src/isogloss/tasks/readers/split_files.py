"""What a reader is given: which files to look for, and where to note what it read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from isogloss.data.files import Digest, find_all, resolve
from isogloss.errors import DataError
from isogloss.languages import language as find_language
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.task import Task

# Corpora that use another three-letter code than ISO 639-3 gives for the two-letter one.
_CORPUS_ISO3 = {"fa": "pes", "sw": "swh", "zh": "cmn"}
_CORPUS_NAMES = {"zh": "chinese"}


def corpus_iso3(code: str) -> str:
    """The three-letter code as corpora write it."""
    return _CORPUS_ISO3.get(code) or find_language(code).iso3


@dataclass
class SplitFiles:
    """One split of one language in one layout, to be read."""

    task: Task
    language: str
    split: str
    root: Path
    pattern: str
    digest: Digest = field(default_factory=Digest)
    read: list[Path] = field(default_factory=list)

    @cached_property
    def iso3(self) -> str:
        """The three-letter code as corpora write it."""
        return corpus_iso3(self.language)

    def relative(self, pattern: str, language: str | None = None) -> str:
        """A path pattern filled in for a language."""
        code = language or self.language
        iso3 = corpus_iso3(code)
        name = _CORPUS_NAMES.get(code) or find_language(code).name.lower()
        return pattern.format(lang=code, iso3=iso3, name=name)

    def path(self, suffix: str = "", *, language: str | None = None, pattern: str | None = None) -> Path | None:
        """The file, packed or not; None where it is not there."""
        chosen = self.pattern if pattern is None else pattern
        return self.noted(resolve(self.root / (self.relative(chosen, language) + suffix)))

    def paths(self) -> list[Path]:
        """All files matching the pattern, in name order."""
        found = find_all(self.root, self.relative(self.pattern))
        self.read.extend(found)
        return found

    def noted(self, path: Path | None) -> Path | None:
        """Remember that a file was used."""
        if path is not None:
            self.read.append(path)
        return path

    def row_ids(self, count: int) -> list[str]:
        """Ids for datasets without their own: the split and the zero-based row."""
        return [f"{self.split}-{row}" for row in range(count)]

    def examples(
        self,
        ids: list[str],
        columns: dict[str, Column],
        gold: str,
        *,
        units: list[str] | None = None,
        pool: Pool | None = None,
    ) -> Examples:
        """The examples that were read; refuses an id that occurs twice."""
        if len(set(ids)) != len(ids):
            twice = next(iter(_repeated(ids)))
            raise DataError(f"id {twice!r} occurs more than once", where=self.where())
        return Examples(
            self.task.id,
            self.language,
            self.split,
            ids,
            columns,
            gold,
            units=units if units is not None else (ids if self.task.parallel else None),
            pool=pool,
            checksum=self.digest.hex,
            sources=tuple(str(path) for path in self.read),
            root=self.root,
        )

    def where(self) -> str:
        """The files, for messages."""
        return ", ".join(str(path) for path in self.read) or str(self.root / self.relative(self.pattern))


def _repeated(ids: list[str]) -> Iterator[str]:
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            yield identifier
        seen.add(identifier)
