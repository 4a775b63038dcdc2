"""After a grid is filled: the result record of every seed, and what the seeds say together."""

from collections import Counter
from dataclasses import dataclass
from statistics import fmean

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.runs.plan import CellKey, Plan, seed_folder
from isogloss.runs.records import Record, read_record
from isogloss.scoring.cells import Request
from isogloss.scoring.results import Results
from isogloss.scoring.score import score_request
from isogloss.tasks.task import Task
from isogloss.version import __version__


class OverSeeds(msgspec.Struct, frozen=True):
    """A figure, 0..100, over the seeds: mean, smallest, largest, each seed's own, and what any of them lacks."""

    mean: float
    min: float
    max: float
    seeds: dict[str, float]
    missing: list[str] = []


class Summary(msgspec.Struct, frozen=True):
    """What a grid came to.

    Attributes:
        cells: how many cells are done, failed, skipped and missing.
        failed: the reason of each failed cell, by `seed-<n> <task>/<language>`; skipped the same.
    """

    system: str
    regime: str
    suite: str
    split: str
    tasks: dict[str, OverSeeds]
    overall: OverSeeds | None
    cells: dict[str, int]
    failed: dict[str, str]
    skipped: dict[str, str]
    isogloss: str = __version__


@dataclass(frozen=True)
class _Scored(Request):
    """A request for those cells only that are done and have gold."""

    scored: frozenset[tuple[str, str]] = frozenset()

    def languages_of(self, of: Task) -> tuple[str, ...]:
        return tuple(code for code in super().languages_of(of) if (of.id, code) in self.scored)


def standing(plan: Plan) -> Summary:
    """How a grid stands, without its scores: cells by status, and the reasons."""
    return _summary(plan, {})


def write_results(plan: Plan) -> Summary:
    """Write `results.json` of each seed over all the suite's cells that are there, and the summary over seeds.

    A record that is newer than every cell, and of the same suite, is left as it is. The caller holds the run's lock.
    """
    results = {}
    for seed in range(plan.seeds):
        found = _results(plan, seed)
        if found is not None:
            results[seed] = found
    summary = _summary(plan, results)
    with atomic_write(plan.summary) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode() + "\n")
    return summary


def _results(plan: Plan, seed: int) -> Results | None:
    """The result record of a seed, made anew where it is out of date; None where nothing is scored."""
    whole = _whole_suite(plan, seed)
    if not whole.scored:
        return None
    path = plan.results(seed)
    records = [plan.record(CellKey(seed, name, language)) for name, language in whole.scored]
    if path.exists() and path.stat().st_mtime_ns >= max(record.stat().st_mtime_ns for record in records):
        try:
            found = Results.from_json(path)
        except DataError:
            found = None
        if found is not None and found.suite == plan.request.suite.id and _cells(found) == whole.scored:
            return found
    results = score_request(seed_folder(plan.root, seed), whole)
    results.to_json(path)
    return results


def _cells(results: Results) -> frozenset[tuple[str, str]]:
    return frozenset((cell.task, cell.language) for cell in results.cells)


def _whole_suite(plan: Plan, seed: int) -> _Scored:
    """The cells of the suite's averages that have a score, whichever command filled them."""
    asked = plan.request
    tasks = tuple(dict.fromkeys((*asked.suite.tasks, *asked.tasks)))
    scored = []
    for name in tasks:
        for language in asked.suite.languages_of(name):
            record = read_record(plan.record(CellKey(seed, name, language)))
            if record is not None and record.score is not None:
                scored.append((name, language))
    return _Scored(asked.suite, tasks, None, asked.split, asked.data, scored=frozenset(scored))


def _summary(plan: Plan, results: dict[int, Results]) -> Summary:
    records = {place: read_record(plan.record(place)) for place in plan.places}
    counts = Counter("missing" if record is None else record.status for record in records.values())
    names = dict.fromkeys(average.name for found in results.values() for average in found.tasks)
    overall = {seed: found.overall.score.value for seed, found in results.items() if found.overall.score is not None}
    lacks = [name for found in results.values() for name in found.overall.missing]
    return Summary(
        plan.root.parent.name,
        plan.regime,
        plan.request.suite.id,
        plan.request.split,
        {name: _of_task(name, results) for name in names},
        _over_seeds(overall, lacks) if overall else None,
        {status: counts[status] for status in ("done", "failed", "skipped", "missing")},
        _reasons(records, "failed"),
        _reasons(records, "skipped"),
    )


def _of_task(name: str, results: dict[int, Results]) -> OverSeeds:
    averages = {seed: average for seed, found in results.items() for average in found.tasks if average.name == name}
    scores = {seed: average.score.value for seed, average in averages.items()}
    return _over_seeds(scores, [code for average in averages.values() for code in average.missing])


def _over_seeds(scores: dict[int, float], missing: list[str]) -> OverSeeds:
    by_seed = {f"seed-{seed}": score for seed, score in scores.items()}
    values = list(scores.values())
    return OverSeeds(fmean(values), min(values), max(values), by_seed, list(dict.fromkeys(missing)))


def _reasons(records: dict[CellKey, Record | None], status: str) -> dict[str, str]:
    return {str(place): record.reason for place, record in records.items() if record and record.status == status}
