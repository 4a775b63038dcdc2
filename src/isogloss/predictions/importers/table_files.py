"""Rows of tables in any shape: delimited text, JSON, JSON lines and Parquet, packed or not."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from isogloss.data.files import lines, read_text, unpacked_name
from isogloss.decoding import decode_python_json
from isogloss.errors import IsoglossError, PredictionError, near_names
from isogloss.predictions.importers.base import read_json, shown

# Line of the file (0 if unknown), and the row by column.
TableRow = tuple[int, Mapping[str, Any]]
# Column of a table without columns: a list of answers, or an object from id to answer.
ID, PREDICTION = "id", "prediction"
_DELIMITERS = (",", "\t", ";", "|")
_LISTED = 20


def table_rows(path: Path, wanted: list[str]) -> Iterator[TableRow]:
    """Yield the rows of a table; `wanted` are the columns that the user named, which also decide between shapes.

    Columns are named by the header or keys, or numbered from 1 in tables without names.
    """
    name = unpacked_name(path).lower()
    if name.endswith(".parquet"):
        return _parquet(path)
    if name.endswith((".jsonl", ".ndjson")):
        return _json_lines(path)
    if name.endswith(".json"):
        return ((0, row) for row in _json_rows(read_json(path), wanted, path))
    return _delimited(path, wanted)


def cell(row: Mapping[str, Any], column: str, where: str) -> Any:
    """Return a value by column name or dotted path (`doc.id`, `outputs.0`); raise an error with the columns found."""
    if column in row:
        return row[column]
    if column in (ID, PREDICTION) and (named := [name for name in row if str(name).casefold() == column]):
        return row[named[0]]
    value: Any = row
    for part in column.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 9 and int(part) < len(value):
            value = value[int(part)]
        else:
            raise no_column(column, row, where)
    return value


def column_names(row: Mapping[str, Any]) -> str:
    """Return the columns of a row for a message."""
    names = [shown(str(name), 40) for name in list(row)[:_LISTED]]
    return ", ".join(names) + ", …" * (len(row) > _LISTED) if names else "none"


def no_column(column: str, row: Mapping[str, Any], where: str) -> PredictionError:
    """Return an error for a missing column that names the existing ones."""
    close = near_names(column, [name for name in row if isinstance(name, str)], 1)
    hint = f"Did you mean {close[0]}? " if close else ""
    what = f"no column {shown(column, 40)}; columns are {column_names(row)}"
    return PredictionError(what, where=where, fix=f"{hint}Name an existing column")


def _parquet(path: Path) -> Iterator[TableRow]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        from isogloss.installation import install_command

        raise IsoglossError("Parquet files need pyarrow", fix=f"Run {install_command('tables')}") from None
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from ((0, row) for row in batch.to_pylist())
    except (pa.ArrowException, OSError, ValueError) as error:
        raise PredictionError(f"not a Parquet file: {shown(str(error), 200)}", where=str(path)) from None


def _json_lines(path: Path) -> Iterator[TableRow]:
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            yield number, _record(decode_python_json(line, f"{path}:{number}"))


def _record(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, a list with numbered columns, and anything else as a prediction."""
    if isinstance(value, dict):
        return value
    return _numbered(value) if isinstance(value, list) else {PREDICTION: value}


def _numbered(values: list[Any]) -> dict[str, Any]:
    return {str(number): value for number, value in enumerate(values, 1)}


def _json_rows(decoded: Any, wanted: list[str], path: Path) -> list[Mapping[str, Any]]:
    """Return the rows of a JSON file: a list, columns, rows or answers by id, or an object with one list of rows."""
    if isinstance(decoded, list):
        return [_record(value) for value in decoded]
    if not isinstance(decoded, dict) or not decoded:
        raise PredictionError("expected a JSON list or object with rows", where=str(path))
    values = list(decoded.values())
    named = any(column.partition(".")[0] in decoded for column in wanted)
    if named and all(isinstance(value, list) for value in values) and len(set(map(len, values))) == 1:
        return [dict(zip(decoded, row, strict=True)) for row in zip(*values, strict=True)]
    if named and all(isinstance(value, dict) for value in values):  # pandas writes columns by row number
        keys = list(values[0])
        return [{name: column.get(key) for name, column in decoded.items()} for key in keys]
    if all(isinstance(value, dict) for value in values):
        return [{ID: key, **value} for key, value in decoded.items()]
    tables = [value for value in values if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(tables) == 1 and not named:
        return [_record(value) for value in tables[0]]
    return [{ID: key, PREDICTION: value} for key, value in decoded.items()]


def _delimited(path: Path, wanted: list[str]) -> Iterator[TableRow]:
    """Yield the rows of a CSV or TSV file, with a header unless all columns are wanted by number."""
    text = read_text(path)
    header = not (wanted and all(column.isdecimal() for column in wanted))
    delimiter = _delimiter(path, text.partition("\n")[0], wanted if header else [])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=_quoting(text, delimiter))
    names: list[str] = []
    try:
        for row in reader:
            if not row:
                continue
            if header and not names:
                names = [name.strip() for name in row]
                if repeated := [name for name in wanted if names.count(name) > 1]:
                    raise PredictionError(f"two columns are named {shown(repeated[0], 40)}", where=f"{path}:1")
            elif header and len(row) != len(names):
                what = f"{len(row)} cells, but the header has {len(names)} columns"
                fix = f"Columns are separated by {delimiter!r} here; quote cells that contain it"
                raise PredictionError(what, where=f"{path}:{reader.line_num}", fix=fix)
            else:
                yield reader.line_num, dict(zip(names, row, strict=True)) if header else _numbered(row)
    except csv.Error as error:
        raise PredictionError(f"not a table: {error}", where=f"{path}:{reader.line_num}") from None


def _delimiter(path: Path, first: str, wanted: list[str]) -> str:
    """Return the delimiter under which the first line has the wanted columns, or else the most columns."""
    if unpacked_name(path).lower().endswith(".tsv"):
        return "\t"

    def fitness(delimiter: str) -> tuple[int, int]:
        names = [name.strip().strip('"') for name in first.split(delimiter)]
        return sum(column in names for column in wanted), len(names)

    return max(_DELIMITERS, key=fitness)


def _quoting(text: str, delimiter: str) -> Any:
    """Return how to treat quotation marks: tab-separated files often have them as ordinary characters."""
    if delimiter != "\t":
        return csv.QUOTE_MINIMAL
    rows = text.split("\n")
    width, plain = rows[0].count("\t"), all(row.count("\t") == rows[0].count("\t") for row in rows if row.strip())
    return csv.QUOTE_NONE if width and plain and not any(_is_quoted(row) for row in rows) else csv.QUOTE_MINIMAL


def _is_quoted(row: str) -> bool:
    """Return True if some cell is quoted as a whole."""
    return any(len(part) > 1 and part[0] == part[-1] == '"' for part in row.rstrip("\r").split("\t"))
