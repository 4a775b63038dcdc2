"""Line-based formats: tab-separated rows, one word and tag a line, JSON lines, CSV with a header."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from isogloss.data.files import Digest, blocks, lines, read_text, split_lines
from isogloss.decoding import decode_json
from isogloss.errors import DataError

RecordType = TypeVar("RecordType")


def rows(path: Path, columns: int | tuple[int, int], digest: Digest | None = None) -> Iterator[list[str]]:
    """Tab-separated rows without quoting, each checked for its number of columns (exact, or least and most)."""
    least, most = (columns, columns) if isinstance(columns, int) else columns
    for number, line in enumerate(lines(path, digest), 1):
        row = line.split("\t")
        if not least <= len(row) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise DataError(f"{len(row)} columns instead of {wanted}", where=f"{path}:{number}")
        yield row


def tagged_sentences(path: Path, digest: Digest | None = None) -> Iterator[tuple[list[str], list[str] | None]]:
    """Sentences of `word` or `word<TAB>tag` lines, closed by blank lines; tags are None where the file has none.

    Runs of blank lines close one sentence: the prepared test files hold stray blank lines where a token was only
    white space, and an empty sentence has nothing to tag.
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
    """Sentences of the original WikiANN files: `xx:word<TAB>tag`; everything up to the first colon is the language.

    A token that is only white space becomes an empty token, kept so that the tags still line up.
    """
    words: list[str] = []
    tags: list[str] = []
    for line in lines(path, digest):
        columns = line.split("\t")
        if len(columns) != 2:  # XTREME's own preparation breaks the sentence at such a line
            if words:
                yield words, tags
                words, tags = [], []
            continue
        _, colon, word = columns[0].partition(":")
        if colon:
            words.append(word.strip())
            tags.append(columns[1].strip())
    if words:
        yield words, tags


def jsonl(path: Path, record: type[RecordType], digest: Digest | None = None) -> Iterator[RecordType]:
    """JSON lines decoded into a typed record; blank lines are passed over."""
    decoder = msgspec.json.Decoder(record)
    number = 0
    for block in blocks(path, digest):
        count = block.count(b"\n") + (not block.endswith(b"\n"))
        try:
            found = decoder.decode_lines(block)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = []
        # Where there is not one record a line, there are blank lines or a fault: look at each.
        yield from found if len(found) == count else _one_by_one(path, block, number, record)
        number += count


def _one_by_one(path: Path, block: bytes, before: int, record: type[RecordType]) -> Iterator[RecordType]:
    for number, line in enumerate(split_lines(block, path, before), before + 1):
        if line.strip():
            yield decode_json(line.encode(), f"{path}:{number}", record, what="the expected JSON record")


def csv_records(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with a header, by the names of its columns, each with the number of its line.

    Raises:
        DataError: a column that is needed is not there, a row has other cells than the header, or it is no CSV.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        for name in needed:
            if name not in (reader.fieldnames or ()):
                fix = f"Its first line should name the columns {', '.join(needed)}"
                raise DataError(f"has no column {name}", where=str(path), fix=fix)
        for row in reader:
            if None in row or None in row.values():
                raise DataError("a row with more or fewer cells than the header", where=f"{path}:{reader.line_num}")
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"not CSV: {error}", where=f"{path}:{reader.line_num}") from None


def finite_number(text: str) -> float | None:
    """The number that the text of a cell is; None where it is none, or not a finite one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
