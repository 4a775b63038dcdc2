"""Export of the published systems as Every Eval Ever records, a format that collects evaluations from many sources.

All records are written with the pages, because computing them for 1,000 systems takes seconds. The file has JSON lines,
packed with one gzip member per system, from which the API reads single records by an index.
"""

import gzip
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from isogloss.data.files import Stamp, stamp
from isogloss.results.interchange import every_eval_ever
from isogloss.results.interchange.every_eval_ever import EvaluationSource

if TYPE_CHECKING:  # the builder of the pages imports this module
    from isogloss.board.server.pages import PublishedSystem

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
    details = {"team": system.team, "submissions_scored_by_then": str(system.attempts)}
    source = EvaluationSource(name=board, relationship="third_party", details=details)
    return every_eval_ever.evaluation_record(system.results, system.system, source, system.id, system.published_at)
