"""Sums estimated from a subset: by hand, over every possible draw, and against a regression without each unit."""

from itertools import combinations, product

import numpy as np
import pytest

from isogloss.metrics.control import Draw, _slopes_without_each, draw_estimate, extrapolate, extrapolated
from isogloss.metrics.estimate import UnevenErrors, difference, estimate, mean
from isogloss.metrics.statistics import F1, MEAN, Statistics, merge

RNG = np.random.default_rng(7)


def drawn(count: int, *chosen: int) -> np.ndarray:
    marks = np.zeros(count, bool)
    marks[list(chosen)] = True
    return marks


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def test_strata_are_expanded_by_hand() -> None:
    # Two of four are drawn, 1 and 0: twice their sum. Two of two are drawn: their sum.
    draw = Draw(np.array([0, 0, 0, 0, 1, 1]), drawn(6, 1, 3, 4, 5))
    rows, errors = extrapolate(column(1, 0, 1, 1), np.zeros((6, 1)), draw)
    assert rows.sum() == pytest.approx(2 * 1 + 2)
    assert rows[[0, 2]].ravel().tolist() == [0.5, 0.5]
    # N² (1 - n/N) s² / n = 16 (1/2) (1/2) / 2.
    assert (errors**2).sum() == pytest.approx(2)
    assert not errors[4:].any()


def test_a_guide_that_differs_by_a_constant_leaves_no_error() -> None:
    guide = RNG.random((12, 1))
    answers = 0.5 * guide + 0.2
    draw = Draw(np.repeat([0, 1], 6), drawn(12, 0, 2, 5, 6, 9, 10))
    rows, errors = extrapolate(answers[draw.drawn], guide, draw)
    assert rows.sum() == pytest.approx(answers.sum())
    assert np.abs(errors).max() < 1e-12


def every_draw(sizes: tuple[int, ...], counts: tuple[int, ...]) -> list[np.ndarray]:
    starts = np.cumsum((0, *sizes[:-1]))
    parts = [combinations(range(s, s + n), k) for s, n, k in zip(starts, sizes, counts, strict=True)]
    return [drawn(sum(sizes), *(unit for part in chosen for unit in part)) for chosen in product(*parts)]


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "counts"), [((9,), (4,)), ((5, 4), (3, 2)), ((4, 4, 1), (2, 2, 1)), ((6, 3), (2, 3))]
)
def test_sums_are_unbiased_over_all_draws(sizes: tuple[int, ...], counts: tuple[int, ...], columns: int) -> None:
    rng = np.random.default_rng(3)
    answers = rng.random((sum(sizes), 2)).round(1)
    guide = answers[:, :columns] + rng.normal(0, 0.3, (sum(sizes), columns))
    strata = np.repeat(np.arange(len(sizes)), sizes)
    sums = [extrapolate(answers[d], guide, Draw(strata, d))[0].sum(axis=0) for d in every_draw(sizes, counts)]
    assert np.mean(sums, axis=0) == pytest.approx(answers.sum(axis=0), abs=1e-9)


def test_binary_guides_are_unbiased_although_a_fit_may_depend_on_one_unit() -> None:
    answers, guide = column(1, 0, 1, 1, 0, 1, 0), column(1, 0, 0, 1, 0, 1, 1)
    sums = [extrapolate(answers[d], guide, Draw(np.zeros(7, int), d))[0].sum() for d in every_draw((7,), (3,))]
    assert np.mean(sums) == pytest.approx(4)


def test_estimated_variance_of_the_draw_is_unbiased() -> None:
    sizes, counts = (6, 5), (3, 2)
    answers = RNG.random((11, 1))
    strata = np.repeat([0, 1], sizes)
    results = [extrapolate(answers[d], np.zeros((11, 1)), Draw(strata, d)) for d in every_draw(sizes, counts)]
    variance = np.var([rows.sum() for rows, _ in results])
    assert np.mean([(errors**2).sum() for _, errors in results]) == pytest.approx(variance)


def test_slopes_without_each_unit_equal_a_regression_without_it() -> None:
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    weights = np.where(strata == 0, 2.0, 3.0)
    guide, answers = RNG.random((7, 2)), RNG.random((7, 3))
    slopes = _slopes_without_each(answers, guide, strata, weights)
    for unit in range(7):
        others = np.arange(7) != unit
        x = np.c_[strata[others] == 0, strata[others] == 1, guide[others]] * np.sqrt(weights[others])[:, None]
        y = answers[others] * np.sqrt(weights[others])[:, None]
        assert slopes[unit] == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0][2:])


@pytest.mark.parametrize("value", [MEAN, F1])
def test_all_drawn_is_the_plain_estimate(value: object) -> None:
    rows = RNG.integers(0, 3, (40, 1 if value is MEAN else 3)).astype(float)
    whole = Statistics(rows, value)  # type: ignore[arg-type]
    guide = Statistics(rows[::-1].copy(), value)  # type: ignore[arg-type]
    draw = Draw(np.arange(40) % 3, np.ones(40, bool))
    same = extrapolated(whole, guide, np.arange(40), draw)
    assert same is not None and same.drawn is not None
    assert (same.rows == rows).all()
    assert not same.drawn.errors.any()


def test_rows_of_a_unit_and_units_without_rows() -> None:
    """Pairs of query and target: unit 2 has none, unit 0 two."""
    guide = Statistics(column(1, 0, 1, 0, 1, 0, 1), MEAN, np.array([0, 0, 1, 3, 4, 5, 6]))
    units, draw = np.arange(7), Draw(np.zeros(7, int), drawn(7, 0, 2, 3, 5))
    answered = Statistics(column(1, 1, 0, 1), MEAN, np.array([0, 0, 2, 3]))
    whole = extrapolated(answered, guide, units, draw)
    assert whole is not None and whole.drawn is not None
    assert whole.units is guide.units and len(whole) == 7
    assert whole.drawn.answered.tolist() == [True, True, False, True, False, True, False]
    with pytest.raises(ValueError, match="3 rows of answers, 4 of the guide"):
        extrapolated(answered.select(np.arange(3)), guide, units, draw)


def test_a_stratum_of_which_one_unit_is_drawn_shows_no_variation() -> None:
    strata = np.array([0, 0, 0, 1, 1])
    assert Draw(strata, drawn(5, 0, 1, 3, 4)).possible
    assert not Draw(strata, drawn(5, 0, 1, 3)).possible
    guide = Statistics(np.zeros((5, 1)), MEAN)
    assert extrapolated(Statistics(column(1, 0, 1), MEAN), guide, np.arange(5), Draw(strata, drawn(5, 0, 1, 3))) is None


def subset(n: int, size: int, agreement: float, seed: int = 0) -> tuple[Statistics, Statistics]:
    rng = np.random.default_rng(seed)
    guide = (rng.random(n) < 0.7).astype(float)
    answers = np.where(rng.random(n) < agreement, guide, rng.random(n) < 0.7).astype(float)
    chosen = drawn(n, *rng.permutation(n)[:size])
    system = Statistics(answers[:, None], MEAN)
    whole = extrapolated(
        system.select(chosen), Statistics(guide[:, None], MEAN), np.arange(n), Draw(np.zeros(n, int), chosen)
    )
    assert whole is not None
    return system, whole


def test_variances_of_draw_and_examples_add_up() -> None:
    """For independent examples, the variance for new ones is that of all answers plus that of the draw."""
    parts = [subset(2000, 500, 0.8, seed) for seed in range(30)]
    total = np.mean([estimate(whole).variance for _, whole in parts])
    of_draw = np.mean([draw_estimate(whole, "draw").variance for _, whole in parts])
    of_examples = np.mean([estimate(system).variance for system, _ in parts])
    assert total == pytest.approx(of_draw + of_examples, rel=0.01)
    assert of_draw < 0.6 * 0.21 * (1 / 500 - 1 / 2000)  # a plain subset's would be nearly the whole


def test_only_answered_sources_count() -> None:
    _, whole = subset(200, 30, 0.8)
    found = estimate(whole)
    assert found.sources == 30
    assert found.freedom <= 29
    assert found.score_interval() is not None
    _, few = subset(200, 19, 0.8)
    assert estimate(few).score_interval() is None
    assert draw_estimate(few, "draw").score_interval() is None


def test_complete_agreement_on_few_examples_proves_little() -> None:
    system, whole = subset(400, 40, 1.0)
    found = draw_estimate(whole, "draw")
    assert found.value == pytest.approx(system.score)
    low, high = found.score_interval() or (0, 0)
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.21 * (1 / 40 - 1 / 400)), rel=0.1)


def test_complete_answers_have_no_error_of_a_draw() -> None:
    system, _ = subset(100, 50, 0.8)
    assert draw_estimate(system, "draw").variance == 0


def test_freedom_follows_the_kurtosis() -> None:
    present = np.ones(100, bool)
    assert UnevenErrors(np.full(100, 0.1), present).freedom == 99
    assert UnevenErrors(np.eye(1, 100)[0], present).freedom == pytest.approx(2, rel=0.02)
    assert UnevenErrors(np.zeros(100), present).freedom == 99
    normal = UnevenErrors(np.random.default_rng(0).standard_normal(100_000), np.ones(100_000, bool))
    assert normal.freedom == pytest.approx(100_000, rel=0.05)


def test_two_systems_on_one_subset_differ_by_their_answers() -> None:
    """The guide's part cancels: answers that differ by a constant differ without error."""
    rng = np.random.default_rng(5)
    answers, guide = rng.random((60, 1)), rng.random((60, 1))
    chosen = drawn(60, *range(0, 60, 2))
    draw = Draw(np.zeros(60, int), chosen)
    first, second = (
        extrapolated(Statistics(rows[chosen], MEAN), Statistics(guide, MEAN), np.arange(60), draw)
        for rows in (answers, answers - 0.1)
    )
    assert first is not None and second is not None
    gap = difference(estimate(first), estimate(second))
    assert gap.value == pytest.approx(0.1)
    assert gap.variance < 1e-20
    assert gap.from_subset


def test_average_of_plain_and_estimated_scores_is_estimated_in_any_order() -> None:
    _, whole = subset(200, 30, 0.8)
    plain = Statistics(np.random.default_rng(1).integers(0, 2, (200, 1)).astype(float), MEAN)
    one, other = estimate(whole), estimate(plain)
    averages = [mean([one, other]), mean([other, one]), mean([other, one, other])]
    assert all(average.from_subset for average in averages)
    assert averages[0].freedom == averages[1].freedom < 199


def test_estimated_rows_are_not_merged_as_shards() -> None:
    _, whole = subset(50, 25, 0.8)
    with pytest.raises(ValueError, match="subset"):
        merge([whole, whole])
    assert whole.select(np.arange(10)).drawn is not None
