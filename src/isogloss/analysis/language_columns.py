"""Columns of numbers about languages, to set scores against: Wikipedia's size, distances from English, a user's own."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.weights_file import LARGEST
from isogloss.data.files import read_text
from isogloss.data.tables import finite_number
from isogloss.data.uriel import DISTANCES, read_uriel, uriel_folder
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.languages import language
from isogloss.scoring.averages import PIVOT

ARTICLES, LOG_ARTICLES = "articles", "log_articles"
# Names that a user's own column cannot have, since it stands beside these.
TAKEN = frozenset({"system", "task", "language", "family", "fitted", "score", ARTICLES, LOG_ARTICLES, *DISTANCES})


class LanguageColumn(msgspec.Struct, frozen=True):
    """A number about each of some languages.

    Attributes:
        values: by language; those of which nothing is known are not there.
        label: what it is, in words.
        with_english: whether English counts. It does where XTREME counted it; elsewhere it is where transfer comes
            from, and no observation of it.
        predicts: whether a regression on all columns has this one; not what another one has in another form.
    """

    name: str
    values: Mapping[str, float]
    label: str
    with_english: bool = False
    predicts: bool = True


def wikipedia_columns(codes: Sequence[str]) -> list[LanguageColumn]:
    """The size of Wikipedia as XTREME-R's Table 7 has it: in millions of articles, and its logarithm."""
    sizes = {code: size for code in codes if (size := language(code).wikipedia_articles)}
    logs = {code: math.log10(size) for code, size in sizes.items()}
    return [
        LanguageColumn(ARTICLES, sizes, "Wikipedia articles, millions", with_english=True, predicts=False),
        LanguageColumn(LOG_ARTICLES, logs, "Wikipedia articles, log10"),
    ]


def distance_columns(data: Path, codes: Sequence[str]) -> list[LanguageColumn]:
    """URIEL's distances from English: six, five where its files have no places, none where the data have no URIEL.

    Raises:
        DataError: its files are not what they should be.
    """
    if uriel_folder(data) is None:
        return []
    uriel = read_uriel(data, dict.fromkeys((PIVOT, *codes)))
    values = {kind: {code: uriel.distance(kind, PIVOT, code) for code in codes} for kind in uriel.distances}
    # URIEL files Haitian under French; here it is no relative of English, and families left out are left out whole.
    values["genetic"] |= dict.fromkeys((code for code in codes if not _related(code)), 1.0)
    return [LanguageColumn(kind, of, f"{kind} distance (URIEL)") for kind, of in values.items()]


def _related(code: str) -> bool:
    return language(code).family == language(PIVOT).family


def read_columns(path: Path) -> list[LanguageColumn]:
    """A user's own columns: CSV with a header, `language` first; an empty cell says that nothing is known.

    Raises:
        DataError: it cannot be read.
        UnknownNameError: a language does not exist.
        AnalysisError: it is no CSV, the header is another one, a row has too few or too many cells, a language comes
            twice, or a cell is not a number, or too large a one.
    """
    rows = _rows(path)
    _, first = next(rows, ("", []))
    header = [cell.strip() for cell in first]
    names = header[1:]
    if header[:1] != ["language"] or not all(names) or not names or len(set(names)) < len(names):
        fix = "The first line is `language,` and the names of the columns, each once"
        raise AnalysisError("not a table of languages", where=str(path), fix=fix)
    if taken := TAKEN.intersection(names):
        raise AnalysisError(f"a column may not be called {min(taken)}", where=str(path), fix="Give it another name")
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    seen: set[str] = set()
    for where, row in rows:
        if len(row) != len(header):
            raise AnalysisError(f"{len(row)} cells for {len(header)} columns", where=where)
        code = language(row[0].strip()).code
        if code in seen:
            raise AnalysisError(f"{code} comes twice", where=where)
        seen.add(code)
        for name, cell in zip(names, row[1:], strict=True):
            if cell.strip():
                values[name][code] = _number(cell, name, where)
    return [
        LanguageColumn(printable(name, NAME_LENGTH), of, printable(name, NAME_LENGTH)) for name, of in values.items()
    ]


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV file that have cells, and where each is."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        for row in reader:
            if row:
                yield f"{path}:{reader.line_num}", row
    except csv.Error as error:
        raise AnalysisError(f"it is no CSV ({error})", where=f"{path}:{reader.line_num}") from None


def _number(cell: str, name: str, where: str) -> float:
    number = finite_number(cell)
    if number is None:
        what = f"{printable(name, NAME_LENGTH)} is {printable(cell, NAME_LENGTH)!r}, not a number"
        raise AnalysisError(what, where=where, fix="Leave the cell empty where nothing is known")
    if abs(number) > LARGEST:
        what = f"{printable(name, NAME_LENGTH)} is {number:g}, and the largest number here is {LARGEST:g}"
        raise AnalysisError(what, where=where, fix="Give it in larger units")
    return number
