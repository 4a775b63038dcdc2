"""Correlations compared with scipy's, and their intervals with simulated truth."""

from math import sqrt

import numpy as np
import pytest

from isogloss.analysis.correlation import pearson, ranks, spearman
from isogloss.analysis.finding import AnalysisError


def test_values_are_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    for n in (5, 8, 40):
        x = rng.normal(size=n)
        y = np.round(x + rng.normal(size=n), 1)  # with ties
        assert pearson(x, y, range(n)).value == pytest.approx(stats.pearsonr(x, y).statistic)
        assert spearman(x, y, range(n)).value == pytest.approx(stats.spearmanr(x, y).statistic)
        assert ranks(y) == pytest.approx(stats.rankdata(y))


def test_scale_and_location_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    one, other = pearson(x, y, range(30)), pearson(x * 1e6 + 1e7, y / 1e5, range(30))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert spearman(x, y, range(30)) == spearman(np.exp(x), y**3, range(30))


def test_perfect_correlations_have_no_interval() -> None:
    x = np.arange(10.0)
    assert pearson(x, 2 * x + 1, range(10)) == (pytest.approx(1), None, None)
    assert pearson(x, -x, range(10)) == (pytest.approx(-1), None, None)
    assert spearman(x, np.exp(x), range(10)) == (pytest.approx(1), None, None)


@pytest.mark.parametrize("n", [8, 15, 40])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.85])
def test_interval_coverage(n: int, rho: float) -> None:
    rng = np.random.default_rng(n)
    of_ranks = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's of a normal pair
    covered, covered_by_ranks = [], []
    for _ in range(150):
        x = rng.normal(size=n)
        y = rho * x + sqrt(1 - rho**2) * rng.normal(size=n)
        plain, ranked = pearson(x, y, range(n)), spearman(x, y, range(n))
        covered += [plain.low <= rho <= plain.high] if plain.low is not None else []
        covered_by_ranks += [ranked.low <= of_ranks <= ranked.high] if ranked.low is not None else []
    assert min(len(covered), len(covered_by_ranks)) > 110  # of eight languages, one may carry nearly all the weight
    # 95 % with three standard errors.
    assert np.mean(covered) >= 0.89
    assert np.mean(covered_by_ranks) >= 0.89


@pytest.mark.parametrize(("sizes", "least"), [([3] * 14, 134), ([20, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1], 130)])
def test_coverage_over_families_with_family_effects(sizes: list[int], least: int) -> None:
    rng = np.random.default_rng(5)
    families = np.repeat(np.arange(14), sizes)
    studies, covered, covered_by_language = 150, 0, 0
    for _ in range(studies):
        x, y = (2 * rng.normal(size=14)[families] + rng.normal(size=len(families)) for _ in range(2))
        by_family, by_language = pearson(x, y, families.tolist()), pearson(x, y, range(len(families)))
        covered += by_family.low <= 0 <= by_family.high
        covered_by_language += by_language.low <= 0 <= by_language.high
    assert covered >= least  # 95 % with three standard errors; with one family of nearly half of them, 93 %
    assert covered_by_language < covered - 10  # so intervals over families are needed


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("measure", [pearson, spearman])
@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 5], "needs 5 languages, got 4"),
        ([], [], "needs 5 languages, got 0"),
        ([1.0, 2, 3, 4, 5], [7.1] * 5, "all are equal"),
        ([0.1] * 7, [1.0, 2, 3, 4, 5, 6, 7], "all are equal"),
        ([1, 2, 3, 4, float("nan")], [1, 2, 3, 4, 5], "NaN"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, float("inf")], "NaN or infinity"),
    ],
)
def test_invalid_input_is_refused(measure, x, y, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AnalysisError, match=words):
        measure(x, y, range(len(x)))
