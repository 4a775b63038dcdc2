"""Intervals: hand-computed values, the algebra of resampling, and every degenerate case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.metrics import resampling
from isogloss.metrics.intervals import (
    bootstrap,
    interval,
    percentile_interval,
    t_quantile,
    wilson,
)
from isogloss.metrics.resampling import joint_replicates, replicates, stream
from isogloss.metrics.statistics import F1, MEAN, RATIO, Statistics, merge


def scores(*values: float) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN)


def entity_rows(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    gold = 1 + rng.poisson(1.5, n)
    correct = rng.binomial(gold, 0.8)
    return np.stack([correct, correct + rng.poisson(0.3, n), gold], axis=1).astype(float)


# analytic pieces


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [
        (0.8, 10, 0.490162, 0.943318),
        (0.0, 10, 0.0, 0.277533),
        (1.0, 10, 0.722467, 1.0),
        (0.5, 1, 0.054621, 0.945379),
    ],
)
def test_wilson_by_hand(share: float, n: int, low: float, high: float) -> None:
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 3, 3.1824),
        (0.975, 4, 2.7764),
        (0.975, 9, 2.2622),
        (0.975, 30, 2.0423),
        (0.975, 120, 1.9799),
        (0.995, 1, 63.6567),
        (0.995, 2, 9.9248),
        (0.995, 30, 2.7500),
        (0.95, 10, 1.8125),
        (0.975, 1_000_000, 1.95997),
        (0.5, 7, 0.0),
    ],
)
def test_t_quantiles_of_the_printed_tables(probability: float, freedom: int, quantile: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(quantile, abs=6e-5)


def test_percentiles_are_order_statistics() -> None:
    # Of 999 replicates the k-th smallest is percentile k / 1000.
    drawn = np.random.default_rng(0).permutation(np.arange(1.0, 1000.0))
    assert percentile_interval(drawn) == pytest.approx((25, 975))
    assert percentile_interval(drawn, level=0.9) == pytest.approx((50, 950))


def test_percentiles_are_expanded_for_few_units() -> None:
    # Ten units: t = 2.2622 with 9 degrees of freedom, times sqrt(10 / 9) = 2.3845; Phi(-2.3845) = 0.00855.
    drawn = np.arange(1.0, 1000.0)
    assert percentile_interval(drawn, units=10) == pytest.approx((8.55, 991.45), abs=0.01)
    assert percentile_interval(drawn, units=100_000) == pytest.approx((25, 975), abs=0.01)
    assert percentile_interval(drawn, units=1) == (1, 999)


def test_an_interval_is_stretched_to_hold_its_score() -> None:
    assert percentile_interval(np.full(10, 0.5), score=0.7) == (0.5, 0.7)


# what a resample is


def test_two_rows_are_drawn_as_two_coins() -> None:
    values, counts = np.unique(replicates(scores(0, 1), resamples=20_000), return_counts=True)
    assert values.tolist() == [0, 0.5, 1]
    assert counts / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.015)


def test_a_mean_over_units_divides_by_the_rows_drawn() -> None:
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
    monkeypatch.setattr(resampling, "CATEGORY_COST", 600)
    single = replicates(statistics, resamples=5000)
    assert not np.array_equal(collapsed, single)
    assert collapsed.mean() == pytest.approx(single.mean(), abs=4 * single.std() / np.sqrt(5000))
    assert collapsed.std() == pytest.approx(single.std(), rel=0.04)


@pytest.mark.parametrize("rows", [np.arange(200.0)[:, None] / 200, np.arange(200.0)[:, None] % 2])
def test_the_size_of_blocks_does_not_matter(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = replicates(Statistics(rows, MEAN), resamples=50)
    monkeypatch.setattr(resampling, "BLOCK_SIZE", 450)
    assert replicates(Statistics(rows, MEAN), resamples=50) == pytest.approx(whole, abs=1e-14)


# bootstrap


def test_a_seed_gives_the_same_figures_everywhere() -> None:
    few_distinct = [0, 1, 1, 1, 0, 1, 1, 0, 1, 1] * 20
    assert bootstrap(few_distinct, "mean", seed=7) == pytest.approx((0.63, 0.76), abs=1e-12)
    assert bootstrap(np.arange(50) / 50, "mean", seed=7) == pytest.approx((0.4110407087471065, 0.5728), abs=1e-12)


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


def test_a_value_given_beside_statistics_replaces_theirs() -> None:
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
        ([0, 1], "median", "no value 'median'"),
        ([0, 1], None, "no value None"),
        ([0, 1], "f1", "needs the columns"),
        (np.zeros((2, 3)), "mean", "needs the columns"),
        (np.zeros((2, 3, 1)), lambda sums: 0.0, "shape"),
        ([0, 1], lambda sums: float("nan"), "not finite"),
    ],
)
def test_misuse_is_named(rows: object, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(rows, value)  # type: ignore[arg-type]


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        bootstrap([0, 1], "mean", resamples=0)
    with pytest.raises(ValueError, match="confidence level"):
        bootstrap([0, 1], "mean", level=95)
    with pytest.raises(ValueError, match="share"):
        wilson(1.2, 10)
    with pytest.raises(ValueError, match="quantile"):
        t_quantile(0.975, 0)
    with pytest.raises(ValueError, match="at least one cell"):
        joint_replicates([])


# interval


def test_a_mean_of_zeros_and_ones_gets_wilsons_interval() -> None:
    eight_of_ten = scores(1, 1, 1, 1, 0, 1, 1, 0, 1, 1)
    assert interval(eight_of_ten) == wilson(0.8, 10)
    one_row_per_unit = Statistics(eight_of_ten.rows, MEAN, np.arange(10))
    assert interval(one_row_per_unit) == wilson(0.8, 10)


def test_zeros_and_ones_that_share_units_are_resampled() -> None:
    doubled = Statistics(np.repeat(scores(1, 1, 1, 1, 0, 1, 1, 0, 1, 1).rows, 2, axis=0), MEAN, np.arange(20) // 2)
    assert interval(doubled) != wilson(0.8, 20)
    low, high = interval(doubled)
    assert high - low > wilson(0.8, 20)[1] - wilson(0.8, 20)[0]


def test_copies_of_a_row_in_its_unit_change_nothing() -> None:
    values = np.random.default_rng(0).random((60, 1))
    alone = Statistics(values, MEAN)
    copied = Statistics(np.repeat(values, 3, axis=0), MEAN, np.repeat(np.arange(60), 3))
    assert interval(copied) == pytest.approx(interval(alone), abs=1e-12)


def test_no_spread_is_not_certainty() -> None:
    perfect = Statistics(np.tile([2.0, 2.0, 2.0], (30, 1)), F1)
    assert interval(perfect) == wilson(1.0, 30)
    assert interval(Statistics(np.array([[0.0, 2.0, 3.0]]), F1)) == wilson(0.0, 1)
    assert interval(Statistics(np.array([[1.0], [0.0]]), MEAN, np.array([4, 4]))) == wilson(0.5, 1)
    assert interval(scores(0.25, 0.25)) == wilson(0.25, 2)


def test_rounding_is_not_spread() -> None:
    units = np.repeat(np.arange(20), np.arange(1, 21))
    assert interval(Statistics(np.full((len(units), 1), 0.1), MEAN, units)) == pytest.approx(wilson(0.1, 20))


def test_a_mean_that_is_no_share_may_have_no_spread() -> None:
    assert interval(scores(7, 7, 7)) == (7, 7)


def test_an_empty_denominator_scores_zero() -> None:
    assert interval(Statistics(np.zeros((5, 3)), F1)) == wilson(0.0, 5)


def test_a_higher_level_is_wider() -> None:
    statistics = Statistics(entity_rows(200), F1)
    assert interval(statistics, level=0.99)[0] < interval(statistics, level=0.8)[0] < statistics.score
    assert interval(statistics, level=0.99)[1] > interval(statistics, level=0.8)[1] > statistics.score


# cells drawn together


def test_cells_share_their_draws() -> None:
    right = (np.random.default_rng(0).random((40, 1)) < 0.6).astype(float)
    units = np.arange(40)
    both = joint_replicates([Statistics(right, MEAN, units), Statistics(1 - right, MEAN, units)], resamples=200)
    assert both.sum(axis=1) == pytest.approx(np.ones(200))
    assert both[:, 0].std() > 0


def test_rows_are_matched_by_unit_and_not_by_position() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random((40, 1)) < 0.6).astype(float)
    order = rng.permutation(40)
    codes = np.arange(40) * 7 - 100
    cells = [Statistics(right, MEAN, codes), Statistics(right[order], MEAN, codes[order])]
    both = joint_replicates(cells, resamples=50)
    assert np.array_equal(both[:, 0], both[:, 1])


def test_a_unit_that_a_cell_lacks_adds_nothing_to_it() -> None:
    # Units 0 and 1; the second cell has only unit 1, right there: 1 of 1, 2 of 2, or, not drawn, its own 1.
    first = Statistics(np.array([[1.0], [0.0]]), MEAN, np.array([0, 1]))
    second = Statistics(np.array([[1.0]]), MEAN, np.array([1]))
    drawn = joint_replicates([first, second], resamples=4000)
    outcomes, counts = np.unique(drawn, axis=0, return_counts=True)
    assert outcomes.tolist() == [[0, 1], [0.5, 1], [1, 1]]
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_cells_of_different_metrics_can_be_drawn_together() -> None:
    entities = Statistics(entity_rows(80), F1)
    accuracy = Statistics((np.arange(80) % 3 > 0).astype(float)[:, None], MEAN)
    drawn = joint_replicates([entities, accuracy], resamples=2000)
    assert drawn.shape == (2000, 2)
    assert drawn.mean(axis=0) == pytest.approx([entities.score, accuracy.score], abs=0.01)


def test_one_cell_drawn_jointly_spreads_as_it_does_alone() -> None:
    statistics = Statistics(entity_rows(150), F1)
    assert joint_replicates([statistics], resamples=5000)[:, 0].std() == pytest.approx(
        replicates(statistics, resamples=5000).std(), rel=0.05
    )


def test_named_streams_are_independent_where_equal_seeds_are_not() -> None:
    first, second = (scores(*np.random.default_rng(seed).random(100)) for seed in (1, 2))
    tied = np.corrcoef(replicates(first), replicates(second))[0, 1]
    named = [replicates(cell, seed=stream(0, "xnli", code)) for cell, code in ((first, "en"), (second, "de"))]
    assert tied > 0.9
    assert abs(np.corrcoef(named)[0, 1]) < 0.1
    assert stream(0, "a", "b") != stream(0, "b", "a") != stream(1, "b", "a")


# properties

triples = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)).map(
    lambda counts: (counts[0], counts[0] + counts[1], counts[0] + counts[2])
)
entity_tables = st.lists(triples, min_size=1, max_size=60).map(lambda rows: np.array(rows, dtype=float))
shares = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(entity_tables, st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_an_interval_holds_its_score(rows: np.ndarray, seed: int) -> None:
    statistics = Statistics(rows, F1)
    low, high = interval(statistics, resamples=50, seed=seed)
    assert 0 <= low <= statistics.score <= high <= 1
    assert interval(statistics, resamples=50, seed=seed) == (low, high)


@given(shares, st.lists(st.integers(-5, 5), min_size=60, max_size=60))
@settings(deadline=None, max_examples=60)
def test_an_interval_of_units_holds_its_score(values: list[float], codes: list[int]) -> None:
    statistics = Statistics(np.array(values)[:, None], MEAN, np.array(codes[: len(values)]))
    low, high = interval(statistics, resamples=50)
    assert 0 <= low <= statistics.score <= high <= 1


@given(entity_tables, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_order_of_examples_does_not_matter(rows: np.ndarray, random: object) -> None:
    # Exactly, for whole numbers: rows are drawn in sorted order whichever way they are drawn.
    order = np.arange(len(rows))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert bootstrap(rows[order], "f1", resamples=50) == bootstrap(rows, "f1", resamples=50)


@given(entity_tables, st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_merged_shards_give_the_interval_of_the_whole(rows: np.ndarray, cut: int) -> None:
    shards = [Statistics(rows[cut:], F1), Statistics(rows[:cut], F1)]
    assert interval(merge(shards), resamples=50) == interval(Statistics(rows, F1), resamples=50)


@given(st.floats(0, 1), st.integers(1, 10_000), st.floats(0.5, 0.999))
def test_wilson_holds_its_share(share: float, n: int, level: float) -> None:
    low, high = wilson(share, n, level)
    assert 0 <= low <= share <= high <= 1
    assert wilson(1 - share, n, level) == pytest.approx((1 - high, 1 - low), abs=1e-9)
