"""Files of a dataset in a folder, and their syntax."""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.data.files import SUFFIXES, read_bytes, unpacked_name
from isogloss.data.table_syntax import FORMATS, TableSyntax
from isogloss.decoding import MARK, decode_json, decode_text
from isogloss.errors import DataError

# Files looked at, at most; a folder with more is probably not a dataset.
_MOST_FILES = 20_000
# Suffixes of tables; the contents decide the format.
_BY_CONTENTS = (".txt", ".tsv", ".csv", ".tab", ".json", ".data")
# Names of files beside a dataset.
_BESIDE = ("readme", "license", "licence", "changelog", "citation", "dataset_info", "package", "requirements")
# Characters with a meaning in path patterns, or that a text file cannot have.
_UNUSABLE = re.compile(r"[{}*?\[\]\x00-\x1f\ud800-\udfff]")
# Bytes and rows looked at.
_BEGINNING = 1 << 18
_ROWS = 100
# Names of columns that show that a row is a header.
_HEADINGS = frozenset(
    "id idx index index_id uid guid text sentence sentence1 sentence2 text1 text2 text_a text_b premise hypothesis "
    "label labels category class sentiment topic question context answer answers choices score language lang split "
    "tokens tags ner_tags words target source reference references summary review content tweet title".split()
)


@dataclass(frozen=True)
class DataFile:
    """A file with its path below the folder of the dataset, without the suffix of its compression."""

    path: Path
    relative: str


def data_files(place: Path) -> list[DataFile]:
    """Return the tables in a folder, or the one file.

    Raises:
        DataError: no such folder or file, or no table in it.
    """
    if place.is_file():
        return [DataFile(place, unpacked_name(place))]
    if not place.is_dir():
        raise DataError("no such folder or file", where=str(place))
    files: list[DataFile] = []
    others: Counter[str] = Counter()
    visited: set[str] = set()
    for folder, folders, names in os.walk(place, followlinks=True):
        real = os.path.realpath(folder)
        if real in visited:  # a link to a folder above
            folders.clear()
            continue
        visited.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(folder, name)
            plain = unpacked_name(path)
            suffix = Path(plain).suffix.lower()
            if name.startswith(".") or Path(plain).stem.lower().startswith(_BESIDE) or not path.is_file():
                continue
            if suffix not in FORMATS and suffix not in _BY_CONTENTS:
                others[suffix or name] += 1
                continue
            relative = path.relative_to(place).as_posix().removesuffix(path.suffix if plain != name else "")
            if _UNUSABLE.search(relative):
                others["unusable name"] += 1
                continue
            files.append(DataFile(path, relative))
            if len(files) > _MOST_FILES:
                raise DataError(f"has more than {_MOST_FILES:,} files", where=str(place), fix="Name a folder in it")
    if not files:
        listed = ", ".join(f"{count} × {name}" for name, count in others.most_common(5))
        what = f"no tables ({', '.join(FORMATS)}, .txt; packed as {', '.join(SUFFIXES[1:])})"
        raise DataError(what, where=str(place), fix=f"It has {listed}" if listed else "The folder is empty")
    return files


def guessed_syntax(path: Path) -> TableSyntax:
    """Return the syntax of a file by its contents.

    Raises:
        DataError: an unreadable or empty file, or not a table.
    """
    suffix = Path(unpacked_name(path)).suffix.lower()
    own = FORMATS.get(suffix, "")
    if own in ("parquet", "conllu", "jsonl"):
        return TableSyntax()
    if own == "json":
        return _json_syntax(path)
    rows = _lines(path)
    blank = any(not line.strip() for line in rows[:-1])
    written = [line for line in rows if line.strip()]
    if not written:
        raise DataError("the file is empty", where=str(path))
    if own == "conll" or (own != "csv" and blank and len(written) < len(rows) - 1):
        return _conll_syntax(written, own)
    return _delimited_syntax(path, written, own)


def _lines(path: Path) -> list[str]:
    raw = read_bytes(path, most=_BEGINNING).removeprefix(MARK)
    if b"\0" in raw:
        raise DataError("not a text file", where=str(path))
    cut = raw[: raw.rfind(b"\n") + 1] if len(raw) == _BEGINNING else raw
    if not cut and raw:
        raise DataError(f"has a line of more than {_BEGINNING:,} bytes", where=str(path))
    return [line.rstrip("\r") for line in decode_text(cut, str(path)).split("\n")]


def _json_syntax(path: Path) -> TableSyntax:
    beginning = read_bytes(path, most=_BEGINNING).removeprefix(MARK).lstrip()
    first = beginning.partition(b"\n")[0].strip()
    if beginning.startswith(b"{") and first.endswith(b"}"):
        try:
            record = decode_json(first, str(path), dict)
        except DataError:
            return TableSyntax()
        if "data" not in record:
            return TableSyntax(format="jsonl")
    return TableSyntax()


def _conll_syntax(written: Sequence[str], own: str) -> TableSyntax:
    words = [line for line in written[: _ROWS * 20] if not line.startswith("-DOCSTART-")]
    widths = {len(line.split("\t") if "\t" in line else line.split()) for line in words}
    by_blank = {len(line.rstrip().split(" ")) for line in words}
    # A word may be white space of another kind, which only a single blank separates from its tag.
    delimiter = " " if len(widths) > 1 and len(by_blank) == 1 else ""
    return TableSyntax(format="" if own == "conll" else "conll", delimiter=delimiter)


def _delimited_syntax(path: Path, written: Sequence[str], own: str) -> TableSyntax:
    usual = {"csv": ",", "tsv": "\t"}.get(own, "")
    signs = dict.fromkeys([usual or "\t", ",", "\t", ";", "|"])
    for sign in signs:
        for quote in ('"', "") if own == "csv" or sign != "\t" else ("", '"'):
            table = _rows(written, sign, quote)
            if table and len(table[0]) > 1 and len({len(row) for row in table}) == 1:
                header = has_header(table)
                name = "" if own else "tsv" if sign == "\t" else "csv"
                default_quote = "" if (own or name) == "tsv" else '"'
                return TableSyntax(
                    format=name,
                    header=header,
                    delimiter="" if sign == (usual or {"tsv": "\t", "csv": ","}[name]) else sign,
                    quote=None if quote == default_quote else quote,
                )
    if own:  # a single column, or rows of different lengths: the reader says where
        return TableSyntax(header=has_header(_rows(written, usual, "")))
    raise DataError("neither a table nor words with their tags", where=str(path))


def _rows(written: Sequence[str], sign: str, quote: str) -> list[list[str]]:
    if not quote:
        return [line.split(sign) for line in written[:_ROWS]]
    reader = csv.reader(io.StringIO("\n".join(written)), delimiter=sign, quotechar=quote, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if len(rows) == _ROWS:
                break
    except csv.Error:
        return rows[:-1] if len(rows) > 1 else []
    return rows


def has_header(table: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row names the columns: by known names, or because its cells are unlike those below."""
    if not table:
        return True
    head, body = table[0], table[1:]
    names = [cell.strip().lower() for cell in head]
    below = list(zip(*body, strict=False))
    repeated = any(
        cell in column and len(set(column)) <= len(column) / 2
        for cell, column in zip(head, below, strict=False)
        if len(column) > 3
    )
    if repeated or len(set(names)) < len(names):
        return False
    if _HEADINGS.intersection(names):
        return True
    return all(len(name) <= 30 and not name.replace(".", "").isdecimal() and len(name.split()) <= 3 for name in names)
