"""Figures over a sample of languages: by hand, by brute force, and on simulated languages with related ones."""

from math import atanh, sqrt

import numpy as np
import pytest

from isogloss.metrics.language_sample import (
    correlation_over_languages,
    difference_over_languages,
    group_numbers,
    mean_error,
    mean_over_languages,
)
from isogloss.metrics.student import t_quantile

# Sizes of the families of XTREME-R's fifty languages, and of small sets.
XTREME_R = (22, 4, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)
SMALL = (4, 3, 1, 1, 1)


def brute_force(design: np.ndarray, y: np.ndarray, families: np.ndarray, contrast: np.ndarray) -> tuple[float, float]:
    """Return the error and the degrees of freedom of a coefficient, with whole matrices."""
    inverse = np.linalg.inv(design.T @ design)
    left = np.eye(len(y)) - design @ inverse @ design.T
    weights = design @ inverse @ contrast
    forms, variance = [], 0.0
    for family in np.unique(families):
        own = np.where(families == family, weights, 0.0)
        scale = (own @ own) / (own @ left @ own)
        variance += scale * float(own @ left @ y) ** 2
        forms.append(scale * np.outer(left @ own, left @ own))
    total = sum(forms)
    return sqrt(variance), float(np.trace(total) ** 2 / np.trace(total @ total))


def test_unrelated_languages_have_students_interval() -> None:
    values = [1.0, 2, 3, 4, 5]
    mean = mean_over_languages(values, "abcde")
    margin = 2.7764451051977987 * sqrt(2.5 / 5)  # t with four degrees of freedom
    assert mean == pytest.approx((3, 3 - margin, 3 + margin))


def test_two_equal_families_by_hand() -> None:
    """Families of equal size are as many observations as families: Student's interval of their means."""
    values, families = np.array([1.0, 3, 2, 4, 5, 9, 0, 2, 8, 6]), np.repeat(np.arange(5), 2)
    means = values.reshape(5, 2).mean(axis=1)
    margin = t_quantile(0.975, 4) * means.std(ddof=1) / sqrt(5)
    assert mean_over_languages(values, families.tolist()) == pytest.approx((4, 4 - margin, 4 + margin))


@pytest.mark.parametrize("sizes", [XTREME_R, SMALL])
def test_against_whole_matrices(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    families = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.normal(size=len(families))
    error, freedom = brute_force(np.ones((len(y), 1)), y, families, np.ones(1))
    mean = mean_over_languages(y, families.tolist())
    assert mean.high is not None
    assert mean.high - mean.value == pytest.approx(t_quantile(0.975, freedom) * error)
    first = np.arange(len(y)) % 2 == 0
    difference = difference_over_languages(y, first.tolist(), families.tolist())
    assert difference.value == pytest.approx(y[first].mean() - y[~first].mean())
    if sizes == XTREME_R:
        design = np.stack([first, ~first], axis=1).astype(float)
        error, freedom = brute_force(design, y, families, np.array([1.0, -1.0]))
        assert difference.high == pytest.approx(difference.value + t_quantile(0.975, freedom) * error)
    else:
        assert difference.high is None  # fewer than five families on each side


def test_order_and_names_of_languages_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 12))
    families = list("aaaabbcdeeff")
    order = rng.permutation(12)
    renamed = [f"family {families[index]}" for index in order]
    assert mean_over_languages(y[order], renamed) == pytest.approx(mean_over_languages(y, families))
    one, other = correlation_over_languages(x, y, families), correlation_over_languages(x[order], y[order], renamed)
    assert one == pytest.approx(other)
    assert group_numbers(["b", "a", "b"]).tolist() == [0, 1, 0]


def test_a_correlation_is_symmetric_on_fishers_scale() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    value, low, high = correlation_over_languages(x, x + 0.1 * rng.normal(size=20), [*range(20)])
    assert -1 < low < value < high < 1
    assert atanh(high) - atanh(value) == pytest.approx(atanh(value) - atanh(low))
    near, far = correlation_over_languages(x, -x, [*range(20)]), correlation_over_languages(x, 2 * x + 1, [*range(20)])
    assert (near, far) == ((-1, None, None), (1, None, None))


def test_too_few_families_have_no_interval() -> None:
    assert mean_over_languages([1.0, 2, 3, 4], "abcd") == (2.5, None, None)
    assert mean_over_languages([7.0], "a") == (7, None, None)
    assert mean_over_languages([1.0, 2, 3, 4, 5, 6, 7], "aaabbcd") == (4, None, None)
    # One of five families has nearly all languages.
    assert mean_over_languages(np.arange(24.0), [*"a" * 20, *"bcde"]).low is None
    assert mean_over_languages([3.0] * 6, "abcdef") == (3, None, None)  # nothing varies


def test_invalid_input_is_refused() -> None:
    with pytest.raises(ValueError, match="one value and one family per language"):
        mean_over_languages([1.0, 2], "a")
    with pytest.raises(ValueError, match="one value and one family"):
        mean_over_languages([], "")
    with pytest.raises(ValueError, match="value 1 is not finite"):
        mean_over_languages([1.0, float("nan")], "ab")
    with pytest.raises(ValueError, match="languages in both groups"):
        difference_over_languages([1.0, 2], [True, True], "ab")
    with pytest.raises(ValueError, match="values that differ"):
        correlation_over_languages([1.0, 1, 1], [1.0, 2, 3], "abc")


@pytest.mark.parametrize("sizes", [XTREME_R, SMALL, (2,) * 5])
@pytest.mark.parametrize("related", [0.0, 0.5, 0.8])
def test_coverage_with_related_languages(sizes: tuple[int, ...], related: float) -> None:
    rng = np.random.default_rng(len(sizes))
    families = np.repeat(np.arange(len(sizes)), sizes)
    studies, covered = 250, 0
    for _ in range(studies):
        of_family, own = rng.normal(size=len(sizes))[families], rng.normal(size=len(families))
        _, low, high = mean_over_languages(sqrt(related) * of_family + sqrt(1 - related) * own, families.tolist())
        covered += low <= 0 <= high
    assert covered >= 228  # 95 % with two and a half standard errors


def test_error_is_that_of_the_interval() -> None:
    values, families = [1.0, 2.0, 4.0, 8.0, 9.0, 5.0, 5.5], ["a", "a", "b", "c", "d", "e", "e"]
    known, figure = mean_error(values, families), mean_over_languages(values, families)
    assert known is not None
    assert figure.high is not None
    assert t_quantile(0.975, known.freedom) * known.error == pytest.approx(figure.high - figure.value)
    assert mean_error(values, ["a"] * 7) is None
