"""Spread over runs, and the exact test of two proportions compared with probabilities computed by hand."""

from math import comb

import numpy as np
import pytest

from isogloss.analysis.language_selection import interval_over_runs, run_spread
from isogloss.metrics.unpaired import two_proportions


def test_two_proportions_by_hand() -> None:
    # 1 of 4 against 3 of 4: 4 right among 8; C(4,k) C(4,4-k) / C(8,4) for k = 0..4 is 1, 16, 36, 16, 1 of 70.
    assert two_proportions(1, 4, 3, 4) == pytest.approx(34 / 70, rel=1e-12)
    assert two_proportions(0, 4, 4, 4) == pytest.approx(2 / 70, rel=1e-12)
    assert two_proportions(2, 4, 2, 4) == pytest.approx(1.0)
    assert two_proportions(0, 5, 0, 7) == 1.0


@pytest.mark.parametrize(("right", "n", "other", "other_n"), [(30, 50, 41, 50), (3, 20, 9, 31), (7, 9, 0, 12)])
def test_two_proportions_against_whole_numbers(right: int, n: int, other: int, other_n: int) -> None:
    both = right + other
    ways = {k: comb(n, k) * comb(other_n, both - k) for k in range(max(0, both - other_n), min(n, both) + 1)}
    expected = sum(way for way in ways.values() if way <= ways[right]) / comb(n + other_n, both)
    assert two_proportions(right, n, other, other_n) == pytest.approx(expected, rel=1e-9)


def test_two_proportions_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for right, other, n in ((2800, 2900, 4000), (3500, 3625, 5010), (100, 120, 500)):
        expected = stats.fisher_exact([[right, n - right], [other, n - other]]).pvalue
        assert two_proportions(right, n, other, n) == pytest.approx(expected, rel=1e-6)


def test_the_papers_threshold_is_significant_at_the_size_of_its_test_sets() -> None:
    for n in (4000, 5010):
        for share in (0.5, 0.7, 0.85):
            assert two_proportions(round(n * share), n, round(n * (share + 0.025)), n) < 0.05
    assert two_proportions(350, 500, 363, 500) > 0.05  # 2.6 points of 500 examples


def test_invalid_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not valid counts"):
        two_proportions(5, 4, 1, 4)


def test_spread_and_flags() -> None:
    spread = run_spread(np.array([70.0, 72.5, 71.0]), 4000)
    assert (spread.smallest, spread.largest, spread.spread, spread.large) == (70.0, 72.5, 2.5, True)
    assert spread.p == pytest.approx(two_proportions(2800, 4000, 2900, 4000))
    assert spread.p is not None
    assert spread.p_any == pytest.approx(3 * spread.p)
    assert not run_spread(np.array([70.0, 72.4]), 4000).large
    unknown = run_spread(np.array([70.0, 90.0]))
    assert (unknown.p, unknown.p_any) == (None, None)
    assert run_spread(np.array([70.0]), 100).p is None


def test_mean_interval_is_students() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    low, high = interval_over_runs(values) or (0, 0)
    # t of 3 degrees of freedom is 3.182446; the standard error 1.290994 / 2.
    assert (low, high) == pytest.approx((2.5 - 3.182446 * 0.645497, 2.5 + 3.182446 * 0.645497), abs=1e-5)
    assert interval_over_runs(values[:2]) is None
    assert interval_over_runs(np.full(5, 2.0)) is None
