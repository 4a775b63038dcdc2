"""Estimates: variances by hand, shared sources, sources without evidence, and the ends of the scale."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.metrics.estimate import (
    difference,
    estimate,
    mean,
    weighted_sum,
    wilson_interval,
)
from isogloss.metrics.statistics import F1, MEAN, PRECISION, RATIO, RECALL, Statistics, Value
from isogloss.metrics.student import t_quantile, t_tail


def scores(*values: float, units: list[int] | None = None) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN, None if units is None else np.array(units))


def random_scores(n: int, seed: int = 0) -> Statistics:
    return scores(*np.random.default_rng(seed).random(n))


# pieces


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
    assert wilson_interval(share, n, 1.959964) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 9, 2.2622),
        (0.975, 30, 2.0423),
        (0.975, 120, 1.9799),
        (0.995, 1, 63.6567),
        (0.995, 30, 2.7500),
        (0.95, 10, 1.8125),
        (0.975, 1_000_000, 1.95997),
        (0.5, 7, 0.0),
    ],
)
def test_t_quantiles_of_the_printed_tables(probability: float, freedom: int, quantile: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(quantile, abs=6e-5)
    assert t_tail(t_quantile(probability, freedom), freedom) == pytest.approx(1 - probability)


def test_t_lies_between_its_whole_degrees_of_freedom() -> None:
    assert t_quantile(0.975, 3) < t_quantile(0.975, 2.5) < t_quantile(0.975, 2)
    # By hand: with 2 degrees of freedom P(T >= t) = (1 - t / sqrt(2 + t²)) / 2, however far out.
    assert t_tail(1e4, 2) == pytest.approx((1 - 1e4 / sqrt(2 + 1e8)) / 2, rel=1e-6)
    with pytest.raises(ValueError, match="positive degrees of freedom, got"):
        t_quantile(0.975, 0)
    with pytest.raises(ValueError, match="expected t >= 0"):
        t_tail(-1, 3)


# one score


def test_variance_of_a_mean_is_the_textbooks() -> None:
    rows = random_scores(50)
    assert estimate(rows).variance == pytest.approx(rows.rows.var(ddof=1) / 50)
    assert estimate(rows).freedom == pytest.approx(49)
    assert estimate(rows).sources == 50


def test_mean_over_sources_of_one_size_has_the_variance_of_their_means() -> None:
    rows = random_scores(60)
    found = estimate(Statistics(rows.rows, MEAN, np.arange(60) // 3))
    assert found.variance == pytest.approx(rows.rows.reshape(20, 3).mean(axis=1).var(ddof=1) / 20)
    assert (found.sources, found.n, found.value) == (20, 60, pytest.approx(rows.score))


def test_copies_of_a_row_in_its_source_change_nothing() -> None:
    alone = random_scores(60)
    copied = Statistics(np.repeat(alone.rows, 3, axis=0), MEAN, np.repeat(np.arange(60), 3))
    assert estimate(copied).score_interval() == pytest.approx(estimate(alone).score_interval(), abs=0.003)


def test_f1_by_leaving_out_each_sentence() -> None:
    rng = np.random.default_rng(0)
    gold = 1 + rng.poisson(1.5, 40)
    right = rng.binomial(gold, 0.7)
    rows = np.stack([right, right + rng.poisson(0.4, 40), gold], axis=1).astype(float)
    found = estimate(Statistics(rows, F1))
    without = []
    for row in range(40):
        kept = np.delete(rows, row, axis=0).sum(axis=0)
        without.append(2 * kept[0] / (kept[1] + kept[2]))
    assert found.variance == pytest.approx(39 / 40 * ((np.array(without) - np.mean(without)) ** 2).sum())


def test_few_sources_have_no_interval() -> None:
    assert estimate(scores(*[1.0, 0.0] * 9, 1.0)).score_interval() is None
    assert estimate(scores(*[1.0, 0.0] * 10)).score_interval() is not None
    # A hundred examples of five articles are five.
    assert estimate(Statistics(random_scores(100).rows, MEAN, np.arange(100) // 20)).score_interval() is None


def test_no_spread_is_not_certainty() -> None:
    perfect = estimate(Statistics(np.tile([2.0, 2.0, 2.0], (30, 1)), F1))
    low, high = perfect.score_interval() or (0, 0)
    assert (low, high) == wilson_interval(1.0, 30, t_quantile(0.975, 29))
    assert low < 0.9 < high == 1
    nothing = estimate(scores(*[0.0] * 30))
    assert nothing.score_interval() == pytest.approx((0.0, 1 - low))


def test_zeros_and_ones_are_close_to_wilsons_interval() -> None:
    found = estimate(scores(*[1.0] * 180, *[0.0] * 20)).score_interval()
    assert found == pytest.approx(wilson_interval(0.9, 200, 1.959964), abs=0.001)


def test_score_of_another_scale_has_a_plain_interval() -> None:
    rows = scores(*(3 + np.arange(40.0)))
    low, high = estimate(rows).score_interval() or (0, 0)
    assert (low + high) / 2 == pytest.approx(rows.score)
    assert high - low == pytest.approx(2 * t_quantile(0.975, 39) * sqrt(rows.rows.var(ddof=1) / 40))


triples = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)).map(
    lambda counts: (counts[0], counts[0] + counts[1], counts[0] + counts[2])
)


@given(st.lists(triples, min_size=20, max_size=60), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_interval_holds_its_score_in_any_order(rows: list[tuple[int, int, int]], random: object) -> None:
    statistics = Statistics(np.array(rows, dtype=float), F1)
    if sum(predicted + gold > 0 for _, predicted, gold in rows) < 20:
        assert estimate(statistics).score_interval() is None
        return
    low, high = estimate(statistics).score_interval() or (2, -2)
    assert 0 <= low <= statistics.score <= high <= 1
    assert low < high
    random.shuffle(rows)  # type: ignore[attr-defined]
    again = estimate(Statistics(np.array(rows, dtype=float), F1)).score_interval()
    assert again == pytest.approx((low, high), abs=1e-12)


def test_misuse_is_reported() -> None:
    with pytest.raises(ValueError, match="row 1 "):
        estimate(scores(0.5, float("nan")))
    with pytest.raises(ValueError, match="no rows"):
        estimate(Statistics(np.zeros((0, 1)), MEAN))


# averages and differences


def test_languages_that_share_their_sources_are_averaged_source_by_source() -> None:
    values = np.random.default_rng(0).random(40)
    one = estimate(scores(*values), np.arange(40), 40, "articles")
    same, opposite = one, estimate(scores(*(1 - values)), np.arange(40), 40, "articles")
    assert mean([one, same]).variance == pytest.approx(one.variance)
    assert mean([one, opposite]).variance == pytest.approx(0, abs=1e-15)
    apart = estimate(scores(*values), np.arange(40), 40, "others")
    assert mean([one, apart]).variance == pytest.approx(one.variance / 2)
    assert (mean([one, same]).sources, mean([one, apart]).sources) == (40, 80)
    assert mean([one, apart]).freedom == pytest.approx(78)


def test_mean_is_exact_and_may_have_weights() -> None:
    parts = [estimate(scores(*[0.1] * 20)), estimate(scores(*[0.7] * 20))]
    assert mean(parts).value == pytest.approx(0.4)
    assert mean(parts, [1, 3]).value == pytest.approx(0.55)
    assert mean(parts, n=7).n == 7
    thirds = [estimate(scores(*[value] * 20)) for value in (0.1, 0.2, 0.3)]
    assert mean(thirds).value == mean(thirds[::-1]).value


def test_trend_is_a_weighted_sum() -> None:
    parts = [estimate(random_scores(40, seed), space=str(seed)) for seed in range(3)]
    slope = weighted_sum(parts, [-1, 0, 1])
    assert slope.value == pytest.approx(parts[2].value - parts[0].value)
    assert slope.variance == pytest.approx(parts[2].variance + parts[0].variance)


def test_non_share_scores_are_unbounded_and_unpadded() -> None:
    plain = Value("mean of anything", ("score",), MEAN.function, is_share=False)
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        found = estimate(Statistics(rng.normal(0, 1, (60, 1)), plain))
        low, high = found.score_interval() or (1, -1)
        assert (low + high) / 2 == pytest.approx(found.value)
        covered += low <= 0 <= high
    assert covered > 275
    # Nothing varies, and there is no scale to say how much it could: no interval, rather than a point.
    constant = estimate(Statistics(np.full((60, 1), 7.0), plain))
    assert constant.score_interval() is None
    assert difference(constant, constant, unseen=0.0).difference_interval() is None


def test_score_undefined_without_some_sources_has_no_interval() -> None:
    def slope(sums: np.ndarray, count: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]

    rows = np.zeros((30, 2))
    rows[3] = (1, 2)
    found = estimate(Statistics(rows, Value("slope", ("a", "b"), slope, is_share=False)))
    assert found.value == 0.5
    assert found.score_interval() is None


def test_cell_with_one_source_does_not_narrow_an_average() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        parts = [estimate(scores(float(rng.random() < 0.7)), space=str(place)) for place in range(25)]
        parts.append(estimate(scores(*(rng.random(200) < 0.7).astype(float)), space="large"))
        low, high = mean(parts).score_interval() or (1, 0)
        covered += low <= 0.7 <= high
    assert covered > 270


def test_sentences_without_entities_do_not_count() -> None:
    """Sentences with neither gold nor predicted entities change neither F1 nor its interval."""
    rows = np.array([[1, 1, 1]] * 24 + [[0, 1, 1]], dtype=float)
    padded = np.concatenate([rows, np.zeros((975, 3))])
    dense, sparse = estimate(Statistics(rows, F1)), estimate(Statistics(padded, F1))
    assert sparse.value == dense.value == pytest.approx(24 / 25)
    assert (sparse.sources, sparse.n) == (25, 1000)
    assert sparse.score_interval() == pytest.approx(dense.score_interval(), abs=1e-12)
    # All right: 25 sentences cannot promise as much as 1,000.
    perfect = estimate(Statistics(np.concatenate([rows[:24], np.zeros((976, 3))]), F1))
    assert perfect.score_interval() == pytest.approx(wilson_interval(1.0, 24, t_quantile(0.975, 23)))
    few = estimate(Statistics(np.concatenate([rows[:19], np.zeros((981, 3))]), F1))
    assert few.score_interval() is None
    # Each value names its own denominator.
    for value, count in ((RECALL, 10), (PRECISION, 15), (F1, 20), (RATIO, 10)):
        columns = np.zeros((30, len(value.columns)))
        columns[:10, -1] = 1
        columns[5:20, 1] = 1
        expected = count if len(value.columns) == 3 else 20
        assert estimate(Statistics(columns, value)).sources == expected


def test_two_metrics_of_the_same_examples_are_padded_once() -> None:
    part = random_scores(40)
    assert mean([estimate(part), estimate(part)], of_same=True).unseen == estimate(part).unseen
    assert mean([estimate(part), estimate(part)]).unseen == pytest.approx(estimate(part).unseen / 2)


def test_zero_weight_adds_no_sources() -> None:
    many, few = estimate(random_scores(500), space="many"), estimate(random_scores(10), space="few")
    assert mean([many, few], [0, 1]).sources == 10
    assert mean([many, few], [0, 1]).score_interval() is None
