"""Result records of one or several systems as flat rows, from which tables and charts are made."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from isogloss.figures import score_text
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.names import known_language
from isogloss.scoring.results import AverageScore, CellScore, Number, Results

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
        coverage: how many of the task's languages are in it, such as "3/7", or how many tasks of the suite.
        partial: whether something of the suite is missing in it.
    """

    system: str
    level: Level
    name: str
    score: Number
    detail: str
    coverage: str
    partial: bool


@dataclass(frozen=True)
class GroupRow:
    """The mean of one system in one task over the languages of a family or script.

    Attributes:
        languages: how many languages are in the mean.
        size: how many of the group's languages were scored in any task by any system.
        partial: whether the suite has more of the group's languages for this task.
    """

    system: str
    group: str
    task: str
    score: float
    languages: int
    size: int
    partial: bool


@dataclass(frozen=True)
class TransferGapRow:
    """English, the mean of the other languages, and how far they are apart, with the 95 % interval if there is one.

    `coverage` says how many of the task's other languages are in it; it is partial where these are not all.
    """

    system: str
    task: str
    english: float
    others: float
    coverage: str
    partial: bool
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
    """The averages of one system; a figure over one cell of many is that cell's, and stands there once."""
    rows = []
    for average in results.tasks:
        metrics = "  ".join(f"{key} {score_text(number.value)}" for key, number in average.metrics.items())
        share = f"{len(average.members)}/{len(average.members) + len(average.missing)}"
        rows.append(
            AverageRow(system, "task", average.name, average.score, metrics, share, partial=bool(average.missing))
        )
    for average in results.categories:
        if not _is_one_cell(results, average.members, average.missing):
            share = _share_of_tasks(len(average.members), average.missing)
            rows.append(
                AverageRow(system, "category", average.name, average.score, "", share, partial=bool(average.missing))
            )
    overall = results.overall
    if overall.score is not None and not is_overall_of_one_cell(results):
        rule = f"rule: {overall.rule}"
        share = _share_of_tasks(sum(len(average.members) for average in results.categories), overall.missing)
        rows.append(AverageRow(system, "overall", "overall", overall.score, rule, share, partial=overall.partial))
    return rows


def is_overall_of_one_cell(results: Results) -> bool:
    """Whether the overall figure would be that of one cell, of a suite that has more."""
    return _is_one_cell(results, [average.name for average in results.tasks], results.overall.missing)


def _is_one_cell(results: Results, tasks: Sequence[str], missing: Sequence[str]) -> bool:
    inside = sum(len(average.members) for average in results.tasks if average.name in tasks)
    return inside == 1 and bool(missing)


def _share_of_tasks(scored: int, missing: Sequence[str]) -> str:
    """How many of the tasks are there; what is missing of a task that is has a language to its name."""
    return f"{scored}/{scored + sum('/' not in name for name in missing)} tasks"


def group_rows(systems: Systems, by: LanguageGroup) -> list[GroupRow]:
    """Means over the languages of each family or script, largest groups first; partial cells are in none."""
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    for cell in cell_rows(systems):
        group = _group_of(cell.language, by)
        if cell.in_averages and group:
            members[group].add(cell.language)
            scores[cell.system, group, cell.task].append(cell.score)
    lacking = {
        (name, _group_of(code, by), average.name)
        for name, results in systems.items()
        for average in results.tasks
        for code in average.missing
    }
    rows = [
        GroupRow(*place, fmean(values), len(values), len(members[place[1]]), partial=place in lacking)
        for place, values in scores.items()
    ]
    return sorted(rows, key=lambda row: (-row.size, row.group))


def _group_of(code: str, by: LanguageGroup) -> str:
    entry = known_language(code)
    return "" if entry is None else entry.family if by == "family" else entry.script


def gap_rows(systems: Systems) -> list[TransferGapRow]:
    """The transfer gap of every task that has English and another language."""
    by_task: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cell_rows(systems):
        if cell.in_averages:
            by_task[cell.task, cell.system][cell.language] = cell.score
    averages = {(average.name, name): average for name, results in systems.items() for average in results.tasks}
    rows = [
        _gap_row(system, averages[task_name, system], scores)
        for (task_name, system), scores in by_task.items()
        if PIVOT in scores and len(scores) > 1
    ]
    order = tasks_of(systems)
    return sorted(rows, key=lambda row: order.index(row.task))


def _gap_row(system: str, average: AverageScore, scores: Mapping[str, float]) -> TransferGapRow:
    others = [score for code, score in scores.items() if code != PIVOT]
    low, high = (average.gap.low, average.gap.high) if average.gap else (None, None)
    coverage = f"{len(others)}/{len(others) + len(average.missing)}"
    place = system, average.name, scores[PIVOT], fmean(others), coverage
    return TransferGapRow(*place, partial=bool(average.missing), low=low, high=high)
