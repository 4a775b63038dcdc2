"""A task as data: identity, languages, files, counts and metrics.

`isogloss list` imports this module, so it imports nothing heavy; readers and kinds are referenced by name and loaded
on first use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from isogloss.errors import UnknownNameError, unknown
from isogloss.tasks.table_format import TableFormat

SPLITS = ("test", "dev", "train")


def counted(table: str) -> dict[str, int]:
    """Parse counts per language: `en 440 ar 921 …`."""
    words = table.split()
    return {code: int(number) for code, number in zip(words[::2], words[1::2], strict=True)}


@dataclass(frozen=True)
class Layout:
    """One file layout of a dataset.

    Attributes:
        reader: function that turns the files into examples: `module.function` below `isogloss.tasks.readers`, or
            `package.module:function` anywhere else.
        test: path pattern of the split below the data folder; `{lang}` is the language's tag, `{iso3}` the
            three-letter one, `{name}` the lower-case English name, `{code}` or `{language}` the task's own code,
            `{size}` the number of training examples. "" if not in this layout.
        dev: the same for the development split.
        train: the same for the training split.
        table: contents of the files, for the reader of tables.
    """

    reader: str
    test: str = ""
    dev: str = ""
    train: str = ""
    table: TableFormat | None = field(default=None, kw_only=True)

    @classmethod
    def by_split(cls, reader: str, pattern: str, *splits: str) -> "Layout":
        """Return a layout with `{split}` in the pattern replaced by each split (default: all three)."""
        patterns = {split: pattern.replace("{split}", split) for split in splits or SPLITS}
        return cls(reader, patterns.get("test", ""), patterns.get("dev", ""), patterns.get("train", ""))


@dataclass(frozen=True, kw_only=True)
class Task:
    """A cross-lingual task, complete on one screen.

    Attributes:
        id: unique name.
        kind: name of its kind.
        category: group of tasks averaged together.
        languages: languages of the task average, in the paper's order.
        main: main metrics; the task's score is their mean.
        layouts: accepted file layouts, best first.
        counts: expected number of examples, by split: one number, or one per language.
        parallel: name of the id space shared by the languages, "" if the test sets are not translations of
            each other; examples of one space are resampled together.
        corpus: name of the texts, if several tasks annotate the same ones; their clusters share names. "" for its own.
        cluster: name of the unit shared by dependent examples, in the singular ("article"); "" if examples are
            independent.
        also: further languages in the files, excluded from averages.
        options: settings of the kind (labels, metric dialect, …).
        edition_of: id of the full task, if this is a small edition, or one with other languages.
        made_by: `module:function` that generates the files and returns their folder, "" if they are in the data folder.
        train_on: id of the task with the training set, "" for its own.
        train_sizes: numbers of examples in the training files, if there are several; the first is the default.
        dev_from_train: one in this many passages of the training set forms the dev split; 0 if dev has its own files.
        codes: languages by tag as `{code}` in file names.
        english_training: True if training files in other languages are machine translations of the English one.
        declared_in: path of the task file that declares it, "" for tasks of packages.
        folder: folder of its files, which is searched before the data folder; "" if they are in the data folder.
    """

    id: str
    title: str
    kind: str
    category: str
    languages: tuple[str, ...]
    main: tuple[str, ...]
    layouts: tuple[Layout, ...]
    counts: Mapping[str, int | Mapping[str, int]]
    licence: str
    homepage: str
    citation: str
    parallel: str = ""
    corpus: str = ""
    cluster: str = ""
    also: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    edition_of: str = ""
    made_by: str = ""
    train_on: str = ""
    train_sizes: tuple[int, ...] = ()
    dev_from_train: int = 0
    codes: Mapping[str, str] = field(default_factory=dict)
    english_training: bool = False
    declared_in: str = ""
    folder: str = ""

    def __repr__(self) -> str:
        return f"<Task: {self.id} ({self.title}), {self.kind}, {len(self.languages)} languages>"

    def expected(self, language: str, split: str) -> int | None:
        """Return the expected number of examples of a split, or None if unknown."""
        counts = self.counts.get(split)
        return counts if isinstance(counts, int) or counts is None else counts.get(language)

    def with_train_size(self, size: int) -> "Task":
        """Return the task with another of its training sets; layouts that do not name the size are left out."""
        if not self.train_sizes:
            what = f"{self.id} has one training set, but train_size = {size}"
            raise UnknownNameError(what, fix="Set train_size only for tasks with several, in a file below [mldoc]")
        if size not in self.train_sizes:
            raise unknown(f"size of {self.id}'s training set", str(size), map(str, self.train_sizes))
        layouts = (replace(one, train=one.train if "{size}" in one.train else "") for one in self.layouts)
        sizes = (size, *(other for other in self.train_sizes if other != size))
        return replace(self, layouts=tuple(layouts), train_sizes=sizes)

    @property
    def every_language(self) -> tuple[str, ...]:
        """All languages, including those excluded from averages."""
        return (*self.languages, *self.also)

    @property
    def labels(self) -> tuple[str, ...]:
        """Label set of a classification or tagging task."""
        labels = self.options.get("labels", ())
        return labels if isinstance(labels, tuple) else ()

    @property
    def source_space(self) -> str:
        """Name of the space of its sources; tasks with the same one may share sources."""
        return self.parallel or self.corpus or self.id

    @property
    def dialect(self) -> str:
        """Metric dialect, "" if there is only one."""
        return str(self.options.get("dialect", ""))

    @property
    def base_id(self) -> str:
        """Id of the full task if this is a small edition, otherwise its own id."""
        return self.edition_of or self.id

    def in_same_edition(self, name: str) -> str:
        """Return the id of another task in this task's edition: with the same prefix (`mini-`), if it has one."""
        return self.id.removesuffix(self.base_id) + name if self.id.endswith(self.base_id) else name
