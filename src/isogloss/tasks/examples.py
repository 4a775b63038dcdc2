"""The examples of one task, language and split, as columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.errors import unknown

# The id of all examples that gold does not name one by one: whatever is answered to them is wrong.
REST = "*"

# One item an example, or a function that makes them on first use.
Column = Sequence[Any] | Callable[[], Sequence[Any]]


@dataclass(eq=False)
class Pool:
    """The candidates of a retrieval task; languages and texts are each read on first use.

    Attributes:
        read_languages: reads the language of each candidate by its id.
        read_texts: reads their texts, in the same order.
        read_targets: reads the texts of the right answers only, by id, where reading all of them would take long.
    """

    read_languages: Callable[[], Mapping[str, str]]
    read_texts: Callable[[], Sequence[str]]
    read_targets: Callable[[], Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.language_of)

    @cached_property
    def language_of(self) -> Mapping[str, str]:
        """The language of each candidate by its id."""
        return self.read_languages()

    @cached_property
    def ids(self) -> Sequence[str]:
        """Candidate ids in pool order."""
        return list(self.language_of)

    @property
    def languages(self) -> Sequence[str]:
        """The language of each candidate, in pool order."""
        return list(self.language_of.values())

    @cached_property
    def text(self) -> Sequence[str]:
        """The text of each candidate, in pool order."""
        return self.read_texts()

    @cached_property
    def target_text(self) -> Mapping[str, str]:
        """The text of each right answer, by its id; other candidates may be there as well."""
        return dict(zip(self.ids, self.text, strict=True)) if self.read_targets is None else self.read_targets()


@dataclass(eq=False)
class Examples:
    """Examples of one (task, language, split): ids plus the columns of the task's kind.

    `examples["question"]` and `examples.question` give a column, `examples[3]` a row, `len(examples)` the number.

    Attributes:
        ids: the dataset's own ids, or `<split>-<row>`.
        gold: name of the column with the right answers; its items are None where an example has none.
        units: ids shared with the parallel examples of other languages; None where there are none.
        clusters: the source of each example (article, premise, …), the same for all that must be drawn together;
            a name in two languages, or in two tasks over the same questions, is one source. None where every
            example stands alone.
        split_ids: all ids of the split, where these examples are only the part that has gold.
        pool: the candidates, for retrieval.
        checksum: sha256 over the unpacked bytes of the files read.
        root: the data folder the files are in.
        partial: True where gold covers only a part of the split.
    """

    task: str
    language: str
    split: str
    ids: list[str]
    columns: dict[str, Column]
    gold: str
    units: list[str] | None = None
    clusters: list[str] | None = None
    split_ids: list[str] | None = None
    pool: Pool | None = None
    checksum: str = ""
    partial: bool = False
    sources: tuple[str, ...] = ()
    root: Path | None = None
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_gold(self) -> bool:
        """Whether any example has its right answer."""
        return self.gold in self.columns

    def column(self, name: str) -> Sequence[Any]:
        """A column by name, computed on first use."""
        try:
            column = self.columns[name]
        except KeyError:
            raise unknown("column", name, self.columns) from None
        if callable(column):
            column = self.columns[name] = column()
        return column

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return self.ids if key == "id" else self.column(key)
        return {"id": self.ids[key], **{name: self.column(name)[key] for name in self.columns}}

    def __getattr__(self, name: str) -> Sequence[Any]:
        columns: Mapping[str, Column] = self.__dict__.get("columns", {})
        if name in columns:
            return self.column(name)
        raise AttributeError(f"no column {name!r}; there are id, {', '.join(columns)}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = list(self.columns)
        for values in zip(self.ids, *(self.column(name) for name in names), strict=True):
            yield dict(zip(["id", *names], values, strict=True))

    def keep(self, rows: Sequence[int]) -> "Examples":
        """Only some of the rows."""
        ids = [self.ids[row] for row in rows]
        units = None if self.units is None else [self.units[row] for row in rows]
        clusters = None if self.clusters is None else [self.clusters[row] for row in rows]
        columns: dict[str, Column] = {name: self.rows_of(name, rows) for name in self.columns}
        return replace(self, ids=ids, units=units, clusters=clusters, columns=columns, split_ids=None)

    def rows_of(self, name: str, rows: Sequence[int]) -> Callable[[], Sequence[Any]]:
        """Some rows of a column, computed on first use."""

        def chosen() -> Sequence[Any]:
            column = self.column(name)
            return [column[row] for row in rows]

        return chosen
