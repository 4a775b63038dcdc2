"""Files of one split in one language, and the examples made from them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from pathlib import Path
from types import MappingProxyType

from isogloss.data.files import Digest, find_all, resolve
from isogloss.errors import DataError, UnknownNameError
from isogloss.languages import language as find_language
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.table_format import TableFormat
from isogloss.tasks.task import Task

# Corpora codes that differ from ISO 639-3.
_CORPUS_ISO3 = {"fa": "pes", "sw": "swh", "zh": "cmn"}
_CORPUS_NAMES = {"zh": "chinese"}


def corpus_iso3(code: str) -> str:
    """Return the three-letter code that corpora use."""
    return _CORPUS_ISO3.get(code) or find_language(code).iso3


def clusters_within(
    language: str, sources: Iterable[Hashable], shared: Mapping[int, str] = MappingProxyType({})
) -> list[str] | None:
    """Name clusters by source, prefixed with the language; return None if all examples are independent.

    `shared` has cluster names valid across languages, by row; they take precedence over sources.
    """
    first: dict[Hashable, int] = {}
    rows = list(map(first.setdefault, sources, count()))
    # A single source says nothing about others, so its examples are treated as independent.
    if len(first) in (1, len(rows)) and not shared:
        return None
    names = [f"{language}:{row}" for row in rows]
    for row, name in shared.items():
        names[row] = name
    return names


@dataclass(kw_only=True)
class SplitFiles:
    """One split of one language in one layout: the input of a reader.

    Attributes:
        root: folder of the files: the data folder, or the task's own.
        pattern: path pattern of the split in this layout.
        table: contents of the files, for the reader of tables.
        data: data folder, if `root` is the task's own.
        digest: checksum over everything read.
        read: files read.
    """

    task: Task
    language: str
    split: str
    root: Path
    pattern: str
    table: TableFormat | None = None
    data: Path | None = None
    digest: Digest = field(default_factory=Digest)
    read: list[Path] = field(default_factory=list)

    def relative(self, pattern: str, language: str | None = None) -> str:
        """Return a path pattern filled in for a language."""
        code = language or self.language
        size = self.task.train_sizes[0] if self.task.train_sizes else ""
        own = self.task.codes.get(code, code)
        fields = {"lang": code, "code": own, "language": own, "size": size}
        try:
            # Looked up only if the pattern has them: a task may have languages without a known name.
            if "{iso3}" in pattern:
                fields["iso3"] = corpus_iso3(code)
            if "{name}" in pattern:
                fields["name"] = _CORPUS_NAMES.get(code) or find_language(code).name.lower()
        except UnknownNameError as error:
            raise DataError(error.what, where=f"{self.task.id}: {pattern}", fix=error.fix) from None
        return pattern.format(**fields)

    def path(self, suffix: str = "", *, language: str | None = None, pattern: str | None = None) -> Path | None:
        """Return the file, packed or not, or None if it is missing."""
        path = resolve(self.root / (self.relative(pattern or self.pattern, language) + suffix))
        if path is not None:
            self.read.append(path)
        return path

    def paths(self) -> list[Path]:
        """Return all files matching the pattern, in name order."""
        paths = find_all(self.root, self.relative(self.pattern))
        self.read.extend(paths)
        return paths

    def row_ids(self, count: int) -> list[str]:
        """Return ids for datasets without their own: the split and the zero-based row."""
        return [f"{self.split}-{row}" for row in range(count)]

    def examples(
        self,
        ids: list[str],
        columns: dict[str, Column],
        gold: str,
        *,
        units: list[str] | None = None,
        clusters: list[str] | None = None,
        pool: Pool | None = None,
    ) -> Examples:
        """Return the examples read; raise DataError for duplicate ids."""
        if len(set(ids)) != len(ids):
            [(duplicate, _)] = Counter(ids).most_common(1)
            raise DataError(f"duplicate id {duplicate!r}", where=self.where())
        return Examples(
            self.task.id,
            self.language,
            self.split,
            ids,
            columns,
            gold,
            units=units if units is not None else (ids if self.task.parallel else None),
            clusters=clusters,
            pool=pool,
            checksum=self.digest.hex,
            sources=tuple(str(path) for path in self.read),
            root=self.data or self.root,
        )

    def where(self) -> str:
        """Return the files read, for messages."""
        return ", ".join(str(path) for path in self.read) or str(self.root / self.relative(self.pattern))


def of_one_file(read: Callable[[SplitFiles, Path], Examples | None]) -> Callable[[SplitFiles], Examples | None]:
    """Adapt a reader of one file: call it with the file's path, or return None if the file is missing."""

    @wraps(read)
    def reader(files: SplitFiles) -> Examples | None:
        path = files.path()
        return None if path is None else read(files, path)

    return reader
