"""Chance-corrected agreement: by hand, on known truth, and interval coverage."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from isogloss.analysis.parallel_answers import (
    agreement_shares,
    cohen_statistics,
    counts_if_independent,
    fleiss_statistics,
    kappa_interval,
)
from isogloss.metrics.estimate import estimate


def test_cohens_kappa_by_hand() -> None:
    # 20 both yes, 5 yes/no, 10 no/yes, 15 both no: agreement 35/50, chance 0.5 * 0.6 + 0.5 * 0.4, kappa 0.4.
    first = np.array([True] * 25 + [False] * 25)
    second = np.array([True] * 20 + [False] * 5 + [True] * 10 + [False] * 15)
    statistics = cohen_statistics(first, second)
    assert agreement_shares(statistics) == pytest.approx((0.7, 0.5))
    assert statistics.score == pytest.approx(0.4)


def test_cohens_kappa_of_three_labels_by_hand() -> None:
    first = np.array(["a", "a", "b", "b", "c", "c"])
    second = np.array(["a", "b", "b", "b", "c", "a"])
    # Same on 4 of 6; chance (2*2 + 2*3 + 2*1) / 36 = 1/3.
    assert cohen_statistics(first, second).score == pytest.approx((4 / 6 - 1 / 3) / (1 - 1 / 3))


def test_equal_and_constant_ratings() -> None:
    rating = np.arange(40) % 3
    kappa = estimate(cohen_statistics(rating, rating))
    assert kappa.value == 1
    assert kappa_interval(kappa) is None  # nothing varies
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(estimate(cohen_statistics(np.ones(30), np.ones(30))).value)


def test_fleiss_kappa_by_hand() -> None:
    right = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    # Pairs that agree: 1, 1/3, 1, 1/3, mean 2/3; 6 of 12 are right, so chance gives 1/2.
    assert fleiss_statistics(right).score == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
    assert fleiss_statistics(np.repeat([[True], [False]], 4, axis=1)).score == 1


def test_fleiss_kappa_of_two_raters_is_scotts_pi() -> None:
    rng = np.random.default_rng(0)
    right = rng.random((50, 2)) < [0.7, 0.4]
    same, share = float((right[:, 0] == right[:, 1]).mean()), float(right.mean())
    chance = share**2 + (1 - share) ** 2
    assert fleiss_statistics(right).score == pytest.approx((same - chance) / (1 - chance))


def test_counts_of_independent_languages() -> None:
    assert counts_if_independent([0.5] * 4) == pytest.approx([math.comb(4, k) / 16 for k in range(5)])
    assert counts_if_independent([0.9, 0.2]) == pytest.approx([0.1 * 0.8, 0.9 * 0.8 + 0.1 * 0.2, 0.9 * 0.2])


def covered(truth: float, intervals: list[tuple[float, float] | None]) -> float:
    return float(np.mean([low <= truth <= high for low, high in filter(None, intervals)]))


def test_coverage_for_independent_languages() -> None:
    rng = np.random.default_rng(1)
    intervals = []
    for _ in range(600):
        right = rng.random((200, 2)) < [0.8, 0.6]
        intervals.append(kappa_interval(estimate(cohen_statistics(*right.T))))
    assert 0.93 <= covered(0, intervals) <= 0.97


@pytest.mark.parametrize(("by_source", "least", "most"), [(True, 0.91, 0.98), (False, 0.0, 0.8)])
def test_intervals_are_clustered_by_article(by_source: bool, least: float, most: float) -> None:
    """Articles with a difficulty of their own, Beta(2, 2): kappa is its variance over p(1 - p), 1 / (2 + 2 + 1)."""
    rng = np.random.default_rng(2)
    article = np.repeat(np.arange(60), 60)
    intervals = []
    for _ in range(400):
        right = rng.random((len(article), 2)) < rng.beta(2, 2, 60)[article, None]
        statistics = cohen_statistics(*right.T)
        intervals.append(kappa_interval(estimate(replace(statistics, units=article if by_source else None))))
    assert least <= covered(0.2, intervals) <= most
