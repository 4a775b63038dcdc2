"""Tests of two scores without answers."""

from math import erfc, sqrt

import pytest

from isogloss.figures import SMALLEST_P
from isogloss.metrics.unpaired import difference_p, two_proportions


def test_difference_by_hand() -> None:
    assert difference_p(5.0, 3.0, 4.0) == pytest.approx(erfc(1 / sqrt(2)))  # one standard error
    assert difference_p(-9.8, 5.0) == pytest.approx(0.05, abs=1e-4)


def test_extremes_of_a_difference() -> None:
    assert difference_p(0.0, 1.0) == difference_p(0.0) == 1
    assert difference_p(1.0) == difference_p(100.0, 1e-3) == SMALLEST_P


def test_extreme_proportions_have_a_smallest_p() -> None:
    assert two_proportions(0, 10_000, 10_000, 10_000) == SMALLEST_P
