"""Averages, language groups and transfer gaps of systems: over a suite, and as rows for tables and charts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from isogloss.figures import score_text
from isogloss.grouping import group_by
from isogloss.languages import UNKNOWN, Language, known_language
from isogloss.metrics import aggregate
from isogloss.reply_outcomes import ReplyCounts
from isogloss.results.system import OVERALL, SystemResult
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.results import AverageScore, Number, Results
from isogloss.tasks.suites import Suite

# Systems with result records, by the name they are shown under.
Systems = Mapping[str, SystemResult]
Level = Literal["task", "category", "overall"]
LEVELS: tuple[Level, ...] = ("task", "category", "overall")
LanguageGroup = Literal["family", "script"]


def missing_cells(system: SystemResult, suite: Suite) -> list[str]:
    """Return what a system lacks of a suite: whole tasks by id, single cells as `task/language`."""
    missing = []
    for name in suite.tasks:
        if name not in system.averages:
            codes = suite.languages_of(name)
            lacking = [code for code in codes if system.score(name, code) is None]
            missing += [name] if len(lacking) == len(codes) else [f"{name}/{code}" for code in lacking]
    return missing


def completed_averages(system: SystemResult, suite: Suite) -> dict[str, Number]:
    """Return the average of each task, category and the suite that a system covers completely.

    Recorded averages come first; others follow from the cells, without an interval.
    """
    averages = {}
    for name in suite.tasks:
        scores = [system.score(name, code) for code in suite.languages_of(name)]
        numbers = [score for score in scores if score is not None]
        if name in system.averages:
            averages[name] = system.averages[name]
        elif len(numbers) == len(scores):
            averages[name] = _mean(numbers, [1.0] * len(numbers))
    columns = dict(averages)
    for category, names in suite.categories.items():
        if set(names) <= set(averages) and not mixed_directions(names):
            weights = [suite.weights.get(name, 1.0) for name in names]
            recorded = system.averages.get(category)
            columns[category] = recorded or _mean([averages[name] for name in names], weights)
    if set(suite.tasks) <= set(averages) and not mixed_directions(suite.tasks):
        columns[OVERALL] = system.averages.get(OVERALL) or aggregate.combined(
            averages, suite.rule, lambda name: suite.members[name].category, _mean, suite.weights
        )
    return columns


def _mean(numbers: Sequence[Number], weights: Sequence[float]) -> Number:
    value = aggregate.weighted_mean([number.value for number in numbers], weights)
    return Number(value, None, None, sum(number.n for number in numbers))


def transfer_gap(scores: Mapping[str, float]) -> float | None:
    """Return English minus the mean of the other languages (0 is perfect transfer), or None if either is missing."""
    others = [value for code, value in scores.items() if code != PIVOT]
    return scores[PIVOT] - fmean(others) if PIVOT in scores and others else None


def transfer_gaps(system: SystemResult, suite: Suite) -> dict[str, Number]:
    """Return the transfer gap by task: recorded, or computed if all cells of the task are present."""
    gaps = {}
    for name in suite.tasks:
        codes = suite.languages_of(name)
        scores = {code: score for code in codes if (score := system.score(name, code)) is not None}
        gap = transfer_gap({code: score.value for code, score in scores.items()})
        if name in system.gaps:
            gaps[name] = system.gaps[name]
        elif gap is not None and len(scores) == len(codes):
            gaps[name] = Number(gap, None, None, sum(score.n for score in scores.values()))
    return gaps


@dataclass(frozen=True, kw_only=True)
class AverageRow:
    """A task average, category average or the overall score of one system.

    Attributes:
        detail: metrics of a task, or the rule of the overall score.
        coverage: share of the task's languages, such as "3/7", or of the suite's tasks.
        partial: True if part of the suite is missing.
        replies: totals of a language model's replies, if the predictions state facts about them.
    """

    system: str
    level: Level
    name: str
    score: Number
    detail: str
    coverage: str
    partial: bool
    replies: ReplyCounts | None = None


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """Mean of one system on one task over the languages of a family or script.

    Attributes:
        languages: number of languages in the mean.
        size: number of the group's languages scored in any task by any system.
        partial: True if the suite has more of the group's languages for this task.
        estimated: True if only a subset of the examples of a language is answered.
    """

    system: str
    group: str
    task: str
    score: float
    languages: int
    size: int
    partial: bool
    estimated: bool = False


@dataclass(frozen=True, kw_only=True)
class TransferGapRow:
    """English, the mean of the other languages, and their difference with its 95 % interval, if known.

    Attributes:
        gap: English minus the others; 0 is perfect transfer.
        coverage: share of the task's other languages that are included.
        partial: True if some of them are missing.
        estimated: True if only a subset of the examples of a language is answered.
    """

    system: str
    task: str
    english: float
    others: float
    gap: float
    coverage: str
    partial: bool
    estimated: bool = False
    low: float | None = None
    high: float | None = None


def tasks_of(systems: Systems) -> list[str]:
    """Return the tasks of any system, in order of first appearance."""
    return list(dict.fromkeys(cell.task for system in systems.values() for cell in system.record.cells))


def average_rows(systems: Systems) -> list[AverageRow]:
    """Return averages of tasks, categories and suites; rows of the same average are adjacent."""
    rows = [row for name, system in systems.items() for row in _averages_of(name, system.record)]
    order = {key: index for index, key in enumerate(dict.fromkeys((row.level, row.name) for row in rows))}
    return sorted(rows, key=lambda row: (LEVELS.index(row.level), order[row.level, row.name]))


def _averages_of(system: str, results: Results) -> list[AverageRow]:
    """Return the averages of one system, except those over a single cell of many."""
    rows: list[AverageRow] = []
    replies = {average.name: _replies_of(results, average) for average in results.tasks}

    def add(level: Level, name: str, score: Number, scored: int, missing: Sequence[str], detail: str = "") -> None:
        # Missing cells of a scored task are written task/language.
        total = scored + (len(missing) if level == "task" else sum("/" not in part for part in missing))
        coverage = f"{scored}/{total}" if level == "task" else f"{scored}/{total} tasks"
        average: dict[str, Any] = {"level": level, "name": name, "score": score, "detail": detail}
        inside = [name] if level == "task" else members.get(name, replies)
        average["replies"] = ReplyCounts.total(replies.get(task) for task in inside)
        rows.append(AverageRow(system=system, **average, coverage=coverage, partial=bool(missing)))

    members = {category.name: category.members for category in results.categories}
    for average in results.tasks:
        detail = "  ".join(f"{key} {score_text(number.value)}" for key, number in average.metrics.items())
        add("task", average.name, average.score, len(average.members), average.missing, detail)
    for average in results.categories:
        if not results.is_one_cell(average.members, average.missing):
            add("category", average.name, average.score, len(average.members), average.missing)
    overall = results.overall
    if (top := results.shown_overall) is not None:
        scored = sum(len(average.members) for average in results.categories)
        add("overall", "overall", top, scored, overall.missing, f"rule: {overall.rule}")
    return rows


def _replies_of(results: Results, average: AverageScore) -> ReplyCounts | None:
    """Return the totals of the cells in a task's average, or None without facts about replies."""
    cells = [cell for cell in results.cells if cell.task == average.name and cell.language in average.members]
    return ReplyCounts.total(cell.replies for cell in cells)


def group_rows(systems: Systems, by: LanguageGroup) -> list[GroupRow]:
    """Return means over the languages of each family or script, largest groups first, without partial cells."""
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    lacking, estimated = set(), set()
    for name, system in systems.items():
        for (task, code), cell in system.cells.items():
            if cell.score is not None:
                group = _group_of(cell.language, by)
                members[group].add(code)
                scores[name, group, task].append(cell.score.value)
                estimated |= {(name, group, task)} if cell.estimated else set()
        for average in system.record.tasks:
            lacking |= {(name, _group_of(known_language(code), by), average.name) for code in average.missing}
    rows = []
    for (name, group, task), values in scores.items():
        key, size = (name, group, task), len(members[group])
        where: dict[str, Any] = {"system": name, "group": group, "task": task, "size": size}
        where |= {"partial": key in lacking, "estimated": key in estimated}
        rows.append(GroupRow(**where, score=fmean(values), languages=len(values)))
    return sorted(rows, key=lambda row: (-row.size, row.group))


def _group_of(language: Language | None, by: LanguageGroup) -> str:
    return UNKNOWN if language is None else language.family if by == "family" else language.script


def gap_rows(systems: Systems) -> list[TransferGapRow]:
    """Return the transfer gap of every task that has English and another language."""
    rows = []
    for name, system in systems.items():
        missing = {average.name: len(average.missing) for average in system.record.tasks}
        for task, cells in group_by(system.cells.items(), lambda item: item[0][0]).items():
            scores = {code: cell.score.value for (_, code), cell in cells if cell.score is not None}
            if (gap := transfer_gap(scores)) is None:
                continue
            others = [score for code, score in scores.items() if code != PIVOT]
            figures: dict[str, Any] = {"english": scores[PIVOT], "others": fmean(others), "gap": gap}
            if recorded := system.gaps.get(task):
                figures |= {"low": recorded.low, "high": recorded.high}
            figures |= {"partial": missing[task] > 0, "estimated": any(cell.estimated for _, cell in cells)}
            coverage = f"{len(others)}/{len(others) + missing[task]}"
            rows.append(TransferGapRow(system=name, task=task, **figures, coverage=coverage))
    order = tasks_of(systems)
    return sorted(rows, key=lambda row: order.index(row.task))
