"""Numbers by language: Wikipedia size, distances from English, and columns of CSV files."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from isogloss.analysis.finding import AnalysisError
from isogloss.data.files import read_text
from isogloss.data.tables import csv_records, finite_number
from isogloss.data.uriel import DISTANCES, read_uriel, uriel_folder
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.languages import UNKNOWN, known_language, language
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.names import family_of

ARTICLES, LOG_ARTICLES = "articles", "log_articles"
# Reserved column names.
TAKEN = frozenset({"system", "task", "language", "family", "fitted", "score", ARTICLES, LOG_ARTICLES, *DISTANCES})
# Larger than any number of people, articles or tokens.
LARGEST = 1e18


def read_weights(path: Path, column: str) -> dict[str, float]:
    """Return the numbers of a column by language code, without empty cells."""
    weights: dict[str, float] = {}
    for line, row in csv_records(path, ("language", column)):
        text = row[column].strip()
        if not text:
            continue
        value = finite_number(text)
        if value is None or not 0 <= value <= LARGEST:
            raise AnalysisError(f"{column} is {text[:40]!r}", where=f"{path}:{line}", fix="Use a non-negative number")
        weights[language(row["language"]).code] = value
    if not any(weights.values()):
        raise AnalysisError(f"no language has any {column}", where=str(path))
    return weights


class LanguageColumn(msgspec.Struct, frozen=True, kw_only=True):
    """One number per language, without unknown ones.

    Attributes:
        with_english: True to include English, as XTREME did; by default it is excluded as the source of transfer.
        predicts: True to use the column in regressions; False for transformed copies of others.
    """

    name: str
    values: Mapping[str, float]
    label: str
    with_english: bool = False
    predicts: bool = True


def later_sizes_notes(codes: Iterable[str]) -> list[str]:
    """Return a note if Wikipedia sizes of some languages are more recent than XTREME-R's."""
    known = (entry for code in codes if (entry := known_language(code)) is not None)
    is_any = any(entry.paper_name is None and entry.wikipedia_articles is not None for entry in known)
    return ["Wikipedia sizes of languages beyond the papers are from June 2026 (Wikistats)"] if is_any else []


def wikipedia_columns(codes: Sequence[str]) -> list[LanguageColumn]:
    """Return the size of Wikipedia, in millions of articles, and its logarithm."""
    known = {code: entry for code in codes if (entry := known_language(code)) is not None}
    sizes = {code: size for code, entry in known.items() if (size := entry.wikipedia_articles)}
    logs = {code: math.log10(size) for code, size in sizes.items()}
    label = "Wikipedia articles, millions"
    return [
        LanguageColumn(name=ARTICLES, values=sizes, label=label, with_english=True, predicts=False),
        LanguageColumn(name=LOG_ARTICLES, values=logs, label="Wikipedia articles, log10"),
    ]


def distance_columns(data: Path, codes: Sequence[str]) -> list[LanguageColumn]:
    """Return URIEL's distances from English: six, five without coordinates, none without URIEL in the data folder."""
    if uriel_folder(data) is None:
        return []
    uriel = read_uriel(data, dict.fromkeys((PIVOT, *codes)), skip_missing=True)
    described = [code for code in codes if code in uriel.languages]
    values = {kind: {code: uriel.distance(kind, PIVOT, code) for code in described} for kind in uriel.distances}
    # URIEL relates Haitian to English through French, but the registry, which defines the held-out families, does not.
    family = family_of(PIVOT)
    values["genetic"] |= dict.fromkeys((code for code in described if family_of(code) not in (family, UNKNOWN)), 1.0)
    return [LanguageColumn(name=kind, values=own, label=f"{kind} distance (URIEL)") for kind, own in values.items()]


def read_columns(path: Path) -> list[LanguageColumn]:
    """Read columns from a CSV with a header, `language` first; empty cells are unknown."""
    rows = _rows(path)
    _, first = next(rows, ("", []))
    header = [cell.strip() for cell in first]
    names = header[1:]
    if header[:1] != ["language"] or not all(names) or not names or len(set(names)) < len(names):
        fix = "Start with a header: `language,` and distinct column names"
        raise AnalysisError("not a table of languages", where=str(path), fix=fix)
    if taken := TAKEN.intersection(names):
        raise AnalysisError(f"reserved column name {min(taken)}", where=str(path), fix="Rename the column")
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    seen: set[str] = set()
    for where, row in rows:
        if len(row) != len(header):
            raise AnalysisError(f"{len(row)} cells for {len(header)} columns", where=where)
        code = language(row[0].strip()).code
        if code in seen:
            raise AnalysisError(f"duplicate language {code}", where=where)
        seen.add(code)
        for name, cell in zip(names, row[1:], strict=True):
            if cell.strip():
                values[name][code] = _number(cell, printable(name, NAME_LENGTH), where)
    shown = [printable(name, NAME_LENGTH) for name in names]
    return [LanguageColumn(name=name, values=own, label=name) for name, own in zip(shown, values.values(), strict=True)]


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the non-empty rows of a CSV file with their location."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        for row in reader:
            if row:
                yield f"{path}:{reader.line_num}", row
    except csv.Error as error:
        raise AnalysisError(f"invalid CSV ({error})", where=f"{path}:{reader.line_num}") from None


def _number(cell: str, name: str, where: str) -> float:
    number = finite_number(cell)
    if number is None:
        what = f"{name} is {printable(cell, NAME_LENGTH)!r}, not a number"
        raise AnalysisError(what, where=where, fix="Leave unknown cells empty")
    if abs(number) > LARGEST:
        what = f"{name} is {number:g}, above the maximum {LARGEST:g}"
        raise AnalysisError(what, where=where, fix="Use larger units")
    return number
