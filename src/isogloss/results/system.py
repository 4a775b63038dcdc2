"""Result of one system: scores and metadata, from any source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from isogloss.languages import Language
from isogloss.notebooks import short_repr
from isogloss.reply_outcomes import ReplyCounts
from isogloss.results.contamination import ContaminationFinding
from isogloss.scoring.names import shortest_distinct
from isogloss.scoring.results import Number, Overall, Results
from isogloss.tasks.task import Task

OVERALL = "overall"


class SystemErrorRate(msgspec.Struct, frozen=True, kw_only=True):
    """Error rate on one checklist test in one language, 0..100."""

    test: str
    language: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """Version, split and kind of intervals of scores; empty if unknown."""

    version: str = ""
    split: str = ""
    resample: str = ""


UNKNOWN_SCORER = Scorer()
_EMPTY: dict[str, Any] = {"cells": [], "tasks": [], "categories": [], "pairs": [], "overall": Overall("", None, [])}
NO_RECORD = Results(suite="", system={}, split="", isogloss="", **_EMPTY)


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """Scores of one task in one language.

    Attributes:
        code: language code.
        language: language in the registry, or None if the registry does not list it.
        metrics: score by metric.
        signature: signature of the scores, "" if they were copied.
        unanswered: share of predictions that are missing or unreadable, 0..1; None if unknown.
        replies: totals of a language model's replies, if the predictions state facts about them.
        source: file or table of the scores.
        estimated: True if only a subset of the examples is answered.
    """

    task: Task
    code: str
    language: Language | None
    metrics: Mapping[str, Number]
    signature: str = ""
    notes: tuple[str, ...] = ()
    unanswered: float | None = None
    replies: ReplyCounts | None = None
    source: str = ""
    estimated: bool = False

    __repr__ = short_repr

    @cached_property
    def score(self) -> Number | None:
        """Mean of the task's main metrics, or None if one is missing."""
        main = self.task.main
        if not all(metric in self.metrics for metric in main):
            return None
        return mean_of_metrics([self.metrics[metric] for metric in main])


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """One system under one regime.

    Attributes:
        seed: label of the seed, such as "seed 0", if the scores come from one run of several.
        suite: suite of the result record, "" for other sources.
        metadata: public metadata, as in system.toml.
        parameters: millions of parameters, or None if unknown.
        cells: cells by task id and language code. Cells with incomplete gold are left out.
        pseudo: cells on pseudo test sets, in languages that the task does not have; no average includes them.
        averages: recorded or printed averages by task, category and "overall"; only complete ones.
        gaps: recorded transfer gap by task.
        checklist: error rates on the checklist.
        reported: True if the scores are copied from a paper or table.
        source: file or table of the scores.
        footnotes: pairs of task ("" for all tasks) and text.
        predictions: prediction folders, one per seed.
        id: fixed id on a board, "" to derive one from the name.
        record: result record with all cells and partial averages; empty for other sources.
        contamination: probes for memorised examples, recorded beside the runs; they never change scores.
    """

    name: str
    regime: str = ""
    seed: str = ""
    suite: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parameters: float | None = None
    cells: Mapping[tuple[str, str], CellResult] = field(default_factory=dict)
    pseudo: Mapping[tuple[str, str], CellResult] = field(default_factory=dict)
    averages: Mapping[str, Number] = field(default_factory=dict)
    gaps: Mapping[str, Number] = field(default_factory=dict)
    checklist: tuple[SystemErrorRate, ...] = ()
    reported: bool = False
    source: str = ""
    footnotes: tuple[tuple[str, str], ...] = ()
    predictions: tuple[Path, ...] = ()
    scorer: Scorer = UNKNOWN_SCORER
    id: str = ""
    record: Results = NO_RECORD
    contamination: tuple[ContaminationFinding, ...] = ()

    __repr__ = short_repr

    def score(self, task: str, code: str) -> Number | None:
        """Return the score of a cell, or None if the cell or one of its main metrics is missing."""
        cell = self.cells.get((task, code))
        return None if cell is None else cell.score

    def metric(self, task: str, code: str, metric: str) -> Number | None:
        """Return one metric of a cell, or None if it is missing."""
        cell = self.cells.get((task, code))
        return None if cell is None else cell.metrics.get(metric)

    @property
    def unanswered(self) -> float | None:
        """Share of all predictions that are missing or unreadable; None if unknown."""
        sizes = [
            (cell.unanswered, max((number.n for number in cell.metrics.values()), default=0))
            for cell in self.cells.values()
            if cell.unanswered is not None
        ]
        total = sum(size for _, size in sizes)
        return sum(share * size for share, size in sizes) / total if total else None

    @property
    def replies(self) -> ReplyCounts | None:
        """Totals of a language model's replies over all cells; None if unknown."""
        return ReplyCounts.total(cell.replies for cell in self.cells.values())

    @property
    def prompt_sd(self) -> float | None:
        """Standard deviation over prompts of the overall score, or of that of the only task; None without prompts."""
        tasks = [average.score for average in self.record.tasks]
        top = self.record.overall.score or (tasks[0] if len(tasks) == 1 else None)
        spread = None if top is None else top.spread.get("prompt")
        return None if spread is None else spread.sd


def by_shown_name(systems: Iterable[SystemResult]) -> dict[str, SystemResult]:
    """Return systems by the shortest name that tells them apart; the same system may be scored on two suites."""
    systems = list(systems)
    names = shortest_distinct([(system.name, system.regime, system.seed, system.suite) for system in systems])
    return dict(zip(names, systems, strict=True))


def mean_of_metrics(numbers: list[Number]) -> Number:
    """Return the mean of metrics of the same examples; the mean of their intervals bounds its width."""
    count = len(numbers)
    lows, highs = ([getattr(number, end) for number in numbers] for end in ("low", "high"))
    complete = not any(end is None for end in (*lows, *highs))
    low, high = (sum(lows) / count, sum(highs) / count) if complete else (None, None)
    return Number(sum(number.value for number in numbers) / count, low, high, numbers[0].n)
