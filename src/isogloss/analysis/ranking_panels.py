"""Which systems may be ranked together: those of one regime, on the cells that all of them have."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.score_table import ScoreTable
from isogloss.metrics.statistics import FloatArray
from isogloss.scoring.main_score import lower_is_better

# A system with less than this share of a ranking's cells is left out, rather than that these are.
_LEAST_SHARE = 0.5
# More tasks than this are counted rather than named.
_NAMED_TASKS = 2


@dataclass(frozen=True, eq=False)
class RankingPanel:
    """Systems that can be ranked, and their scores on what they share.

    Attributes:
        name: the regime, and the tasks or how many they are.
        scores: systems by tasks by languages, 0 where a task does not have a language; more is better.
        present: tasks by languages, whether there is a cell.
        errors: the standard error of each score that has an interval, else 0.
        left_out: systems of the regime that have too few of the cells.
    """

    name: str
    systems: list[str]
    tasks: list[str]
    languages: list[str]
    scores: FloatArray
    present: npt.NDArray[np.bool_]
    errors: FloatArray
    left_out: list[str]

    @property
    def cells(self) -> int:
        """How many cells every system has."""
        return int(self.present.sum())


def ranking_panels(scores: ScoreTable, most: int = 6) -> tuple[list[RankingPanel], list[str]]:
    """A panel for every set of tasks that some systems of a regime have in common, the largest first, and notes.

    Raises:
        AnalysisError: no two systems of one regime share a cell.
    """
    regimes: dict[str, list[str]] = {}
    for system in scores.systems:
        regimes.setdefault(scores.regime(system), []).append(system)
    found: list[RankingPanel] = []
    notes = []
    for regime, systems in regimes.items():
        if len(systems) < 2:
            notes.append(f"not ranked, as the only system of its regime ({regime or 'none given'}): {systems[0]}")
            continue
        for tasks in dict.fromkeys(tuple(scores.by_cell[system]) for system in systems):
            members = [system for system in systems if set(tasks) <= set(scores.by_cell[system])]
            panel = _panel(scores, regime, members, tasks) if len(members) > 1 else None
            if panel is not None:
                found.append(panel)
    if not found:
        what = "a ranking needs two systems of one regime with a task in common"
        raise AnalysisError(what, fix="Give more results, or results of the same regime")
    found.sort(key=lambda panel: (-len(panel.systems) * len(panel.tasks), -panel.cells))
    found = _distinctly_named(found)
    if len(found) > most:
        notes.append(f"{len(found) - most} smaller rankings are left out: --tasks chooses")
    notes += [f"{each.name}: {', '.join(each.tasks)}" for each in found[:most] if len(each.tasks) > _NAMED_TASKS]
    notes += [
        f"{panel.name}: left out for want of cells: {', '.join(panel.left_out)}"
        for panel in found[:most]
        if panel.left_out
    ]
    return found[:most], notes


def _distinctly_named(panels: list[RankingPanel]) -> list[RankingPanel]:
    taken: Counter[str] = Counter()
    named = []
    for panel in panels:
        taken[panel.name] += 1
        again = f" ({taken[panel.name]})" if taken[panel.name] > 1 else ""
        named.append(replace(panel, name=f"{panel.name}{again}"))
    return named


def _panel(scores: ScoreTable, regime: str, members: list[str], tasks: tuple[str, ...]) -> RankingPanel | None:
    cells = {system: {(task, code) for task in tasks for code in scores.values(system, task)} for system in members}
    fullest = max(map(len, cells.values()))
    kept = [system for system in members if len(cells[system]) >= _LEAST_SHARE * fullest]
    shared = set.intersection(*(cells[system] for system in kept))
    if len(kept) < 2 or not shared:
        return None
    inside = [task for task in tasks if any(task == name for name, _ in shared)]
    codes = sorted({code for _, code in shared})
    shape = len(kept), len(inside), len(codes)
    values, errors, present = np.zeros(shape), np.zeros(shape), np.zeros(shape[1:], dtype=bool)
    for task, code in shared:
        place = inside.index(task), codes.index(code)
        present[place] = True
        for row, system in enumerate(kept):
            score = scores.by_cell[system][task][code]
            values[row, *place] = 100 - score.value if lower_is_better(task) else score.value
            errors[row, *place] = score.error or 0.0
    what = " ".join(inside) if len(inside) <= _NAMED_TASKS else f"{len(inside)} tasks"
    name = ", ".join(filter(None, [regime, what]))
    left_out = [system for system in members if system not in kept]
    return RankingPanel(name, kept, inside, codes, values, present, errors, left_out)
