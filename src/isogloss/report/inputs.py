"""What a report is made of: result records and explanations, read from disk and named."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isogloss.errors import DataError
from isogloss.report.explain_io import Explained, distinct, read_explained, system_words
from isogloss.scoring.results import Results


@dataclass(frozen=True)
class Inputs:
    """Everything to be shown, by the name it is shown under."""

    systems: dict[str, Results] = field(default_factory=dict)
    explained: Explained = field(default_factory=Explained)


def read_inputs(results: Sequence[Path], explain: Sequence[Path] = ()) -> Inputs:
    """Read records, or folders that have a `results.json`, and what else is to be shown beside them."""
    records = [Results.from_json(_record(path)) for path in results]
    names = distinct([system_words(record.system) for record in records])
    return Inputs(dict(zip(names, records, strict=True)), read_explained(explain))


def _record(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = path / "results.json"
    if not found.is_file():
        fix = "Give a results.json, or a folder with one (RUNS/<system>/<regime>/seed-<n>)"
        raise DataError("has no results.json", where=str(path), fix=fix)
    return found
