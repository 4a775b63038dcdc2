"""Coverage: the part of its suite that each system was scored on, and the cells that systems share."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from isogloss.errors import UnknownNameError
from isogloss.figures import rounded, score_text
from isogloss.results.averages import Systems, tasks_of
from isogloss.scoring.main_score import lower_is_better, mixed_directions
from isogloss.scoring.results import CellScore, Results, signature_parts
from isogloss.tables import charts
from isogloss.tables.charts import Chart
from isogloss.tables.table import Table
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import SUITES

# A task in a language.
Place = tuple[str, str]
MEAN = "mean over tasks"


@dataclass(frozen=True)
class Coverage:
    """The cells of a suite, and those with a full score of a system."""

    scored: frozenset[Place]
    expected: frozenset[Place]

    @property
    def complete(self) -> bool:
        """Return True if no cell is missing."""
        return self.scored == self.expected

    @property
    def cells(self) -> str:
        """Return the number of cells, such as "18 of 367"."""
        return f"{len(self.scored)} of {len(self.expected)}"

    @property
    def tasks(self) -> str:
        """Return the number of tasks with any score."""
        return f"{len({name for name, _ in self.scored})} of {len({name for name, _ in self.expected})}"

    @property
    def languages(self) -> str:
        """Return the number of languages with any score."""
        return f"{len({code for _, code in self.scored})} of {len({code for _, code in self.expected if code})}"


def coverage(results: Results) -> Coverage:
    """Return the coverage of a result record."""
    scored = {(average.name, code) for average in results.tasks for code in average.members}
    missing: set[Place] = set()
    for name in results.overall.missing:
        task_name, _, code = name.partition("/")
        missing |= {(task_name, own) for own in ([code] if code else _languages_of(results.suite, task_name))}
    return Coverage(frozenset(scored), frozenset(scored | missing))


def _languages_of(suite_name: str, task_name: str) -> Iterable[str]:
    """Return a task's languages in its suite; the task's own if the suite is unknown, or a blank if both are."""
    try:
        return SUITES[suite_name.lower()].languages_of(task_name)
    except UnknownNameError:
        pass
    try:
        return find_task(task_name).languages
    except UnknownNameError:
        return ("",)


def coverage_table(systems: Systems) -> Table:
    """Return the number of cells, tasks and languages of each system."""
    table = Table("Coverage", ("system", "cells", "tasks", "languages", "overall"))
    for name, system in systems.items():
        covered = coverage(system.record)
        overall = "complete" if covered.complete else "not ranked"
        table.add(name, covered.cells, covered.tasks, covered.languages, overall)
    table.notes = ["a cell is a task in a language of the suite; cells with partial gold are not counted"]
    return table


@dataclass(frozen=True)
class SharedScores:
    """Scores of every system in shared cells, their tasks in table order, and all cells of the systems' suites."""

    scores: dict[str, dict[Place, float]]
    tasks: tuple[str, ...]
    expected: frozenset[Place]

    @property
    def places(self) -> list[Place]:
        """Return the shared cells."""
        return list(next(iter(self.scores.values()), {}))

    def task_means(self, system: str) -> dict[str, float]:
        """Return a system's mean over the shared languages of each task."""
        scores = self.scores[system]
        return {name: fmean(score for (own, _), score in scores.items() if own == name) for name in self.tasks}

    def mean(self, system: str) -> float | None:
        """Return a system's mean over tasks, or None without tasks or if directions differ."""
        means = self.task_means(system)
        return fmean(means.values()) if means and not mixed_directions(means) else None

    @property
    def words(self) -> str:
        """Extent of the overlap, such as "18 of 367 cells (3 of 10 tasks)"."""
        tasks = len({name for name, _ in self.expected})
        return f"{len(self.places)} of {len(self.expected)} cells ({len(self.tasks)} of {tasks} tasks)"


def shared_scores(systems: Systems) -> SharedScores:
    """Return the cells that all systems have in their averages, from the same split and data."""
    cells = {name: _averaged_cells(system.record) for name, system in systems.items()}
    shared = set.intersection(*map(set, cells.values())) if cells else set()
    scores = {
        name: {(cell.task, cell.language): cell.score for key, cell in system_cells.items() if key in shared}
        for name, system_cells in cells.items()
    }
    tasks = tuple(name for name in tasks_of(systems) if any(name == task for task, *_ in shared))
    expected = (coverage(system.record).expected for system in systems.values())
    return SharedScores(scores, tasks, frozenset().union(*expected))


def _averaged_cells(results: Results) -> dict[tuple[str, ...], CellScore]:
    """Return the cells in the averages by the key that must match for two scores of a cell to be comparable."""
    return {
        (cell.task, cell.language, cell.split, signature_parts(cell.signature).get("data", "")): cell
        for cell in results.cells
        if results.in_average(cell)
    }


def same_cells(systems: Systems) -> bool:
    """Return True if all systems have the same cells."""
    return len({frozenset(_averaged_cells(system.record)) for system in systems.values()}) <= 1


def shared_title(shared: SharedScores) -> str:
    """Return the title of a table or chart of shared cells."""
    return f"Shared by all systems: {shared.words}"


def shared_table(shared: SharedScores) -> Table:
    """Return means over the shared cells by task, one column per system."""
    table = Table(shared_title(shared), ("task", "languages", *shared.scores))
    by_system = [shared.task_means(name) for name in shared.scores]
    for name in shared.tasks:
        count = sum(own == name for own, _ in shared.places)
        table.add(name, str(count), *(score_text(means[name]) for means in by_system))
    table.add(MEAN, "", *(score_text(shared.mean(system)) for system in shared.scores), strong=True)
    table.notes = ["languages: number that all systems have; shared cells have the same split and data"]
    return table


def shared_chart(shared: SharedScores) -> Chart:
    """Return the same means as a dot chart."""
    rest: dict[str, Any] = {**charts.interval_fields(None, None), "partial": False}
    records = [
        {"system": name, "name": label, "score": rounded(mean), **rest}
        for name in shared.scores
        for label, mean in {MEAN: shared.mean(name), **shared.task_means(name)}.items()
        if mean is not None
    ]
    names = [MEAN, *shared.tasks]
    errors = all(map(lower_is_better, shared.tasks))
    what = "error rate, 0–100, lower is better" if errors else "score, 0–100"
    return charts.average_dots("shared", shared_title(shared), records, names, strong=1, what=what)
