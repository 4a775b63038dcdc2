"""The reader of tables: files of any format, with columns that the task declares and its kind understands."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from warnings import warn

from isogloss.data.files import Digest, Stamp, stamp
from isogloss.data.hub_tables import hub_table
from isogloss.data.table_files import MISSING, FileTable, read_table
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError, near_names
from isogloss.languages import known_language
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.table_format import CLUSTER, ID, LANGUAGE, SPLIT, UNIT, ColumnName, TableFormat
from isogloss.tasks.task import Task

# Names that datasets use for the splits.
_SPLIT_NAMES = {"validation": "dev", "valid": "dev", "val": "dev", "development": "dev", "training": "train"}
# Longest cell that names a cluster as it is.
_LONGEST_NAME = 64


def read(files: SplitFiles) -> Examples | None:
    """Read the tables of a split in a language; return None if there are none."""
    form = files.table or TableFormat()
    parts = [part for table in _tables(files, form) if (part := _of_cell(files, form, table)).rows]
    if not parts:
        return None
    if form.key:
        files.digest.update(form.key.encode())
    kind = kind_of(files.task)
    roles = _roles(kind, form, parts[0].table)
    columns: dict[str, Column] = {}
    for role in roles:
        values = [value for part in parts for value in _values(kind, files.task, form, part, role)]
        if role != kind.gold or _is_gold(values, parts, kind.gold):
            columns[role] = values
    return files.examples(
        _ids(files, form, parts),
        kind.complete_columns(files.language, columns),
        kind.gold,
        units=_units(files, form, parts),
        clusters=_clusters(files, form, parts),
    )


@dataclass(frozen=True)
class _Part:
    """The rows of a table that belong to a language and split."""

    table: FileTable
    rows: Sequence[int]

    def cells(self, name: ColumnName) -> list[Any] | None:
        """Return the cells of a column, or lists of the cells of several, without empty ones; None if it is missing."""
        if isinstance(name, tuple):
            several = [self.cells(each) for each in name]
            present = [cells for cells in several if cells is not None]
            if len(present) < len(several):
                return None
            return [[cell for cell in row if not _is_empty(cell)] for row in zip(*present, strict=True)]
        column = self.table.column(name)
        return None if column is None else [column[row] for row in self.rows]

    def where(self, index: int) -> str:
        return self.table.where(self.rows[index])


def _tables(files: SplitFiles, form: TableFormat) -> list[FileTable]:
    """Read the files of a split, or of all languages, and check that they have the declared columns."""
    if hub := form.hub:
        table = hub_table(hub.name, hub.revision, files.relative(hub.config), files.pattern)
        tables = [] if table is None else [table]
        for name in table.columns if table else ():
            files.digest.update(repr((name, table.columns[name] if table else ())).encode())
    else:
        paths = files.paths() if "*" in files.pattern else [path for path in [files.path()] if path is not None]
        tables = [_file(files, form, path) for path in paths]
    for table in tables:
        _check_columns(form, table, kind_of(files.task).gold)
    return tables


def _file(files: SplitFiles, form: TableFormat, path: Path) -> FileTable:
    if not form.columns.get(LANGUAGE) and SPLIT not in form.columns and not _is_for_all(files, form):
        return read_table(path, form.syntax, files.digest, files.language)
    table, checksum = _shared_file(path, stamp(path), form.syntax)
    files.digest.update(checksum.encode())
    return table


@lru_cache(maxsize=2)
def _shared_file(path: Path, _stamp: Stamp, syntax: TableSyntax) -> tuple[FileTable, str]:
    """Read a file of several languages or splits, once for all of them."""
    digest = Digest()
    return read_table(path, syntax, digest), digest.hex


def languages_in(path: Path, form: TableFormat, split: str) -> list[str]:
    """Return the distinct cells of the language column of a file, in order."""
    table, _ = _shared_file(path, stamp(path), form.syntax)
    _check_columns(form, table)
    part = _of_split(_Part(table, range(len(table))), form, split)
    cells = part.cells(form.columns.get(LANGUAGE, LANGUAGE)) or ()
    return [str(cell) for cell in dict.fromkeys(cells) if not _is_empty(cell)]


def _of_cell(files: SplitFiles, form: TableFormat, table: FileTable) -> _Part:
    """Return the rows of the language and the split."""
    part = _Part(table, range(len(table)))
    if (name := _language_column(files, form, table)) is None and _is_for_all(files, form):
        # A file without a language is English, unless the task has only one.
        own = files.task.languages[0] if len(files.task.every_language) == 1 else "en"
        part = part if files.language == own else _Part(table, ())
    elif name is not None:
        codes = tuple(files.task.codes.items())
        rows = _rows_by_tag(table, name, codes, files.task.every_language)
        if None in rows:
            _warn_of_languages(part, part.cells(name) or (), rows[None])
        part = _Part(table, rows.get(files.language, ()))
    return _of_split(part, form, files.split)


@lru_cache(maxsize=2)
def _rows_by_tag(
    table: FileTable, name: ColumnName, codes: tuple[tuple[str, str], ...], languages: tuple[str, ...]
) -> dict[str | None, list[int]]:
    """Return the rows of each language of a file, found once for all of them."""
    tag = tag_finder(dict(codes), languages)
    rows: dict[str | None, list[int]] = {}
    for row, cell in enumerate(_Part(table, range(len(table))).cells(name) or ()):
        rows.setdefault(tag(str(cell).strip()), []).append(row)
    return rows


def _of_split(part: _Part, form: TableFormat, split: str) -> _Part:
    """Return the rows of a split, of a table that has a column for it."""
    name = form.columns.get(SPLIT)
    if not name:
        return part
    names = [str(cell).strip().lower() for cell in part.cells(name) or ()]
    split_of = _SPLIT_NAMES | dict(form.splits)
    rows = zip(part.rows, names, strict=True)
    return _Part(part.table, [row for row, name in rows if split_of.get(name, name) == split])


def _is_for_all(files: SplitFiles, form: TableFormat) -> bool:
    """Return True if the files are not named by language."""
    return "{" not in (form.hub.config if form.hub else files.pattern)


def _language_column(files: SplitFiles, form: TableFormat, table: FileTable) -> ColumnName | None:
    name = form.columns.get(LANGUAGE)
    if name is None and _is_for_all(files, form) and table.column(LANGUAGE) is not None:
        return LANGUAGE
    return name or None


def _warn_of_languages(part: _Part, cells: Sequence[Any], rows: Iterable[int]) -> None:
    wrong: dict[str, list[int]] = {}
    for row in rows:
        wrong.setdefault(str(cells[row]), []).append(row)
    for cell, places in wrong.items():
        what = f"{cell!r:.60} is not a language; {len(places):,} rows are left out"
        warn(f"{part.where(places[0])}: {what}. Map it to a tag in [codes] of the task file", stacklevel=4)


def tag_finder(codes: Mapping[str, str], languages: Collection[str]) -> Callable[[str], str | None]:
    """Return a function from a language as files spell it to the task's tag, or None for anything else.

    Args:
        codes: spellings of the task's languages, by tag.
        languages: tags of the task's languages.
    """
    by_code = {code.casefold(): tag for tag, code in codes.items()}

    @cache
    def tag(spelling: str) -> str | None:
        if known := by_code.get(spelling.casefold()):
            return known
        if spelling in languages:
            return spelling
        entry = known_language(spelling)
        return entry.code if entry else None

    return tag


def _check_columns(form: TableFormat, table: FileTable, gold: str = "") -> None:
    """Raise DataError if the table lacks a declared column, or all rows.

    Test files without a header may end before the column of the gold, as those of XNLI do; with one, a missing name is
    more likely misspelt.
    """
    declared = {role: name for role, name in form.columns.items() if name != ""}
    if isinstance(number := declared.get(gold), int) and number == len(table.numbered) + 1:
        del declared[gold]
    if form.numbered is not None:
        declared["number"] = form.numbered.column
    wanted = [each for name in declared.values() for each in (name if isinstance(name, tuple) else (name,))]
    if missing := [name for name in dict.fromkeys(wanted) if table.column(name) is None]:
        expected = f"expected the columns {', '.join(map(str, dict.fromkeys(wanted)))}"
        what = f"{expected}: has no column {' or '.join(map(str, missing))}"
        close = near_names(str(missing[0]), table.names, 1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        fix = f"{hint}The file has {', '.join(map(repr, table.names))[:500]}" if table.names else "The file is empty"
        raise DataError(what, where=f"{table.source}:1" if table.lines is not None else table.source, fix=fix)
    if not len(table):
        raise DataError("the file is empty", where=table.source)


def _roles(kind: Kind, form: TableFormat, table: FileTable) -> list[str]:
    """Return the columns of the kind that a table has; raise DataError if it lacks needed ones."""
    known = dict.fromkeys((*kind.inputs, kind.gold, *kind.extra_columns))
    present = [role for role in known if _has_column(table, form.columns.get(role, role))]
    needed = kind.needed or (kind.inputs,)
    if not any(set(names) <= set(present) for names in needed):
        sets = ", or ".join(" and ".join(names) for names in needed)
        what = f"its kind needs the columns {sets}, with the gold in {kind.gold}"
        names = ", ".join(map(repr, table.names))[:500]
        example = next(name for name in needed[0] if name not in present)
        fix = f"The file has {names}. Name the column in the task file: [columns] {example} = …"
        raise DataError(what, where=table.source, fix=fix)
    return present


def _has_column(table: FileTable, name: ColumnName) -> bool:
    several = name if isinstance(name, tuple) else (name,)
    return all(each != "" and table.column(each) is not None for each in several)


def _is_empty(cell: Any) -> bool:
    return cell is None or cell is MISSING or (isinstance(cell, str | list) and not cell)


def _values(kind: Kind, task: Task, form: TableFormat, part: _Part, role: str) -> Iterable[Any]:
    """Yield the values of a column; errors have the line."""
    is_gold = role == kind.gold
    labels = {*task.labels} if is_gold else set()
    for index, cell in enumerate(part.cells(form.columns.get(role, role)) or ()):
        if is_gold and (cell is None or cell is MISSING or (_is_empty(cell) and not kind.empty_gold)):
            yield None
            continue
        try:
            value = kind.parse_column(role, _spelt(form, cell) if is_gold and form.values else cell)
        except (ValueError, TypeError) as error:
            what = f"column {form.columns.get(role, role)!r}: {error}, got {cell!r:.100}"
            raise DataError(what, where=part.where(index)) from None
        if labels:
            _check_labels(task, form, value, labels, part.where(index))
        yield value


def _spelt(form: TableFormat, cell: Any) -> Any:
    """Return a cell, or each item of a list, with labels as the task spells them."""
    if isinstance(cell, list | tuple):
        return [_spelt(form, item) for item in cell]
    return form.values.get(str(cell).strip(), cell)


def _check_labels(task: Task, form: TableFormat, value: Any, labels: set[str], where: str) -> None:
    for label in value if isinstance(value, list | tuple) else (value,):
        if label not in labels:
            known = [*task.labels, *form.values]
            close = near_names(str(label), known, 1)
            hint = f"Did you mean {close[0]}? " if close else ""
            what = f"unknown label {label!r:.60}, not one of {', '.join(known)[:500]}"
            raise DataError(what, where=where, fix=f"{hint}Correct it, or add it to `labels` in the task file")


def _is_gold(values: Sequence[Any], parts: Sequence[_Part], gold: str) -> bool:
    """Return True if the rows have gold, False if none has; raise DataError if some have."""
    if not any(value is not None and value != [] for value in values):
        return False
    if None not in values:
        return True
    row = values.index(None)
    where = _locations(parts)[row]
    raise DataError(f"the row has no {gold}, but others have", where=where, fix="Fill in all rows, or none")


def _locations(parts: Sequence[_Part]) -> list[str]:
    return [part.where(index) for part in parts for index in range(len(part.rows))]


def _texts(form: TableFormat, parts: Sequence[_Part], role: str) -> list[str] | None:
    """Return a column of names, or None if the files have none."""
    name = form.columns.get(role, role)
    columns = [part.cells(name) for part in parts] if name != "" else [None]
    cells: list[Any] = []
    for column in columns:
        if column is None:
            return None
        cells += column
    for row, cell in enumerate(cells):
        if _is_empty(cell):
            raise DataError(f"column {name!r}: the row has no {role}", where=_locations(parts)[row])
    return [" ".join(map(str, cell)) if isinstance(cell, list | tuple) else str(cell) for cell in cells]


def _ids(files: SplitFiles, form: TableFormat, parts: Sequence[_Part]) -> list[str]:
    """Return the ids in the files, or row numbers."""
    ids = _texts(form, parts, ID)
    if ids is None:
        return files.row_ids(sum(len(part.rows) for part in parts))
    first: dict[str, int] = {}
    for row, identifier in enumerate(ids):
        if first.setdefault(identifier, row) != row:
            locations = _locations(parts)
            fix = 'Ids must be unique within a language; write id = "" in [columns] to number the rows instead'
            raise DataError(
                f"duplicate id {identifier!r:.60}, first in {locations[first[identifier]]}",
                where=locations[row],
                fix=fix,
            )
    return ids


def _units(files: SplitFiles, form: TableFormat, parts: Sequence[_Part]) -> list[str] | None:
    if form.numbered is not None:
        return [f"{files.split}-{row}" for row in _numbers(files, form, parts)]
    return _texts(form, parts, UNIT) if form.columns.get(UNIT) else None


def _numbers(files: SplitFiles, form: TableFormat, parts: Sequence[_Part]) -> list[int]:
    """Return the rows of units in the dataset that numbers them."""
    rule = form.numbered
    if rule is None:
        return []
    cells = [str(cell) for part in parts for cell in part.cells(rule.column) or ()]
    first = rule.first.get(files.split, 0)
    rows = [int(cell) - first if cell.isdecimal() and len(cell) < 9 else -1 for cell in cells]
    for row, number in enumerate(rows):
        if number < 0:
            raise DataError(f"{cells[row]!r:.60} is not the id of an {rule.name}", where=_locations(parts)[row])
    return rows


def _clusters(files: SplitFiles, form: TableFormat, parts: Sequence[_Part]) -> list[str] | None:
    """Name the clusters: by the cells of their column or, for lists and long cells, by a checksum."""
    if form.numbered is not None and form.numbered.cluster:
        size = form.numbered.cluster
        return [f"{files.split}-{row - row % size}" for row in _numbers(files, form, parts)]
    name = form.columns.get(CLUSTER)
    if not name:
        return None
    texts = _texts(form, parts, CLUSTER) or []
    is_list = any(isinstance(cell, list | tuple) for part in parts for cell in (part.cells(name) or ())[:1])
    names = [_short(text) if is_list or len(text) > _LONGEST_NAME else text for text in texts]
    # Names of parallel sets are valid in all languages.
    return names if files.task.parallel else [f"{files.language}:{text}" for text in names]


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
