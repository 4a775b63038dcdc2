"""Estimators of the analyses on data with known truth."""

import math

import numpy as np
import pytest

from isogloss.analysis.correlation import interval_over_languages
from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.ranking_views import (
    gini,
    language_draws,
    language_figures,
    pareto_front,
    ranked_views,
    ranking_panels,
    ranks,
    task_means,
    worst_mean,
)
from isogloss.analysis.saturation import detectable_difference, difference_variance, examples_needed
from isogloss.analysis.transfer_gap import gap
from isogloss.metrics.estimate import Estimate, SourceErrors
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


def test_gini_equals_its_definition_and_weights_are_repetitions() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 100, 17)
    direct = np.abs(values[:, None] - values).mean() / 2 / values.mean()
    assert math.isclose(gini(values[None])[0], direct)
    weights = rng.integers(0, 4, 17).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    assert math.isclose(gini(values[None], weights)[0], gini(repeated[None])[0])


def test_worst_mean_counts_repeated_languages() -> None:
    values = np.array([[5.0, 1.0, 9.0, 3.0]])
    assert worst_mean(values, np.ones(4), 2)[0] == 2.0
    assert worst_mean(values, np.array([1.0, 3.0, 1.0, 1.0]), 2)[0] == 1.0
    # Fewer than requested: all of them.
    assert worst_mean(values, np.ones(4), 10)[0] == 4.5


def test_task_means_by_hand() -> None:
    # One system, two tasks; the second task lacks the third language.
    scores = np.array([[[10.0, 20.0, 60.0], [40.0, 80.0, 0.0]]])
    present = np.array([[True, True, True], [True, True, False]])
    means, counted = task_means(scores, present, np.ones(3))
    assert means.tolist() == [[30.0, 60.0]]
    assert counted.tolist() == [True, True]
    # The first two are one family: (15 + 60) / 2, and 60.
    families = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert task_means(scores, present, np.ones(3), families)[0].tolist() == [[37.5, 60.0]]
    # Weights 1, 3, 0; then a draw of a language that the second task lacks.
    assert task_means(scores, present, np.array([1.0, 3.0, 0.0]))[0].tolist() == [[17.5, 70.0]]
    assert task_means(scores, present, np.array([0.0, 0.0, 1.0]))[1].tolist() == [True, False]
    assert language_figures(scores, present).tolist() == [[25.0, 50.0, 60.0]]


def test_ties_share_the_better_rank() -> None:
    assert ranks(np.array([3.0, 5.0, 5.0, 1.0])).tolist() == [3, 1, 1, 4]
    assert ranks(np.array([3.0, 5.0, 5.0, 1.0]), lower=True).tolist() == [2, 3, 3, 1]


def test_pareto_front_by_hand() -> None:
    sizes, scores = np.array([100.0, 200.0, 200.0, 500.0]), np.array([50.0, 60.0, 55.0, 60.0])
    assert pareto_front(sizes, scores).tolist() == [True, True, False, False]
    # Two equal systems are both on the front.
    assert pareto_front(np.array([1.0, 1.0]), np.array([2.0, 2.0])).tolist() == [True, True]


def test_language_draws() -> None:
    draws = language_draws(20, 500, seed=3)
    assert (draws.sum(axis=1) == 20).all()
    assert abs(draws.mean() - 1) < 1e-12
    assert (draws == language_draws(20, 500, seed=3)).all()


def test_mean_interval_covers_the_population_mean() -> None:
    rng = np.random.default_rng(5)
    trials = 300
    hits = 0
    for trial in range(trials):
        low, high = interval_over_languages(rng.normal(60, 12, 20).clip(0, 100).tolist(), seed=trial)
        assert low is not None and high is not None
        hits += low <= 60 <= high
    assert 0.91 <= hits / trials <= 0.985


def test_few_languages_have_no_interval() -> None:
    assert interval_over_languages([1.0, 2.0, 3.0, 4.0]) == (None, None)


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


def test_rank_intervals_cover_the_true_rank() -> None:
    """Three systems with true means 60, 61 and 70; languages differ, and each system in each of them."""
    rng = np.random.default_rng(11)
    trials, hits, swapped = 60, 0, 0
    for trial in range(trials):
        values = np.array([60.0, 61.0, 70.0])[:, None] + rng.normal(0, 8, 20) + rng.normal(0, 3, (3, 20))
        [panel], _ = ranking_panels(made_table(values.clip(0, 100)))
        flat = ranked_views(panel, {}, 200, trial)["flat"]
        low, high = flat.rank_interval()
        hits += int(((low <= [3, 2, 1]) & (high >= [3, 2, 1])).sum())
        swapped += int(flat.ranks[0] < flat.ranks[1])
    assert hits / (3 * trials) >= 0.95
    assert swapped > 0, "the order of the first two must be uncertain"


def test_equal_systems_are_ahead_in_half_of_the_draws() -> None:
    values = np.tile(np.linspace(40, 80, 20), (2, 1))
    [panel], _ = ranking_panels(made_table(values))
    assert ranked_views(panel, {}, 100, 0)["flat"].ahead(0, 1) == 0.5
    [noisy], _ = ranking_panels(made_table(values, error=2.0))
    assert ranked_views(noisy, {}, 100, 0)["flat"].ahead(0, 1) == 0.5
    flat = ranked_views(noisy, {}, 400, 0, "examples")["flat"]
    assert 0.4 < flat.ahead(0, 1) < 0.6
    apart = flat.drawn[:, 0] - flat.drawn[:, 1]
    # Two means of twenty scores with an error of 2 each.
    assert abs(apart.std() - 2 * math.sqrt(2 / 20)) < 0.1


def test_detectable_difference_equals_that_of_an_estimate() -> None:
    n, variance = 500, difference_variance(0.7, 0.6)
    assert math.isclose(variance, 0.21 + 0.24)
    errors = SourceErrors(np.full(n, math.sqrt(variance) / n), np.ones(n, dtype=bool))
    estimate = Estimate(value=0.1, centre=0.1, n=n, errors={"": errors}, unseen=1 / (n + 2) ** 2)
    difference = detectable_difference(variance, n)
    assert difference is not None and estimate.detectable is not None
    assert math.isclose(difference, estimate.detectable, rel_tol=1e-9)
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
