"""Ways to aggregate scores by task and language, and the uncertainty of the resulting rankings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from isogloss.analysis.language_bootstrap import language_draws
from isogloss.analysis.ranking_panels import RankingPanel
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.scoring.names import known_language
from isogloss.tasks.registry import task as find_task

Draw = Literal["languages", "examples"]
BoolArray = npt.NDArray[np.bool_]
# Scores (systems, tasks, languages), mask of existing cells and weights of languages to one figure per system.
Aggregate = Callable[[FloatArray, BoolArray, FloatArray], FloatArray]

# Number of worst languages.
WORST = 10
# Tolerance for rounding errors in equal figures.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class View:
    """A way to aggregate scores.

    Attributes:
        title: one-line description.
        lower: True if lower is better.
    """

    title: str
    figures: Aggregate
    lower: bool = False


def task_means(
    scores: FloatArray, present: BoolArray, weights: FloatArray, groups: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Return each system's mean over the languages of each task, or over groups of languages.

    Args:
        scores: scores (systems, tasks, languages).
        present: mask of existing cells (tasks, languages).
        weights: weight of each language.
        groups: membership (groups, languages), 1 if a language is in a group; by default one group of all.

    Returns:
        Means (systems, tasks), and a mask of tasks with a language of positive weight.
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
    counts = np.ones(values.shape[-1]) if weights is None else weights
    order = np.argsort(values, axis=-1)
    ordered, multiplicity = np.take_along_axis(values, order, axis=-1), counts[order]
    total = multiplicity.sum(axis=-1)
    # Sum of pairwise differences, from the number of values below and above each.
    below = np.cumsum(multiplicity, axis=-1) - multiplicity
    pairs = (ordered * multiplicity * (2 * below + multiplicity - total[..., None])).sum(axis=-1)
    mass = (ordered * multiplicity).sum(axis=-1) * total
    coefficients: FloatArray = np.divide(pairs, mass, out=np.zeros_like(pairs), where=mass > 0)
    return coefficients


def worst_mean(values: FloatArray, weights: FloatArray, worst: int = WORST) -> FloatArray:
    """Return the weighted mean of the `worst` lowest numbers of each row."""
    order = np.argsort(values, axis=-1)
    ordered, multiplicity = np.take_along_axis(values, order, axis=-1), weights[order]
    below = np.cumsum(multiplicity, axis=-1) - multiplicity
    used = np.clip(worst - below, 0, multiplicity)
    means: FloatArray = (ordered * used).sum(axis=-1) / used.sum(axis=-1)
    return means


def language_figures(scores: FloatArray, present: BoolArray) -> FloatArray:
    """Return the mean of each system in each language over its tasks."""
    means: FloatArray = scores.sum(axis=1) / present.sum(axis=0)
    return means


def views(panel: RankingPanel, speakers: Mapping[str, float]) -> dict[str, View]:
    """Return the views of a panel, except those without known weights."""
    entries = [known_language(code) for code in panel.languages]
    families = [entry.family if entry else code for entry, code in zip(entries, panel.languages, strict=True)]
    by_name = {
        "category": View("mean over categories of tasks (XTREME-R)", _category_view(panel)),
        "flat": View("mean over tasks (XTREME)", _flat_view(np.ones(len(entries)))),
        "family": View("families weighted equally", _flat_view(np.ones(len(entries)), _indicator(families))),
    }
    by_speakers = np.array([speakers.get(code, 0.0) for code in panel.languages])
    by_articles = np.array([entry.wikipedia_articles or 0.0 if entry else 0.0 for entry in entries])
    for name, title, weights in (
        ("speakers", "languages weighted by speakers", by_speakers),
        ("resources", "languages weighted by Wikipedia size", by_articles),
    ):
        if weights.any():
            by_name[name] = View(title, _flat_view(weights))
    by_name["worst"] = View(
        f"mean of the system's own {WORST} worst languages",
        lambda scores, present, weights: worst_mean(language_figures(scores, present), weights),
    )
    by_name["gini"] = View(
        "inequality over languages, lower is better",
        lambda scores, present, weights: gini(language_figures(scores, present), weights),
        lower=True,
    )
    return by_name


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
    """Figures and ranks of a panel's systems in one view, with resamples.

    Attributes:
        drawn: figures of each resample (resamples, systems).
    """

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
    result = {}
    for name, view in by_name.items():
        figures = view.figures(panel.scores, panel.present, once)
        result[name] = RankedView(view, figures, ranks(figures, lower=view.lower), drawn[name])
    return result


def pareto_front(sizes: FloatArray, scores: FloatArray) -> BoolArray:
    """Return True for systems on the Pareto frontier of size and score."""
    as_good = (sizes[None] <= sizes[:, None]) & (scores[None] >= scores[:, None])
    better = (sizes[None] < sizes[:, None]) | (scores[None] > scores[:, None])
    beaten = as_good & better
    return np.asarray(~beaten.any(axis=1), dtype=np.bool_)
