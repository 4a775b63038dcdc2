"""Result records of one or several systems as flat rows, from which tables and charts are made."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from isogloss.report.names import known_language
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.results import CellScore, Number, Results

# Result records by the name their system is shown under; one system is a mapping of one.
Systems = Mapping[str, Results]
Level = Literal["task", "category", "overall"]
LEVELS: tuple[Level, ...] = ("task", "category", "overall")
LanguageGroup = Literal["family", "script"]


@dataclass(frozen=True)
class CellRow:
    """One task in one language of one system.

    Attributes:
        score: the mean of the metrics the task is known by.
        record: the cell as it was scored.
        split_asked: the split that was asked for, which "best" may replace cell by cell.
        in_averages: whether it enters averages: languages of the suite, with the task's full gold.
    """

    system: str
    task: str
    language: str
    score: float
    record: CellScore
    split_asked: str
    in_averages: bool


@dataclass(frozen=True)
class AverageRow:
    """A task average, category average or the overall score of one system.

    Attributes:
        detail: the metrics of a task, or the rule of the overall score.
        languages: how many of the task's languages are in it, such as "3/7".
        partial: whether something of the suite is missing in it.
    """

    system: str
    level: Level
    name: str
    score: Number
    detail: str
    languages: str
    partial: bool


@dataclass(frozen=True)
class GroupRow:
    """The mean of one system in one task over the languages of a family or script.

    Attributes:
        languages: how many languages are in the mean.
        size: how many of the group's languages were scored in any task by any system.
    """

    system: str
    group: str
    task: str
    score: float
    languages: int
    size: int


@dataclass(frozen=True)
class TransferGapRow:
    """English, the mean of the other languages, and how far they are apart, with the 95 % interval if recorded."""

    system: str
    task: str
    english: float
    others: float
    languages: int
    low: float | None = None
    high: float | None = None

    @property
    def gap(self) -> float:
        """English minus the others: 0 is perfect transfer."""
        return self.english - self.others


def tasks_of(systems: Systems) -> list[str]:
    """The tasks of any of the systems, in the order of the first one that has them."""
    return list(dict.fromkeys(cell.task for results in systems.values() for cell in results.cells))


def cell_rows(systems: Systems) -> list[CellRow]:
    """Every cell of every system."""
    return [
        CellRow(name, cell.task, cell.language, cell.score, cell, results.split, results.in_average(cell))
        for name, results in systems.items()
        for cell in results.cells
    ]


def average_rows(systems: Systems) -> list[AverageRow]:
    """Tasks, categories and overall; the systems of an average follow each other."""
    rows = [row for name, results in systems.items() for row in _averages_of(name, results)]
    order = {key: place for place, key in enumerate(dict.fromkeys((row.level, row.name) for row in rows))}
    return sorted(rows, key=lambda row: (LEVELS.index(row.level), order[row.level, row.name]))


def _averages_of(system: str, results: Results) -> list[AverageRow]:
    rows = []
    for average in results.tasks:
        metrics = "  ".join(f"{key} {number.value:.1f}" for key, number in average.metrics.items())
        share = f"{len(average.members)}/{len(average.members) + len(average.missing)}"
        rows.append(
            AverageRow(system, "task", average.name, average.score, metrics, share, partial=bool(average.missing))
        )
    for average in results.categories:
        rows.append(AverageRow(system, "category", average.name, average.score, "", "", partial=bool(average.missing)))
    overall = results.overall
    if overall.score is not None:
        rule = f"rule: {overall.rule}"
        rows.append(AverageRow(system, "overall", "overall", overall.score, rule, "", partial=overall.partial))
    return rows


def group_rows(cells: Sequence[CellRow], by: LanguageGroup) -> list[GroupRow]:
    """Means over the languages of each family or script, largest groups first; partial cells are in none."""
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        entry = known_language(cell.language)
        if cell.in_averages and entry:
            group = entry.family if by == "family" else entry.script
            members[group].add(cell.language)
            scores[cell.system, group, cell.task].append(cell.score)
    rows = [
        GroupRow(system, group, task, fmean(values), len(values), len(members[group]))
        for (system, group, task), values in scores.items()
    ]
    return sorted(rows, key=lambda row: (-row.size, row.group))


def gap_rows(systems: Systems) -> list[TransferGapRow]:
    """The transfer gap of every task that has English and another language."""
    by_task: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cell_rows(systems):
        if cell.in_averages:
            by_task[cell.task, cell.system][cell.language] = cell.score
    recorded = {(average.name, name): average.gap for name, results in systems.items() for average in results.tasks}
    rows = []
    for (task_name, system), scores in by_task.items():
        others = [score for code, score in scores.items() if code != PIVOT]
        if PIVOT in scores and others:
            number = recorded.get((task_name, system))
            low, high = (number.low, number.high) if number else (None, None)
            rows.append(TransferGapRow(system, task_name, scores[PIVOT], fmean(others), len(others), low, high))
    order = tasks_of(systems)
    return sorted(rows, key=lambda row: order.index(row.task))
