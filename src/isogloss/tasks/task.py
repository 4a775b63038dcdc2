"""What a task is: identity, languages, files, counts and metrics, as data.

This module is on the path of `isogloss list`, so it imports nothing heavy; readers and kinds are found by name and
loaded only when a task is really read or scored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SPLITS = ("test", "dev", "train")


def counted(table: str) -> dict[str, int]:
    """Counts per language, written as in a table: `en 440 ar 921 …`."""
    words = table.split()
    return {code: int(number) for code, number in zip(words[::2], words[1::2], strict=True)}


@dataclass(frozen=True)
class Layout:
    """One way a distribution of the dataset is laid out on disk.

    Attributes:
        reader: function that turns the files into examples: `module.function` below `isogloss.tasks.readers`, or
            `package.module:function` anywhere else.
        test: path pattern of the split below the data folder; `{lang}` is the two-letter code, `{iso3}` the
            three-letter one the corpus uses, `{name}` the lower-case English name. Empty: not in this layout.
        dev: the same for the development split.
        train: the same for the training split.
    """

    reader: str
    test: str = ""
    dev: str = ""
    train: str = ""

    @classmethod
    def by_split(cls, reader: str, pattern: str, *splits: str) -> "Layout":
        """A layout whose files are named alike: `{split}` in the pattern is each of the splits (default: all three)."""
        return cls(reader, **{split: pattern.replace("{split}", split) for split in splits or SPLITS})


@dataclass(frozen=True)
class Task:
    """A cross-lingual task, complete on one screen.

    Attributes:
        id: the name used everywhere.
        kind: the name of its kind.
        category: the group of tasks whose average it enters.
        languages: the languages of the task average, in the paper's order.
        main: the metrics whose averages make the task's score (their mean).
        layouts: accepted file layouts, best first.
        counts: expected number of examples, by split: one number, or one per language.
        parallel: name of the id space shared by the languages, "" where the test sets are not translations of
            each other; examples of one space are resampled together.
        cluster: what examples that must be drawn together share, in the singular: "article". "" where each stands
            alone.
        also: further languages the task's files have, which are in no average.
        options: settings of the kind (labels, metric dialect, …).
        edition_of: the task that this is a small edition of, "" for none.
        made_by: `module:function` that makes the files and gives their folder, "" where they are in the data folder.
        train_on: the task whose training set systems learn from, "" for its own.
        english_training: whether training files in other languages are machine translations of the English one.
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
    cluster: str = ""
    also: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    edition_of: str = ""
    made_by: str = ""
    train_on: str = ""
    english_training: bool = False

    def expected(self, language: str, split: str) -> int | None:
        """How many examples the split must have, None where that is not known."""
        counts = self.counts.get(split)
        return counts if isinstance(counts, int) or counts is None else counts.get(language)

    @property
    def every_language(self) -> tuple[str, ...]:
        """All its languages, those that are in no average too."""
        return (*self.languages, *self.also)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label set of a classification or tagging task."""
        labels = self.options.get("labels", ())
        return labels if isinstance(labels, tuple) else ()

    @property
    def dialect(self) -> str:
        """The metric dialect the task is scored with, "" where there is only one."""
        return str(self.options.get("dialect", ""))

    @property
    def base_id(self) -> str:
        """The id of the task, or of the one it is a small edition of."""
        return self.edition_of or self.id

    def in_same_edition(self, name: str) -> str:
        """The id of another task, in the small edition where this one is of that: `mini-` before it."""
        return self.id.removesuffix(self.base_id) + name
