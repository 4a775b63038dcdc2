"""After a grid is filled: the result record of every seed, and the summary over the seeds."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any
from warnings import warn

import msgspec

from isogloss.figures import score_text
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.folder import PredictionFolder
from isogloss.runs.cells import write_statistics
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import (
    CellRecord,
    ResultsRecord,
    damage,
    damaged_statistics,
    read_records,
    warn_of_damage,
    write_record,
)
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.results import CellScore, Number, Results, write_json
from isogloss.scoring.score import score_cells, score_runs
from isogloss.scoring.seeds import seed_scores
from isogloss.scoring.stored import read_cell
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES
from isogloss.tasks.task import Task
from isogloss.version import __version__


class OverSeeds(msgspec.Struct, frozen=True):
    """A figure, 0..100, over the seeds, each on the same cells: those that all of them have.

    Attributes:
        mean: over the seeds; with one seed its score.
        min: the smallest.
        max: the largest.
        seeds: each seed's own.
        missing: what it should be over and is not, because some seed lacks it.
        sd: the standard deviation over the seeds; None with one.
        low: the lower end of the 95 % interval of the mean, for new seeds and new examples; None where there is none.
        high: its upper end.
        seed_share: the part of the variance of the mean that is due to the seeds, 0..1; the rest is the test set's.
        language_sd: the standard deviation over the seeds in each language of a task.
    """

    mean: float
    min: float
    max: float
    seeds: dict[str, float]
    missing: list[str] = []
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    seed_share: float | None = None
    language_sd: dict[str, float] = {}

    @classmethod
    def of(
        cls, number: Number, seeds: Sequence[str], missing: list[str], cells: Sequence[CellScore] = ()
    ) -> "OverSeeds":
        """The figure of a result record over some seeds, with its cells where it is that of a task."""
        values = [number.value] if number.seeds is None else number.seeds.values
        return cls(
            number.value,
            min(values),
            max(values),
            dict(zip(seeds, values, strict=True)),
            missing,
            None if number.seeds is None else number.seeds.sd,
            number.low,
            number.high,
            None if number.seeds is None else number.seeds.share,
            {cell.language: stdev(scores) for cell in cells if len(scores := seed_scores(cell)) > 1},
        )


class RunSummary(msgspec.Struct, frozen=True):
    """The scores of a system over its seeds, and the status of its cells.

    Attributes:
        tasks: the score of each task over the seeds; `overall` the suite's.
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

    @property
    def averages(self) -> dict[str, OverSeeds]:
        """The tasks and, where there is one, the overall score."""
        return self.tasks | ({"overall": self.overall} if self.overall else {})

    @property
    def cell_counts(self) -> str:
        """How many cells ended how, such as `7 done, 1 failed cells`."""
        counts = {status: count for status, count in self.cells.items() if count}
        cells = "cell" if sum(counts.values()) == 1 else "cells"
        return f"{', '.join(f'{count:,} {status}' for status, count in counts.items()) or 'no'} {cells}"

    def to_pandas(self) -> Any:
        """Every average as a row of a pandas data frame."""
        return data_frame([{"task": name} | msgspec.structs.asdict(over) for name, over in self.averages.items()])

    def __repr__(self) -> str:
        partial = "*" * bool(self.overall and self.overall.missing)
        scored = f"{score_text(self.overall.mean)}{partial}" if self.overall else f"no overall, {len(self.tasks)} tasks"
        place = f"{self.system}, {self.regime}, on {self.suite} ({self.split})"
        return f"<RunSummary: {place}: {scored}; {self.cell_counts}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = [
            (name, *map(score_text, (over.mean, over.sd, over.min, over.max)), str(len(over.seeds)))
            for name, over in self.averages.items()
        ]
        title = f"{self.system}, {self.regime}, on {self.suite}: {self.cell_counts}"
        return html_table(title, ("task", "mean", "sd", "min", "max", "seeds"), rows)


def count_cells(plan: Plan) -> RunSummary:
    """The summary without scores: how many cells have each status, and the reasons."""
    return _summary(plan, None)


def write_results(plan: Plan) -> RunSummary:
    """Write `results.json` of each seed over all the suite's cells that are there, and the summary over seeds.

    A result record that is whole, and of the same suite and cells, is left as it is. The caller holds the run's lock.
    """
    records = {seed: found for seed in range(plan.seeds) if (found := _whole_records(plan, seed))}
    results = {seed: _results(plan, seed, found) for seed, found in records.items()}
    summary = _summary(plan, _over_all_seeds(plan, records, results))
    write_json(plan.summary_path, summary)
    return summary


def _whole_records(plan: Plan, seed: int) -> dict[CellKey, CellRecord]:
    """The records of the cells of a seed that are scored and whole, whichever command filled them."""
    cells = [
        CellKey(seed, name, language) for name in _tasks(plan) for language in plan.request.suite.languages_of(name)
    ]
    found = {cell: record for cell, record in read_records(plan, cells).items() if record.score is not None}
    damaged = {cell: reason for cell, record in found.items() if (reason := damage(plan, cell, record))}
    warn_of_damage(damaged, "left out of the results")
    return {cell: record for cell, record in found.items() if cell not in damaged}


def _tasks(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*plan.request.suite.tasks, *plan.request.tasks)))


def _request(plan: Plan, records: Mapping[CellKey, CellRecord]) -> "_ChosenCells":
    asked = plan.request
    return _ChosenCells(asked.suite, _tasks(plan), None, asked.split, asked.data, chosen=_names(records))


def _results(plan: Plan, seed: int, records: dict[CellKey, CellRecord]) -> Results:
    """The result record of a seed, made anew where it is out of date."""
    before = _current_results(plan, seed, records)
    if before is not None:
        return before
    request = _request(plan, records)
    judged = _judged(plan, records, request)
    results = score_cells(judged, request, PredictionFolder(plan.seed_folder(seed)).system)
    results.to_json(plan.results_path(seed))
    records |= _statistics_remade(plan, records, judged)
    ResultsRecord.of(plan, seed, records).write(plan.results_record_path(seed))
    return results


def _over_all_seeds(
    plan: Plan, records: Mapping[int, dict[CellKey, CellRecord]], results: Mapping[int, Results]
) -> Results | None:
    """The scores of the cells that all seeds with any have; None where they have none in common."""
    if len(results) < 2:
        return next((msgspec.structs.replace(found, seeds=[f"seed-{seed}"]) for seed, found in results.items()), None)
    shared = frozenset.intersection(*map(_names, records.values()))
    if not shared:
        warn("the seeds have no cell in common: there is no mean over them", stacklevel=2)
        return None
    request = replace(_request(plan, records[min(records)]), chosen=shared)
    runs = []
    for found in records.values():
        chosen = {cell: record for cell, record in found.items() if (cell.task, cell.language) in shared}
        runs.append(_judged(plan, chosen, request))
    return score_runs(runs, request, results[min(results)].system, seeds=[f"seed-{seed}" for seed in records])


def _statistics_remade(
    plan: Plan, records: Mapping[CellKey, CellRecord], judged: list[Cell]
) -> dict[CellKey, CellRecord]:
    """Write the statistics of cells anew that are damaged; gives the records of those cells as they are now."""
    by_name = {(cell.task, cell.language): cell for cell in judged}
    damaged = [cell for cell, record in records.items() if damaged_statistics(plan, cell, record)]
    warn_of_damage(dict.fromkeys(damaged, "its statistics are not those that were recorded"), "judged again")
    remade = {}
    for cell in damaged:
        record = records[cell]
        if record.checksums is None:
            continue
        checksum = write_statistics(plan.statistics_path(cell), by_name[cell.task, cell.language])
        remade[cell] = record
        if checksum != record.checksums.statistics:
            checksums = msgspec.structs.replace(record.checksums, statistics=checksum)
            remade[cell] = msgspec.structs.replace(record, checksums=checksums)
            write_record(plan.record_path(cell), remade[cell])
    return remade


def _current_results(plan: Plan, seed: int, records: Mapping[CellKey, CellRecord]) -> Results | None:
    """The result record of a seed as it is on disk; None where it is not whole, not of these cells or of this suite."""
    # The record does not say what a user's own suite was made of, which may have changed since: it is made anew.
    if plan.request.suite.id not in SUITES:
        return None
    if any(damaged_statistics(plan, cell, record) for cell, record in records.items()):
        return None
    made = ResultsRecord.read(plan.results_record_path(seed))
    return Results.from_json(plan.results_path(seed)) if made == ResultsRecord.of(plan, seed, records) else None


def _names(records: Mapping[CellKey, CellRecord]) -> frozenset[tuple[str, str]]:
    return frozenset((cell.task, cell.language) for cell in records)


@dataclass(frozen=True)
class _ChosenCells(Request):
    """A request for some cells only, as (task, language)."""

    chosen: frozenset[tuple[str, str]] = frozenset()

    def languages_of(self, of: Task) -> tuple[str, ...]:
        return tuple(code for code in super().languages_of(of) if (of.id, code) in self.chosen)


def _judged(plan: Plan, records: Mapping[CellKey, CellRecord], request: _ChosenCells) -> list[Cell]:
    """The cells of a seed in the order of a request: from their statistics, or else judged from their answers."""
    [seed] = {cell.seed for cell in records}
    found = {
        (cell.task, cell.language): stored
        for cell, record in records.items()
        if (stored := _stored(plan, cell, record)) is not None
    }
    if rest := request.chosen - found.keys():
        judged = judged_cells(plan.seed_folder(seed), replace(request, chosen=rest))
        found |= {(cell.task, cell.language): cell for cell in judged}
    order = ((name, language) for name in request.tasks for language in request.languages_of(task(name)))
    return [found[name] for name in order]


def _stored(plan: Plan, cell: CellKey, record: CellRecord) -> Cell | None:
    """A cell from its statistics; None where they are not those of the record, its answers and today's gold."""
    if record.provenance.data is None or not record.provenance.data.untouched or damaged_statistics(plan, cell, record):
        return None
    found = read_cell(plan.statistics_path(cell))
    # The signature has the checksum of the gold and the version that judged it.
    is_same = found is not None and record.score is not None and found.signature == record.score.signature
    return found if is_same else None


def _summary(plan: Plan, results: Results | None) -> RunSummary:
    cells = plan.cells
    records = read_records(plan, cells)
    counts = Counter(records[cell].status if cell in records else "missing" for cell in cells)
    return RunSummary(
        plan.root.parent.name,
        plan.regime.name,
        plan.request.suite.id,
        plan.request.split,
        {} if results is None else _tasks_over_seeds(results),
        None
        if results is None or results.overall.score is None
        else OverSeeds.of(results.overall.score, results.seeds, results.overall.missing),
        {status: counts[status] for status in ("done", "failed", "skipped", "missing")},
        _reasons(records, "failed"),
        _reasons(records, "skipped"),
    )


def _tasks_over_seeds(results: Results) -> dict[str, OverSeeds]:
    by_task: dict[str, list[CellScore]] = defaultdict(list)
    for cell in results.cells:
        by_task[cell.task].append(cell)
    return {
        average.name: OverSeeds.of(average.score, results.seeds, average.missing, by_task[average.name])
        for average in results.tasks
    }


def _reasons(records: Mapping[CellKey, CellRecord], status: str) -> dict[str, str]:
    return {str(cell): record.reason for cell, record in records.items() if record.status == status}
