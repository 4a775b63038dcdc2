"""What several systems share: the cells that all of them were scored on, by which alone they can be compared."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from isogloss.figures import rounded, score_text
from isogloss.report import charts
from isogloss.report.charts import Chart
from isogloss.report.coverage import Place, coverage
from isogloss.report.flat_rows import Systems, tasks_of
from isogloss.report.tables import Table
from isogloss.scoring.main_score import lower_is_better, mixed_directions
from isogloss.scoring.results import CellScore, signature_parts

MEAN = "mean over tasks"


@dataclass(frozen=True)
class SharedScores:
    """The scores of every system in the cells that all of them have.

    Attributes:
        scores: by system, and by task and language.
        tasks: the tasks of these cells, in the order of tables.
        asked: all cells that the suites of the systems ask for.
    """

    scores: dict[str, dict[Place, float]]
    tasks: tuple[str, ...]
    asked: frozenset[Place]

    @property
    def places(self) -> list[Place]:
        """The cells that are shared."""
        return list(next(iter(self.scores.values()), {}))

    def task_means(self, system: str) -> dict[str, float]:
        """A system's mean over the shared languages of each task."""
        scores = self.scores[system]
        return {name: fmean(score for (of, _), score in scores.items() if of == name) for name in self.tasks}

    def mean(self, system: str) -> float | None:
        """A system's mean over tasks; None where of some tasks more is better, of others less, or there are none."""
        means = self.task_means(system)
        return fmean(means.values()) if means and not mixed_directions(means) else None

    @property
    def words(self) -> str:
        """How much is shared, such as "18 of 367 cells (3 of 10 tasks)"."""
        tasks = len({name for name, _ in self.asked})
        return f"{len(self.places)} of {len(self.asked)} cells ({len(self.tasks)} of {tasks} tasks)"


def shared_scores(systems: Systems) -> SharedScores:
    """The cells that every system has in its averages, of the same split and the same data."""
    cells = {
        name: {_test_set(cell): cell for cell in each.cells if each.in_average(cell)} for name, each in systems.items()
    }
    shared = set.intersection(*(set(found) for found in cells.values())) if cells else set()
    scores = {
        name: {(cell.task, cell.language): cell.score for key, cell in found.items() if key in shared}
        for name, found in cells.items()
    }
    having = {task for task, *_ in shared}
    tasks = tuple(name for name in tasks_of(systems) if name in having)
    return SharedScores(scores, tasks, frozenset().union(*(coverage(each).asked for each in systems.values())))


def _test_set(cell: CellScore) -> tuple[str, ...]:
    """What has to be the same for two scores of a cell to be compared."""
    return cell.task, cell.language, cell.split, signature_parts(cell.signature).get("data", "")


def same_cells(systems: Systems) -> bool:
    """Whether all systems have the same cells, so that all that is said of them can be compared."""
    found = {frozenset(_test_set(cell) for cell in each.cells if each.in_average(cell)) for each in systems.values()}
    return len(found) <= 1


def shared_title(shared: SharedScores) -> str:
    """What a table or chart of shared cells is called."""
    return f"What all systems share: {shared.words}"


def shared_table(shared: SharedScores) -> Table:
    """Means over the shared cells, task by task: a column a system."""
    table = Table(shared_title(shared), ("task", "languages", *shared.scores))
    by_system = [shared.task_means(name) for name in shared.scores]
    for task in shared.tasks:
        count = sum(of == task for of, _ in shared.places)
        table.add(task, str(count), *(score_text(means[task]) for means in by_system))
    table.add(MEAN, "", *(score_text(shared.mean(name)) for name in shared.scores), strong=True)
    table.notes = ["languages: how many all systems have; a cell is shared where split and data are the same"]
    return table


def shared_chart(shared: SharedScores) -> Chart:
    """The same as dots."""
    records: list[dict[str, Any]] = []
    for name in shared.scores:
        means = {MEAN: shared.mean(name), **shared.task_means(name)}
        records += [
            {
                "system": name,
                "name": task,
                "score": rounded(mean),
                **charts.interval_fields(None, None),
                "partial": False,
            }
            for task, mean in means.items()
            if mean is not None
        ]
    names = [MEAN, *shared.tasks]
    errors = all(map(lower_is_better, shared.tasks))
    what = "error rate, 0–100, lower is better" if errors else "score, 0–100"
    return charts.average_dots("shared", shared_title(shared), records, names, strong=1, what=what)
