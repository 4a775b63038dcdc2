"""Predictions in tables: pandas and polars data frames, Arrow tables, `datasets.Dataset`, or a mapping of columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from isogloss.errors import IsoglossError, PredictionError, UnknownNameError
from isogloss.tasks.pseudo_sets import is_tag
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task

# Columns of a table with predictions; others are ignored.
COLUMNS = ("task", "language", "id", "prediction")
# Types of the missing values of pandas.
_MISSING = ("NAType", "NaTType")


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

    Missing answers are abstentions. With `pseudo`, languages need not belong to the task.

    Raises:
        PredictionError: a missing column, an empty cell, or an id that occurs twice; names the column and the row.
        UnknownNameError: unknown task or language; names the row.
    """
    task_names, languages, ids, values = columns_of(table, COLUMNS).values()
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
        cell[key] = plain(value)
    return answers


def columns_of(
    table: Tabular,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    *,
    what: str = "predictions",
    error: type[IsoglossError] = PredictionError,
) -> dict[str, list[Any]]:
    """Return columns of a table as Python values, by name.

    Args:
        table: the table; it may have further columns.
        needed: names of columns it must have.
        optional: names of columns to return if it has them.
        what: contents of the table, for messages.
        error: exception to raise for a missing column or columns of different lengths.
    """
    where = f"table of {what}"
    if not isinstance(table, Mapping | DataFrame | ColumnTable):
        raise error(f"expected a table, got {type(table).__name__}", where=where)
    table = table.collect() if hasattr(table, "collect") else table  # a lazy frame of polars
    names = list(table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns)  # type: ignore[union-attr]
    if missing := [name for name in needed if name not in names]:
        own = ", ".join(map(str, names)) or "none"
        fix = f"A table of {what} has the columns {', '.join(needed)}; this one has {own}"
        raise error(f"no column {missing[0]!r}", where=where, fix=fix)
    wanted = [name for name in (*needed, *optional) if name in names]
    for name in wanted:
        if names.count(name) > 1:
            raise error(f"several columns are called {name!r}", where=where, fix="Rename all but one")
        if isinstance(table[name], str) or not isinstance(table[name], Iterable):
            what = f"column {name!r}: expected one value per row, got {table[name]!r}"
            raise error(what, where=where, fix="Pass a list")
    columns = {name: _values(table[name]) for name in wanted}
    if len(set(map(len, columns.values()))) > 1:
        sizes = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise error(f"columns of different lengths: {sizes}", where=where)
    return columns


def _values(column: Any) -> list[Any]:
    """Return a column as Python values."""
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


def plain(value: Any) -> Any:
    """Return an answer as Python values: None for the missing values of pandas, lists for arrays."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if type(value).__name__ in _MISSING:
        return None
    return list(map(plain, value)) if isinstance(value, list | tuple) else value
