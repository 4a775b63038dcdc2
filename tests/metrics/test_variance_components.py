"""Variance components of grids: hand-computed values, unbiasedness, and separate spaces of sources."""

import math

import numpy as np
import pytest

from isogloss.metrics.variance_components import crossed_variances, inner_products

NONE, ROWS, COLUMNS, BOTH = frozenset[int](), frozenset({0}), frozenset({1}), frozenset({0, 1})


def test_one_axis_is_the_sample_variance() -> None:
    values = np.array([1.0, 2.0, 6.0])
    components = crossed_variances(np.outer(values, values), [3])
    assert components[ROWS] == pytest.approx(7)
    assert components[NONE] == pytest.approx(9 - 7 / 3)  # the square of the mean, less its variance


def test_two_axes_by_hand() -> None:
    """Two-way analysis of variance of ((1, 2, 6), (3, 8, 10)): mean squares 24, 18 and 2."""
    values = np.array([[1.0, 2.0, 6.0], [3.0, 8.0, 10.0]]).ravel()
    components = crossed_variances(np.outer(values, values), [2, 3])
    assert components[BOTH] == pytest.approx(2)
    assert components[ROWS] == pytest.approx((24 - 2) / 3)
    assert components[COLUMNS] == pytest.approx((18 - 2) / 2)


def test_no_axis() -> None:
    assert crossed_variances(np.array([[5.0]]), []) == {NONE: 5.0}


def test_components_of_sources_are_unbiased() -> None:
    rng = np.random.default_rng(0)
    sizes, sources = (3, 2, 4), 30
    parts = {NONE: 1.0, ROWS: 0.5, frozenset({2}): 0.25, frozenset({0, 1, 2}): 0.1}
    totals = dict.fromkeys(parts, 0.0)
    for _ in range(200):
        errors = np.zeros((*sizes, sources))
        for axes, variance in parts.items():
            shape = [size if axis in axes else 1 for axis, size in enumerate(sizes)]
            errors += math.sqrt(variance) * rng.standard_normal((*shape, sources))
        points = [{"": row} for row in errors.reshape(-1, sources)]
        components = crossed_variances(inner_products(points), sizes)
        totals = {axes: total + components[axes] / sources / 200 for axes, total in totals.items()}
    assert totals == pytest.approx(parts, abs=0.03)


def test_languages_with_their_own_sources_share_nothing() -> None:
    errors = np.random.default_rng(0).standard_normal((3, 20))
    components = crossed_variances(inner_products([{str(row): values} for row, values in enumerate(errors)]), [3])
    assert components[NONE] == pytest.approx(0)
    assert components[ROWS] == pytest.approx((errors**2).sum() / 3)
