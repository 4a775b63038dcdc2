"""Order of systems by paired tests on the same examples, if the folders of their records have predictions."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from isogloss.errors import IsoglossError
from isogloss.metrics.ordering import Ordering
from isogloss.results.readers import RECORD
from isogloss.results.system import SystemResult
from isogloss.scoring.compare import SystemRuns, compare_systems
from isogloss.scoring.request import Request, Resample
from isogloss.scoring.results import Results
from isogloss.scoring.score import judged_systems
from isogloss.tasks.loading import data_folder
from isogloss.tasks.suites import Suite

# Maximum number of systems to test in pairs.
MOST_TESTED = 16
# Records and predictions with a larger difference of overall scores, in points, do not belong together.
_ROUNDING = 1e-6


def example_order(systems: Mapping[str, SystemResult], data: Path | None = None) -> Ordering | None:
    """Return the order of complete systems by overall score, in the systems' sequence, with the verdicts of `compare`.

    Args:
        systems: systems with the same cells, by name.
        data: data folder; default ISOGLOSS_DATA or the user's cache folder.

    Returns:
        None without predictions of every system or without gold, with more than `MOST_TESTED` systems, and if the
        predictions do not give the recorded scores.
    """
    folders = [_record_folder(system.source) for system in systems.values()]
    present = [folder for folder in folders if folder is not None]
    if len(present) < len(folders) or not 1 < len(folders) <= MOST_TESTED:
        return None
    records = [system.record for system in systems.values()]
    try:
        request = _request(records[0], data)
        judged = judged_systems(present, request)
        runs = [
            SystemRuns.of(name, one.runs, one.left_out, names=one.names)
            for name, one in zip(systems, judged, strict=True)
        ]
        pairs = compare_systems(runs, request).pairs
    except IsoglossError:  # answers that changed since, or no gold here: the records still are valid
        return None
    contrasts = [pair.overall or (pair.tasks[0] if len(pair.tasks) == 1 else None) for pair in pairs]
    complete = [contrast for contrast in contrasts if contrast is not None and not contrast.partial]
    if len(complete) < len(contrasts):
        return None
    count = len(runs)
    scores, p = np.zeros(count), np.ones((count, count))
    for (first, second), contrast in zip(combinations(range(count), 2), complete, strict=True):
        scores[[first, second]] = contrast.first, contrast.second
        p[first, second] = p[second, first] = contrast.p
    recorded = np.array([record.overall.complete_value for record in records], dtype=np.float64)
    if not np.allclose(scores, recorded, rtol=0, atol=_ROUNDING):
        return None
    return Ordering.of(scores, p, lower_is_better=complete[0].lower_is_better)


def _record_folder(source: str) -> Path | None:
    """Return the folder of a record, which may have predictions next to it."""
    path = Path(source)
    if path.name == RECORD:
        path = path.parent
    return path if source and path.is_dir() else None


def _request(record: Results, data: Path | None) -> Request:
    """Return the request that gives a complete record; its suite may be a file that is not known here."""
    suite = Suite(
        id=record.suite,
        title=record.suite,
        tasks=tuple(average.name for average in record.tasks),
        rule=record.overall.rule,
        languages={average.name: tuple(average.members) for average in record.tasks},
    )
    unit: Resample = "example" if record.resample == "example" else "source"
    return Request(suite=suite, tasks=suite.tasks, split=record.split, data=data_folder(data), resample=unit)
