"""What a report is made of: result records and explanations, read from disk where needed, and named."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.report.explain_io import ExplainRecords, read_explain_records
from isogloss.scoring.names import shortest_distinct, system_words
from isogloss.scoring.results import Results
from isogloss.tasks.registry import task


@dataclass(frozen=True)
class ReportInputs:
    """Everything to be shown; systems by the name they are shown under.

    `subtitle`, and `languages` that can be looked for, are for pages without systems.
    """

    systems: dict[str, Results] = field(default_factory=dict)
    explained: ExplainRecords = field(default_factory=ExplainRecords)
    subtitle: str = ""
    languages: tuple[str, ...] = ()


def read_inputs(
    results: Sequence[Path | str | Results], explain: Sequence[Path | str | Analysis | DatasetBias] = ()
) -> ReportInputs:
    """Result records, or folders that have a `results.json`, and what `isogloss explain` found out."""
    records = [each if isinstance(each, Results) else _read_record(_record_file(Path(each))) for each in results]
    # The same system may have been scored on two suites.
    names = shortest_distinct([(*system_words(record.system), record.suite) for record in records])
    return ReportInputs(dict(zip(names, records, strict=True)), read_explain_records(explain))


def _read_record(path: Path) -> Results:
    record = Results.from_json(path)
    for cell in record.cells:
        lacking = [metric for metric in task(cell.task).main if metric not in cell.metrics]
        if lacking:
            what = f"{cell.task}/{cell.language} has no {' and no '.join(lacking)}"
            raise DataError(what, where=str(path), fix="Score the predictions again")
    return record


def _record_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = path / "results.json"
    if not found.is_file():
        fix = "Give a results.json, or a folder with one (RUNS/<system>/<regime>/seed-<n>)"
        raise DataError("has no results.json", where=str(path), fix=fix)
    return found
