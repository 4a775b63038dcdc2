"""Comparison within strata: by hand, and with confounded groups."""

import numpy as np
import pytest

from isogloss.analysis.seen_items import matched_difference
from isogloss.metrics.estimate import estimate


def test_a_matched_difference_by_hand() -> None:
    score = np.array([1, 1, 0, 1, 0, 0, 1.0])
    first = np.array([True, True, False, True, False, False, True])
    stratum = np.array([0, 0, 0, 1, 1, 1, 2])
    # Stratum 0: 1 - 0, one of the second group; stratum 1: 1 - 0, two; stratum 2 has only the first group.
    statistics = matched_difference(score, first, stratum)
    assert statistics is not None
    assert statistics.score == 1
    uneven = matched_difference(np.array([1, 0, 1, 0, 0.0]), np.array([1, 1, 0, 1, 0], bool), np.array([0, 0, 0, 1, 1]))
    assert uneven is not None
    assert uneven.score == pytest.approx((1 * (0.5 - 1) + 1 * (0 - 0)) / 2)


def test_nothing_to_match() -> None:
    assert matched_difference(np.ones(4), np.array([True, True, False, False]), np.array([0, 0, 1, 1])) is None


def test_confounding_is_removed() -> None:
    """Long items are harder and mostly in the second group; the group has no effect."""
    rng = np.random.default_rng(0)
    raw, inside = [], []
    for _ in range(300):
        long = rng.random(600) < 0.5
        first = rng.random(600) < np.where(long, 0.2, 0.7)
        score = (rng.random(600) < np.where(long, 0.4, 0.8)).astype(float)
        raw.append(score[first].mean() - score[~first].mean())
        statistics = matched_difference(score, first, long.astype(np.int64))
        assert statistics is not None
        interval = estimate(statistics).difference_interval()
        assert interval is not None
        inside.append(interval[0] <= 0 <= interval[1])
    assert np.mean(raw) > 0.15
    assert 0.92 <= np.mean(inside) <= 0.98


def test_a_difference_within_strata_is_recovered() -> None:
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(300):
        stratum = rng.integers(3, size=600)
        first = rng.random(600) < np.array([0.2, 0.5, 0.7])[stratum]
        score = (rng.random(600) < np.array([0.3, 0.5, 0.6])[stratum] + 0.2 * first).astype(float)
        statistics = matched_difference(score, first, stratum)
        assert statistics is not None
        low, high = estimate(statistics).difference_interval() or (1, -1)
        inside.append(low <= 0.2 <= high)
    assert 0.92 <= np.mean(inside) <= 0.98
