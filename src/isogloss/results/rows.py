"""Flat rows over result records, for tables and charts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from isogloss.figures import score_text
from isogloss.results.averages import transfer_gap
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.names import known_language
from isogloss.scoring.results import CellScore, Number, Results

# Result records by the name their system is shown under.
Systems = Mapping[str, Results]
Level = Literal["task", "category", "overall"]
LEVELS: tuple[Level, ...] = ("task", "category", "overall")
LanguageGroup = Literal["family", "script"]


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """One task in one language of one system.

    Attributes:
        split_asked: requested split; "best" may resolve to different splits per cell.
        in_averages: True if the cell enters averages: the suite has its language and its gold is complete.
    """

    system: str
    task: str
    language: str
    score: float
    record: CellScore
    split_asked: str
    in_averages: bool


@dataclass(frozen=True, kw_only=True)
class AverageRow:
    """A task average, category average or the overall score of one system.

    Attributes:
        detail: metrics of a task, or the rule of the overall score.
        coverage: share of the task's languages, such as "3/7", or of the suite's tasks.
        partial: True if part of the suite is missing.
    """

    system: str
    level: Level
    name: str
    score: Number
    detail: str
    coverage: str
    partial: bool


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """Mean of one system on one task over the languages of a family or script.

    Attributes:
        languages: number of languages in the mean.
        size: number of the group's languages scored in any task by any system.
        partial: True if the suite has more of the group's languages for this task.
    """

    system: str
    group: str
    task: str
    score: float
    languages: int
    size: int
    partial: bool


@dataclass(frozen=True, kw_only=True)
class TransferGapRow:
    """English, the mean of the other languages, and their difference with its 95 % interval, if known.

    Attributes:
        gap: English minus the others; 0 is perfect transfer.
        coverage: share of the task's other languages that are included.
        partial: True if some of them are missing.
    """

    system: str
    task: str
    english: float
    others: float
    gap: float
    coverage: str
    partial: bool
    low: float | None = None
    high: float | None = None


def tasks_of(systems: Systems) -> list[str]:
    """Return the tasks of any system, in order of first appearance."""
    return list(dict.fromkeys(cell.task for results in systems.values() for cell in results.cells))


def cell_rows(systems: Systems) -> list[CellRow]:
    """Return every cell of every system."""
    return [
        CellRow(
            system=name,
            task=cell.task,
            language=cell.language,
            score=cell.score,
            record=cell,
            split_asked=results.split,
            in_averages=results.in_average(cell),
        )
        for name, results in systems.items()
        for cell in results.cells
    ]


def average_rows(systems: Systems) -> list[AverageRow]:
    """Return averages of tasks, categories and suites; rows of the same average are adjacent."""
    rows = [row for name, results in systems.items() for row in _averages_of(name, results)]
    order = {key: index for index, key in enumerate(dict.fromkeys((row.level, row.name) for row in rows))}
    return sorted(rows, key=lambda row: (LEVELS.index(row.level), order[row.level, row.name]))


def _averages_of(system: str, results: Results) -> list[AverageRow]:
    """Return the averages of one system, except those over a single cell of many."""
    rows: list[AverageRow] = []

    def add(level: Level, name: str, score: Number, scored: int, missing: Sequence[str], detail: str = "") -> None:
        # Missing cells of a scored task are written task/language.
        total = scored + (len(missing) if level == "task" else sum("/" not in part for part in missing))
        rows.append(
            AverageRow(
                system=system,
                level=level,
                name=name,
                partial=bool(missing),
                coverage=f"{scored}/{total}" if level == "task" else f"{scored}/{total} tasks",
                score=score,
                detail=detail,
            )
        )

    for average in results.tasks:
        detail = "  ".join(f"{key} {score_text(number.value)}" for key, number in average.metrics.items())
        add("task", average.name, average.score, len(average.members), average.missing, detail)
    for average in results.categories:
        if not _is_one_cell(results, average.members, average.missing):
            add("category", average.name, average.score, len(average.members), average.missing)
    overall = results.overall
    if overall.score is not None and not is_overall_of_one_cell(results):
        scored = sum(len(average.members) for average in results.categories)
        add("overall", "overall", overall.score, scored, overall.missing, f"rule: {overall.rule}")
    return rows


def is_overall_of_one_cell(results: Results) -> bool:
    """Return True if the overall score is that of a single cell and the suite has more."""
    return _is_one_cell(results, [average.name for average in results.tasks], results.overall.missing)


def _is_one_cell(results: Results, tasks: Sequence[str], missing: Sequence[str]) -> bool:
    inside = sum(len(average.members) for average in results.tasks if average.name in tasks)
    return inside == 1 and bool(missing)


def group_rows(systems: Systems, by: LanguageGroup) -> list[GroupRow]:
    """Return means over the languages of each family or script, largest groups first, without partial cells."""
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
        GroupRow(
            system=system,
            group=group,
            task=task,
            score=fmean(values),
            languages=len(values),
            size=len(members[group]),
            partial=(system, group, task) in lacking,
        )
        for (system, group, task), values in scores.items()
    ]
    return sorted(rows, key=lambda row: (-row.size, row.group))


def _group_of(code: str, by: LanguageGroup) -> str:
    entry = known_language(code)
    return "" if entry is None else entry.family if by == "family" else entry.script


def gap_rows(systems: Systems) -> list[TransferGapRow]:
    """Return the transfer gap of every task that has English and another language."""
    by_task: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cell_rows(systems):
        if cell.in_averages:
            by_task[cell.task, cell.system][cell.language] = cell.score
    averages = {(average.name, name): average for name, results in systems.items() for average in results.tasks}
    rows = []
    for (task, system), scores in by_task.items():
        if (gap := transfer_gap(scores)) is None:
            continue
        average, others = averages[task, system], len(scores) - 1
        rows.append(
            TransferGapRow(
                system=system,
                task=task,
                english=scores[PIVOT],
                others=fmean(score for code, score in scores.items() if code != PIVOT),
                gap=gap,
                coverage=f"{others}/{others + len(average.missing)}",
                partial=bool(average.missing),
                low=average.gap.low if average.gap else None,
                high=average.gap.high if average.gap else None,
            )
        )
    order = tasks_of(systems)
    return sorted(rows, key=lambda row: order.index(row.task))
