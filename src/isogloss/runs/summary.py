"""Results of every seed of a filled grid, and the summary over the seeds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import stdev
from typing import Any
from warnings import warn

import msgspec

from isogloss.figures import counted, interval_text, score_text
from isogloss.grouping import group_by
from isogloss.notebooks import arrow_table, data_frame, html_table, short_repr
from isogloss.predictions.folder import PredictionFolder
from isogloss.reply_outcomes import ReplyCounts
from isogloss.runs.cells import judge_translated, write_statistics
from isogloss.runs.drawn_cells import drawn_cells
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import CellRecord, ResultsRecord, damage, damaged_statistics, read_records, warn_of_damage
from isogloss.scoring.cells import Cell, answered_cells
from isogloss.scoring.designs import seed_scores
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Number, Results, json_of, write_json
from isogloss.scoring.score import score_cells, score_runs
from isogloss.scoring.stored import read_cell
from isogloss.scoring.subset import whole_cell
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES
from isogloss.tasks.task import Task
from isogloss.version import __version__


class OverSeeds(msgspec.Struct, frozen=True, kw_only=True):
    """A score, 0..100, over the seeds, on the cells that all seeds have.

    Attributes:
        seeds: score of each seed.
        missing: cells or tasks left out because some seed lacks them.
        sd: standard deviation over the seeds; None with one seed.
        low: lower end of the mean's 95 % interval, over seeds and examples; None without one.
        seed_share: share of the mean's variance due to the seeds, 0..1; the rest is due to the test set.
        language_sd: standard deviation over the seeds in each language of a task.
        replies: totals of a language model's replies over all seeds, if they are known.
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
    replies: ReplyCounts | msgspec.UnsetType = msgspec.UNSET

    __repr__ = short_repr

    @classmethod
    def of(
        cls, number: Number, seeds: Sequence[str], missing: list[str], cells: Sequence[CellScore] = ()
    ) -> "OverSeeds":
        """Return a number of the results over seeds; `cells` are those of a task."""
        spread = number.spread.get("seed")
        values = [number.value] if spread is None else spread.values
        return cls(
            mean=number.value,
            min=min(values),
            max=max(values),
            seeds=dict(zip(seeds, values, strict=True)),
            missing=missing,
            sd=None if spread is None else spread.sd,
            low=number.low,
            high=number.high,
            seed_share=None if spread is None else spread.share,
            language_sd={cell.language: stdev(scores) for cell in cells if len(scores := seed_scores(cell)) > 1},
            replies=ReplyCounts.total(cell.replies for cell in cells) or msgspec.UNSET,
        )


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of a system over its seeds, and the status of its cells.

    Attributes:
        cells: number of done, failed, skipped and missing cells.
        failed: reason of each failed cell, by `seed-<n> <task>/<language>`.
        skipped: reason of each skipped cell.
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
        """Scores of the tasks, and the overall score if there is one."""
        return self.tasks | ({"overall": self.overall} if self.overall else {})

    @property
    def cell_counts(self) -> str:
        """Number of cells by status, such as `7 cells done, 1 failed`."""
        counts = [(status, count) for status, count in self.cells.items() if count]
        if not counts:
            return "no cells"
        [(status, count), *others] = counts
        cells = "cell" if count == 1 else "cells"
        return ", ".join((f"{count:,} {cells} {status}", *(f"{number:,} {other}" for other, number in others)))

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per average."""
        return data_frame(self._rows())

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per average."""
        return arrow_table(self._rows())

    def to_json(self, path: Path | str | None = None) -> str:
        """Return everything as JSON; with a path, also write it."""
        return json_of(self, path)

    def _rows(self) -> list[dict[str, Any]]:
        rows = [{"task": name} | msgspec.structs.asdict(over) for name, over in self.averages.items()]
        replies = [row.pop("replies") for row in rows]
        for row, counts in zip(rows, replies, strict=True) if any(replies) else ():
            row["unparsed"] = 100 * counts.unparsed if counts else None
        return rows

    def __repr__(self) -> str:
        partial = "*" * bool(self.overall and self.overall.missing)
        no_overall = f"no overall, {counted(len(self.tasks), 'task')}"
        scored = f"{score_text(self.overall.mean)}{partial}" if self.overall else no_overall
        title = f"{self.system}, {self.regime}, on {self.suite} ({self.split})"
        return f"<RunSummary: {title}: {scored}; {self.cell_counts}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                score_text(over.mean) + "*" * bool(over.missing),
                interval_text(over.low, over.high),
                *map(score_text, (over.sd, over.min, over.max)),
                str(len(over.seeds)),
            )
            for name, over in self.averages.items()
        ]
        heading = ("task", "mean", "95 %", "sd", "min", "max", "seeds")
        failures = [*{**self.failed, **self.skipped}.items()]
        below = html_table("Cells without scores", ("cell", "reason"), failures) if failures else ""
        title = f"{self.system}, {self.regime}, on {self.suite}: {self.cell_counts}"
        return html_table(title, heading, rows) + below


def write_results(plan: Plan) -> RunSummary:
    """Write `results.json` of each seed over the suite's finished cells, and the summary over seeds.

    Results that are complete and up to date stay unchanged. The caller holds the run's lock.
    """
    records = {seed: cells for seed in range(plan.seeds) if (cells := _intact_records(plan, seed))}
    results = {seed: _results(plan, seed, cells) for seed, cells in records.items()}
    summary = summarize(plan, _over_all_seeds(plan, records, results))
    write_json(plan.summary_path, summary)
    return summary


def _intact_records(plan: Plan, seed: int) -> dict[CellKey, CellRecord]:
    """Return the records of a seed's scored and undamaged cells, from any command."""
    suite, tasks = plan.request.suite, plan.request.tasks
    names = dict.fromkeys((*suite.tasks, *tasks))
    languages = {name: plan.request.averaged_languages(task(name)) for name in names}
    cells = [CellKey(seed, name, language) for name in names for language in languages[name]]
    records = {cell: record for cell, record in read_records(plan, cells).items() if record.score is not None}
    damaged = {cell: reason for cell, record in records.items() if (reason := damage(plan, cell, record))}
    warn_of_damage(damaged, "left out of the results")
    return {cell: record for cell, record in records.items() if cell not in damaged}


def _request(plan: Plan, chosen: frozenset[tuple[str, str]]) -> "_ChosenCells":
    suite, tasks = plan.request.suite, plan.request.tasks
    every = tuple(dict.fromkeys((*suite.tasks, *tasks)))
    split, data = plan.request.split, plan.request.data
    # Cells with partial gold are chosen only if an earlier command allowed them.
    return _ChosenCells(
        suite=suite, tasks=every, split=split, data=data, allow_partial=True, chosen=chosen, subset=drawn_cells(plan)
    )


def _results(plan: Plan, seed: int, records: dict[CellKey, CellRecord]) -> Results:
    """Return the results of a seed, written again if damaged, or of other cells or another suite."""
    damaged = any(damaged_statistics(plan, cell, record) for cell, record in records.items())
    # A user's own suite may have changed, and its definition is not recorded.
    if plan.request.suite.id in SUITES and not damaged:
        made = ResultsRecord.read(plan.results_record_path(seed))
        if made == ResultsRecord.of(plan, seed, records):
            return Results.from_json(plan.results_path(seed))
    request = _request(plan, _names(records))
    judged = _judged(plan, records, request)
    results = score_cells(judged, request, PredictionFolder(plan.seed_folder(seed)).system)
    results.to_json(plan.results_path(seed))
    records |= _statistics_remade(plan, records, judged)
    ResultsRecord.of(plan, seed, records).write(plan.results_record_path(seed))
    return results


def _over_all_seeds(
    plan: Plan, records: Mapping[int, dict[CellKey, CellRecord]], results: Mapping[int, Results]
) -> Results | None:
    """Return the scores of the cells that all seeds share, or None if they share none."""
    if len(results) < 2:
        return next((msgspec.structs.replace(only, runs=[f"seed-{seed}"]) for seed, only in results.items()), None)
    shared = frozenset.intersection(*map(_names, records.values()))
    if not shared:
        warn("the seeds share no cells, so they have no mean", stacklevel=2)
        return None
    request = _request(plan, shared)
    runs = []
    for cells in records.values():
        chosen = {cell: record for cell, record in cells.items() if (cell.task, cell.language) in shared}
        runs.append(_judged(plan, chosen, request))
    return score_runs(runs, request, results[min(results)].system, names=[f"seed-{seed}" for seed in records])


def _statistics_remade(
    plan: Plan, records: Mapping[CellKey, CellRecord], judged: list[Cell]
) -> dict[CellKey, CellRecord]:
    """Rewrite damaged statistics, and return the current records of those cells."""
    by_name = {(cell.task, cell.language): cell for cell in judged}
    damaged = [cell for cell, record in records.items() if damaged_statistics(plan, cell, record)]
    warn_of_damage(dict.fromkeys(damaged, "statistics differ from the recorded checksum"), "scored again")
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
            remade[cell].write(plan.record_path(cell))
    return remade


def _names(records: Mapping[CellKey, CellRecord]) -> frozenset[tuple[str, str]]:
    return frozenset((cell.task, cell.language) for cell in records)


@dataclass(frozen=True)
class _ChosenCells(Request):
    """A request for some cells only, as (task, language)."""

    chosen: frozenset[tuple[str, str]] = frozenset()

    def languages_of(self, task: Task) -> tuple[str, ...]:
        return tuple(code for code in super().languages_of(task) if (task.id, code) in self.chosen)


def _judged(plan: Plan, records: Mapping[CellKey, CellRecord], request: _ChosenCells) -> list[Cell]:
    """Return the cells of a seed in the order of a request, from their statistics or else their predictions."""
    [seed] = {cell.seed for cell in records}
    cells: dict[tuple[str, str], Cell] = {}
    for cell, record in records.items():
        data, score = record.provenance.data, record.score
        if data is not None and data.untouched and score is not None and not damaged_statistics(plan, cell, record):
            stored = read_cell(plan.statistics_path(cell))
            # The signature contains the checksum of the gold and the scoring version.
            if stored is not None and stored.signature == score.signature:
                cells[cell.task, cell.language] = stored
    judged_again: list[Cell] = []
    if plan.regime.translated_gold:
        judged_again = [judge_translated(plan, cell) for cell in records if (cell.task, cell.language) not in cells]
    elif rest := request.chosen - cells.keys():
        remaining = replace(request, chosen=rest)
        answers = (answered for (answered,) in answered_cells([plan.seed_folder(seed)], remaining))
        judged_again = [whole_cell(answered, remaining) for answered in answers if answered is not None]
    # Predictions do not tell what the training set lacked, or how they were projected.
    notes = {(cell.task, cell.language): record.score.notes for cell, record in records.items() if record.score}
    for one in judged_again:
        name = one.task, one.language
        cells[name] = replace(one, notes=[*dict.fromkeys((*notes.get(name, ()), *one.notes))])
    return [cells[name, language] for name in request.tasks for language in request.languages_of(task(name))]


def summarize(plan: Plan, results: Results | None = None) -> RunSummary:
    """Return the summary of a grid: cells by status, the reasons, and the scores, if there are any."""
    records = read_records(plan, plan.cells)
    counts = Counter(records[cell].status if cell in records else "missing" for cell in plan.cells)
    tasks: dict[str, OverSeeds] = {}
    overall = None
    if results is not None:
        by_task = group_by(results.cells, lambda cell: cell.task)
        for average in results.tasks:
            cells = by_task.get(average.name, ())
            tasks[average.name] = OverSeeds.of(average.score, results.runs, average.missing, cells)
        if (top := results.shown_overall) is not None:
            overall = OverSeeds.of(top, results.runs, results.overall.missing)
            replies = ReplyCounts.total(over.replies for over in tasks.values())
            overall = msgspec.structs.replace(overall, replies=replies or msgspec.UNSET)

    def reasons(status: str) -> dict[str, str]:
        return {str(cell): record.reason for cell, record in records.items() if record.status == status}

    return RunSummary(
        system=plan.folder_name,
        regime=plan.regime.name,
        suite=plan.request.suite.id,
        split=plan.request.split,
        tasks=tasks,
        overall=overall,
        cells={status: counts[status] for status in ("done", "failed", "skipped", "missing")},
        failed=reasons("failed"),
        skipped=reasons("skipped"),
    )
