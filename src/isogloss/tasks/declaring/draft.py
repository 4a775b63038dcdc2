"""Draft of a task file: what the files of a dataset say about the task."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError
from isogloss.notebooks import short_repr
from isogloss.tasks.declaring.path_patterns import spelt_tag
from isogloss.tasks.declaring.task_toml import toml_lines
from isogloss.tasks.table_format import ColumnName
from isogloss.tasks.task import SPLITS, Task
from isogloss.tasks.task_file import parse_task_file

# Prefix of the ids of rows without one.
ROW = "row "


@dataclass(kw_only=True)
class TaskDraft:
    """A task file that is not written yet.

    Attributes:
        name: id of the task.
        folder: folder of the files.
        kind: kind of the task.
        files: path pattern by split; with the key "", one file for all splits.
        syntax: syntax of the files.
        columns: columns by role.
        languages: languages by their spelling in the files, "" for those that are not known.
        labels: labels, or labels by their spelling in the files.
        parallel: True if equal ids are translations.
        counts: numbers of examples by split and tag.
        main: main metric, "" for the kind's.
        licence: licence of the data, "" if unknown.
        notes: remarks for the user, such as files that were left out.
        names: all columns of the files.
    """

    name: str
    folder: Path
    kind: str
    files: dict[str, str]
    syntax: TableSyntax
    columns: dict[str, ColumnName]
    languages: dict[str, str]
    labels: list[str] | dict[str, str] = field(default_factory=list)
    parallel: bool = False
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    main: str = ""
    licence: str = ""
    notes: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()

    __repr__ = short_repr

    def toml(self, home: Path | None = None) -> str:
        """Return the text of the task file; `home` is its folder, by default that of the data."""
        home = self.folder if home is None else home
        table: dict[str, Any] = {}
        if home.resolve() != self.folder.resolve():
            table["data"] = relpath(self.folder.resolve(), home.resolve())
        table |= {"kind": self.kind, "files": self._files()}
        syntax = self.syntax
        table |= {"format": syntax.format} if syntax.format else {}
        table |= {} if syntax.header else {"header": False}
        table |= {"delimiter": syntax.delimiter} if syntax.delimiter else {}
        table |= {} if syntax.quote is None else {"quote": syntax.quote}
        table |= {"languages": self._languages()} if any(self.languages.values()) else {}
        columns = {role: self._column(name) for role, name in self.columns.items() if name != role}
        table |= {"columns": columns} if columns else {}
        table |= {"labels": self.labels} if self.labels else {}
        table |= {"main": self.main} if self.main else {}
        table |= {"parallel": True} if self.parallel else {}
        counts = {split: self._count(split) for split in SPLITS if self.counts.get(split)}
        table |= {"counts": counts} if counts else {}
        table |= {"licence": self.licence} if self.licence else {}
        return toml_lines({"id": self.name, **table})

    def write(self, path: Path, *, force: bool = False) -> Task:
        """Write the task file and read it back.

        Args:
            path: where to write it.
            force: True to replace an existing file.

        Raises:
            DataError: the file exists, or the draft does not declare a task.
        """
        if path.exists() and not force:
            raise DataError(
                "the file exists", where=str(path), fix="Replace it with --force, or write to another: --out"
            )
        text = self.toml(path.absolute().parent)
        task = parse_task_file(text, path)
        with atomic_write(path) as stream:
            stream.write(text)
        return task

    def _files(self) -> str | dict[str, str]:
        if "" in self.files:
            return self.files[""]
        patterns = {
            re.sub(rf"(?<![^/._\- ]){split}(?![^/._\- ])", "{split}", text) for split, text in self.files.items()
        }
        one = patterns.pop()
        # With one split, a pattern would claim that there are others.
        if not patterns and len(self.files) > 1 and "{split}" in one:
            return one
        return self.files

    def _languages(self) -> list[str] | dict[str, str]:
        known = {spelling: tag for spelling, tag in self.languages.items() if tag}
        if all(spelt_tag(spelling) == tag for spelling, tag in known.items()):
            return list(known)
        return {tag: spelling for spelling, tag in sorted(known.items(), key=lambda pair: pair[1])}

    def _count(self, split: str) -> int | str:
        numbers = self.counts[split]
        tags = {tag for tag in self.languages.values() if tag}
        if len(set(numbers.values())) == 1 and (tags <= set(numbers) or not tags):
            return next(iter(numbers.values()))
        return " ".join(f"{tag} {count}" for tag, count in sorted(numbers.items()))

    @staticmethod
    def _column(name: ColumnName) -> Any:
        return list(name) if isinstance(name, tuple) else name


def ordered_labels(counts: Mapping[str, int]) -> list[str]:
    """Return labels in a readable order: tags by type with O first, numbers by value, others by frequency."""
    labels = list(counts)
    if all(label == "O" or label[1:2] == "-" for label in labels):
        return sorted(labels, key=lambda label: (label != "O", label[2:], label[:1]))
    if all(label.lstrip("-").isdecimal() for label in labels):
        return sorted(labels, key=int)
    return sorted(labels)


def agree(cells: Sequence[Mapping[str, str]]) -> bool:
    """Return True if languages have the same ids, most with the same gold.

    Args:
        cells: gold by id, one mapping per language; the gold is "" if it is a text or missing.
    """
    if len(cells) < 2:
        return False
    numbers = Counter(key for cell in cells for key in cell)
    shared = sum(count > 1 for count in numbers.values())
    if shared < 0.9 * min(map(len, cells)) or shared < 10:
        return False
    votes: dict[str, Counter[str]] = {}
    for cell in cells:
        for key, gold in cell.items():
            if gold:
                votes.setdefault(key, Counter())[gold] += 1
    several = [counts for counts in votes.values() if counts.total() > 1]
    compared, equal = sum(map(Counter.total, several)), sum(max(counts.values()) for counts in several)
    if compared:
        return len({gold for counts in several for gold in counts}) > 1 and equal >= 0.9 * compared
    # Without gold to compare, row numbers say nothing.
    return not all(key.removeprefix(ROW).isdecimal() for key in numbers)
