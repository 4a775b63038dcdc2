"""A user's own number for each language, from a CSV."""

from pathlib import Path

from isogloss.analysis.finding import AnalysisError
from isogloss.data.tables import csv_records, finite_number
from isogloss.languages import language

# Beyond any number of people, articles or tokens.
LARGEST = 1e18


def read_weights(path: Path, column: str) -> dict[str, float]:
    """The numbers of a column by language code; empty cells are left out.

    Raises:
        DataError: the file has no such column, or none called language.
        AnalysisError: a number is negative or none, or all are missing.
    """
    found: dict[str, float] = {}
    for line, row in csv_records(path, ("language", column)):
        text = row[column].strip()
        if not text:
            continue
        value = finite_number(text)
        if value is None or not 0 <= value <= LARGEST:
            raise AnalysisError(
                f"{column} is {text[:40]!r}", where=f"{path}:{line}", fix="Give a number that is not negative"
            )
        found[language(row["language"]).code] = value
    if not any(found.values()):
        raise AnalysisError(f"no language has any {column}", where=str(path))
    return found
