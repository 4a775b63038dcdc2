"""Directional agreement: compared with counting pairs by hand, on noise and on perfect proxies."""

from itertools import combinations

import numpy as np
import pytest

from isogloss.analysis.language_selection import agreement, agreement_gain, count_pairs, mean_agreement
from isogloss.metrics.statistics import FloatArray


def by_hand(dev: FloatArray, test: FloatArray) -> tuple[float, int]:
    """Count the agreeing pairs and all pairs one by one."""
    agreeing, pairs = 0.0, 0
    for one, other in combinations(range(len(dev)), 2):
        if abs(test[one] - test[other]) >= 0.5:
            pairs += 1
            moved = (dev[one] - dev[other]) * (test[one] - test[other])
            agreeing += 0.5 if dev[one] == dev[other] else float(moved > 0)
    return agreeing, pairs


def test_pairs_by_hand() -> None:
    rng = np.random.default_rng(1)
    runs = [(np.round(rng.normal(70, 1, 30)), rng.normal(50, 1, 30)) for _ in range(4)]
    result = agreement([count_pairs(dev, test) for dev, test in runs])
    agreeing, pairs = np.sum([by_hand(dev, test) for dev, test in runs], axis=0)
    assert result is not None
    assert result.pairs == pairs
    assert result.share == pytest.approx(agreeing / pairs, abs=1e-15)
    for run, share in enumerate(result.without):
        agreeing, pairs = np.sum([by_hand(*scores) for scores in runs[:run] + runs[run + 1 :]], axis=0)
        assert share == pytest.approx(agreeing / pairs, abs=1e-15)


@pytest.mark.parametrize("runs", [1, 2])
def test_fewer_than_three_runs_have_no_interval(runs: int) -> None:
    rng = np.random.default_rng(2)
    counts = [[count_pairs(rng.normal(70, 1, 50), rng.normal(50, 1, 50)) for _ in range(runs)] for _ in range(2)]
    one, other = (agreement(run_counts) for run_counts in counts)
    assert one is not None
    assert other is not None
    both = mean_agreement([one, other])
    assert both is not None
    assert 0 < both.share < 1
    assert one.interval is None
    assert both.interval is None
    assert agreement_gain(one, other) is None


def test_changes_of_half_a_point_count() -> None:
    test = np.array([50.1, 50.6])
    assert count_pairs(test, test).pairs == 1
    assert count_pairs(test, np.array([50.1, 50.59])).pairs == 0
    assert agreement([count_pairs(test, np.array([50.0, 50.2]))]) is None


def test_perfect_and_inverse_proxies() -> None:
    rng = np.random.default_rng(3)
    tests = [rng.normal(60, 2, 50) for _ in range(10)]
    for sign, share in ((1, 1.0), (-1, 0.0)):
        result = agreement([count_pairs(sign * test, test) for test in tests])
        assert result is not None
        assert result.share == share
        assert result.interval is not None
        assert result.interval[0] <= share <= result.interval[1]
        assert result.interval[1] - result.interval[0] < 0.4


def test_constant_dev_scores_agree_by_chance() -> None:
    test = np.random.default_rng(4).normal(60, 2, 50)
    result = agreement([count_pairs(np.full(50, 80.0), test)])
    assert result is not None
    assert (result.share, result.equal) == (0.5, result.pairs)


def test_checkpoints_without_scores_are_left_out() -> None:
    dev, test = np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, np.nan])
    assert count_pairs(dev, test).pairs == 0


def test_mean_over_languages() -> None:
    rng = np.random.default_rng(8)
    tests = [rng.normal(60, 2, (2, 20)) for _ in range(4)]
    devs = [rng.normal(60, 2, 20) for _ in range(4)]
    one, other = (
        agreement([count_pairs(dev, test[index]) for dev, test in zip(devs, tests, strict=True)]) for index in (0, 1)
    )
    assert one is not None
    assert other is not None
    both = mean_agreement([one, other])
    assert both is not None
    assert both.share == pytest.approx((one.share + other.share) / 2)
    assert both.without == pytest.approx((one.without + other.without) / 2)
    assert both.pairs == one.pairs + other.pairs
    assert mean_agreement([]) is None


@pytest.mark.parametrize("walk", [False, True], ids=["independent", "random walk"])
def test_coverage_for_independent_noise(walk: bool) -> None:
    rng = np.random.default_rng(5)
    trials, covered, shares = 300, 0, []
    for _ in range(trials):
        counts = []
        for _ in range(10):
            dev, test = rng.normal(0, 1, (2, 50))
            counts.append(count_pairs(np.cumsum(dev), np.cumsum(test)) if walk else count_pairs(dev, test))
        result = agreement(counts)
        assert result is not None
        assert result.interval is not None
        covered += result.interval[0] <= 0.5 <= result.interval[1]
        shares.append(result.share)
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    # 95 % of 300: within three standard errors.
    assert 0.91 <= covered / trials <= 0.99


def test_coverage_of_differences() -> None:
    rng = np.random.default_rng(6)
    trials, covered = 300, 0
    for _ in range(trials):
        pairs = []
        for _ in range(10):
            test = rng.normal(0, 1, 50)
            # Two dev sets that track it equally well.
            pairs.append([count_pairs(test + rng.normal(0, 1, 50), test) for _ in range(2)])
        first, second = (agreement(run_counts) for run_counts in zip(*pairs, strict=True))
        assert first is not None
        assert second is not None
        interval = agreement_gain(first, second)
        assert interval is not None
        covered += interval[0] <= 0 <= interval[1]
    assert 0.91 <= covered / trials <= 0.99
