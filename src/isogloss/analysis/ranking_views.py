"""Panels of systems that can be ranked together, ways to aggregate their scores, and the uncertainty of rankings."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.grouping import group_by
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.results.views import ScoreView
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import known_language
from isogloss.tasks.registry import task as find_task

Draw = Literal["languages", "examples"]
BoolArray = npt.NDArray[np.bool_]
# Scores (systems, tasks, languages), mask of existing cells and weights of languages to one figure per system.
Aggregate = Callable[[FloatArray, BoolArray, FloatArray], FloatArray]

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
        errors: standard error of each score with an interval, else 0.
    """

    name: str
    systems: list[str]
    tasks: list[str]
    languages: list[str]
    scores: FloatArray
    present: BoolArray
    errors: FloatArray

    @property
    def cells(self) -> int:
        """Number of cells of every system."""
        return int(self.present.sum())


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


@dataclass(frozen=True)
class View:
    """A way to aggregate scores, and its one-line description."""

    title: str
    figures: Aggregate
    lower: bool = False


def task_means(
    scores: FloatArray, present: BoolArray, weights: FloatArray, groups: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Return means (systems, tasks) over the weighted languages of each task, and a mask of tasks with any weight.

    Given the membership of groups (groups, languages), means are over groups of languages.
    """
    membership = np.ones((1, len(weights))) if groups is None else groups
    weighted = (membership * weights).T
    totals = present @ weighted
    means = np.divide(scores @ weighted, totals, out=np.zeros((*scores.shape[:2], len(membership))), where=totals > 0)
    counted = (totals > 0).sum(axis=1)
    return means.sum(axis=2) / np.maximum(counted, 1), counted > 0


def gini(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the Gini coefficient of each row: 0 if all are equal, near 1 if one has everything.

    It is half the mean absolute difference of two values, relative to their mean; 0 if all are 0. Weights are the
    multiplicities of the columns.
    """
    ordered, multiplicity, below = _ordered(values, np.ones(values.shape[-1]) if weights is None else weights)
    total = multiplicity.sum(axis=-1)
    # Sum of pairwise differences, from the number of values below and above each.
    pairs = (ordered * multiplicity * (2 * below + multiplicity - total[..., None])).sum(axis=-1)
    mass = (ordered * multiplicity).sum(axis=-1) * total
    coefficients: FloatArray = np.divide(pairs, mass, out=np.zeros_like(pairs), where=mass > 0)
    return coefficients


def worst_mean(values: FloatArray, weights: FloatArray, worst: int = WORST) -> FloatArray:
    """Return the weighted mean of the `worst` lowest numbers of each row."""
    ordered, multiplicity, below = _ordered(values, weights)
    used = np.clip(worst - below, 0, multiplicity)
    means: FloatArray = (ordered * used).sum(axis=-1) / used.sum(axis=-1)
    return means


def _ordered(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each row in order, with its weights and the total weight below each value."""
    order = np.argsort(values, axis=-1)
    weights = weights[order]
    return np.take_along_axis(values, order, axis=-1), weights, np.cumsum(weights, axis=-1) - weights


def language_figures(scores: FloatArray, present: BoolArray) -> FloatArray:
    """Return the mean of each system in each language over its tasks."""
    means: FloatArray = scores.sum(axis=1) / present.sum(axis=0)
    return means


def views(panel: RankingPanel, speakers: Mapping[str, float]) -> dict[str, View]:
    """Return the views of a panel, except those without known weights."""
    entries = [known_language(code) for code in panel.languages]
    families = [entry.family if entry else code for entry, code in zip(entries, panel.languages, strict=True)]
    equal = np.ones(len(entries))
    by_speakers = np.array([speakers.get(code, 0.0) for code in panel.languages])
    by_articles = np.array([entry.wikipedia_articles or 0.0 if entry else 0.0 for entry in entries])
    by_name = {
        "category": View("mean over categories of tasks (XTREME-R)", _category_view(panel)),
        "flat": View("mean over tasks (XTREME)", _flat_view(equal)),
        "family": View("families weighted equally", _flat_view(equal, _indicator(families))),
        "speakers": View("languages weighted by speakers", _flat_view(by_speakers)),
        "resources": View("languages weighted by Wikipedia size", _flat_view(by_articles)),
        "worst": View(
            f"mean of the system's own {WORST} worst languages",
            lambda scores, present, weights: worst_mean(language_figures(scores, present), weights),
        ),
        "gini": View(
            "inequality over languages, lower is better",
            lambda scores, present, weights: gini(language_figures(scores, present), weights),
            lower=True,
        ),
    }
    unknown = {"speakers": not by_speakers.any(), "resources": not by_articles.any()}
    return {name: view for name, view in by_name.items() if not unknown.get(name)}


def _flat_view(base: FloatArray, groups: FloatArray | None = None) -> Aggregate:
    return lambda scores, present, weights: _mean_of(*task_means(scores, present, weights * base, groups))


def _category_view(panel: RankingPanel) -> Aggregate:
    inside = _indicator([find_task(name).category for name in panel.tasks]).astype(bool)

    def figures(scores: FloatArray, present: BoolArray, weights: FloatArray) -> FloatArray:
        means, counted = task_means(scores, present, weights)
        parts = np.array([_mean_of(means[:, tasks], counted[tasks]) for tasks in inside])
        return _mean_of(parts.T, np.array([counted[tasks].any() for tasks in inside]))

    return figures


def _mean_of(columns: FloatArray, counted: BoolArray) -> FloatArray:
    means: FloatArray = columns[:, counted].sum(axis=1) / max(1, int(counted.sum()))
    return means


def _indicator(names: list[str]) -> FloatArray:
    """Return the membership matrix (groups, members)."""
    distinct = list(dict.fromkeys(names))
    return np.array([[float(name == group) for name in names] for group in distinct])


def ranks(figures: FloatArray, *, lower: bool = False) -> IntArray:
    """Return the rank of each system in each row; 1 is best, ties share the better rank."""
    signed = (figures if lower else -figures).reshape(-1, figures.shape[-1])
    # Sort and search instead of comparing all pairs: a thousand systems have a million pairs.
    ahead = [np.searchsorted(np.sort(row), row - _ROUNDING) for row in signed]
    return 1 + np.array(ahead, dtype=np.int64).reshape(figures.shape)


@dataclass(frozen=True, eq=False)
class RankedView:
    """Figures and ranks of a panel's systems in one view, and its figures in each resample (resamples, systems)."""

    view: View
    figures: FloatArray
    ranks: IntArray
    drawn: FloatArray

    def rank_interval(self) -> tuple[IntArray, IntArray]:
        """Return the 95 % interval of the ranks, including the rank itself."""
        drawn = ranks(self.drawn, lower=self.view.lower)
        low, high = np.quantile(drawn, (0.025, 0.975), axis=0, method="nearest").astype(np.int64)
        return np.minimum(low, self.ranks), np.maximum(high, self.ranks)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return the percentile interval of the figures."""
        low, high = np.quantile(self.drawn, (0.025, 0.975), axis=0)
        return np.minimum(low, self.figures), np.maximum(high, self.figures)

    def ahead(self, first: int, second: int) -> float:
        """Return the share of resamples in which the first system is ahead; ties count half."""
        apart = self.drawn[:, first] - self.drawn[:, second]
        apart = -apart if self.view.lower else apart
        return float(((apart > _ROUNDING) + 0.5 * (np.abs(apart) <= _ROUNDING)).mean())


def language_draws(count: int, resamples: int = 1000, seed: int = 0) -> IntArray:
    """Return the number of times each language is drawn, as `resamples` rows of `count` numbers."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.int64)


def ranked_views(
    panel: RankingPanel, speakers: Mapping[str, float], resamples: int, seed: int, draw: Draw = "languages"
) -> dict[str, RankedView]:
    """Return every view of a panel, with resamples shared by all systems and views.

    Drawing "languages" with replacement includes test noise, since every language brings its own. Drawing "examples"
    keeps the languages and adds a normally distributed error to every score.
    """
    by_name = views(panel, speakers)
    once = np.ones(len(panel.languages))
    draws = language_draws(len(panel.languages), resamples, seed).astype(np.float64)
    noise = np.random.default_rng(seed)
    drawn = {name: np.zeros((resamples, len(panel.systems))) for name in by_name}
    for index, weights in enumerate(draws):
        scores, counts = panel.scores, weights
        if draw == "examples":
            scores, counts = scores + panel.errors * noise.standard_normal(scores.shape), once
        for name, view in by_name.items():
            drawn[name][index] = view.figures(scores, panel.present, counts)
    figures = {name: view.figures(panel.scores, panel.present, once) for name, view in by_name.items()}
    return {
        name: RankedView(view, figures[name], ranks(figures[name], lower=view.lower), drawn[name])
        for name, view in by_name.items()
    }


def pareto_front(sizes: FloatArray, scores: FloatArray) -> BoolArray:
    """Return True for systems on the Pareto frontier of size and score."""
    as_good = (sizes[None] <= sizes[:, None]) & (scores[None] >= scores[:, None])
    better = (sizes[None] < sizes[:, None]) | (scores[None] > scores[:, None])
    return np.asarray(~(as_good & better).any(axis=1), dtype=np.bool_)
