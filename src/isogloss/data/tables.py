"""Line-based formats: tab-separated rows, `word<TAB>tag` lines, JSON lines, CSV with a header."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

import msgspec

from isogloss.data.files import BLOCK, Digest, blocks, lines, read_bytes, read_text, split_lines
from isogloss.decoding import decode_json
from isogloss.errors import DataError

RecordType = TypeVar("RecordType")


def rows(path: Path, columns: int | tuple[int, int], digest: Digest | None = None) -> Iterator[list[str]]:
    """Yield tab-separated rows without quoting, checking the number of columns (exact, or minimum and maximum)."""
    least, most = (columns, columns) if isinstance(columns, int) else columns
    for number, line in enumerate(lines(path, digest), 1):
        row = line.split("\t")
        if not least <= len(row) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise DataError(f"expected {wanted} columns, got {len(row)}", where=f"{path}:{number}")
        yield row


def written_rows(path: Path, columns: int | tuple[int, int], digest: Digest | None = None) -> list[list[str]]:
    r"""Return tab-separated rows, unquoted if Python's csv.writer wrote them, as in XTREME-R's scripts.

    The writer ends lines with `\r\n`, quotes exactly the cells that contain a quotation mark, and doubles the marks
    inside. In any other file the marks belong to the text: PAWS-X publishes some of its sentences quoted.
    """
    table = list(rows(path, columns, digest))
    marked = [cell for row in table for cell in row if '"' in cell]
    if not marked or not read_bytes(path, most=BLOCK).partition(b"\n")[0].endswith(b"\r"):
        return table
    if not all(map(_QUOTED.fullmatch, marked)):
        return table
    return [[cell[1:-1].replace('""', '"') if '"' in cell else cell for cell in row] for row in table]


_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def tagged_sentences(path: Path, digest: Digest | None = None) -> Iterator[tuple[list[str], list[str] | None]]:
    """Yield sentences of `word` or `word<TAB>tag` lines, separated by blank lines; tags are None if the file has none.

    Runs of blank lines separate once: the prepared test files have stray blank lines for tokens of only white space,
    and an empty sentence has nothing to tag.
    """
    words: list[str] = []
    tags: list[str] = []
    for number, line in enumerate(lines(path, digest), 1):
        if not line.strip():
            if words:
                yield _sentence(words, tags, path, number)
                words, tags = [], []
            continue
        word, tab, tag = line.partition("\t")
        words.append(word)
        if tab:
            tags.append(tag.strip())
    if words:
        yield _sentence(words, tags, path, number)


def _sentence(words: list[str], tags: list[str], path: Path, number: int) -> tuple[list[str], list[str] | None]:
    if tags and len(tags) != len(words):
        raise DataError(f"a sentence of {len(words)} words has {len(tags)} tags", where=f"{path}:{number}")
    return words, tags or None


def panx_sentences(path: Path, digest: Digest | None = None) -> Iterator[tuple[list[str], list[str] | None]]:
    """Yield sentences of the original WikiANN files, `xx:word<TAB>tag`, without the language prefix.

    A token of only white space becomes an empty token, so that the tags stay aligned.
    """
    words: list[str] = []
    tags: list[str] = []
    for line in chain(lines(path, digest), ("",)):
        columns = line.split("\t")
        if len(columns) == 2:
            _, colon, word = columns[0].partition(":")
            if colon:
                words.append(word.strip())
                tags.append(columns[1].strip())
        elif words:  # XTREME's preparation breaks the sentence at any other line
            yield words, tags
            words, tags = [], []


def conll_sentences(path: Path, digest: Digest | None = None) -> Iterator[tuple[list[str], list[str], int]]:
    """Yield words, tags and number of the document of sentences in CoNLL-2002 and 2003 files.

    A line is a word, columns that differ between languages, and the tag. The files are Latin-1 or, with NLTK, UTF-8.
    Tags become IOB2: in IOB1 (2003) an entity begins with B- only directly after another one of its type.
    """
    raw = read_bytes(path, digest)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    words: list[str] = []
    tags: list[str] = []
    document = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        columns = line.replace("\t", " ").strip(" \r").split(" ")
        is_new_document = columns[0] == "-DOCSTART-"
        if is_new_document or columns == [""]:
            if words:
                yield words, tags, document
                words, tags = [], []
            document += is_new_document
        elif len(columns) < 2:
            raise DataError(f"expected a word and its tag, got {line!r}", where=f"{path}:{number}")
        else:
            mark, dash, kind = columns[-1].partition("-")
            continues = bool(tags) and tags[-1].partition("-")[2] == kind
            words.append(columns[0])
            tags.append(f"B-{kind}" if mark == "I" and dash and not continues else columns[-1])


def jsonl(path: Path, record: type[RecordType], digest: Digest | None = None) -> Iterator[RecordType]:
    """Yield JSON lines decoded into a typed record, skipping blank lines."""
    decoder = msgspec.json.Decoder(record)
    number = 0
    for block in blocks(path, digest):
        count = block.count(b"\n") + (not block.endswith(b"\n"))
        try:
            records = decoder.decode_lines(block)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            records = []
        if len(records) == count:
            yield from records
        else:  # there are blank lines or an error
            for row, line in enumerate(split_lines(block, path, number), number + 1):
                if line.strip():
                    yield decode_json(line.encode(), f"{path}:{row}", record, what="the expected JSON record")
        number += count


def csv_records(
    path: Path, needed: Sequence[str], digest: Digest | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with a header as dicts, with their line numbers; check the needed columns."""
    reader = csv.DictReader(io.StringIO(read_text(path, digest), newline=""))
    try:
        for name in needed:
            if name not in (reader.fieldnames or ()):
                fix = f"Start the file with a header with the columns {', '.join(needed)}"
                raise DataError(f"has no column {name}", where=str(path), fix=fix)
        for row in reader:
            if None in row or None in row.values():
                raise DataError("a row with more or fewer cells than the header", where=f"{path}:{reader.line_num}")
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def finite_number(text: str) -> float | None:
    """Parse a finite number; return None if the text is not one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
