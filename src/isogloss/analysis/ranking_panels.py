"""Panels of systems that can be ranked together: one regime, on shared cells."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.grouping import group_by
from isogloss.metrics.statistics import FloatArray
from isogloss.results.views import ScoreView
from isogloss.scoring.main_score import lower_is_better

# Systems with a smaller share of a ranking's cells are left out, to keep the cells.
_LEAST_SHARE = 0.5
# Maximum number of tasks to name; more are counted.
_NAMED_TASKS = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingPanel:
    """Systems that can be ranked, and their scores on shared cells.

    Attributes:
        name: regime, and tasks or their number.
        scores: scores (systems, tasks, languages), 0 if a task lacks a language; higher is better.
        present: mask of existing cells (tasks, languages).
        errors: standard error of each score with an interval, else 0.
    """

    name: str
    systems: list[str]
    tasks: list[str]
    languages: list[str]
    scores: FloatArray
    present: npt.NDArray[np.bool_]
    errors: FloatArray

    @property
    def cells(self) -> int:
        """Number of cells of every system."""
        return int(self.present.sum())


def ranking_panels(scores: ScoreView, most: int = 6) -> tuple[list[RankingPanel], list[str]]:
    """Return a panel per set of tasks shared by systems of a regime, largest first, and notes.

    Raises:
        AnalysisError: no two systems of one regime share a cell.
    """
    regimes = group_by(scores.systems, lambda system: scores.results[system].regime)
    panels: list[tuple[RankingPanel, list[str]]] = []
    notes = []
    for regime, systems in regimes.items():
        if len(systems) < 2:
            notes.append(f"not ranked, the only system of its regime ({regime or 'unknown'}): {systems[0]}")
            continue
        for tasks in dict.fromkeys(tuple(scores.scores[system]) for system in systems):
            members = [system for system in systems if set(tasks) <= set(scores.scores[system])]
            panel = _panel(scores, regime, members, tasks) if len(members) > 1 else None
            if panel is not None:
                panels.append((panel, [system for system in members if system not in panel.systems]))
    if not panels:
        what = "a ranking needs two systems of one regime with a task in common"
        raise AnalysisError(what, fix="Add results, or use results of the same regime")
    panels.sort(key=lambda pair: (-len(pair[0].systems) * len(pair[0].tasks), -pair[0].cells))
    taken: Counter[str] = Counter()
    named: list[RankingPanel] = []
    too_few = []
    for panel, left_out in panels[:most]:
        taken[panel.name] += 1
        again = f" ({taken[panel.name]})" if taken[panel.name] > 1 else ""
        named.append(replace(panel, name=f"{panel.name}{again}"))
        too_few += [f"{named[-1].name}: left out, too few cells: {', '.join(left_out)}"] if left_out else []
    if len(panels) > most:
        notes.append(f"{len(panels) - most} smaller rankings left out; choose tasks with --tasks")
    notes += [f"{panel.name}: {', '.join(panel.tasks)}" for panel in named if len(panel.tasks) > _NAMED_TASKS]
    return named, [*notes, *too_few]


def _panel(scores: ScoreView, regime: str, members: list[str], tasks: tuple[str, ...]) -> RankingPanel | None:
    cells = {system: {(task, code) for task in tasks for code in scores.values(system, task)} for system in members}
    fullest = max(map(len, cells.values()))
    ranked = [system for system in members if len(cells[system]) >= _LEAST_SHARE * fullest]
    shared = set.intersection(*(cells[system] for system in ranked))
    if len(ranked) < 2 or not shared:
        return None
    inside = [task for task in tasks if any(task == name for name, _ in shared)]
    codes = sorted({code for _, code in shared})
    shape = len(ranked), len(inside), len(codes)
    values, errors, present = np.zeros(shape), np.zeros(shape), np.zeros(shape[1:], dtype=bool)
    for task, code in shared:
        position = inside.index(task), codes.index(code)
        present[position] = True
        for row, system in enumerate(ranked):
            score = scores.scores[system][task][code]
            values[row, *position] = 100 - score.value if lower_is_better(task) else score.value
            errors[row, *position] = score.error or 0.0
    what = " ".join(inside) if len(inside) <= _NAMED_TASKS else f"{len(inside)} tasks"
    name = ", ".join(filter(None, [regime, what]))
    return RankingPanel(
        name=name, systems=ranked, tasks=inside, languages=codes, scores=values, present=present, errors=errors
    )
