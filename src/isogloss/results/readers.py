"""Read systems from result records, run folders, folders of seeds, CSV files and published tables."""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from warnings import warn

import msgspec

from isogloss.data.files import read_bytes, read_text
from isogloss.decoding import decode_json, decode_python_json
from isogloss.errors import DamagedFileError, DataError
from isogloss.figures import counted
from isogloss.languages import known_language
from isogloss.predictions.folder import PredictionFolder, tasks_in
from isogloss.predictions.run_folders import run_folders
from isogloss.reply_outcomes import ReplyCounts
from isogloss.results.contamination import contamination_beside, contamination_footnotes
from isogloss.results.csv_scores import read_csv
from isogloss.results.interchange import read_reported
from isogloss.results.interchange.reported import joined
from isogloss.results.metadata import public_metadata, unparsed_share
from isogloss.results.published_scores import is_published, read_published
from isogloss.results.system import NO_RECORD, OVERALL, CellResult, Scorer, SystemErrorRate, SystemResult
from isogloss.scoring.names import system_words
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Number, Results
from isogloss.scoring.score import score_request
from isogloss.tasks.pseudo_sets import PSEUDO_SPLITS
from isogloss.tasks.registry import CHECKLIST_TASKS, task
from isogloss.tasks.suites import Suite

FIX = (
    "Pass a results.json, a CSV of scores, results of lm-eval, mteb or inspect_ai, a run folder, a folder of seeds, "
    "published, published:all or published:NAME"
)
RECORD, SUMMARY = "results.json", "summary.json"
# Allow for rounding errors.
_HIGHEST = 100.001
_MOST_EXAMPLES = 10**9


class _MeanOverSeeds(msgspec.Struct, frozen=True):
    mean: float
    missing: list[str] = []
    low: float | None = None
    high: float | None = None


class _SeedSummary(msgspec.Struct, frozen=True):
    """Fields of a run's `summary.json` with averages over seeds."""

    suite: str
    split: str
    tasks: dict[str, _MeanOverSeeds]
    overall: _MeanOverSeeds | None = None


def listed_sources(given: Any) -> list[Path | str | Results]:
    """Return one source or several as a list.

    Raises:
        DataError: no source, or an object that is neither a result record nor a path.
    """
    one = isinstance(given, str | os.PathLike | Results) or not isinstance(given, Iterable)
    sources = [given] if one else list(given)
    for source in sources:
        if not isinstance(source, str | os.PathLike | Results):
            what = f"expected results or their path, got {type(source).__name__}"
            raise DataError(what, fix="Score predictions with isogloss.score, and pass the results")
    if not sources:
        raise DataError("no results", fix="Pass results of isogloss.score, a results.json or a run folder")
    return [source if isinstance(source, str | Results) else Path(source) for source in sources]


def read_results(
    sources: Iterable[Path | str | Results], suite: Suite | None = None, request: Request | None = None
) -> list[SystemResult]:
    """Read the systems of some sources, in order.

    Args:
        sources: result records, paths of them, run folders, folders of seeds (read as the mean over seeds), CSV files
            of scores, "published" for the papers' systems, "published:all", or "published:NAME" for a system or group.
        suite: suite to restrict cells and averages to; by default all cells that enter an average of their source.
        request: cells to score in prediction folders without a record; by default such folders are an error.

    Raises:
        DataError: a source cannot be read, or a score is out of range.
        UnknownNameError: unknown task, language or published system.
    """
    systems = join_files([system for source in sources for system in _read(source, suite, request)], suite)
    for system in systems:
        cells = [("/".join(key), number) for key, cell in system.cells.items() for number in cell.metrics.values()]
        for name, number in (*cells, *system.averages.items()):
            # Correlations may be negative.
            values = [value for value in (number.value, number.low, number.high) if value is not None]
            if not all(-_HIGHEST <= value <= _HIGHEST for value in values) or not 0 <= number.n < _MOST_EXAMPLES:
                what = f"the score of {name} is {number.value:g} from {number.n} examples; expected 0 to 100"
                raise DataError(what, where=system.source, fix="Correct or remove the score")
    return systems


def _read(source: Path | str | Results, suite: Suite | None, request: Request | None) -> list[SystemResult]:
    if isinstance(source, Results):
        return [system_of_record(source, "results in memory", suite)]
    if isinstance(source, str) and is_published(source):
        return read_published(source, suite)
    path = Path(source)
    if path.is_dir():
        folders = _system_folders(path) if request is not None else [path]
        return [_read_folder(folder, suite, request) for folder in folders]
    if path.suffix.lower() == ".csv":
        return read_csv(path, suite)
    return [system_of_record(record, str(path), suite) for record in read_records(path)]


def join_files(systems: Iterable[SystemResult], suite: Suite | None = None) -> list[SystemResult]:
    """Join the systems of several files of another tool that report different cells of one system."""
    kept: list[SystemResult] = []
    for system in systems:
        for row, earlier in enumerate(kept if system.record.cells and system.reported else ()):
            if earlier.record.cells and (record := joined(earlier.record, system.record)) is not None:
                kept[row] = system_of_record(record, f"{earlier.source}, {system.source}", suite)
                break
        else:
            kept.append(system)
    return kept


def read_records(path: Path) -> list[Results]:
    """Read the result records of a file, one or several, or that of a run folder; raise DataError if there is none.

    The file may also be of another tool: its scores are reported, without a version of ours.
    """
    if path.is_dir():
        return [read_record(path)]
    try:
        return Results.list_from_json(path)
    except DamagedFileError as error:
        reported = _reported_in(path)
        if reported is None:
            raise DamagedFileError(error.what, where=error.where, fix=error.fix or FIX) from None
        return [reported]


def _reported_in(path: Path) -> Results | None:
    """Read the results of another tool, or return None if the file is not JSON or of an unknown tool."""
    if path.suffix == ".eval":  # a ZIP archive, packed in a way that Python cannot read before 3.14
        fix = f"Run inspect log convert {shlex.quote(str(path))} --to json --output-dir logs"
        raise DataError("a log in inspect_ai's binary format", where=str(path), fix=fix)
    try:
        decoded = decode_python_json(read_text(path), str(path))
    except DamagedFileError:
        return None
    return read_reported(path, decoded)


def read_record(path: Path) -> Results:
    """Read a result record, or that of a run folder; raise DataError if there is none.

    The record of a run folder includes its cells on pseudo test sets, in languages that the task does not have.
    """
    if path.is_dir():
        path /= RECORD
        if not path.is_file():
            fix = f"Pass a {RECORD}, or a folder with one (RUNS/<system>/<regime>/seed-<n>)"
            raise DataError(f"missing {RECORD}", where=str(path.parent), fix=fix)
        return _with_pseudo_cells(Results.from_json(path), path.parent)
    return Results.from_json(path)


def _with_pseudo_cells(record: Results, folder: Path) -> Results:
    """Return a record with the pseudo cells of the same run, if it has any."""
    path = folder / f"{PSEUDO_SPLITS.get(record.split, '')}-{RECORD}"
    if not path.is_file() or any(map(record.is_apart, record.cells)):
        return record
    further = [cell for cell in Results.from_json(path).cells if cell.language not in task(cell.task).every_language]
    return msgspec.structs.replace(record, cells=[*record.cells, *further])


def _has_results(path: Path) -> bool:
    """Return True if a folder has a result record or predictions, possibly in folders of seeds."""
    runs = (path, *run_folders(path).values())
    return any((run / RECORD).is_file() or tasks_in(run) for run in runs)


def _system_folders(path: Path) -> list[Path]:
    """Return the folders of systems in a folder: itself, or those in it with results."""
    if _has_results(path):
        return [path]
    return [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _has_results(folder)] or [path]


def _read_folder(path: Path, suite: Suite | None, request: Request | None) -> SystemResult:
    runs = list(run_folders(path).values())
    if (path / RECORD).is_file():
        system = system_of_record(read_record(path), str(path), suite)
    else:
        records = [read_record(run) for run in runs if (run / RECORD).is_file()]
        if not records and request is not None and any(map(tasks_in, runs)):
            records = [score_request(path, request)]
        if not records:
            raise DataError(f"missing {RECORD}, here and in seed-<n> folders", where=str(path), fix=FIX)
        system = _mean_over_seeds([system_of_record(record, str(path), suite) for record in records])
        if suite is not None and len(records) > 1 and (path / SUMMARY).is_file():
            summary = decode_json(read_bytes(path / SUMMARY), str(path / SUMMARY), _SeedSummary)
            means = summary.tasks | ({OVERALL: summary.overall} if summary.overall else {})
            averages = {
                name: Number(over.mean, over.low, over.high, 0) for name, over in means.items() if not over.missing
            }
            is_same = (summary.suite, summary.split) == (suite.id, records[0].split)
            system = replace(system, averages=averages if is_same else {})
    system = with_contamination(system, path, suite)
    if suite is None:
        return system
    answered = [run for run in runs if any(PredictionFolder(run).has(member) for member in suite.members.values())]
    return replace(system, predictions=tuple(answered))


def with_contamination(system: SystemResult, path: Path, suite: Suite | None = None) -> SystemResult:
    """Return a system with the contamination probes recorded beside its runs, also as footnotes."""
    findings = tuple(each for each in contamination_beside(path) if suite is None or each.task in suite.tasks)
    return replace(system, contamination=findings, footnotes=system.footnotes + contamination_footnotes(findings))


def _mean_over_seeds(seeds: Sequence[SystemResult]) -> SystemResult:
    """Return the mean over seeds of the cells that all of them have, without intervals, which need the examples."""
    first, count = seeds[0], len(seeds)
    if count == 1:
        return first
    source = f"{first.source}, mean of {count} seeds"
    cells = _mean_cells([seed.cells for seed in seeds], source)
    pseudo = _mean_cells([seed.pseudo for seed in seeds], source)
    metadata = {key: value for key, value in first.metadata.items() if key != "seed"}
    return replace(
        first,
        seed="",
        metadata=metadata,
        cells=cells,
        pseudo=pseudo,
        averages={},
        gaps={},
        source=source,
        record=NO_RECORD,
    )


def _mean_cells(
    seeds: Sequence[Mapping[tuple[str, str], CellResult]], source: str
) -> dict[tuple[str, str], CellResult]:
    """Return the mean over seeds of the cells that all of them have."""
    cells, count = {}, len(seeds)
    for key in seeds[0]:
        if all(key in seed for seed in seeds):
            same = [seed[key] for seed in seeds]
            metrics = {
                name: Number(sum(cell.metrics[name].value for cell in same) / count, None, None, number.n)
                for name, number in same[0].metrics.items()
                if all(name in cell.metrics for cell in same)
            }
            shares = [cell.unanswered for cell in same if cell.unanswered is not None]
            cells[key] = replace(
                same[0],
                metrics=metrics,
                notes=(*same[0].notes, f"mean of {count} seeds"),
                unanswered=sum(shares) / len(shares) if shares else None,
                replies=ReplyCounts.total(cell.replies for cell in same),
                source=source,
            )
    return cells


def system_of_record(record: Results, source: str, suite: Suite | None = None) -> SystemResult:
    """Return the system of a result record, restricted to a suite; averages must be of the same suite.

    Within a suite, for boards, cells estimated from a subset are left out.
    """
    name, regime, seed = system_words(record.system)
    metadata = public_metadata(record.system)
    members = {(average.name, code) for average in record.tasks for code in average.members}

    def is_included(cell: CellScore) -> bool:
        if suite is None:
            return (cell.task, cell.language) in members and not record.is_apart(cell)
        in_suite = cell.task in suite.tasks and cell.language in suite.languages_of(cell.task)
        return in_suite and not cell.partial and not cell.subset and not record.is_apart(cell)

    if suite is not None and (estimated := sum(bool(cell.subset) for cell in record.cells)):
        cells_text = counted(estimated, "cell")
        warn(f"{name}: {cells_text} estimated from subsets left out: boards rank complete test sets", stacklevel=2)
    size: Any = metadata.get("parameters")
    cell_of = partial(_cell_result, metadata, source)
    cells = {(cell.task, cell.language): cell_of(cell) for cell in filter(is_included, record.cells)}
    apart = [cell for cell in record.cells if record.is_apart(cell) and not cell.subset]
    inside = [cell for cell in apart if suite is None or cell.task in suite.tasks]
    pseudo = {(cell.task, cell.language): cell_of(cell) for cell in inside}
    is_reported = not record.isogloss
    comparable = suite is None or (record.suite == suite.id and record.split != "best")
    return SystemResult(
        name=name,
        regime=regime,
        seed=seed,
        suite=record.suite,
        metadata=metadata,
        parameters=float(size) if type(size) in (int, float) and size > 0 else None,
        cells=cells,
        pseudo={key: cell for key, cell in pseudo.items() if key not in cells},
        averages=_record_averages(record, suite) if suite is not None and comparable and not is_reported else {},
        gaps={average.name: average.gap for average in record.tasks if average.gap is not None} if comparable else {},
        checklist=_error_rates(record) if record.suite == "checklist" else (),
        reported=is_reported,
        source=source,
        scorer=Scorer(version=record.isogloss, split=record.split, resample=record.resample),
        record=record,
    )


def _cell_result(metadata: Mapping[str, Any], source: str, cell: CellScore) -> CellResult:
    share = unparsed_share(metadata, cell.task, cell.language)
    return CellResult(
        task=task(cell.task),
        code=cell.language,
        language=known_language(cell.language),
        metrics=cell.metrics,
        signature=cell.signature,
        notes=tuple(filter(None, (cell.subset_note, *cell.notes))),
        unanswered=_unanswered(cell) if share is None else share,
        replies=cell.replies or None,
        source=source,
        estimated=bool(cell.subset),
    )


def _unanswered(cell: CellScore) -> float:
    """Return the share of examples without an answer; over several runs, counts of replies tell their mean."""
    return cell.replies.unparsed if cell.replies else cell.unanswered or 0.0


def _record_averages(record: Results, suite: Suite) -> dict[str, Number]:
    """Return the averages that cover all their languages or tasks, with intervals; none estimated from a subset."""
    averages = {}
    estimated = {cell.task for cell in record.cells if cell.subset}
    for average in record.tasks:
        complete = average.name in suite.tasks and set(suite.languages_of(average.name)) <= set(average.members)
        if complete and not average.missing and average.name not in estimated:
            averages[average.name] = average.score
    for average in record.categories:
        if set(suite.categories.get(average.name, "?")) <= set(averages):
            averages[average.name] = average.score
    if record.overall.score is not None and set(suite.tasks) <= set(averages):
        averages[OVERALL] = record.overall.score
    return averages


def _error_rates(record: Results) -> tuple[SystemErrorRate, ...]:
    rates = []
    for cell in record.cells:
        number = cell.metrics.get(task(cell.task).main[0]) if cell.task in CHECKLIST_TASKS else None
        if number is not None:
            test, ends = cell.task.removeprefix("checklist-"), {"low": number.low, "high": number.high}
            rates.append(SystemErrorRate(test=test, language=cell.language, value=cell.score, **ends))
    return tuple(rates)
