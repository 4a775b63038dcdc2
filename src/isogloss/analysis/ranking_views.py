"""Ways to make one number of scores by task and language, and how sure the order is that each gives."""

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

# How many languages "the worst" are.
WORST = 10
# Figures that are equal on paper may differ in their last digits.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class View:
    """One way to average.

    Attributes:
        title: what it is, in a line.
        figures: from scores (systems, tasks, languages), which of them are there, and how often each language counts,
            to one figure a system.
        lower: whether less is better.
    """

    title: str
    figures: Callable[[FloatArray, npt.NDArray[np.bool_], FloatArray], FloatArray]
    lower: bool = False


def task_means(
    scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray, groups: FloatArray | None = None
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Each system's mean over the languages of each task, or the mean over groups of languages of their means.

    Args:
        scores: systems by tasks by languages.
        present: tasks by languages.
        weights: of each language.
        groups: groups by languages, 1 where a language is in a group; by default all are one group.

    Returns:
        Systems by tasks, and which tasks have a language of any weight.
    """
    of = np.ones((1, len(weights))) if groups is None else groups
    weighted = (of * weights).T
    totals = present @ weighted
    means = np.divide(scores @ weighted, totals, out=np.zeros((*scores.shape[:2], len(of))), where=totals > 0)
    counted = (totals > 0).sum(axis=1)
    return means.sum(axis=2) / np.maximum(counted, 1), counted > 0


def gini(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """How unequal the numbers of each row are: 0 if all are equal, near 1 if one has everything.

    Half the mean difference of two of them, relative to their mean; 0 where all are 0. Weights say how often each
    column counts.
    """
    counts = np.ones(values.shape[-1]) if weights is None else weights
    order = np.argsort(values, axis=-1)
    ordered, of = np.take_along_axis(values, order, axis=-1), counts[order]
    total = of.sum(axis=-1)
    # The sum over pairs of their difference, from how many are below and above each.
    below = np.cumsum(of, axis=-1) - of
    pairs = (ordered * of * (2 * below + of - total[..., None])).sum(axis=-1)
    mass = (ordered * of).sum(axis=-1) * total
    found: FloatArray = np.divide(pairs, mass, out=np.zeros_like(pairs), where=mass > 0)
    return found


def worst_mean(values: FloatArray, weights: FloatArray, worst: int = WORST) -> FloatArray:
    """The mean of the lowest numbers of each row, `worst` of them, a column counting as often as its weight says."""
    order = np.argsort(values, axis=-1)
    ordered, of = np.take_along_axis(values, order, axis=-1), weights[order]
    below = np.cumsum(of, axis=-1) - of
    used = np.clip(worst - below, 0, of)
    found: FloatArray = (ordered * used).sum(axis=-1) / used.sum(axis=-1)
    return found


def language_figures(scores: FloatArray, present: npt.NDArray[np.bool_]) -> FloatArray:
    """The mean of each system in each language over the tasks that have it."""
    found: FloatArray = scores.sum(axis=1) / present.sum(axis=0)
    return found


def views(panel: RankingPanel, speakers: Mapping[str, float]) -> dict[str, View]:
    """The views that a panel can be seen by; one whose weights are not known for any language is not there."""
    entries = [known_language(code) for code in panel.languages]
    families = [entry.family if entry else code for entry, code in zip(entries, panel.languages, strict=True)]
    found = {
        "category": View("mean over categories of tasks (XTREME-R)", _category_view(panel)),
        "flat": View("mean over tasks (XTREME)", _flat_view(np.ones(len(entries)))),
        "family": View("families count alike", _flat_view(np.ones(len(entries)), _indicator(families))),
    }
    by_speakers = np.array([speakers.get(code, 0.0) for code in panel.languages])
    by_articles = np.array([entry.wikipedia_articles or 0.0 if entry else 0.0 for entry in entries])
    for name, title, weights in (
        ("speakers", "languages count by their speakers", by_speakers),
        ("resources", "languages count by their Wikipedia's size", by_articles),
    ):
        if weights.any():
            found[name] = View(title, _flat_view(weights))
    found["worst"] = View(f"mean of the system's own {WORST} worst languages", _worst_view)
    found["gini"] = View("inequality over languages, less is better", _gini_view, lower=True)
    return found


def _flat_view(
    base: FloatArray, groups: FloatArray | None = None
) -> Callable[[FloatArray, npt.NDArray[np.bool_], FloatArray], FloatArray]:
    def figures(scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
        means, counted = task_means(scores, present, weights * base, groups)
        return _mean_of(means, counted)

    return figures


def _category_view(panel: RankingPanel) -> Callable[[FloatArray, npt.NDArray[np.bool_], FloatArray], FloatArray]:
    inside = _indicator([find_task(name).category for name in panel.tasks]).astype(bool)

    def figures(scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
        means, counted = task_means(scores, present, weights)
        parts = np.array([_mean_of(means[:, tasks], counted[tasks]) for tasks in inside])
        return _mean_of(parts.T, np.array([counted[tasks].any() for tasks in inside]))

    return figures


def _worst_view(scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    return worst_mean(language_figures(scores, present), weights)


def _gini_view(scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    return gini(language_figures(scores, present), weights)


def _mean_of(columns: FloatArray, counted: npt.NDArray[np.bool_]) -> FloatArray:
    found: FloatArray = columns[:, counted].sum(axis=1) / max(1, int(counted.sum()))
    return found


def _indicator(names: list[str]) -> FloatArray:
    """Groups by members, 1 where a member is in the group."""
    distinct = list(dict.fromkeys(names))
    return np.array([[float(name == group) for name in names] for group in distinct])


def ranks(figures: FloatArray, *, lower: bool = False) -> IntArray:
    """The place of each system in each row of figures: 1 is best, and equals share the better place."""
    signed = (figures if lower else -figures).reshape(-1, figures.shape[-1])
    # How many are ahead is looked up, not counted: of a thousand systems there are a million pairs.
    ahead = [np.searchsorted(np.sort(row), row - _ROUNDING) for row in signed]
    return 1 + np.array(ahead, dtype=np.int64).reshape(figures.shape)


@dataclass(frozen=True, eq=False)
class RankedView:
    """A panel in one view: figures and ranks of its systems, and the same for languages drawn again.

    Attributes:
        drawn: figures for each resample, resamples by systems.
    """

    view: View
    figures: FloatArray
    ranks: IntArray
    drawn: FloatArray

    def rank_interval(self) -> tuple[IntArray, IntArray]:
        """The ranks that 95 % of the resamples lie between, with the rank itself."""
        drawn = ranks(self.drawn, lower=self.view.lower)
        low, high = np.quantile(drawn, (0.025, 0.975), axis=0, method="nearest").astype(np.int64)
        return np.minimum(low, self.ranks), np.maximum(high, self.ranks)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The percentile interval of the figures."""
        low, high = np.quantile(self.drawn, (0.025, 0.975), axis=0)
        return np.minimum(low, self.figures), np.maximum(high, self.figures)

    def ahead(self, first: int, second: int) -> float:
        """The share of the resamples in which one system is ahead of another, ties counting half."""
        apart = self.drawn[:, first] - self.drawn[:, second]
        apart = -apart if self.view.lower else apart
        return float(((apart > _ROUNDING) + 0.5 * (np.abs(apart) <= _ROUNDING)).mean())


def ranked_views(
    panel: RankingPanel, speakers: Mapping[str, float], resamples: int, seed: int, draw: Draw = "languages"
) -> dict[str, RankedView]:
    """Every view of a panel, and the same for each resample, which is one for all systems and views.

    Languages are drawn with replacement: scores of other languages differ by the noise of their tests too, so that is
    in it. Or examples are: the same languages, and every score moved by its own error, normally distributed.
    """
    found = views(panel, speakers)
    once = np.ones(len(panel.languages))
    draws = language_draws(len(panel.languages), resamples, seed).astype(np.float64)
    noise = np.random.default_rng(seed)
    drawn = {name: np.zeros((resamples, len(panel.systems))) for name in found}
    for place, weights in enumerate(draws):
        scores, counts = panel.scores, weights
        if draw == "examples":
            scores, counts = scores + panel.errors * noise.standard_normal(scores.shape), once
        for name, view in found.items():
            drawn[name][place] = view.figures(scores, panel.present, counts)
    result = {}
    for name, view in found.items():
        figures = view.figures(panel.scores, panel.present, once)
        result[name] = RankedView(view, figures, ranks(figures, lower=view.lower), drawn[name])
    return result


def pareto_front(sizes: FloatArray, scores: FloatArray) -> npt.NDArray[np.bool_]:
    """Which systems no other beats: none is as small and better, or smaller and as good."""
    as_good = (sizes[None] <= sizes[:, None]) & (scores[None] >= scores[:, None])
    better = (sizes[None] < sizes[:, None]) | (scores[None] > scores[:, None])
    beaten = as_good & better
    return np.asarray(~beaten.any(axis=1), dtype=np.bool_)
