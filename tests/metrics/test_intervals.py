"""Intervals: hand-computed values, the algebra of resampling, and every degenerate case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.metrics import intervals
from isogloss.metrics.intervals import bootstrap, replicates
from isogloss.metrics.statistics import F1, MEAN, RATIO, Statistics, merge


def scores(*values: float) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN)


def entity_rows(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    gold = 1 + rng.poisson(1.5, n)
    correct = rng.binomial(gold, 0.8)
    return np.stack([correct, correct + rng.poisson(0.3, n), gold], axis=1).astype(float)


# what a resample is


def test_two_rows_are_drawn_as_two_coins() -> None:
    values, counts = np.unique(replicates(scores(0, 1), resamples=20_000), return_counts=True)
    assert values.tolist() == [0, 0.5, 1]
    assert counts / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.015)


def test_mean_over_units_divides_by_the_rows_drawn() -> None:
    # Unit 0 has one row, unit 1 has three: drawing each once gives 1 of 4 rows right.
    given_units = Statistics(np.array([[1.0], [0], [0], [0]]), MEAN, np.array([0, 1, 1, 1]))
    values, counts = np.unique(replicates(given_units, resamples=20_000), return_counts=True)
    assert values.tolist() == [0, 0.25, 1]
    assert counts / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.015)


@pytest.mark.parametrize("value", ["mean", "f1"])
def test_replicates_spread_as_those_of_drawn_indices(value: str) -> None:
    rows = entity_rows(200) if value == "f1" else np.random.default_rng(1).random((200, 1))
    statistics = Statistics(rows, F1 if value == "f1" else MEAN)
    drawn = rows[np.random.default_rng(2).integers(200, size=(5000, 200))].sum(axis=1)
    expected = statistics.value(drawn, 200)
    ours = replicates(statistics, resamples=5000)
    assert ours.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(5000))
    assert ours.std() == pytest.approx(expected.std(), rel=0.04)


def test_collapsed_and_single_rows_are_drawn_from_one_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = Statistics(entity_rows(600), F1)
    collapsed = replicates(statistics, resamples=5000)
    monkeypatch.setattr(intervals, "CATEGORY_COST", 600)
    single = replicates(statistics, resamples=5000)
    assert not np.array_equal(collapsed, single)
    assert collapsed.mean() == pytest.approx(single.mean(), abs=4 * single.std() / np.sqrt(5000))
    assert collapsed.std() == pytest.approx(single.std(), rel=0.04)


@pytest.mark.parametrize("rows", [np.arange(200.0)[:, None] / 200, np.arange(200.0)[:, None] % 2])
def test_size_of_blocks_does_not_matter(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = replicates(Statistics(rows, MEAN), resamples=50)
    monkeypatch.setattr(intervals, "BLOCK_SIZE", 450)
    assert replicates(Statistics(rows, MEAN), resamples=50) == pytest.approx(whole, abs=1e-14)


# bootstrap


def test_seed_gives_the_same_figures_everywhere() -> None:
    few_distinct = [0, 1, 1, 1, 0, 1, 1, 0, 1, 1] * 20
    assert bootstrap(few_distinct, "mean", seed=7) == pytest.approx((0.635, 0.765), abs=1e-12)
    assert bootstrap(np.arange(50) / 50, "mean", seed=7) == pytest.approx(
        (0.40995664524310255, 0.5705121537047236), abs=1e-12
    )


def test_every_form_of_the_mean_is_the_mean() -> None:
    values = np.random.default_rng(0).random(80)
    expected = bootstrap(values, MEAN)
    assert bootstrap(values[:, None], "mean") == expected
    assert bootstrap(values.tolist(), np.mean) == expected
    assert bootstrap(Statistics(values[:, None], MEAN)) == expected
    assert bootstrap(values, lambda sums: sums[0] / 80) == pytest.approx(expected)
    assert bootstrap(values, lambda sums: sums / 80) == pytest.approx(expected)


def test_every_form_of_f1_is_f1() -> None:
    rows = entity_rows(100)
    expected = bootstrap(rows, F1)
    assert bootstrap(rows, "f1") == expected
    assert bootstrap(rows, lambda sums: 2 * sums[0] / (sums[1] + sums[2])) == pytest.approx(expected)
    assert bootstrap(Statistics(rows[:, :2], RATIO), lambda sums: sums[0] / sums[1]) == pytest.approx(
        bootstrap(rows[:, :2], "ratio")
    )


def test_explicit_value_replaces_that_of_statistics() -> None:
    statistics = scores(*np.random.default_rng(0).random(80))
    assert bootstrap(statistics, lambda sums: -sums[0]) == pytest.approx(
        tuple(-80 * bound for bound in reversed(bootstrap(statistics))), rel=0.01
    )


@pytest.mark.parametrize(
    ("rows", "value", "message"),
    [
        ([], "mean", "nothing to resample"),
        (np.zeros((0, 3)), "f1", "nothing to resample"),
        ([0.5, 0.5, float("nan"), float("nan")], "mean", "row 2 "),
        (np.array([[1, 1, 1], [1, np.inf, 1]]), "f1", "row 1 "),
        ([0, 1], "median", "unknown value 'median'"),
        ([0, 1], None, "unknown value None"),
        ([0, 1], "f1", "needs the columns"),
        (np.zeros((2, 3)), "mean", "needs the columns"),
        (np.zeros((2, 3, 1)), lambda sums: 0.0, "shape"),
        ([0, 1], lambda sums: float("nan"), "not finite"),
    ],
)
def test_misuse_is_reported(rows: object, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(rows, value)  # type: ignore[arg-type]


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        bootstrap([0, 1], "mean", resamples=0)
    with pytest.raises(ValueError, match="confidence level"):
        bootstrap([0, 1], "mean", level=95)


# the ends of the scale


def test_no_spread_is_not_certainty() -> None:
    low, high = bootstrap(Statistics(np.tile([2.0, 2.0, 2.0], (30, 1)), F1))
    assert (low, high) == pytest.approx((0.886487, 1.0), abs=1e-6)  # Wilson's interval of 30 of 30
    assert bootstrap(scores(7, 7, 7)) == (7, 7)
    assert bootstrap(np.zeros((5, 3)), "f1")[1] > 0.4


def test_skewed_score_has_a_skewed_interval() -> None:
    low, high = bootstrap(np.repeat([1.0, 0.4, 0.0], [46, 2, 2]), "mean")
    score = 46.8 / 50
    assert score - low > 1.3 * (high - score)


def test_higher_level_is_wider() -> None:
    statistics = Statistics(entity_rows(200), F1)
    assert bootstrap(statistics, level=0.99)[0] < bootstrap(statistics, level=0.8)[0] < statistics.score
    assert bootstrap(statistics, level=0.99)[1] > bootstrap(statistics, level=0.8)[1] > statistics.score


triples = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)).map(
    lambda counts: (counts[0], counts[0] + counts[1], counts[0] + counts[2])
)
entity_tables = st.lists(triples, min_size=1, max_size=60).map(lambda rows: np.array(rows, dtype=float))
shares = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(entity_tables, st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_interval_holds_its_score(rows: np.ndarray, seed: int) -> None:
    statistics = Statistics(rows, F1)
    low, high = bootstrap(statistics, resamples=50, seed=seed)
    assert 0 <= low <= statistics.score <= high <= 1
    assert bootstrap(statistics, resamples=50, seed=seed) == (low, high)


@given(shares, st.lists(st.integers(-5, 5), min_size=60, max_size=60))
@settings(deadline=None, max_examples=60)
def test_interval_of_units_holds_its_score(values: list[float], codes: list[int]) -> None:
    statistics = Statistics(np.array(values)[:, None], MEAN, np.array(codes[: len(values)]))
    low, high = bootstrap(statistics, resamples=50)
    assert 0 <= low <= statistics.score <= high <= 1


@given(entity_tables, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_order_of_examples_does_not_matter(rows: np.ndarray, random: object) -> None:
    # Rows are drawn in sorted order; only the last digits of their skewness see the order.
    order = np.arange(len(rows))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert bootstrap(rows[order], "f1", resamples=50) == pytest.approx(bootstrap(rows, "f1", resamples=50))


@given(entity_tables, st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_merged_shards_give_the_interval_of_the_whole(rows: np.ndarray, cut: int) -> None:
    shards = [Statistics(rows[cut:], F1), Statistics(rows[:cut], F1)]
    whole = bootstrap(Statistics(rows, F1), resamples=50)
    assert bootstrap(merge(shards), resamples=50) == pytest.approx(whole)
