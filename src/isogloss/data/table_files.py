"""Tables of examples in any common format: delimited text, JSON, Parquet, CoNLL, CoNLL-U, SQuAD and hub datasets.

Every format gives the same `FileTable`, so that one reader serves all of them.
"""

import csv
import io
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from isogloss.data.conllu import sentences
from isogloss.data.files import Digest, lines, read_bytes, read_text, unpacked_name
from isogloss.data.table_syntax import FORMAT_NAMES, FORMATS, TableSyntax
from isogloss.decoding import decode_json
from isogloss.errors import DataError

# Value of a record that lacks a key.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING", "__bool__": lambda self: False})()

# A cell of delimited text may be as long as a document.
_LONGEST_CELL = 1 << 26


@dataclass(eq=False)
class FileTable:
    """The columns of one file. Columns without a name are numbered from 1.

    Attributes:
        source: path of the file.
        columns: cells by name.
        numbered: names by position, for columns that are asked for by number.
        lines: line of each row, None if rows have none.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    numbered: Sequence[str] = ()
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def where(self, row: int) -> str:
        """Return the location of a row, for messages."""
        return f"{self.source}:{self.lines[row]}" if self.lines is not None else f"{self.source}, row {row + 1}"

    def column(self, name: str | int) -> Sequence[Any] | None:
        """Return a column by name, number from 1 or path (`answers.text`), or None if the table has none such."""
        if isinstance(name, int):
            return self.columns[self.numbered[name - 1]] if 1 <= name <= len(self.numbered) else None
        if name in self.columns:
            return self.columns[name]
        outer, dot, inner = name.rpartition(".")
        parents = self.column(outer) if dot else None
        if parents is None or not any(isinstance(parent, dict | list) for parent in parents):
            return None
        return [_inner(parent, inner) for parent in parents]


def _inner(parent: Any, name: str) -> Any:
    """Return a field of a record, or of each record of a list."""
    if isinstance(parent, list):
        return [_inner(item, name) for item in parent]
    return parent.get(name, MISSING) if isinstance(parent, dict) else MISSING


def format_of(path: Path, syntax: TableSyntax) -> str:
    """Return the format of a file; raise DataError if its suffix does not tell."""
    if syntax.format:
        return syntax.format
    suffix = Path(unpacked_name(path)).suffix.lower()
    if suffix not in FORMATS:
        fix = f"Write format = … in the task file: {', '.join(FORMAT_NAMES)}"
        raise DataError("unknown file format", where=str(path), fix=fix)
    return FORMATS[suffix]


def read_table(path: Path, syntax: TableSyntax, digest: Digest | None = None, language: str = "") -> FileTable:
    """Read a file, packed or not.

    Args:
        path: the file.
        syntax: its syntax.
        digest: checksum to update with its bytes.
        language: tag of its language, which decides how treebanks join fused words.

    Raises:
        DataError: a damaged, empty or ragged file, with its line.
    """
    name = format_of(path, syntax)
    if name == "conllu":
        return _conllu(path, digest, language)
    return _READERS[name](path, syntax, digest)


def _delimited(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    is_csv = format_of(path, syntax) == "csv"
    delimiter = syntax.delimiter or ("," if is_csv else "\t")
    quote = syntax.quote if syntax.quote is not None else '"' if is_csv else ""
    read = _quoted_rows if quote else _plain_rows
    numbers: list[int] = []
    table: list[list[str]] = []
    width = 0
    # Closed at once after an error, too: reading quoted rows changes a setting of the csv module.
    with closing(read(path, delimiter, quote, digest)) as rows:
        for number, row in rows:
            width = width or len(row)
            if len(row) != width:
                fix = "" if quote else "If cells are quoted, write quote = '\"' in the task file"
                what = f"expected {width} columns, got {len(row)}"
                raise DataError(what, where=f"{path}:{number}", fix=fix)
            numbers.append(number)
            table.append(row)
    if not table:
        return FileTable(str(path), {}, lines=())
    names = [str(number) for number in range(1, width + 1)]
    if syntax.header:
        header, table, numbers = [name.strip() for name in table[0]], table[1:], numbers[1:]
        if twice := next((name for name in header if name and header.count(name) > 1), ""):
            raise DataError(f"two columns are named {twice!r}", where=f"{path}:1")
        names = [name or number for name, number in zip(header, names, strict=True)]
    cells = list(zip(*table, strict=True)) or [()] * width
    return FileTable(str(path), dict(zip(names, cells, strict=True)), names, numbers)


# Rows with their line numbers.
_Rows = Generator[tuple[int, list[str]], None, None]


def _plain_rows(path: Path, delimiter: str, quote: str, digest: Digest | None) -> _Rows:
    return ((number, line.split(delimiter)) for number, line in enumerate(lines(path, digest), 1) if line)


def _quoted_rows(path: Path, delimiter: str, quote: str, digest: Digest | None) -> _Rows:
    text = io.StringIO(read_text(path, digest), newline="")
    before = csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(text, delimiter=delimiter, quotechar=quote, strict=True)
    try:
        start = 1
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{path}:{max(1, reader.line_num)}") from None
    finally:
        csv.field_size_limit(before)


def _json_lines(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    records: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines(path, digest), 1):
        if line.strip():
            what = "a JSON object per line"
            records.append(decode_json(line.encode(), f"{path}:{number}", dict[str, Any], what=what))
            numbers.append(number)
    return _records(path, records, numbers)


def _json(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    """Read an array of records, an object with one below `data`, or a SQuAD file."""
    raw = read_bytes(path, digest)
    decoded = decode_json(raw, str(path), list[Any] | dict[str, Any])
    records = decoded.get("data") if isinstance(decoded, dict) else decoded
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        fix = 'For one JSON object per line, write format = "jsonl" in the task file'
        raise DataError("expected a JSON array of objects", where=str(path), fix=fix)
    if records and all("paragraphs" in record for record in records):
        return _squad_table(path, raw)
    return _records(path, records)


def _records(path: Path, records: list[dict[str, Any]], numbers: Sequence[int] | None = None) -> FileTable:
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name, MISSING) for record in records] for name in names}
    return FileTable(str(path), columns, tuple(columns), numbers)


def _squad(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    return _squad_table(path, read_bytes(path, digest))


def _squad_table(path: Path, raw: bytes) -> FileTable:
    from isogloss.data import squad

    articles = squad.parse(raw, str(path))
    pairs = list(squad.questions(articles))
    columns: dict[str, Sequence[Any]] = {
        "id": [question.id for _, question in pairs],
        "title": squad.article_names(articles),
        "context": [paragraph.context for paragraph, _ in pairs],
        "question": [question.question for _, question in pairs],
    }
    # Prepared test files have an empty answer at offset 0, which is not gold.
    if any(answer.text for _, question in pairs for answer in question.answers):
        columns["answers"] = [[answer.text for answer in question.answers] for _, question in pairs]
        columns["answer_starts"] = [[answer.answer_start for answer in question.answers] for _, question in pairs]
    return FileTable(str(path), columns, tuple(columns))


def _parquet(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        from isogloss.installation import install_command

        fix = f"Run {install_command('tables')}"
        raise DataError("cannot read Parquet without pyarrow", where=str(path), fix=fix) from None
    raw = read_bytes(path, digest)
    try:
        columns = parquet.read_table(pa.BufferReader(raw)).to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"not Parquet: {error!s:.200}", where=str(path)) from None
    return FileTable(str(path), columns, tuple(columns))


def _conll(path: Path, syntax: TableSyntax, digest: Digest | None) -> FileTable:
    """Read a word per line and blank lines between sentences; columns are lists of cells, per sentence.

    The first column is named `tokens` and the last `tags`, if there is more than one. `document` counts the lines
    `-DOCSTART-`.
    """
    parsed = list(_conll_sentences(path, syntax.delimiter, digest))
    if not parsed:
        return FileTable(str(path), {}, lines=())
    width = len(parsed[0].cells)
    numbered = {str(number + 1): [sentence.cells[number] for sentence in parsed] for number in range(width)}
    columns: dict[str, Sequence[Any]] = {"tokens": numbered["1"], **numbered}
    if width > 1:
        columns["tags"] = numbered[str(width)]
    columns["document"] = [sentence.document for sentence in parsed]
    return FileTable(str(path), columns, tuple(numbered), [sentence.line for sentence in parsed])


@dataclass
class _ConllSentence:
    line: int
    document: int
    cells: list[list[str]]


def _conll_sentences(path: Path, delimiter: str, digest: Digest | None) -> Iterator[_ConllSentence]:
    width = document = 0
    words: list[list[str]] = []
    for number, line in enumerate(chain(lines(path, digest), ("",)), 1):
        is_new_document = line.startswith("-DOCSTART-")
        if line.strip() and not is_new_document:
            words.append(_cells(line, delimiter))
            continue
        if words:
            width = width or len(words[0])
            first = number - len(words)
            # Sentences are compared as a whole: word by word takes several times as long.
            if {*map(len, words)} != {width}:
                index = next(index for index, cells in enumerate(words) if len(cells) != width)
                wanted = f"expected a word and its tag in {width} columns" if width > 1 else "expected a word alone"
                got = (delimiter or " ").join(words[index])
                raise DataError(f"{wanted}, got {got!r:.200}", where=f"{path}:{first + index}")
            yield _ConllSentence(first, document, [*map(list, zip(*words, strict=True))])
            words = []
        document += is_new_document


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":  # a word may be empty, or white space of another kind
        return line.rstrip().split(" ")
    if delimiter or "\t" in line:
        return [cell.strip() for cell in line.split(delimiter or "\t")]
    return line.split()


def _conllu(path: Path, digest: Digest | None, language: str) -> FileTable:
    """Read a treebank, converted as XTREME does it; tags are the universal parts of speech."""
    parsed = list(sentences(lines(path, digest), language, source=str(path)))
    columns: dict[str, Sequence[Any]] = {
        "tokens": [sentence.words for sentence in parsed],
        "tags": [sentence.tags for sentence in parsed],
        "text": [sentence.text for sentence in parsed],
        "offsets": [sentence.offsets for sentence in parsed],
        "sent_id": [sentence.sent_id for sentence in parsed],
    }
    return FileTable(str(path), columns)


_READERS: Mapping[str, Callable[[Path, TableSyntax, Digest | None], FileTable]] = {
    "csv": _delimited,
    "tsv": _delimited,
    "jsonl": _json_lines,
    "json": _json,
    "parquet": _parquet,
    "conll": _conll,
    "squad": _squad,
}
