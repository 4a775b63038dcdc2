"""Estimators of the analyses on data with known truth."""

import math

import numpy as np
import pytest

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.ranking_views import (
    RankingPanel,
    gini,
    language_figures,
    pareto_front,
    ranked_view,
    ranking_panels,
    ranks,
    task_means,
    views,
    worst_mean,
)
from isogloss.analysis.transfer_gap import gap
from isogloss.metrics.planning import detectable_difference, difference_variance, examples_needed
from isogloss.results.views import ScoreView, score_view
from results.made_results import made_system

CODES = "ar bg bn de el en es et fa fi fr he hi hu id it ja ka kk ko".split()


def test_gap_by_hand() -> None:
    assert gap({"en": 80.0, "de": 70.0, "sw": 50.0}) == 20.0
    assert gap({"en": 50.0, "de": 50.0}) == 0.0
    with pytest.raises(AnalysisError, match="English and another"):
        gap({"de": 70.0, "sw": 50.0})
    with pytest.raises(AnalysisError, match="English and another"):
        gap({"en": 70.0})


def test_gini_by_hand() -> None:
    assert gini(np.array([[3.0, 3.0, 3.0]]))[0] == 0
    assert gini(np.array([[0.0, 0.0]]))[0] == 0
    # One of four has everything: (n - 1) / n.
    assert math.isclose(gini(np.array([[0.0, 0.0, 0.0, 8.0]]))[0], 0.75)
    # Half the mean absolute difference over the mean: |1 - 3| / 2 / 2 / 2.
    assert math.isclose(gini(np.array([[1.0, 3.0]]))[0], 0.25)


def test_gini_equals_its_definition() -> None:
    values = np.random.default_rng(1).uniform(0, 100, 17)
    direct = np.abs(values[:, None] - values).mean() / 2 / values.mean()
    assert math.isclose(gini(values[None])[0], direct)


def test_worst_mean_by_hand() -> None:
    values = np.array([[5.0, 1.0, 9.0, 3.0]])
    assert worst_mean(values, 2)[0] == 2.0
    # Fewer than requested: all of them.
    assert worst_mean(values, 10)[0] == 4.5


def test_task_means_by_hand() -> None:
    # One system, two tasks; the second task lacks the third language.
    scores = np.array([[[10.0, 20.0, 60.0], [40.0, 80.0, 0.0]]])
    present = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    means, counted = task_means(scores, present)
    assert means.tolist() == [[30.0, 60.0]]
    assert counted.tolist() == [True, True]
    # Weights 1, 3, 0; then only the language that the second task lacks.
    assert task_means(scores, present * [1.0, 3.0, 0.0])[0].tolist() == [[17.5, 70.0]]
    assert task_means(scores, present * [0.0, 0.0, 1.0])[1].tolist() == [True, False]
    assert language_figures(scores, present).tolist() == [[25.0, 50.0, 60.0]]
    assert language_figures(scores, present * [0.0, 1.0, 1.0]).tolist() == [[50.0, 60.0]]


def panel_by_hand() -> RankingPanel:
    """Return two tasks of one category and one of another, in two related languages and a third."""
    scores = np.array([[[10.0, 20.0, 60.0], [40.0, 80.0, 0.0], [0.0, 30.0, 90.0]]])
    present = np.array([[True, True, True], [True, True, False], [False, True, True]])
    names = {"tasks": ["xnli", "pawsx", "tydiqa"], "languages": ["de", "en", "fi"]}
    return RankingPanel(name="", systems=["one"], **names, scores=scores, present=present)


def test_views_by_hand() -> None:
    panel = panel_by_hand()
    by_name = views(panel, {"de": 1.0, "en": 3.0})
    figures = {name: float(view.figures(panel.scores)[0]) for name, view in by_name.items()}
    # Task means 30, 60, 60; families: (15 + 60) / 2, 60, (30 + 90) / 2; speakers: 17.5, 70, 30 (English alone).
    expected = {"category": 52.5, "flat": 50.0, "family": 52.5, "speakers": 117.5 / 3, "worst": 430 / 9}
    assert {name: figures[name] for name in expected} == pytest.approx(expected)
    weighted = views(panel, {}, {"xnli": 2.0, "tydiqa": 0.0})
    assert weighted["flat"].figures(panel.scores)[0] == pytest.approx((2 * 30 + 60) / 3)
    assert weighted["category"].figures(panel.scores)[0] == pytest.approx((2 * 30 + 60) / 3)
    assert "speakers" not in weighted


def test_shares_of_languages_and_moves_by_hand() -> None:
    panel = panel_by_hand()
    by_name = views(panel, {"de": 1.0, "en": 3.0})
    # Flat: German has a third of XNLI and half of PAWS-X, and a task is a third of the figure.
    assert by_name["flat"].languages.tolist() == pytest.approx([5 / 18, 8 / 18, 5 / 18])
    assert by_name["family"].languages.tolist() == pytest.approx(
        [(1 / 4 + 1 / 2) / 3, (1 / 4 + 1 / 2 + 1 / 2) / 3, 1 / 3]
    )
    assert by_name["speakers"].languages.tolist() == pytest.approx([1 / 6, 5 / 6, 0])
    assert by_name["worst"].languages.tolist() == by_name["gini"].languages.tolist() == pytest.approx([1 / 3] * 3)
    # Without German, the tasks are 40, 80 and 60; without Finnish 15, 60 and 30; without English 35, 40 and 90.
    assert by_name["flat"].moves(panel.scores)[0].tolist() == pytest.approx([50 - 60, 50 - 55, 50 - 35])
    # Families keep the weights they have among all languages: without German, English alone weighs a half of XNLI's
    # first family.
    without = (20 * 0.5 + 60) / 1.5, 80.0, 60.0
    assert by_name["family"].moves(panel.scores)[0, 0] == pytest.approx(52.5 - sum(without) / 3)
    assert by_name["speakers"].moves(panel.scores)[0, 2] == 0


def test_ties_share_the_better_rank() -> None:
    assert ranks(np.array([3.0, 5.0, 5.0, 1.0])).tolist() == [3, 1, 1, 4]
    assert ranks(np.array([3.0, 5.0, 5.0, 1.0]), lower=True).tolist() == [2, 3, 3, 1]


def test_pareto_front_by_hand() -> None:
    sizes, scores = np.array([100.0, 200.0, 200.0, 500.0]), np.array([50.0, 60.0, 55.0, 60.0])
    assert pareto_front(sizes, scores).tolist() == [True, True, False, False]
    # Two equal systems are both on the front.
    assert pareto_front(np.array([1.0, 1.0]), np.array([2.0, 2.0])).tolist() == [True, True]


def made_table(values: np.ndarray, regime: str = "zero-shot", error: float = 0.0) -> ScoreView:
    """Return scores (systems, languages) on XNLI."""
    codes = CODES[: values.shape[1]]
    return score_view(
        [
            made_system(
                f"system-{row}",
                {"xnli": dict(zip(codes, map(float, scores), strict=True))},
                regime=regime,
                margin=1.96 * error if error else None,
                n=5010,
            )
            for row, scores in enumerate(values)
        ]
    )


def test_rank_sets_hold_the_true_ranks() -> None:
    """Three systems with true means 60, 61 and 70; languages differ, and each system in each of them."""
    rng = np.random.default_rng(11)
    trials, hits, swapped, sure = 60, 0, 0, 0
    for _ in range(trials):
        values = np.array([60.0, 61.0, 70.0])[:, None] + rng.normal(0, 8, 20) + rng.normal(0, 3, (3, 20))
        [panel], _ = ranking_panels(made_table(values.clip(0, 100)))
        flat = ranked_view(panel, views(panel, {})["flat"])
        hits += bool(((flat.order.low <= [3, 2, 1]) & (flat.order.high >= [3, 2, 1])).all())
        swapped += int(flat.ranks[0] < flat.ranks[1])
        sure += flat.order.letters[2] == "a"
    assert hits / trials >= 0.95
    assert swapped > 0, "the order of the first two must be uncertain"
    assert sure / trials >= 0.9


def test_four_languages_are_too_few() -> None:
    values = np.array([[60.0] * 4, [90.0] * 4]) + np.arange(4)
    [panel], _ = ranking_panels(made_table(values))
    flat = ranked_view(panel, views(panel, {})["flat"])
    assert not flat.tested
    assert flat.ranks.tolist() == [2, 1]
    assert (flat.order.low.tolist(), flat.order.high.tolist()) == ([1, 1], [2, 2])


def test_detectable_difference_by_hand() -> None:
    n, variance = 500, difference_variance(0.7, 0.6)
    assert math.isclose(variance, 0.21 + 0.24)
    # Student's quantiles for 499 degrees of freedom: 97.5 % and 80 %.
    by_hand = (1.964729 + 0.842342) * math.sqrt(0.45 / 500 + 1 / 502**2)
    assert detectable_difference(variance, n) == pytest.approx(by_hand, rel=1e-6)
    assert detectable_difference(variance, 19) is None
    assert difference_variance(0.7, 0.7, 0.5) == pytest.approx(0.21)


def test_examples_needed_is_minimal() -> None:
    variance = difference_variance(0.8, 0.78)
    needed = examples_needed(variance, 0.02)
    assert needed is not None
    assert detectable_difference(variance, needed) <= 0.02 < detectable_difference(variance, needed - 1)
    # The textbook's (1.96 + 0.84)² · variance / difference².
    assert needed == pytest.approx((1.959964 + 0.841621) ** 2 * variance / 0.02**2, rel=0.01)
    assert examples_needed(variance, 0.0) is None


def test_a_detectable_difference_has_80_percent_power() -> None:
    rng = np.random.default_rng(2)
    n, p = 1000, 0.7
    apart = detectable_difference(difference_variance(p, p), n)
    assert apart is not None
    q = p - apart
    trials = 2000
    a, b = rng.binomial(n, p, trials) / n, rng.binomial(n, q, trials) / n
    z = (a - b) / np.sqrt(a * (1 - a) / n + b * (1 - b) / n)
    assert 0.76 < (z > 1.96).mean() < 0.84
