"""The files of one split in one language: where a reader finds them, and what it makes of them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from pathlib import Path
from types import MappingProxyType

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


def clusters_within(
    language: str, sources: Iterable[Hashable], shared: Mapping[int, str] = MappingProxyType({})
) -> list[str] | None:
    """Names of clusters by their sources, with the language in them; None where all examples stand alone, or none.

    Args:
        language: two-letter code.
        sources: what each example is made from; examples with the same are one cluster.
        shared: names that hold in other languages too, by row; they go before the sources.
    """
    first: dict[Hashable, int] = {}
    rows = list(map(first.setdefault, sources, count()))
    # Of a single source nothing is learnt about others: its examples are then looked at one by one.
    if len(first) in (1, len(rows)) and not shared:
        return None
    names = [f"{language}:{row}" for row in rows]
    for row, name in shared.items():
        names[row] = name
    return names


@dataclass
class SplitFiles:
    """One split of one language in one layout, as a reader gets it.

    Attributes:
        root: the data folder.
        pattern: the layout's path pattern of the split.
        digest: the checksum over all that is read.
        read: the files that were found and read.
    """

    task: Task
    language: str
    split: str
    root: Path
    pattern: str
    digest: Digest = field(default_factory=Digest)
    read: list[Path] = field(default_factory=list)

    def relative(self, pattern: str, language: str | None = None) -> str:
        """A path pattern filled in for a language."""
        code = language or self.language
        name = _CORPUS_NAMES.get(code) or find_language(code).name.lower()
        return pattern.format(lang=code, iso3=corpus_iso3(code), name=name)

    def path(self, suffix: str = "", *, language: str | None = None, pattern: str | None = None) -> Path | None:
        """The file, packed or not; None where it is not there."""
        found = resolve(self.root / (self.relative(pattern or self.pattern, language) + suffix))
        if found is not None:
            self.read.append(found)
        return found

    def paths(self) -> list[Path]:
        """All files matching the pattern, in name order."""
        found = find_all(self.root, self.relative(self.pattern))
        self.read.extend(found)
        return found

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
        clusters: list[str] | None = None,
        pool: Pool | None = None,
    ) -> Examples:
        """The examples that were read; refuses an id that occurs twice."""
        if len(set(ids)) != len(ids):
            [(twice, _)] = Counter(ids).most_common(1)
            raise DataError(f"id {twice!r} occurs more than once", where=self.where())
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
            root=self.root,
        )

    def where(self) -> str:
        """The files, for messages."""
        return ", ".join(str(path) for path in self.read) or str(self.root / self.relative(self.pattern))


def of_one_file(read: Callable[[SplitFiles, Path], Examples | None]) -> Callable[[SplitFiles], Examples | None]:
    """A reader of layouts whose pattern names one file: it is called with the file's path, if there is such a file."""

    @wraps(read)
    def reader(files: SplitFiles) -> Examples | None:
        path = files.path()
        return None if path is None else read(files, path)

    return reader
