"""Predictions in tables: pandas and polars data frames, Arrow tables, `datasets.Dataset`, or a mapping of columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from isogloss.errors import PredictionError, UnknownNameError
from isogloss.tasks.pseudo_sets import is_tag
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task

# Columns of a table with predictions; others are ignored.
COLUMNS = ("task", "language", "id", "prediction")


@runtime_checkable
class DataFrame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def __getitem__(self, key: Any, /) -> Any: ...


@runtime_checkable
class ColumnTable(Protocol):
    """A table of Arrow, or a `datasets.Dataset`."""

    @property
    def column_names(self) -> Any:
        """Names of the columns."""

    def __getitem__(self, key: Any, /) -> Any: ...


Tabular = DataFrame | ColumnTable | Mapping[str, Sequence[Any]]


def is_table(given: object) -> bool:
    """Return True for a table, and for a mapping of columns instead of tasks."""
    if isinstance(given, Mapping):
        return "prediction" in given
    return not isinstance(given, type) and isinstance(given, DataFrame | ColumnTable)


def answers_in_table(table: Tabular, *, pseudo: bool = False) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {task: {language: {id: answer}}} of a table with the columns of `COLUMNS`.

    Missing answers (None, NaN) are abstentions. With `pseudo`, languages need not belong to the task.

    Raises:
        PredictionError: a missing column, an empty cell, or an id that occurs twice; names the column and the row.
        UnknownNameError: unknown task or language; names the row.
    """
    task_names, languages, ids, values = (_column(table, name) for name in COLUMNS)
    lengths = dict(zip(COLUMNS, map(len, (task_names, languages, ids, values)), strict=True))
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise PredictionError(f"columns of different lengths: {sizes}", where="table of predictions")
    answers: dict[str, dict[str, dict[str, Any]]] = {}
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row, (name, code, identifier, value) in enumerate(zip(task_names, languages, ids, values, strict=True)):
        where = f"row {row} of the table"
        if (cell := cells.get((name, code))) is None:
            task, language = _known_cell(name, code, where, pseudo=pseudo)
            cell = cells[name, code] = answers.setdefault(task, {}).setdefault(language, {})
        key = _id(identifier, where)
        if key in cell:
            raise PredictionError(f"column 'id': {key!r} occurs twice in {name}/{code}", where=where)
        cell[key] = _plain(value)
    return answers


def _column(table: Tabular, name: str) -> list[Any]:
    """Return a column as Python values."""
    names = list(table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns)  # type: ignore[union-attr]
    if name not in names:
        fix = f"A table of predictions has the columns {', '.join(COLUMNS)}; this one has {', '.join(map(str, names))}"
        raise PredictionError(f"no column {name!r}", where="table of predictions", fix=fix)
    column: Any = table[name]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            values: Iterable[Any] = getattr(column, method)()
            return list(values)
    return list(column)


def _known_cell(name: object, code: object, where: str, *, pseudo: bool) -> tuple[str, str]:
    """Return the ids of a task and of one of its languages."""
    for column, value in (("task", name), ("language", code)):
        if not isinstance(value, str) or not value:
            raise PredictionError(f"column {column!r}: expected a name, got {value!r}", where=where)
    try:
        task = find_task(str(name))
        if code not in task.every_language and not (pseudo and is_tag(str(code))):
            raise no_language(task.id, str(code), task.every_language)
    except UnknownNameError as error:
        raise UnknownNameError(error.what, where=where, fix=error.fix) from None
    return task.id, str(code)


def _id(identifier: object, where: str) -> str:
    """Return an id as text; numbers with decimals were made by a conversion, and match no example."""
    if isinstance(identifier, str):
        return identifier
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        return str(identifier)
    raise PredictionError(f"column 'id': expected text, got {identifier!r}", where=where, fix="Write ids as text")


def _plain(value: Any) -> Any:
    """Return an answer as Python values: None for NaN, lists for arrays."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value
