"""Contents of a task's tables: which columns are what. Declarations of tasks have it, so it imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from isogloss.data.table_syntax import TableSyntax

# Columns that every kind of task may have beside its own.
ID, UNIT, CLUSTER, LANGUAGE, SPLIT = COMMON_COLUMNS = ("id", "unit", "cluster", "language", "split")

# Name or number of a column, or several columns that form one list.
ColumnName = str | int | tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class NumberedUnits:
    """Units given as numbers in another dataset's file, where they count from another number.

    Attributes:
        column: column with the numbers.
        first: number of the other dataset's first example, by split; its unit is `<split>-0`.
        cluster: number of consecutive units that share a cluster; 0 if units are independent.
        name: what the numbers identify, in messages: "XNLI pair".
    """

    column: str | int
    first: Mapping[str, int]
    cluster: int = 0
    name: str = "parallel example"


@dataclass(frozen=True, kw_only=True)
class HubDataset:
    """A dataset of the Hugging Face hub, or a local copy.

    Attributes:
        name: `owner/name`, or the absolute path of a folder.
        revision: commit; "" for a folder.
        config: pattern of the configuration's name, "" for the only one.
    """

    name: str
    revision: str
    config: str


@dataclass(frozen=True, kw_only=True)
class TableFormat:
    """Contents of tables.

    Attributes:
        syntax: syntax of the files.
        columns: columns of the files by their role; a role without an entry has the column of its own name, if any.
            An empty name ignores that column, too.
        values: labels by their spelling in the files, empty if they are spelt as the task does.
        splits: splits by their name in the column `split`.
        numbered: rule for units that are numbers in another dataset.
        hub: dataset to read instead of files; the patterns of the layout then name its splits.
        key: text that identifies the declaration, which is part of the checksum of examples; "" if it never changes.
    """

    syntax: TableSyntax = field(default_factory=TableSyntax)
    columns: Mapping[str, ColumnName] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    numbered: NumberedUnits | None = None
    hub: HubDataset | None = None
    key: str = ""
