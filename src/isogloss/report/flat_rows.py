"""Flat records that tables and charts of several systems are drawn from."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from isogloss.errors import UnknownNameError
from isogloss.languages import Language, language
from isogloss.report.scores import cell_score
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.results import CellScore, Number, Results


@dataclass(frozen=True)
class Cell:
    """One task in one language of one system; `counts` says whether it enters averages."""

    system: str
    task: str
    language: str
    score: float
    found: CellScore
    counts: bool

    @property
    def detail(self) -> str:
        """Every metric with its interval, on one line."""
        numbers = self.found.metrics.items()
        return "; ".join(f"{name} {n.value:.1f} ({n.low:.1f}–{n.high:.1f}, n = {n.n:,})" for name, n in numbers)


@dataclass(frozen=True)
class Summary:
    """A task average, category average or the overall figure of one system."""

    system: str
    level: str
    name: str
    score: Number
    languages: str
    missing: bool


@dataclass(frozen=True)
class Mean:
    """The mean over the languages of a group (a family or a script) in one task."""

    system: str
    group: str
    task: str
    score: float
    languages: int


@dataclass(frozen=True)
class Gap:
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


def known(code: str) -> Language | None:
    """The registry's entry, None for a language it does not have."""
    try:
        return language(code)
    except UnknownNameError:
        return None


def label(code: str) -> str:
    """A language's English name, its code where it has none here."""
    found = known(code)
    return found.name if found else code


def autonym(code: str) -> str:
    """The language's own name for itself, "" for a language the registry does not have."""
    found = known(code)
    return found.autonym if found else ""


def tasks_of(systems: Mapping[str, Results]) -> list[str]:
    """The tasks of any of the systems, in the order of the first one that has them."""
    return list(dict.fromkeys(cell.task for results in systems.values() for cell in results.cells))


def cells(systems: Mapping[str, Results]) -> list[Cell]:
    """Every cell of every system."""
    found = []
    for name, results in systems.items():
        found += [
            Cell(name, cell.task, cell.language, cell_score(cell), cell, results.in_average(cell))
            for cell in results.cells
        ]
    return found


def summaries(systems: Mapping[str, Results]) -> Iterator[Summary]:
    """Overall, categories and tasks, the most important first."""
    for name, results in systems.items():
        overall = results.overall
        if overall.score is not None:
            yield Summary(name, "overall", f"overall ({overall.rule})", overall.score, "", overall.partial)
        for average in results.categories:
            yield Summary(name, "category", average.name, average.score, "", bool(average.missing))
        for average in results.tasks:
            total = len(average.members) + len(average.missing)
            share = f"{len(average.members)}/{total}"
            yield Summary(name, "task", average.name, average.score, share, bool(average.missing))


def grouped(found: list[Cell], group: Callable[[Language], str]) -> list[Mean]:
    """Means over the languages of each group, largest groups first; partial cells are in none."""
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    for cell in found:
        entry = known(cell.language)
        if cell.counts and entry:
            name = group(entry)
            members[name].add(cell.language)
            scores[cell.system, name, cell.task].append(cell.score)
    order = sorted(members, key=lambda name: (-len(members[name]), name))
    means = [Mean(*place, fmean(values), len(values)) for place, values in scores.items()]
    return sorted(means, key=lambda mean: order.index(mean.group))


def gaps(systems: Mapping[str, Results], found: list[Cell]) -> list[Gap]:
    """The transfer gap of every task that has English and another language."""
    by_task: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in found:
        if cell.counts:
            by_task[cell.system, cell.task][cell.language] = cell.score
    recorded = {(name, average.name): average.gap for name, results in systems.items() for average in results.tasks}
    rows = []
    for (system, task), scores in by_task.items():
        others = [score for code, score in scores.items() if code != PIVOT]
        if PIVOT in scores and others:
            number = recorded.get((system, task))
            low, high = (number.low, number.high) if number else (None, None)
            rows.append(Gap(system, task, scores[PIVOT], fmean(others), len(others), low, high))
    return rows
