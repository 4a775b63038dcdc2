"""What a board is made from: result records, CSVs of scores, run folders, folders of seeds, and published systems."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from isogloss.analysis.published_scores import is_published
from isogloss.board.csv_scores import csv_entries
from isogloss.board.entries import BoardEntry, EntryCell, by_place
from isogloss.board.facts import said_unparsed
from isogloss.board.metadata import public_metadata
from isogloss.board.model import OVERALL, SystemErrorRate
from isogloss.board.published import published_entries
from isogloss.data.files import read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.predictions.align import unanswered_share
from isogloss.predictions.folder import PredictionFolder
from isogloss.runs.summary import RunSummary
from isogloss.scoring.results import Number, Results
from isogloss.scoring.seeds import seed_folders
from isogloss.tasks.registry import CHECKLIST_TASKS, task
from isogloss.tasks.suites import Suite

FIX = (
    "Give a results.json, a CSV of scores, a run folder, a folder of seeds, published, published:all or published:NAME"
)
RECORD, SUMMARY = "results.json", "summary.json"
_CHECKLIST = "checklist-"
_LARGEST = 100.001


def read_entries(sources: Iterable[Path | str | Results], suite: Suite) -> list[BoardEntry]:
    """The systems of some sources, in their order.

    A record of the checklist belongs to the system of the same name and regime, where there is one.

    Raises:
        DataError: a source is not what it should be, none has anything of the suite, or they are of different splits.
        UnknownNameError: there is no such published system.
    """
    entries = [entry for source in sources for entry in _read(source, suite)]
    found = [entry for entry in entries if entry.cells or entry.averages]
    of_suite = by_place(found)
    for entry in entries:
        owners = of_suite.get((entry.name, entry.regime), [])
        if entry.checklist and not entry.cells and len(owners) == 1:
            owners[0].checklist = entry.checklist
    if not found:
        raise DataError(f"there are no scores of {suite.id}", fix=FIX)
    for entry in found:
        _refuse_strange_numbers(entry)
    splits = {entry.scorer[1] or "test": entry.source for entry in found}
    if len(splits) > 1:
        what = f"scores of different splits are no comparison: {', '.join(splits)}"
        raise DataError(what, where=list(splits.values())[-1], fix="Make a board of each")
    return found


def _refuse_strange_numbers(entry: BoardEntry) -> None:
    of_cells = [("/".join(place), number) for place, cell in entry.cells.items() for number in cell.metrics.values()]
    for place, number in (*of_cells, *entry.averages.items()):
        ends = (number.value if end is None else end for end in (number.low, number.high))
        if not all(-_LARGEST <= value <= _LARGEST for value in (number.value, *ends)):
            what = f"the score of {place} is {number.value:g}, and scores go from 0 to 100"
            raise DataError(what, where=entry.source, fix="Score the predictions again")


def _read(source: Path | str | Results, suite: Suite) -> list[BoardEntry]:
    if isinstance(source, Results):
        return [entry_of_record(source, "results in memory", suite)]
    if isinstance(source, str) and is_published(source):
        return published_entries(source, suite)
    path = Path(source)
    if path.suffix.lower() == ".csv":
        return csv_entries(path, suite)
    return [_of_folder(path, suite) if path.is_dir() else entry_of_record(Results.from_json(path), str(path), suite)]


def _of_folder(path: Path, suite: Suite) -> BoardEntry:
    """A run folder with its record, or several seeds of one system."""
    runs = [Path(str(run)) for run in seed_folders(path).values()]
    if (path / RECORD).is_file():
        entry = entry_of_record(Results.from_json(path / RECORD), str(path), suite)
        entry.predictions = _with_answers(runs, suite)
        return entry
    records = [Results.from_json(run / RECORD) for run in runs if (run / RECORD).is_file()]
    if not records:
        raise DataError(f"has no {RECORD}, and no seed-<n> folders that have one", where=str(path), fix=FIX)
    entry = _over_seeds([entry_of_record(record, str(path), suite) for record in records])
    if len(records) > 1 and (path / SUMMARY).is_file():
        summary: RunSummary = decode_json(read_bytes(path / SUMMARY), str(path / SUMMARY), RunSummary)
        if summary.suite == suite.id and summary.split == records[0].split:
            _add_summary(entry, summary)
    entry.predictions = _with_answers(runs, suite)
    return entry


def _with_answers(runs: Iterable[Path], suite: Suite) -> list[Path]:
    return [run for run in runs if any(PredictionFolder(run).has(task(name)) for name in suite.tasks)]


def _over_seeds(entries: Sequence[BoardEntry]) -> BoardEntry:
    """The mean over the seeds of what all of them have; without intervals, which need the examples."""
    first = entries[0]
    if len(entries) == 1:
        return first
    first.metadata = {key: value for key, value in first.metadata.items() if key != "seed"}
    first.source += f", mean of {len(entries)} seeds"
    first.averages.clear()
    first.gaps.clear()
    shared = [place for place in first.cells if all(place in entry.cells for entry in entries)]
    first.cells = {place: _mean_cell([entry.cells[place] for entry in entries]) for place in shared}
    return first


def _mean_cell(cells: Sequence[EntryCell]) -> EntryCell:
    first = cells[0]
    metrics = {
        name: Number(sum(cell.metrics[name].value for cell in cells) / len(cells), None, None, number.n)
        for name, number in first.metrics.items()
        if all(name in cell.metrics for cell in cells)
    }
    unparsed = [cell.unparsed for cell in cells if cell.unparsed is not None]
    notes = [*first.notes, f"mean of {len(cells)} seeds"]
    return EntryCell(metrics, first.signature, notes, sum(unparsed) / len(unparsed) if unparsed else None)


def _add_summary(entry: BoardEntry, summary: RunSummary) -> None:
    """The averages over seeds with their intervals, where the summary has them in full."""
    for name, over in summary.averages.items():
        if not over.missing:
            entry.averages[name] = Number(over.mean, over.low, over.high, 0)


def entry_of_record(record: Results, source: str, suite: Suite) -> BoardEntry:
    """A system as its result record has it: its cells of a suite, and the averages that lack nothing.

    Args:
        record: the record.
        source: where it is from, in words.
        suite: the board's. Of records of another suite only the cells count.
    """
    name, regime = (printable(str(record.system.get(key) or ""), NAME_LENGTH) for key in ("name", "regime"))
    scorer = record.isogloss, record.split, record.resample
    entry = BoardEntry(name or "system", regime, public_metadata(record.system), source=source, scorer=scorer)
    for cell in record.cells:
        inside = cell.language in suite.languages_of(cell.task) if cell.task in suite.tasks else False
        if inside and not cell.partial:
            share = said_unparsed(entry.metadata, cell.task, cell.language)
            entry.cells[cell.task, cell.language] = EntryCell(
                dict(cell.metrics),
                cell.signature,
                list(cell.notes),
                unanswered_share(cell.notes) if share is None else share,
            )
    if record.suite == suite.id and record.split != "best":
        _add_averages(entry, record, suite)
    if record.suite == "checklist":
        entry.checklist = _error_rates(record)
    return entry


def _add_averages(entry: BoardEntry, record: Results, suite: Suite) -> None:
    """The averages over all that they should be over, with their intervals."""
    for average in record.tasks:
        whole = average.name in suite.tasks and set(suite.languages_of(average.name)) <= set(average.members)
        if whole and not average.missing:
            entry.averages[average.name] = average.score
    for average in record.categories:
        if set(suite.categories.get(average.name, "?")) <= set(entry.averages):
            entry.averages[average.name] = average.score
    if record.overall.score is not None and set(suite.tasks) <= set(entry.averages):
        entry.averages[OVERALL] = record.overall.score
    entry.gaps = {average.name: average.gap for average in record.tasks if average.gap is not None}


def _error_rates(record: Results) -> list[SystemErrorRate]:
    return [
        SystemErrorRate(
            cell.task.removeprefix(_CHECKLIST),
            cell.language,
            cell.score,
            cell.metrics[main].low,
            cell.metrics[main].high,
        )
        for cell in record.cells
        if cell.task in CHECKLIST_TASKS and (main := task(cell.task).main[0]) in cell.metrics
    ]
