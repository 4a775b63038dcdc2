"""Export of the published systems as Every Eval Ever records, a format that collects evaluations from many sources.

All records are written with the pages, because computing them for 1,000 systems takes seconds. The file has JSON lines,
packed with one gzip member per system, from which the API reads single records by an index.
"""

import gzip
from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from isogloss.data.files import Stamp, stamp
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.results import CellScore, Number
from isogloss.tasks.registry import task

if TYPE_CHECKING:  # the builder of the pages imports this module
    from isogloss.board.server.pages import PublishedSystem

EVERY_EVAL_EVER = "0.2.1"  # version of the format
RECORDS = "every-eval-ever.jsonl.gz"
_INDEX = "every-eval-ever.index"


class IndexedRecord(NamedTuple):
    """Position of a system's record in the file, by the id of its submission."""

    submission: int
    start: int
    size: int


def write_records(systems: Iterable[tuple[int, "PublishedSystem"]], board: str, folder: Path) -> None:
    """Write the records of all systems, given with the ids of their submissions in increasing order, and the index."""
    index: list[IndexedRecord] = []
    with (folder / RECORDS).open("wb") as stream:
        for submission, system in systems:
            line = msgspec.json.encode(evaluation_record(system, board)) + b"\n"
            index.append(IndexedRecord(submission, stream.tell(), stream.write(gzip.compress(line, 6, mtime=0))))
    (folder / _INDEX).write_bytes(msgspec.json.encode(index))


def record_page(site: Path, after: int, limit: int) -> tuple[list[bytes], int | None]:
    """Return encoded records of submissions after an id, and the id to continue after; none before the first build."""
    site = site.resolve()
    try:
        index = _read_index(site / _INDEX, stamp(site / _INDEX))
        first = bisect_right(index, after, key=lambda entry: entry.submission)
        page = index[first : first + limit]
        with (site / RECORDS).open("rb") as stream:
            stream.seek(page[0].start if page else 0)
            records = [gzip.decompress(stream.read(entry.size)).removesuffix(b"\n") for entry in page]
    except FileNotFoundError:
        return [], None
    return records, page[-1].submission if first + limit < len(index) else None


@lru_cache(maxsize=8)
def _read_index(path: Path, _stamp: Stamp) -> list[IndexedRecord]:
    return msgspec.json.decode(path.read_bytes(), type=list[IndexedRecord])


def evaluation_record(system: "PublishedSystem", board: str) -> dict[str, Any]:
    """Return the record of a published system: one result per task, language and metric."""
    at = datetime.strptime(system.published_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    seconds = str(int(at.timestamp()))
    details = {name: str(value) for name, value in system.system.items() if name != "name"}
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{system.results.suite}/{system.id}/{seconds}",
        "evaluation_timestamp": system.published_at,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": board,
            "source_type": "evaluation_run",
            "source_organization_name": board,
            "evaluator_relationship": "third_party",
            "additional_details": {"team": system.team, "submissions_scored_by_then": str(system.attempts)},
        },
        "eval_library": {
            "name": "isogloss",
            "version": system.results.isogloss,
            "additional_details": {"suite": system.results.suite, "rule": system.results.overall.rule},
        },
        "model_info": {"name": system.system["name"], "id": system.id, "additional_details": details},
        "evaluation_results": [
            _result(cell, metric, number) for cell in system.results.cells for metric, number in cell.metrics.items()
        ],
    }


def _result(cell: CellScore, metric: str, number: Number) -> dict[str, Any]:
    entry = task(cell.task)
    homepage = {"source_type": "url", "url": [entry.homepage]} if entry.homepage else {"source_type": "other"}
    uncertainty: dict[str, Any] = {"num_samples": number.n}
    if number.low is not None and number.high is not None:
        interval = {"lower": number.low, "upper": number.high, "confidence_level": 0.95, "method": "Wilson, by source"}
        uncertainty["confidence_interval"] = interval
    return {
        "evaluation_name": f"{cell.task}/{cell.language}/{metric}",
        "source_data": {"dataset_name": cell.task, **homepage},
        "metric_config": {
            "evaluation_description": f"{metric} of {entry.title} in {cell.language}, {cell.split}",
            "lower_is_better": lower_is_better(cell.task, metric),
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {
            "score": number.value,
            "details": {"language": cell.language, "signature": cell.signature},
            "uncertainty": uncertainty,
        },
    }
