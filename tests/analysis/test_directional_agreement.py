"""Directional agreement: equal to counting pairs by hand, right about noise and about perfect proxies."""

from itertools import combinations

import numpy as np
import pytest

from isogloss.analysis.directional_agreement import agreement, count_pairs, difference_interval, mean_agreement
from isogloss.metrics.statistics import FloatArray


def by_hand(dev: FloatArray, test: FloatArray) -> tuple[float, int]:
    """Agreeing pairs and pairs, counted one by one."""
    agreeing, pairs = 0.0, 0
    for one, other in combinations(range(len(dev)), 2):
        if abs(test[one] - test[other]) >= 0.5:
            pairs += 1
            moved = (dev[one] - dev[other]) * (test[one] - test[other])
            agreeing += 0.5 if dev[one] == dev[other] else float(moved > 0)
    return agreeing, pairs


def test_pairs_are_those_counted_by_hand() -> None:
    rng = np.random.default_rng(1)
    runs = [(np.round(rng.normal(70, 1, 30)), rng.normal(50, 1, 30)) for _ in range(4)]
    found = agreement([count_pairs(dev, test) for dev, test in runs])
    agreeing, pairs = np.sum([by_hand(dev, test) for dev, test in runs], axis=0)
    assert found is not None
    assert found.pairs == pairs
    assert found.share == pytest.approx(agreeing / pairs, abs=1e-15)
    for run, share in enumerate(found.without):
        agreeing, pairs = np.sum([by_hand(*each) for each in runs[:run] + runs[run + 1 :]], axis=0)
        assert share == pytest.approx(agreeing / pairs, abs=1e-15)


@pytest.mark.parametrize("runs", [1, 2])
def test_fewer_than_three_runs_have_no_interval(runs: int) -> None:
    rng = np.random.default_rng(2)
    counts = [[count_pairs(rng.normal(70, 1, 50), rng.normal(50, 1, 50)) for _ in range(runs)] for _ in range(2)]
    one, other = (agreement(each) for each in counts)
    assert one is not None
    assert other is not None
    both = mean_agreement([one, other])
    assert both is not None
    assert 0 < both.share < 1
    assert one.interval is None
    assert both.interval is None
    assert difference_interval(one, other) is None


def test_a_move_of_exactly_half_a_point_counts_and_a_smaller_one_does_not() -> None:
    test = np.array([50.1, 50.6])
    assert count_pairs(test, test).pairs == 1
    assert count_pairs(test, np.array([50.1, 50.59])).pairs == 0
    assert agreement([count_pairs(test, np.array([50.0, 50.2]))]) is None


def test_a_perfect_proxy_agrees_always_and_its_opposite_never() -> None:
    rng = np.random.default_rng(3)
    tests = [rng.normal(60, 2, 50) for _ in range(10)]
    for sign, share in ((1, 1.0), (-1, 0.0)):
        found = agreement([count_pairs(sign * test, test) for test in tests])
        assert found is not None
        assert found.share == share
        assert found.interval is not None
        assert found.interval[0] <= share <= found.interval[1]
        assert found.interval[1] - found.interval[0] < 0.4


def test_constant_dev_scores_are_worth_a_coin() -> None:
    test = np.random.default_rng(4).normal(60, 2, 50)
    found = agreement([count_pairs(np.full(50, 80.0), test)])
    assert found is not None
    assert (found.share, found.equal) == (0.5, found.pairs)


def test_checkpoints_that_were_not_asked_are_left_out() -> None:
    dev, test = np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, np.nan])
    assert count_pairs(dev, test).pairs == 0


def test_the_mean_over_languages_leaves_out_the_same_runs() -> None:
    rng = np.random.default_rng(8)
    tests = [rng.normal(60, 2, (2, 20)) for _ in range(4)]
    devs = [rng.normal(60, 2, 20) for _ in range(4)]
    one, other = (
        agreement([count_pairs(dev, test[place]) for dev, test in zip(devs, tests, strict=True)]) for place in (0, 1)
    )
    assert one is not None
    assert other is not None
    both = mean_agreement([one, other])
    assert both is not None
    assert both.share == pytest.approx((one.share + other.share) / 2)
    assert both.without == pytest.approx((one.without + other.without) / 2)
    assert both.pairs == one.pairs + other.pairs
    assert mean_agreement([]) is None


@pytest.mark.parametrize("walk", [False, True], ids=["independent", "wandering"])
def test_independent_noise_agrees_in_half_and_intervals_hold_their_level(walk: bool) -> None:
    rng = np.random.default_rng(5)
    trials, covered, shares = 300, 0, []
    for _ in range(trials):
        counts = []
        for _ in range(10):
            dev, test = rng.normal(0, 1, (2, 50))
            counts.append(count_pairs(np.cumsum(dev), np.cumsum(test)) if walk else count_pairs(dev, test))
        found = agreement(counts)
        assert found is not None
        assert found.interval is not None
        covered += found.interval[0] <= 0.5 <= found.interval[1]
        shares.append(found.share)
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    # 95 % of 300: within three standard errors.
    assert 0.91 <= covered / trials <= 0.99


def test_the_interval_of_a_difference_holds_its_level() -> None:
    rng = np.random.default_rng(6)
    trials, covered = 300, 0
    for _ in range(trials):
        pairs = []
        for _ in range(10):
            test = rng.normal(0, 1, 50)
            # Two dev sets that follow it equally well.
            pairs.append([count_pairs(test + rng.normal(0, 1, 50), test) for _ in range(2)])
        first, second = (agreement(each) for each in zip(*pairs, strict=True))
        assert first is not None
        assert second is not None
        interval = difference_interval(first, second)
        assert interval is not None
        covered += interval[0] <= 0 <= interval[1]
    assert 0.91 <= covered / trials <= 0.99
