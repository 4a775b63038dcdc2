"""Import a table in any shape: the user names its columns and the meaning of its labels."""

import ast
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from isogloss.decoding import whole_number
from isogloss.errors import PredictionError, unknown
from isogloss.figures import counted
from isogloss.languages import codes_meant_by
from isogloss.predictions.importers.base import ImportedAnswers, Target, one_file, read_replies, shown
from isogloss.predictions.importers.table_files import ID, PREDICTION, cell, column_names, table_rows
from isogloss.predictions.problems import ProblemCode
from isogloss.tasks.kinds.classification import wrong_labels
from isogloss.tasks.task import Task

# Texts longer than this are not parsed as lists.
_LONGEST_LIST = 1_000_000
# Name of the ids that stands for the order of rows.
POSITION = "position"


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """Columns of a table, by name, dotted path or number from 1; "" for the default or none."""

    prediction: str = ""  # by default the column `prediction`
    id: str = ""  # by default the column `id`; without one, or for "position", rows are matched by position
    language: str = ""

    @property
    def named(self) -> list[str]:
        """Columns that the user named."""
        return [column for column in (self.prediction, self.id, self.language) if column not in ("", POSITION)]


class ReadRow(NamedTuple):
    """A row of a table: its file and line (0 if unknown), id (None without one), prediction, and all columns."""

    path: Path
    number: int
    identifier: Any
    value: Any
    columns: Mapping[str, Any]

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path}:{self.number}" if self.number else str(self.path)


def label_mapping(task: Task, labels: Sequence[str]) -> dict[str, str]:
    """Return labels by their spelling in the file, from `0=entailment` or from the labels in order of their index.

    Raises:
        UnknownNameError: a label that the task does not have.
    """
    pairs = [label.rpartition("=")[::2] if "=" in label else ("", label) for label in labels]
    mapping: dict[str, str] = {}
    for index, (spelling, label) in enumerate(pairs):
        if task.labels and label not in task.labels:
            raise unknown(f"label of {task.id}", label, task.labels)
        for name in (spelling,) if spelling else (str(index), f"LABEL_{index}"):
            mapping[name.strip()] = label
    return mapping


def read_table(
    files: Sequence[Path], task: Task, columns: TableColumns, languages: Sequence[str]
) -> dict[str, list[ReadRow]]:
    """Return the rows of each language; without a language column, all rows belong to the only language.

    With one, `languages` restricts the import; by default every row must have a language of the task.

    Raises:
        PredictionError: a missing column, an unknown language, or a file that is not a table.
    """
    by_language: dict[str, list[ReadRow]] = {}
    others: Counter[str] = Counter()
    code_of = cache(partial(_code, task))
    for path in files:
        for number, row in table_rows(path, columns.named):
            where = f"{path}:{number}" if number else str(path)
            value = cell(row, columns.prediction or PREDICTION, where)
            identifier = _id_in(row, columns.id, where)
            name = str(cell(row, columns.language, where)).strip() if columns.language else languages[0]
            if (code := code_of(name)) and (not languages or code in languages):
                by_language.setdefault(code, []).append(ReadRow(path, number, identifier, value, row))
            elif not languages:
                others[name] += 1
    if others:
        listed = ", ".join(f"{shown(name, 30)} ({counted(count, 'row')})" for name, count in others.most_common(10))
        fix = f"Select languages with --language, e.g. {','.join([*by_language, *task.languages][:3])}"
        raise PredictionError(f"not languages of {task.id}: {listed}", where=str(files[0]), fix=fix)
    if not by_language:
        raise PredictionError("no rows", where=", ".join(map(str, files)))
    return by_language


def _id_in(row: Mapping[str, Any], column: str, where: str) -> Any:
    """Return the id of a row, or None to match it by position."""
    if column and (column != POSITION or column in row):
        return cell(row, column, where)
    has_ids = not column and any(str(name).casefold() == ID for name in row)
    return cell(row, ID, where) if has_ids else None


def _code(task: Task, name: str) -> str:
    """Return the task's language for a code, tag or name, or ""."""
    meant = [name] if name in task.every_language else codes_meant_by(name, task.every_language)
    return meant[0] if len(meant) == 1 else ""


def answers_of(
    rows: Sequence[ReadRow], target: Target, mapping: Mapping[str, str], *, replies: bool = False
) -> ImportedAnswers:
    """Return the answers of one language, read from free text if they are replies; its problems list invalid rows.

    Raises:
        PredictionError: rows without ids that do not fit the examples in number.
    """
    imported = ImportedAnswers(rows[0].path)
    by_position = all(row.identifier is None for row in rows)
    if by_position:
        _check_count(rows, target)
        imported.notes.append("no ids: rows are matched with the examples by position")
    for position, row in enumerate(imported.worth_reading(rows)):
        imported.path = row.path
        identifier = target.row_id(position, row.where) if by_position else _identifier(row.identifier)
        if identifier is None:
            what = f"invalid id {shown(str(row.identifier), 40)}"
            imported.wrong(row.number, what, "Give every row the id of its example")
            continue
        try:
            answer = _reply(row.value) if replies else _answer(target, row.value, mapping)
            imported.add(identifier, answer, row.number)
        except ValueError as error:
            imported.wrong(row.number, str(error), f"Write {target.kind.answer_help}")
            continue
        for column in target.kind.inputs if by_position else ():
            if isinstance(text := row.columns.get(column), str):
                imported.quote(column, identifier, text)
    if replies:
        read_replies(imported, target, mapping)
    elif target.kind.form == "label":
        _check_labels(imported, target)
    return imported


def _check_labels(imported: ImportedAnswers, target: Target) -> None:
    """Report labels that the task does not have as one problem."""
    labels = {*target.task.labels, None}
    wrong = [row for row, value in enumerate(imported.values) if value not in labels]
    if wrong and target.task.labels:
        what, fix = wrong_labels(target.task, list(dict.fromkeys(imported.values[row] for row in wrong)))
        about = {"count": len(wrong), "detail": what, "advice": fix}
        imported.problems.append(imported.problem(ProblemCode.INVALID_ANSWER, wrong[0], **about))


def _check_count(rows: Sequence[ReadRow], target: Target) -> None:
    one_file(list(dict.fromkeys(row.path for row in rows)))
    size = len(target.examples) if target.examples is not None else target.task.expected(target.language, target.split)
    if size != len(rows):
        has = f"{target.name} has {size:,} examples" if size else f"the size of {target.name} is unknown"
        what = f"{len(rows):,} rows without ids, but {has}"
        raise PredictionError(
            what,
            where=str(rows[0].path),
            fix=f"Name the column with the ids by --id; columns are {column_names(rows[0].columns)}",
        )


def _identifier(value: Any) -> str | None:
    """Return an id as text, or None; pandas turns whole numbers into floats."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def _reply(value: Any) -> str | None:
    """Return a reply as text, None without one."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _answer(target: Target, value: Any, mapping: Mapping[str, str]) -> Any:
    """Return an answer in the form of the task's kind, None to abstain; raise ValueError for other values."""
    kind, form = target.kind, target.kind.form
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if form in ("label", "option"):
        text = _identifier(value) if isinstance(value, float) else str(value).strip()
        if not text:
            return None
        value = mapping.get(text, text)
        if form == "option" and (value := whole_number(value)) is None:
            raise ValueError(f"expected the index of a choice, got {shown(text, 40)}")
    elif form in ("tags", "ranking", "pairs"):
        parts = _list(value)
        value = [mapping.get(part, part) if isinstance(part, str) else part for part in parts]
    elif form in ("labels", "number") and isinstance(value, str):
        value = kind.parse_column(kind.gold, value)
    elif form in ("answer", "text") and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if form == "labels" and isinstance(value, list):
        value = [mapping.get(str(label), label) for label in value]
    try:
        return kind.normalize(msgspec.convert(value, kind.answer_type))
    except (msgspec.ValidationError, TypeError, AttributeError):
        raise ValueError(f"expected {kind.answer_help}, got {shown(str(value), 40)}") from None


def _list(value: Any) -> list[Any]:
    """Return a list from a list or its text: JSON, Python, or words separated by blanks or commas."""
    if isinstance(value, list | tuple):
        return [str(part) if isinstance(part, int) else part for part in value]
    text = str(value).strip()
    if text.startswith("[") and len(text) <= _LONGEST_LIST:
        for parse in (json.loads, ast.literal_eval):
            try:
                return _list(parsed) if isinstance(parsed := parse(text), list) else [parsed]
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
        raise ValueError(f"expected a list, got {shown(text, 40)}")
    return text.replace(",", " ").split()
