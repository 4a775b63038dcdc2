"""Examples of one task, language and split, stored as columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.errors import unknown
from isogloss.figures import counted
from isogloss.notebooks import arrow_table, data_frame, html_table, hub_dataset, short_text

# Id for all examples without an entry in the gold; any answer to them is wrong.
REST = "*"

# One item per example, or a function that computes them on first use.
Column = Sequence[Any] | Callable[[], Sequence[Any]]


# Examples in a notebook.
_ROWS_SHOWN = 5


@dataclass(eq=False)
class Pool:
    """Candidate pool of a retrieval task, read lazily: languages by candidate id, and texts in the same order.

    `read_targets` returns {id: text} of the gold candidates only, if reading all texts is slow.
    """

    read_languages: Callable[[], Mapping[str, str]]
    read_texts: Callable[[], Sequence[str]]
    read_targets: Callable[[], Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.language_of)

    @cached_property
    def language_of(self) -> Mapping[str, str]:
        """Language of each candidate, by id."""
        return self.read_languages()

    @cached_property
    def ids(self) -> Sequence[str]:
        """Candidate ids in pool order."""
        return list(self.language_of)

    @property
    def languages(self) -> Sequence[str]:
        """Language of each candidate, in pool order."""
        return list(self.language_of.values())

    @cached_property
    def text(self) -> Sequence[str]:
        """Text of each candidate, in pool order."""
        return self.read_texts()

    @cached_property
    def target_text(self) -> Mapping[str, str]:
        """Text of each gold candidate, by id; may include other candidates."""
        return dict(zip(self.ids, self.text, strict=True)) if self.read_targets is None else self.read_targets()


@dataclass(eq=False)
class Examples:
    """Examples of one (task, language, split): ids plus the columns of the task's kind.

    `examples["question"]` and `examples.question` give a column, `examples[3]` a row, `len(examples)` the number.

    Attributes:
        ids: the dataset's own ids, or `<split>-<row>`.
        gold: name of the gold column; its items are None for examples without gold.
        units: ids shared with the parallel examples of other languages; None if there are none.
        clusters: source of each example (article, premise, …); examples that share one are resampled together.
            The same name in two languages, or in two tasks over the same questions, is the same source. None
            if examples are independent.
        split_ids: all ids of the split, if these examples are only the part with gold, or a subset drawn from it.
        pool: candidates, for retrieval.
        checksum: SHA-256 of the unpacked bytes of the files read.
        root: data folder.
        partial: True if gold covers only part of the split.
        drawn: True for a random subset, from which the score on all examples is estimated.
        tuned_on_gold: True if the answers depend on a threshold chosen on this gold (mining).
        translated_gold: True if texts and gold are translated to English, so that scores are not comparable with those
            on the original gold.
        read_dev: reads the dev set that belongs to these examples, if it is not the task's own: its translation.
    """

    task: str
    language: str
    split: str
    ids: list[str]
    columns: dict[str, Column]
    gold: str
    _: KW_ONLY
    units: list[str] | None = None
    clusters: list[str] | None = None
    split_ids: list[str] | None = None
    pool: Pool | None = None
    checksum: str = ""
    partial: bool = False
    drawn: bool = False
    sources: tuple[str, ...] = ()
    root: Path | None = None
    notes: list[str] = field(default_factory=list)
    tuned_on_gold: bool = False
    translated_gold: bool = False
    read_dev: "Callable[[], Examples] | None" = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} (gold)" if name == self.gold else name for name in self.columns)
        partial = ", partial gold" if self.partial else ""
        name = f"{self.task}/{self.language} {self.split}"
        return f"<Examples: {name}, {counted(len(self), 'example')}{partial}: id, {columns}>"

    def _repr_html_(self) -> str:
        rows = [[*map(short_text, self[row].values())] for row in range(min(len(self), _ROWS_SHOWN))]
        return html_table(f"{repr(self)[1:-1]}; the first {len(rows)}", ["id", *self.columns], rows)

    @property
    def has_gold(self) -> bool:
        """True if the examples have a gold column."""
        return self.gold in self.columns

    def column(self, name: str) -> Sequence[Any]:
        """Return a column by name, computing it on first use."""
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
        raise AttributeError(f"no column {name!r}; columns are id, {', '.join(columns)}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = list(self.columns)
        for values in zip(self.ids, *(self.column(name) for name in names), strict=True):
            yield dict(zip(["id", *names], values, strict=True))

    def keep(self, rows: Sequence[int]) -> "Examples":
        """Return the examples of these rows."""
        ids = [self.ids[row] for row in rows]
        units = None if self.units is None else [self.units[row] for row in rows]
        clusters = None if self.clusters is None else [self.clusters[row] for row in rows]
        columns: dict[str, Column] = {name: self.rows_of(name, rows) for name in self.columns}
        return replace(self, ids=ids, units=units, clusters=clusters, columns=columns, split_ids=None)

    def rows_of(self, name: str, rows: Sequence[int]) -> Callable[[], Sequence[Any]]:
        """Return a function that computes these rows of a column."""
        return lambda: list(map(self.column(name).__getitem__, rows))

    def to_pandas(self) -> Any:
        """Return ids and columns as a pandas data frame."""
        return data_frame(list(self), ["id", *self.columns])

    def to_arrow(self) -> Any:
        """Return ids and columns as an Arrow table."""
        return arrow_table(list(self))

    def to_datasets(self) -> Any:
        """Return ids and columns as a `datasets.Dataset`.

        Raises:
            IsoglossError: `datasets` (the extra `hub`) is not installed.
        """
        return hub_dataset(list(self))
