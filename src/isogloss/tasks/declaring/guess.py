"""Guess a task from its files: layout, syntax, columns, kind, labels, counts and what is parallel."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from isogloss.data.files import unpacked_name
from isogloss.data.table_files import MISSING, FileTable, read_table
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError, IsoglossError, unknown
from isogloss.reply_language import language_of
from isogloss.tasks.declaring.column_roles import Roles, guessed_roles
from isogloss.tasks.declaring.draft import ROW, TaskDraft, agree, ordered_labels
from isogloss.tasks.declaring.folder_survey import DataFile, data_files, guessed_syntax
from isogloss.tasks.declaring.path_patterns import (
    SPLIT_NAMES,
    PathPatterns,
    near_language,
    path_patterns,
    spelt_language,
)
from isogloss.tasks.kinds import KINDS, Kind
from isogloss.tasks.kinds.cells import text_cell, texts_cell
from isogloss.tasks.table_format import ColumnName

# More distinct labels than this are probably not labels.
_MOST_LABELS = 500
# Names of folders that do not name a dataset.
_GENERIC = frozenset({"data", "dataset", "datasets", "files", "raw", "main"})
# Texts by which the language of files is guessed that do not name it.
_READ_TEXTS = 30


def new_task(
    path: str | os.PathLike[str],
    *,
    name: str = "",
    kind: str = "",
    columns: Mapping[str, ColumnName] | None = None,
) -> TaskDraft:
    """Draft a task file from the files of a dataset.

    Args:
        path: folder of the files, or one file.
        name: id of the task; default the name of the folder or file.
        kind: kind of the task; default guessed.
        columns: columns by role that are known; others are guessed.

    Returns:
        The draft: `draft.toml()` is its text, and `draft.write(path)` writes it.

    Raises:
        DataError: no readable tables, or columns that the kind needs are missing.
        UnknownNameError: unknown kind or column.

    Example:
        draft = isogloss.new_task("feelings")
        draft.write("feelings/feelings.toml")
    """
    place = Path(path).expanduser()
    if kind and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    patterns = path_patterns(data_files(place))
    notes: list[str] = []
    sample, syntax = _sample(patterns)
    roles = guessed_roles(sample, kind, header=syntax.header)
    draft = TaskDraft(
        name=name or _guessed_name(place.absolute()),
        folder=place.absolute().parent if place.is_file() else place.absolute(),
        kind=roles.kind,
        files=dict(patterns.files),
        syntax=syntax,
        columns=_chosen_columns(roles, sample, columns or {}, patterns),
        languages=dict(patterns.languages),
        notes=notes,
        names=tuple(map(str, sample.names)),
    )
    _check_needed(draft, sample)
    if not draft.languages and "language" not in draft.columns:
        _guess_language(draft, sample)
    _scan(draft, patterns)
    if unknown_names := [spelling for spelling, tag in draft.languages.items() if not tag]:
        near = {spelling: near_language(spelling) for spelling in unknown_names[:5]}
        shown = ", ".join(
            f"{name!r}" + (f" ({each.code}, {each.name}?)" if each else "") for name, each in near.items()
        )
        notes.append(f"not known as languages and left out: {shown}; add their tags below [languages]")
    if "" in draft.files and "split" not in draft.columns:
        draft.files = {split or "test": pattern for split, pattern in draft.files.items()}
    if patterns.left_out:
        shown = ", ".join(patterns.left_out[:3])
        notes.append(
            f"{len(patterns.left_out)} other files are not used: {shown}{', …' * (len(patterns.left_out) > 3)}"
        )
    return draft


def _guessed_name(place: Path) -> str:
    names = (
        [unpacked_name(place).partition(".")[0]] if place.is_file() else [place.name, *(p.name for p in place.parents)]
    )
    name = next((name for name in names if name.lower() not in _GENERIC), "")
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:64] or "my-task"


def _sample(patterns: PathPatterns) -> tuple[FileTable, TableSyntax]:
    """Read a file of each split, and return the one with most columns: test files often lack the gold."""
    by_split: dict[str, list[DataFile]] = {}
    for (_, split), file in patterns.members.items():
        by_split.setdefault(split, []).append(file)
    tables: list[tuple[FileTable, TableSyntax]] = []
    first_error: IsoglossError | None = None
    for split in ("train", "dev", "test"):
        # The next file, if one is damaged.
        for file in by_split.get(split, ())[:5]:
            try:
                syntax = _with_delimiter(guessed_syntax(file.path), [file])
                table = read_table(file.path, syntax, language="en")
                if not len(table):
                    raise DataError("the file is empty", where=str(file.path))
                tables.append((table, syntax))
                break
            except IsoglossError as error:
                first_error = first_error or error
    if not tables:
        raise first_error or DataError("no readable tables")
    return max(tables, key=lambda pair: len(pair[0].names))


def _chosen_columns(
    roles: Roles, sample: FileTable, given: Mapping[str, ColumnName], patterns: PathPatterns
) -> dict[str, ColumnName]:
    columns = dict(roles.columns)
    if patterns.languages:
        columns.pop("language", None)
    if set(patterns.files) != {""}:
        columns.pop("split", None)
    for role, column in given.items():
        for each in column if isinstance(column, tuple) else (column,):
            if each != "" and sample.column(each) is None:
                raise unknown("column", str(each), sample.names, where=sample.source)
        columns[role] = column
    if "id" not in columns and "id" in sample.names:
        columns["id"] = ""  # its values are not unique
    return columns


def _check_needed(draft: TaskDraft, sample: FileTable) -> None:
    if not draft.kind:
        names = ", ".join(map(repr, draft.names))[:500]
        raise DataError(f"cannot tell the kind of task by the columns {names}", where=sample.source, fix=_FIX)
    kind = KINDS[draft.kind]
    needed = kind.needed or (kind.inputs,)
    present = {*draft.columns, *(name for name in sample.names)}
    if not any(set(names) <= present for names in needed):
        sets = ", or ".join(" and ".join(names) for names in needed)
        what = f"kind {draft.kind!r} needs the columns {sets}; the file has {', '.join(map(repr, draft.names))[:500]}"
        raise DataError(what, where=sample.source, fix=_FIX)


_FIX = "Name them: --kind classification --columns text=COLUMN,label=COLUMN"


def _guess_language(draft: TaskDraft, sample: FileTable) -> None:
    """Set the language by the texts, English if that fails."""
    kind = KINDS[draft.kind]
    texts = [
        cell for role in kind.inputs for cell in (_cells(draft, sample, role, range(len(sample))) or ())[:_READ_TEXTS]
    ]
    joined = " ".join(" ".join(map(str, text)) if isinstance(text, list | tuple) else str(text) for text in texts)
    code = language_of(joined) or "en"
    draft.languages[code] = spelt_language(code)[0] or "en"
    draft.notes.append(f"neither paths nor columns name the language; by its texts it is {draft.languages[code]}")


def _scan(draft: TaskDraft, patterns: PathPatterns) -> None:
    """Read all files, for the languages, labels, counts and parallel ids."""
    draft.syntax = _with_delimiter(draft.syntax, patterns.members.values())
    only = next(iter(draft.languages), "") if len(draft.languages) == 1 and not patterns.languages else ""
    kind = KINDS[draft.kind]
    labels: Counter[str] = Counter()
    golds: dict[str, dict[str, dict[str, str]]] = {}
    choices = 0
    for (spelling, split), file in patterns.members.items():
        try:
            table = read_table(file.path, draft.syntax, language="en")
        except IsoglossError as error:
            draft.notes.append(str(error))
            continue
        for language, part, rows in _parts(draft, table, spelling, split):
            tag = draft.languages.get(language or only, "") if language or only else "en"
            gold = _cells(draft, table, kind.gold, rows)
            if tag:
                counts = draft.counts.setdefault(part, {})
                counts[tag] = counts.get(tag, 0) + len(rows)
                ids = _cells(draft, table, "id", rows) or [f"{ROW}{row}" for row in range(len(rows))]
                golds.setdefault(part, {})[tag] = dict(zip(map(str, ids), _compared(kind, gold, rows), strict=True))
            labels.update(_label_values(kind, gold))
        options = _cells(draft, table, "choices", range(len(table)))
        choices = max([choices, *(len(cell) for cell in options or () if isinstance(cell, list | tuple))])
    _set_labels(draft, kind, labels, choices)
    widest = max(golds.values(), key=len, default={})
    draft.parallel = agree(list(widest.values()))
    if draft.columns.get("cluster") and draft.parallel and kind.form != "tags":
        # Clusters of parallel sets are shared by all languages, so texts cannot name them.
        text_columns = {draft.columns.get(role) for role in kind.inputs}
        if draft.columns["cluster"] in text_columns:
            column = draft.columns.pop("cluster")
            advice = "add a column `cluster` with the same name of each in all languages, for honest intervals"
            draft.notes.append(f"examples share texts of {column!r}, which differ between languages: {advice}")


def _with_delimiter(syntax: TableSyntax, files: Iterable[DataFile]) -> TableSyntax:
    """Return the syntax with a single blank between words and tags, if a CoNLL file is only valid so."""
    if syntax.format != "conll" or syntax.delimiter:
        return syntax
    blank = replace(syntax, delimiter=" ")
    for file in files:
        with suppress(IsoglossError):
            try:
                read_table(file.path, syntax)
            except IsoglossError:
                read_table(file.path, blank)
                return blank
    return syntax


def _parts(draft: TaskDraft, table: FileTable, spelling: str, split: str) -> Iterator[tuple[str, str, Sequence[int]]]:
    """Yield the rows of a file by language and split; languages in a column are added to the draft."""
    every = range(len(table))
    languages = _cells(draft, table, "language", every) if draft.columns.get("language") else None
    splits = _cells(draft, table, "split", every) if draft.columns.get("split") else None
    groups: dict[tuple[str, str], list[int]] = {}
    for row in every:
        language = spelling if languages is None else str(languages[row]).strip()
        name = str(splits[row]).strip().lower() if splits is not None else split
        groups.setdefault((language, SPLIT_NAMES.get(name, name)), []).append(row)
    for (language, name), rows in groups.items():
        if languages is not None:
            draft.languages.setdefault(language, spelt_language(language)[0])
        yield language, name, rows


def _cells(draft: TaskDraft, table: FileTable, role: str, rows: Sequence[int]) -> list[Any] | None:
    name = draft.columns.get(role, role)
    if isinstance(name, tuple):
        several = [table.column(each) for each in name]
        return None if None in several else [[column[row] for column in several if column] for row in rows]
    column = table.column(name) if name != "" else None
    return None if column is None else [column[row] for row in rows]


def _compared(kind: Kind, gold: Sequence[Any] | None, rows: Sequence[int]) -> list[str]:
    """Return gold that translations share, "" for texts and tags, which they do not."""
    if gold is None or kind.form not in ("label", "labels", "option", "number"):
        return [""] * len(rows)
    return ["" if cell is None or cell is MISSING else str(cell) for cell in gold]


def _label_values(kind: Kind, gold: Sequence[Any] | None) -> Iterator[str]:
    if gold is None or kind.form not in ("label", "labels", "tags", "option"):
        return
    for cell in gold:
        if cell is None or cell is MISSING or cell == "":
            continue
        try:
            if kind.form in ("label", "option"):
                yield text_cell(cell).strip()
            else:
                yield from kind.parse_column(kind.gold, cell)
        except (ValueError, TypeError):
            yield from texts_cell(str(cell))


def _set_labels(draft: TaskDraft, kind: Kind, labels: Counter[str], choices: int) -> None:
    if kind.form == "option":
        numbers = {int(label) for label in labels if label.isdecimal()}
        if numbers and 0 not in numbers and max(numbers) <= max(choices, 2):
            draft.labels = {str(number): str(number - 1) for number in range(1, max(choices, *numbers) + 1)}
            draft.notes.append("the index of the right choice seems to count from 1, so that it is mapped")
        return
    if not kind.needs_labels:
        return
    if not labels:
        draft.notes.append(f"no file has gold: write the labels into the file, as kind {draft.kind!r} needs them")
    if len(labels) > _MOST_LABELS:
        column = draft.columns.get(kind.gold, kind.gold)
        what = f"column {column!r} has {len(labels):,} distinct values: too many for labels"
        raise DataError(what, where=str(draft.folder), fix=_FIX)
    draft.labels = ordered_labels(labels)
    if kind.form == "tags" and not any(label[1:2] == "-" for label in labels):
        draft.main = "accuracy"  # F1 is for entities of several words
