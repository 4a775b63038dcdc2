"""Tests over languages: against Student's paired test, dense matrix algebra and simulated rankings."""

import math

import numpy as np
import pytest

from isogloss.figures import SMALLEST_P
from isogloss.metrics import language_tests as module
from isogloss.metrics.language_tests import CORRELATIONS, LEAST_LANGUAGES, language_tests
from isogloss.metrics.ordering import ordering
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import t_tail

SIZES = (6, 3, 2, 1, 1)
FAMILIES = [f"family {number}" for number, size in enumerate(SIZES) for _ in range(size)]


def p_over_languages(scores: FloatArray, families: list[str], weights: FloatArray | None = None) -> FloatArray:
    """Test systems on their weighted mean over languages, from scores (systems, languages)."""
    shares = np.ones(scores.shape[1]) if weights is None else weights
    means = scores @ shares / shares.sum()
    others = (scores @ shares)[:, None] - scores * shares
    return language_tests(means, means[:, None] - others / (shares.sum() - shares), shares / shares.sum(), families)


def drawn(systems: int, seed: int = 0, families: list[str] = FAMILIES, correlation: float = 0.5) -> FloatArray:
    rng = np.random.default_rng(seed)
    number = np.array([families.index(name) for name in families])
    shared = rng.standard_normal((systems, len(families)))[:, number]
    alone = rng.standard_normal((systems, len(families)))
    return math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * alone


def dense(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """The same test with covariance matrices of languages, for two or more systems."""
    count, languages = scores.shape
    shares = weights / weights.sum()
    same = np.array([[one == other for one in FAMILIES] for other in FAMILIES], dtype=float)
    centred = (scores.T - scores @ shares).T
    centred -= centred.mean(axis=0)
    scaled = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    one, others, effective = np.ones(languages), 0.0, 0.0
    p, logs = (np.ones((len(CORRELATIONS), count, count)) for _ in range(2))
    for place, correlation in enumerate(CORRELATIONS):
        matrix = (1 - correlation) * np.eye(languages) + correlation * same
        inverse = np.linalg.inv(matrix)
        total = one @ inverse @ one
        projection = (inverse - np.outer(inverse @ one, inverse @ one) / total) / (languages - 1)
        of_all = scaled @ projection @ scaled.T
        if correlation == 0:
            systems = np.trace(of_all) ** 2 / (of_all**2).sum()
            others, fourth = min(2, systems - 1), ((scaled**2).sum(axis=0) ** 2).sum()
            effective = min(languages, (1 + 2 / systems) * count**2 / fourth)
        determinant = np.linalg.slogdet(matrix)[1] + math.log(total)
        alone, both = shares @ shares, shares @ matrix @ shares
        errors = alone / math.sqrt(effective - 1) + (both - alone) / math.sqrt(len(SIZES) - 1)
        for first in range(count):
            for second in set(range(count)) - {first}:
                apart = scores[first] - scores[second]
                spread = apart @ projection @ apart
                t = abs(apart @ shares) / math.sqrt(spread * both)
                p[place, first, second] = 2 * t_tail(t, (both / errors) ** 2)
                logs[place, first, second] = -(determinant + (languages - 1) * math.log(spread)) / 2
                logs[place, first, second] -= others * (determinant + (languages - 1) * math.log(np.trace(of_all))) / 2
    likelihoods = np.exp(logs - logs.max(axis=0))
    return (p * likelihoods).sum(axis=0) / likelihoods.sum(axis=0)


@pytest.mark.parametrize("systems", [2, 3, 7])
@pytest.mark.parametrize("seed", [0, 1])
def test_dense_matrices_give_the_same(systems: int, seed: int) -> None:
    scores = drawn(systems, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(FAMILIES)) if seed else np.ones(len(FAMILIES))
    np.testing.assert_allclose(p_over_languages(scores, FAMILIES, weights), dense(scores, weights), rtol=1e-9)


def test_unrelated_languages_are_students_paired_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    # All distances from the mean have the same size, so no language counts more than another.
    apart = np.tile([1.0, -1.0], 6) + 0.4
    scores = np.array([apart, np.zeros(12)])
    own = [str(place) for place in range(12)]
    expected = stats.ttest_rel(*scores).pvalue
    assert p_over_languages(scores, own)[0, 1] == pytest.approx(expected, rel=1e-9)
    # Languages of one family are a sample of this family.
    assert p_over_languages(scores, ["Uralic"] * 12)[0, 1] == pytest.approx(expected, rel=1e-9)


def test_few_languages_that_vary_are_few() -> None:
    # The same variance of the difference, from all of forty languages or from four of them.
    own = [str(place) for place in range(40)]
    all_vary = np.array([np.tile([1.0, -1.0], 20) + 0.4, np.zeros(40)])
    few_vary = np.array([np.r_[np.tile([np.sqrt(10.0), -np.sqrt(10.0)], 2), np.zeros(36)] + 0.4, np.zeros(40)])
    p = [p_over_languages(scores, own)[0, 1] for scores in (all_vary, few_vary)]
    t = 0.4 / np.sqrt(1 / 39)
    # Four of forty, by three because squares of normal variables vary as well.
    assert p == pytest.approx([2 * t_tail(t, 39), 2 * t_tail(t, 11)], rel=1e-9)


def test_families_are_fewer_than_languages() -> None:
    # Nine languages of one family are better by one, and seven others by a little, with some noise.
    families = ["Indo-European"] * 9 + [str(place) for place in range(7)]
    noise = np.tile([0.3, -0.3], 8)
    scores = np.array([np.r_[np.full(9, 1.0), np.full(7, 0.1)] + noise, np.zeros(16)])
    alone = p_over_languages(scores, [str(place) for place in range(16)])[0, 1]
    assert alone < 0.001
    assert p_over_languages(scores, families)[0, 1] > 0.05


def test_other_systems_show_that_families_hardly_matter() -> None:
    families = [str(place // 5) for place in range(30)]
    pair = drawn(2, 2, families, correlation=0.0) + np.array([[0.9], [0.0]])
    many = np.concatenate([pair, drawn(12, 3, families, correlation=0.0)])
    assert p_over_languages(many, families)[0, 1] < 0.5 * p_over_languages(pair, families)[0, 1]


def test_rank_sets_hold_if_families_matter_to_some_systems_only() -> None:
    """Five equal systems differ by family; five that vary five times as much do not."""
    families = [str(place // 3) for place in range(15)]
    held = []
    for seed in range(100):
        alike = drawn(5, seed, families, correlation=0.8)
        scores = np.concatenate([alike, 5 * drawn(5, 100 + seed, families, correlation=0.0)])
        held.append(not ordering(scores.mean(axis=1), p_over_languages(scores, families)).better.any())
    assert np.mean(held) >= 0.95


def test_too_few_languages_and_systems_without_scores_per_language_are_untested() -> None:
    scores = drawn(3, 1)
    for count in range(1, LEAST_LANGUAGES):
        p = language_tests([1, 2, 3], scores[:, :count], np.full(count, 1 / count), FAMILIES[:count])
        assert np.isnan(p[~np.eye(3, dtype=bool)]).all()
        assert ordering([1, 2, 3], p).low.tolist() == [1, 1, 1]
        assert ordering([1, 2, 3], p).high.tolist() == [3, 3, 3]
    # Languages without weight do not count.
    weights = np.where(np.arange(len(FAMILIES)) < LEAST_LANGUAGES - 1, 1.0, 0.0)
    assert np.isnan(language_tests([1, 2, 3], scores, weights, FAMILIES)[0, 1])
    scores[1] = np.nan
    p = language_tests([1, 2, 3], scores, np.full(len(FAMILIES), 1 / len(FAMILIES)), FAMILIES)
    assert np.isnan([p[0, 1], p[1, 2], p[1, 0]]).all()
    assert 0 < p[0, 2] <= 1
    assert language_tests([], np.zeros((0, 3)), np.ones(3), ["a", "b", "c"]).shape == (0, 0)
    assert language_tests([5], [[1.0] * 5], np.ones(5), list("abcde")).tolist() == [[1.0]]


def test_no_spread() -> None:
    scores = np.tile(np.arange(13.0), (3, 1))
    scores[2] += 1
    p = p_over_languages(scores, FAMILIES)
    assert p[0, 1] == 1
    assert p[0, 2] == p[2, 0] == SMALLEST_P
    # Others with a spread do not change it.
    p = p_over_languages(np.concatenate([scores, drawn(2)]), FAMILIES)
    assert (p[0, 1], p[0, 2]) == (1, SMALLEST_P)


def test_order_and_scale_do_not_matter() -> None:
    scores = drawn(4, 6)
    p = p_over_languages(scores, FAMILIES)
    systems, languages = [2, 0, 3, 1], np.random.default_rng(0).permutation(len(FAMILIES))
    turned = p_over_languages(scores[np.ix_(systems, languages)], [FAMILIES[place] for place in languages])
    np.testing.assert_allclose(turned, p[np.ix_(systems, systems)], rtol=1e-9)
    np.testing.assert_allclose(p_over_languages(50 + 7 * scores, FAMILIES), p, rtol=1e-9)
    np.testing.assert_allclose(p_over_languages(-scores, FAMILIES), p, rtol=1e-9)
    assert np.array_equal(p, p.T)


def test_tails_of_many() -> None:
    t = np.array([0.0, 1e-9, 0.5, 1.7, 4.0, 30.0, 1e8])
    for freedom in (1.0, 3.3, 49.0):
        expected = [t_tail(float(each), freedom) for each in t]
        np.testing.assert_allclose(module._t_tails(t, freedom), expected, rtol=1e-12)
    assert module._t_tails(np.array([np.inf]), 3.0).tolist() == [0]


@pytest.mark.parametrize(("systems", "correlation"), [(2, 0.6), (5, 0.0), (5, 0.6)])
def test_rank_sets_hold_equal_systems(systems: int, correlation: float) -> None:
    held = []
    for seed in range(200):
        scores = drawn(systems, 1000 + seed, correlation=correlation)
        found = ordering(scores.mean(axis=1), p_over_languages(scores, FAMILIES))
        held.append(not found.better.any())
    assert np.mean(held) >= 0.95
