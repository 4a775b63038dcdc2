"""A user's own number for each language, from a CSV."""

import csv
import io
import math
from pathlib import Path

from isogloss.analysis.finding import AnalysisError
from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.languages import language


def read_weights(path: Path, column: str) -> dict[str, float]:
    """The numbers of a column by language code; empty cells are left out.

    Raises:
        DataError: the file has no such column, or none called language.
        AnalysisError: a number is negative or none, or all are missing.
    """
    reader = csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8-sig", errors="replace")))
    for name in ("language", column):
        if name not in (reader.fieldnames or ()):
            raise DataError(f"has no column {name}", where=str(path), fix=f"Give the columns language and {column}")
    found: dict[str, float] = {}
    for row in reader:
        text = (row[column] or "").strip()
        if not text:
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            where = f"{path}:{reader.line_num}"
            raise AnalysisError(f"{column} is {text[:40]!r}", where=where, fix="Give a number that is not negative")
        found[language(row["language"] or "").code] = value
    if not any(found.values()):
        raise AnalysisError(f"no language has any {column}", where=str(path))
    return found
