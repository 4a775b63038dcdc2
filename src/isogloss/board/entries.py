"""A system as it is given to a board: its scores, and what is known of it; and the averages that follow from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.analysis.inputs import mean_of_metrics
from isogloss.board.model import OVERALL, SystemErrorRate
from isogloss.metrics import aggregate
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite


@dataclass
class EntryCell:
    """One task in one language: all its metrics, and what they are exactly.

    Attributes:
        unparsed: the share of answers that are missing or could not be read, 0..1; None where nobody knows.
    """

    metrics: dict[str, Number]
    signature: str = ""
    notes: list[str] = field(default_factory=list)
    unparsed: float | None = None


@dataclass
class BoardEntry:
    """A system under one regime.

    Attributes:
        metadata: all that is known of it.
        id: the id it must have, "" for any.
        cells: by task and language.
        averages: those that were recorded or printed, by task, category and "overall", each over all that it should
            be over.
        gaps: the transfer gap by task.
        reported: whether the figures are copied, not scored here.
        source: where they are from.
        footnotes: task ("" for all) and text.
        predictions: its folders of answers, one a seed.
        scorer: the version that scored it, and the split and the kind of intervals.
    """

    name: str
    regime: str
    metadata: dict[str, Any] = field(default_factory=dict)
    cells: dict[tuple[str, str], EntryCell] = field(default_factory=dict)
    averages: dict[str, Number] = field(default_factory=dict)
    gaps: dict[str, Number] = field(default_factory=dict)
    checklist: list[SystemErrorRate] = field(default_factory=list)
    reported: bool = False
    source: str = ""
    footnotes: list[tuple[str, str]] = field(default_factory=list)
    predictions: list[Path] = field(default_factory=list)
    scorer: tuple[str, str, str] = ("", "", "")
    id: str = ""

    def metric(self, name: str, code: str, metric: str) -> Number | None:
        """One metric of a cell; None where there is none."""
        cell = self.cells.get((name, code))
        return None if cell is None else cell.metrics.get(metric)

    @cached_property
    def scores(self) -> Mapping[tuple[str, str], Number]:
        """The one figure of each cell that has all the metrics of that figure."""
        main = {name: task(name).main for name, _ in self.cells}
        return {
            place: mean_of_metrics([cell.metrics[metric] for metric in main[place[0]]])
            for place, cell in self.cells.items()
            if all(metric in cell.metrics for metric in main[place[0]])
        }

    @property
    def unparsed(self) -> float | None:
        """The share of all answers that are missing or could not be read; None where no cell knows."""
        known = [cell for cell in self.cells.values() if cell.unparsed is not None]
        sizes = [max((number.n for number in cell.metrics.values()), default=0) for cell in known]
        if not sum(sizes):
            return None
        return sum((cell.unparsed or 0) * size for cell, size in zip(known, sizes, strict=True)) / sum(sizes)

    def missing(self, suite: Suite) -> list[str]:
        """What it lacks of a suite: whole tasks by name, else `task/language`."""
        found = []
        for name in suite.tasks:
            if name in self.averages:
                continue
            codes = suite.languages_of(name)
            lacking = [code for code in codes if (name, code) not in self.scores]
            found += [name] if len(lacking) == len(codes) else [f"{name}/{code}" for code in lacking]
        return found


def completed_averages(entry: BoardEntry, suite: Suite) -> dict[str, Number]:
    """The average of every column that a system has in full: those that are given, and the rest from its cells."""
    found = {name: number for name in suite.tasks if (number := _task_average(entry, name, suite)) is not None}
    columns = dict(found)
    for category, names in suite.categories.items():
        if set(names) <= set(found) and not mixed_directions(names):
            given = entry.averages.get(category)
            columns[category] = given or _mean([found[name] for name in names], _weights(names, suite))
    if set(suite.tasks) <= set(found) and not mixed_directions(suite.tasks):
        columns[OVERALL] = entry.averages.get(OVERALL) or aggregate.combined(
            found, suite.rule, lambda name: task(name).category, _mean, suite.weights
        )
    return columns


def _task_average(entry: BoardEntry, name: str, suite: Suite) -> Number | None:
    if name in entry.averages:
        return entry.averages[name]
    scores = [entry.scores.get((name, code)) for code in suite.languages_of(name)]
    known = [score for score in scores if score is not None]
    return _mean(known, [1.0] * len(known)) if len(known) == len(scores) else None


def transfer_gaps(entry: BoardEntry, suite: Suite) -> dict[str, Number]:
    """English minus the mean of the other languages, by task: as it is recorded, else from all its cells."""
    found = {}
    for name in suite.tasks:
        scores = {code: entry.scores.get((name, code)) for code in suite.languages_of(name)}
        english = scores.pop(PIVOT, None)
        others = [score for score in scores.values() if score is not None]
        if name in entry.gaps:
            found[name] = entry.gaps[name]
        elif english is not None and others and len(others) == len(scores):
            mean = _mean(others, [1.0] * len(others))
            found[name] = Number(english.value - mean.value, None, None, english.n + mean.n)
    return found


def _weights(names: Iterable[str], suite: Suite) -> list[float]:
    return [suite.weights.get(name, 1.0) for name in names]


def _mean(numbers: Sequence[Number], weights: Sequence[float]) -> Number:
    """A mean without an interval: that would need the examples."""
    value = aggregate.weighted_mean([number.value for number in numbers], weights)
    return Number(value, None, None, sum(number.n for number in numbers))


def by_place(entries: Iterable[BoardEntry]) -> Mapping[tuple[str, str], list[BoardEntry]]:
    """Entries by name and regime."""
    found: dict[tuple[str, str], list[BoardEntry]] = {}
    for entry in entries:
        found.setdefault((entry.name, entry.regime), []).append(entry)
    return found
