"""Rows of a MySQL dump of a wiki's table, streamed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.building.dumps import DumpStream, FilePart, lines_of

_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`(\w+)`")
_COLUMN = re.compile(rb"\s*`(\w+)` ")
_INSERT = re.compile(rb"INSERT (?:IGNORE )?INTO `(\w+)` (?:\([^)]*\) )?VALUES\s*")
_VALUE = rb"(?:_binary )?('(?:[^'\\]|\\.|'')*+'|[^,'()]++)"
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}


def table_of(path: FilePart) -> tuple[str, list[str]]:
    """Return the name and the columns of the table that a dump creates; ("", []) if there is none."""
    name, columns = "", []
    for line in lines_of(DumpStream(path, Counter())):
        if not name and (match := _CREATE.match(line)):
            name = match[1].decode()
        elif name and (match := _COLUMN.match(line)):
            columns.append(match[1].decode())
        elif columns or line.startswith(b"INSERT"):
            break
    return name, columns


def rows_of(stream: DumpStream, columns: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[bytes, ...]]:
    """Yield some columns of each row, unescaped; NULL is empty. Malformed rows are counted.

    Columns are found by name, because their order differs between versions of MediaWiki.
    """
    row = re.compile(rb"\(" + rb",".join([_VALUE] * len(columns)) + rb"\)")
    places = [columns.index(name) + 1 for name in wanted]
    for line in lines_of(stream):
        insert = _INSERT.match(line)
        if insert is None:
            continue
        position = insert.end()
        for match in row.finditer(line, position):
            if match.start() > position:
                stream.counts["malformed rows"] += 1
            position = match.end() + 1  # the comma or semicolon after it
            stream.counts["rows"] += 1
            yield tuple(_unquoted(match[place]) for place in places)
        if line[position - 1 :].strip() != b";":
            stream.counts["malformed rows"] += 1


def _unquoted(value: bytes) -> bytes:
    if not value.startswith(b"'"):
        return b"" if value == b"NULL" else value
    text = value[1:-1]
    if b"\\" in text or b"''" in text:
        text = _ESCAPE.sub(lambda match: b"'" if match[1] is None else _ESCAPED.get(match[1], match[1]), text)
    return text
