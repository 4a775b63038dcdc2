"""Correlations and errors compared with scipy and with hand-computed values; intervals and tests on simulated data."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.correlation import errors, midranks, pearson, spearman, standardized
from isogloss.metrics.estimate import bounded_interval, estimate, mean
from isogloss.metrics.exchange import exchange
from isogloss.metrics.statistics import mean_of, merge

stats = pytest.importorskip("scipy.stats")

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 3))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=30)


def test_by_hand() -> None:
    # Covariance 3/3, variances 2/3 and 14/3 of (1, 2, 3) and (2, 1, 5), over three.
    assert pearson([1, 2, 3], [2, 1, 5]).score == pytest.approx(3 / (2 * 26 / 3) ** 0.5)
    assert spearman([1, 2, 3], [2, 1, 5]).score == pytest.approx(0.5)
    assert midranks([3, 1, 3, 2]).tolist() == [3.5, 1, 3.5, 2]
    rows = errors([0, 5, 2, 1], [1, 2.5, None, 90], (0, 5))
    assert rows["mae"].rows[:, 0].tolist() == [0.2, 0.5, 1, 1]
    assert rows["mse"].score == pytest.approx((0.04 + 0.25 + 1 + 1) / 4)


@given(PAIRS)
def test_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(side) for side in zip(*pairs, strict=True))
    if np.ptp(x) < 1 or np.ptp(y) < 1:
        return
    assert pearson(x.tolist(), y.tolist()).score == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert spearman(x.tolist(), y.tolist()).score == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 1e3), (1e200, 0), (1e-200, 0), (1e300, -1e300)])
def test_units_do_not_matter(scale: float, shift: float) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    y = x + rng.normal(size=200)
    plain = pearson(x.tolist(), y.tolist()).score
    assert pearson(x.tolist(), (scale * y + shift).tolist()).score == pytest.approx(plain, abs=1e-9)
    assert spearman(x.tolist(), (scale * y).tolist()).score == spearman(x.tolist(), y.tolist()).score


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10))
def test_any_finite_numbers_give_a_finite_score(numbers: list[float]) -> None:
    gold = [float(place) for place in range(len(numbers))]
    for statistics in (pearson(gold, numbers), spearman(gold, numbers)):
        assert np.isfinite(statistics.rows).all()
        assert -1 <= statistics.score <= 1


def test_constant_numbers_score_0() -> None:
    for statistics in (pearson([1, 2, 3], [7, 7, 7]), spearman([2, 2, 2], [1, 2, 3]), pearson([], [])):
        assert statistics.score == 0
    assert standardized([1e-300, 0.0]).tolist() == [1, -1]
    assert estimate(pearson(list(range(30)), [1.0] * 30)).score_interval() is None


def test_rows_of_single_examples_have_the_correlation_as_their_mean() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=50)
    statistics = pearson(x.tolist(), (x + rng.normal(size=50)).tolist())
    singles = statistics.value.of_examples(statistics.rows, np.ones(50))
    assert singles.mean() == pytest.approx(statistics.score)
    far = np.argmin(singles)
    assert abs(statistics.rows[far, 0] - statistics.rows[far, 1]) == pytest.approx(
        np.abs(statistics.rows[:, 0] - statistics.rows[:, 1]).max()
    )


def test_buckets_have_the_correlation_of_their_examples() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    part = np.flatnonzero(x > 0)
    bucket = pearson(x.tolist(), y.tolist()).select(part)
    assert bucket.score == pytest.approx(stats.pearsonr(x[part], y[part]).statistic, abs=1e-12)


def test_shards_cannot_be_merged() -> None:
    part = pearson([1, 2, 3], [1, 3, 2])
    assert merge([part]).score == part.score
    with pytest.raises(ValueError, match="rows of correlation depend on the whole set: judge its examples together"):
        merge([part, part])


def test_statistics_can_be_pickled() -> None:
    statistics = mean_of([pearson([1, 2, 3], [1, 3, 2]), errors([1, 2, 3], [1, 3, 2], (0, 5))["mae"]])
    again = pickle.loads(pickle.dumps(statistics))  # noqa: S301 - our own
    assert again.score == statistics.score


def test_interval_is_fishers_and_stays_on_the_scale() -> None:
    low, high = bounded_interval(0.9, 0.05, (-1.0, 1.0))
    expected = np.tanh(np.arctanh(0.9) + np.array([-1, 1]) * 0.05 / (1 - 0.81))
    assert (low, high) == pytest.approx(tuple(expected))
    assert bounded_interval(0.99, 5.0, (-1.0, 1.0)) == pytest.approx((-1, 1))
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    several = [estimate(pearson(x.tolist(), (x + 0.05 * rng.normal(size=40)).tolist()), space=str(n)) for n in range(3)]
    average = mean(several)
    assert average.limits == (-1, 1)
    low, high = average.score_interval() or (0, 0)
    assert -1 < low < average.value < high < 1


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_intervals_cover_and_tests_hold_their_level(metric: str) -> None:
    """Of 300 samples; ranks are taken once per sample, and the intervals cover all the same."""
    judged = {"pearson": pearson, "spearman": spearman}[metric]
    rng = np.random.default_rng(6)
    truth = 0.8 if metric == "pearson" else 6 / np.pi * np.arcsin(0.4)
    covered = rejected = 0
    for _ in range(300):
        x = rng.normal(size=100)
        a, b = (0.8 * x + 0.6 * rng.normal(size=100) for _ in range(2))
        low, high = estimate(judged(x.tolist(), a.tolist())).score_interval() or (0, 0)
        covered += low <= truth <= high
        # The second system answers on another scale.
        rejected += exchange(judged(x.tolist(), a.tolist()), judged(x.tolist(), (10 * b + 3).tolist())).p < 0.05
    assert covered / 300 > 0.91
    assert rejected / 300 < 0.085
