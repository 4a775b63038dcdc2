"""Systems from a CSV of scores: one that `isogloss score --csv` wrote, or any that has a score a line."""

from collections.abc import Mapping
from pathlib import Path

from isogloss.board.entries import BoardEntry, EntryCell
from isogloss.board.model import OVERALL
from isogloss.data.tables import csv_records, finite_number
from isogloss.errors import DataError, UnknownNameError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.results import PARTIAL_GOLD, Number, signature_parts
from isogloss.tasks.registry import canonical, task
from isogloss.tasks.suites import Suite

NEEDED = ("task", "language", "metric", "value")
# Names that say nothing of a system: its folder does.
_NAMELESS = ("scores", "results")
# What may be said of a system in columns of their own, as in its system.toml.
_TEXTS = (
    *("kind", "date", "paper", "url", "open_weights", "pretraining_data", "parallel_data", "translated_data"),
    *("licence", "contamination"),
)
_NUMBERS = ("year", "parameters", "parameters_active", "unparsed", "tokens", "cost")
_OF_LANGUAGES, _AVERAGES = "cell", ("task", "category", OVERALL)


def csv_entries(path: Path, suite: Suite) -> list[BoardEntry]:
    """The systems of a CSV file, in the order of their first lines.

    Args:
        path: the file. It has the columns task, language, metric and value (0..100), and may have system and regime
            (else it is one system, named by the file), level, split, low, high, n, note, signature, source, and what is
            known of a system, by the names of `system.toml`.
        suite: the board's. Lines of its other tasks and languages are left out, and empty values.

    Raises:
        DataError: a column is missing, a line has no such task or number, a score is there twice, or of two splits, or
            none is in the metric of its task.
    """
    found: dict[tuple[str, str], BoardEntry] = {}
    for line, row in csv_records(path, NEEDED):
        where = f"{path}:{line}"
        place = _name(row, path), printable(row.get("regime", ""), NAME_LENGTH).strip()
        entry = found.setdefault(place, BoardEntry(*place, reported=True, source=path.name))
        _add_facts(entry, row, where)
        if row["value"].strip():
            _add_row(entry, row, suite, where)
    for entry in found.values():
        _check_metrics(entry, path)
    return list(found.values())


def _check_metrics(entry: BoardEntry, path: Path) -> None:
    for (name, code), cell in entry.cells.items():
        if not set(task(name).main) & set(cell.metrics):
            what = f"{entry.name} has {', '.join(cell.metrics)} of {name}/{code}, and that is no metric of its score"
            raise DataError(printable(what), where=str(path), fix=f"Give {' and '.join(task(name).main)}")


def _name(row: Mapping[str, str], path: Path) -> str:
    named = printable(row.get("system", ""), NAME_LENGTH).strip()
    return named or (path.resolve().parent.name if path.stem in _NAMELESS else path.stem)


def _add_facts(entry: BoardEntry, row: Mapping[str, str], where: str) -> None:
    for key in _TEXTS:
        if text := row.get(key, "").strip():
            entry.metadata.setdefault(key, text)
    for key in _NUMBERS:
        if text := row.get(key, "").strip():
            entry.metadata.setdefault(key, _number(key, text, where))
    source = row.get("source", "").strip() or row.get("source_table", "").strip()
    if source and entry.reported:
        entry.source = printable(source, FACT_LENGTH)


def _add_row(entry: BoardEntry, row: Mapping[str, str], suite: Suite, where: str) -> None:
    """A score of a language, or an average that lacks nothing; pairs of languages and partial averages are left out."""
    level = row.get("level", _OF_LANGUAGES) or _OF_LANGUAGES
    note = row.get("note", "")
    if level == _OF_LANGUAGES:
        _add_cell(entry, row, suite, where)
    elif level in _AVERAGES and not note.startswith("partial"):
        _add_average(entry, level, row, suite, where)


def _add_cell(entry: BoardEntry, row: Mapping[str, str], suite: Suite, where: str) -> None:
    name, code, metric = _task(row["task"], where), row["language"].strip(), row["metric"].strip()
    if name not in suite.tasks or code not in suite.languages_of(name) or row.get("note") == PARTIAL_GOLD:
        return
    cell = entry.cells.setdefault((name, code), EntryCell({}, row.get("signature", "")))
    if metric in cell.metrics:
        system = f"{entry.name}, {entry.regime}".removesuffix(", ")
        raise DataError(f"a second score of {system}: {name}/{code} {metric}", where=where, fix="Keep one of them")
    cell.metrics[metric] = _score(row, where)
    _add_scorer(entry, cell.signature, row.get("split", "").strip(), where)


def _add_scorer(entry: BoardEntry, signature: str, split: str, where: str) -> None:
    """The split of a system's scores, and the version that made them, where a signature tells."""
    _, known, _ = entry.scorer
    if known and split and known != split:
        what = f"scores of different splits are no comparison: {known}, {printable(split, NAME_LENGTH)}"
        raise DataError(what, where=where, fix="Make a board of each")
    entry.scorer = signature_parts(signature).get("version", ""), printable(split, NAME_LENGTH) or known, ""
    entry.reported = entry.reported and not signature


def _add_average(entry: BoardEntry, level: str, row: Mapping[str, str], suite: Suite, where: str) -> None:
    """The one figure of a task, a category, or of the suite by its own rule."""
    name, wanted = (OVERALL, suite.rule) if level == OVERALL else (row["task"].strip(), SCORE)
    known = {"task": suite.tasks, "category": suite.categories, OVERALL: (OVERALL,)}[level]
    of_suite = level != OVERALL or row["task"].strip() == suite.id
    if name in known and row["metric"] == wanted and of_suite:
        entry.averages[name] = _score(row, where)


def _task(text: str, where: str) -> str:
    try:
        return canonical(text.strip())
    except UnknownNameError as error:
        raise DataError(error.what, where=where, fix=error.fix) from None


def _score(row: Mapping[str, str], where: str) -> Number:
    low, high = (_number(end, text, where) if (text := row.get(end, "").strip()) else None for end in ("low", "high"))
    n = _number("n", text, where) if (text := row.get("n", "").strip()) else 0
    return Number(_number("value", row["value"], where), low, high, int(n))


def _number(name: str, text: str, where: str) -> float:
    number = finite_number(text)
    if number is None:
        what = f"{name} is {printable(text, NAME_LENGTH)!r}, and must be a number"
        raise DataError(what, where=where, fix="Leave the cell empty where there is none")
    return number
