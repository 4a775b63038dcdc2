"""Panels of systems that can be ranked together, ways to aggregate their scores, and tests of the resulting order."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.grouping import group_by
from isogloss.languages import known_language
from isogloss.metrics.language_tests import LEAST_LANGUAGES, language_tests
from isogloss.metrics.ordering import Ordering, ordering
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.results.views import ScoreView
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import family_of
from isogloss.tasks.registry import task as find_task

BoolArray = npt.NDArray[np.bool_]
# Scores (systems, tasks, languages) and weights of cells (tasks, languages), 0 if a cell does not count, to one figure
# per system.
Aggregate = Callable[[FloatArray, FloatArray], FloatArray]

# Systems with a smaller share of a ranking's cells are left out, to keep the cells.
_LEAST_SHARE = 0.5
# Maximum number of tasks to name; more are counted.
_NAMED_TASKS = 2
# Number of worst languages.
WORST = 10
# Tolerance for rounding errors in equal figures.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingPanel:
    """Systems that can be ranked, and their scores on shared cells.

    Attributes:
        name: regime, and tasks or their number.
        scores: scores (systems, tasks, languages), 0 if a task lacks a language; higher is better.
        present: mask of existing cells (tasks, languages).
    """

    name: str
    systems: list[str]
    tasks: list[str]
    languages: list[str]
    scores: FloatArray
    present: BoolArray

    @property
    def cells(self) -> int:
        """Number of cells of every system."""
        return int(self.present.sum())

    @cached_property
    def families(self) -> list[str]:
        """Family of each language; a language without a known family is its own."""
        return [family_of(code) for code in self.languages]


def ranking_panels(scores: ScoreView, most: int = 6) -> tuple[list[RankingPanel], list[str]]:
    """Return a panel per set of tasks shared by systems of a regime, largest first, and notes."""
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
    what = " ".join(inside) if len(inside) <= _NAMED_TASKS else f"{len(inside)} tasks"
    ordered = [(task, code) for task in inside for code in sorted({code for name, code in shared if name == task})]
    return panel_of_cells(
        ", ".join(filter(None, [regime, what])),
        ranked,
        ordered,
        lambda system, task, code: scores.scores[system][task][code].value,
    )


def panel_of_cells(
    name: str,
    systems: Sequence[str],
    cells: Sequence[tuple[str, str]],
    score: Callable[[str, str, str], float],
) -> RankingPanel:
    """Return the panel of systems on the cells that all of them have, from the score of a system, task and language."""
    tasks = list(dict.fromkeys(task for task, _ in cells))
    codes = sorted({code for _, code in cells})
    values = np.zeros((len(systems), len(tasks), len(codes)))
    present = np.zeros(values.shape[1:], dtype=bool)
    for task, code in cells:
        position = tasks.index(task), codes.index(code)
        present[position] = True
        own = np.array([score(system, task, code) for system in systems])
        values[:, *position] = 100 - own if lower_is_better(task) else own
    return RankingPanel(name=name, systems=list(systems), tasks=tasks, languages=codes, scores=values, present=present)


@dataclass(frozen=True, eq=False)
class View:
    """A way to aggregate scores: its one-line description, the weight of each cell, and the aggregate."""

    title: str
    weights: FloatArray
    aggregate: Aggregate
    lower: bool = False

    def figures(self, scores: FloatArray) -> FloatArray:
        """Return the figure of each system."""
        return self.aggregate(scores, self.weights)

    @property
    def languages(self) -> FloatArray:
        """Share of each language in the figure; equal shares if the figure does not weigh languages.

        The share is the figure of a system that scores 1 in the language and 0 in all others.
        """
        counted = (self.weights.sum(axis=0) > 0).astype(np.float64)
        alone = (self.weights > 0) * np.eye(len(counted))[:, None, :]
        weighed: FloatArray = counted * self.figures(alone)
        shares: FloatArray = weighed if weighed.any() else counted
        return shares / (float(shares.sum()) or 1.0)

    def moves(self, scores: FloatArray) -> FloatArray:
        """Return how much each system's figure moves when a language is left out, (systems, languages)."""
        figures, moves = self.figures(scores), np.zeros((len(scores), scores.shape[2]))
        for language in np.flatnonzero(self.weights.any(axis=0)).tolist():
            others = self.weights.copy()
            others[:, language] = 0.0
            moves[:, language] = figures - self.aggregate(scores, others) if others.any() else 0.0
        return moves


def task_means(scores: FloatArray, weights: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return means (systems, tasks) over the weighted languages of each task, and a mask of tasks with any weight."""
    totals = weights.sum(axis=1)
    sums = (scores * weights).sum(axis=2)
    return np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0), totals > 0


def gini(values: FloatArray) -> FloatArray:
    """Return the Gini coefficient of each row: 0 if all are equal, near 1 if one has everything.

    It is half the mean absolute difference of two values, relative to their mean; 0 if all are 0.
    """
    count = values.shape[-1]
    # Each value exceeds those before it and is exceeded by those after it; equal values give exactly 0.
    above_lowest = np.sort(values - values.min(axis=-1, keepdims=True), axis=-1)
    pairs = (above_lowest * (2 * np.arange(count) + 1 - count)).sum(axis=-1)
    mass = values.sum(axis=-1) * count
    coefficients: FloatArray = np.divide(pairs, mass, out=np.zeros_like(pairs), where=mass > 0)
    return coefficients


def worst_mean(values: FloatArray, worst: int = WORST) -> FloatArray:
    """Return the mean of the `worst` lowest numbers of each row."""
    means: FloatArray = np.sort(values, axis=-1)[..., :worst].mean(axis=-1)
    return means


def language_figures(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean of each system in each language over its tasks, without languages that do not count."""
    present = weights > 0
    counted = present.any(axis=0)
    means: FloatArray = (scores * present).sum(axis=1)[:, counted] / present.sum(axis=0)[counted]
    return means


def views(
    panel: RankingPanel, speakers: Mapping[str, float], task_weights: Mapping[str, float] | None = None
) -> dict[str, View]:
    """Return the views of a panel, except those without known weights.

    Tasks have equal weights by default; other weights apply to the views "category" and "flat".
    """
    entries = [known_language(code) for code in panel.languages]
    present = panel.present.astype(np.float64)
    by_speakers = np.array([speakers.get(code, 0.0) for code in panel.languages])
    by_articles = np.array([entry.wikipedia_articles or 0.0 if entry else 0.0 for entry in entries])
    flat = _mean_over_tasks([])
    weighted = [(task_weights or {}).get(name, 1.0) for name in panel.tasks]
    by_name = {
        "category": View("mean over categories of tasks (XTREME-R)", present, _mean_over_categories(panel, weighted)),
        "flat": View("mean over tasks (XTREME)", present, _mean_over_tasks(weighted)),
        "family": View("families weighted equally", _by_family(panel), flat),
        "speakers": View("languages weighted by speakers", present * by_speakers, flat),
        "resources": View("languages weighted by Wikipedia size", present * by_articles, flat),
        "worst": View(
            f"mean of the system's own {WORST} worst languages",
            present,
            lambda scores, weights: worst_mean(language_figures(scores, weights)),
        ),
        "gini": View(
            "inequality over languages, lower is better",
            present,
            lambda scores, weights: gini(language_figures(scores, weights)),
            lower=True,
        ),
    }
    return {name: view for name, view in by_name.items() if view.weights.any()}


def _mean_over_tasks(task_weights: list[float]) -> Aggregate:
    def figures(scores: FloatArray, weights: FloatArray) -> FloatArray:
        means, counted = task_means(scores, weights)
        return _mean_of(means, counted * np.array(task_weights or [1.0] * len(counted)))

    return figures


def _mean_over_categories(panel: RankingPanel, task_weights: list[float]) -> Aggregate:
    categories = list(group_by(range(len(panel.tasks)), lambda row: find_task(panel.tasks[row]).category).values())

    def figures(scores: FloatArray, weights: FloatArray) -> FloatArray:
        means, counted = task_means(scores, weights)
        shares = counted * np.array(task_weights)
        parts = np.array([_mean_of(means[:, tasks], shares[tasks]) for tasks in categories])
        return _mean_of(parts.T, np.array([float(shares[tasks].any()) for tasks in categories]))

    return figures


def _mean_of(columns: FloatArray, weights: FloatArray) -> FloatArray:
    means: FloatArray = (columns * weights).sum(axis=1) / (float(weights.sum()) or 1.0)
    return means


def _by_family(panel: RankingPanel) -> FloatArray:
    """Return weights of cells by which every family of a task weighs the same."""
    member = np.array([[float(one == other) for one in panel.families] for other in panel.families])
    sizes: FloatArray = panel.present @ member
    weights: FloatArray = np.divide(panel.present, sizes, out=np.zeros(sizes.shape), where=panel.present)
    return weights


def ranks(figures: FloatArray, *, lower: bool = False) -> IntArray:
    """Return the rank of each system in each row; 1 is best, ties share the better rank."""
    signed = (figures if lower else -figures).reshape(-1, figures.shape[-1])
    # Sort and search instead of comparing all pairs: a thousand systems have a million pairs.
    ahead = [np.searchsorted(np.sort(row), row - _ROUNDING) for row in signed]
    return 1 + np.array(ahead, dtype=np.int64).reshape(figures.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedView:
    """Figures and ranks of a panel's systems in one view, and the order that tests over languages support.

    `tested` is False if there are too few languages for a test: every rank set then holds all ranks.
    """

    view: View
    figures: FloatArray
    ranks: IntArray
    order: Ordering
    tested: bool


def ranked_views(panel: RankingPanel, speakers: Mapping[str, float]) -> dict[str, RankedView]:
    """Return every view of a panel."""
    return {name: ranked_view(panel, view) for name, view in views(panel, speakers).items()}


def ranked_view(panel: RankingPanel, view: View, figures: FloatArray | None = None) -> RankedView:
    """Return the systems' figures and order in one view; figures are computed unless given, as for printed averages."""
    figures, languages = view.figures(panel.scores) if figures is None else figures, view.languages
    p = language_tests(figures, view.moves(panel.scores), languages, panel.families)
    return RankedView(
        view=view,
        figures=figures,
        ranks=ranks(figures, lower=view.lower),
        order=ordering(figures, p, lower_is_better=view.lower),
        tested=int((languages > 0).sum()) >= LEAST_LANGUAGES,
    )


def pareto_front(sizes: FloatArray, scores: FloatArray) -> BoolArray:
    """Return True for systems on the Pareto frontier of size and score."""
    as_good = (sizes[None] <= sizes[:, None]) & (scores[None] >= scores[:, None])
    better = (sizes[None] < sizes[:, None]) | (scores[None] > scores[:, None])
    return np.asarray(~(as_good & better).any(axis=1), dtype=np.bool_)
