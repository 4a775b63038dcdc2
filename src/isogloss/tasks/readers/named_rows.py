"""Readers of classification tables with a header and their own ids: SIB-200, AmericasNLI, NusaX."""

from pathlib import Path

from isogloss.data.tables import csv_records, rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file

# AmericasNLI's ids are lines of XNLI's files of all languages, where Spanish is the sixth: its first line, per split.
_FIRST_LINE = {"test": 5 * 5010 + 1, "dev": 5 * 2490 + 1}
# Every premise of XNLI has three hypotheses, one after the other.
_HYPOTHESES = 3


def _under_header(files: SplitFiles, path: Path, header: tuple[str, ...]) -> list[list[str]]:
    table = list(rows(path, len(header), files.digest))
    if not table or tuple(table[0]) != header:
        raise DataError(f"expected the columns {', '.join(header)}", where=f"{path}:1", fix="Fetch the file again")
    return table[1:]


@of_one_file
def sib200(files: SplitFiles, path: Path) -> Examples | None:
    """Read index_id, category and text; the ids are FLORES's, the same in all languages."""
    table = _under_header(files, path, ("index_id", "category", "text"))
    columns: dict[str, Column] = {"text": [row[2] for row in table], "label": [row[1] for row in table]}
    return files.examples([row[0] for row in table], columns, "label")


@of_one_file
def americasnli(files: SplitFiles, path: Path) -> Examples | None:
    """Read id, language, premise, hypothesis and label; units and clusters are those of the pairs in XNLI."""
    table = _under_header(files, path, ("id", "language", "premise", "hypothesis", "label"))
    in_xnli = [_row_in_xnli(files, path, number, row[0]) for number, row in enumerate(table, 2)]
    columns: dict[str, Column] = {
        "text_a": [row[2] for row in table],
        "text_b": [row[3] for row in table],
        "label": [row[4] for row in table],
    }
    return files.examples(
        [row[0] for row in table],
        columns,
        "label",
        units=[f"{files.split}-{row}" for row in in_xnli],
        clusters=[f"{files.split}-{row - row % _HYPOTHESES}" for row in in_xnli],
    )


def _row_in_xnli(files: SplitFiles, path: Path, line: int, identifier: str) -> int:
    row = int(identifier) - _FIRST_LINE[files.split] if identifier.isdecimal() and len(identifier) < 9 else -1
    if row < 0:
        raise DataError(f"{identifier!r:.60} is not the id of an XNLI pair", where=f"{path}:{line}")
    return row


@of_one_file
def nusax(files: SplitFiles, path: Path) -> Examples | None:
    """Read id, text and label from CSV, where texts may have several lines; ids are the same in all languages."""
    table = [row for _, row in csv_records(path, ("id", "text", "label"), files.digest)]
    columns: dict[str, Column] = {name: [row[name] for row in table] for name in ("text", "label")}
    return files.examples([row["id"] for row in table], columns, "label")
