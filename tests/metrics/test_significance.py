"""Tests between two systems: values by hand, every way of computing them against plain enumeration, and families."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.figures import SMALLEST_P
from isogloss.metrics import significance
from isogloss.metrics.significance import holm, one_size, sign_test


def enumerated(values: list[float]) -> float:
    """The share of all choices of signs whose sum is at least as far from 0."""
    sums = [abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) for signs in signs_of(values)]
    return sum(one >= abs(sum(values)) - 1e-9 for one in sums) / len(sums)


def signs_of(values: list[float]) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=len(values)))


def mcnemar(only_a: int, only_b: int) -> float:
    total, fewer = only_a + only_b, min(only_a, only_b)
    return min(1.0, 2 * sum(comb(total, k) for k in range(fewer + 1)) / 2**total)


def test_two_examples_are_never_significant() -> None:
    # Two languages with one example each, both won by one side: two of the four choices of signs are as extreme.
    assert sign_test([0.5, 0.5]) == 0.5
    assert sign_test([1.0]) == 1.0


def test_by_hand() -> None:
    # 3 + 2 - 1 = 4; of the eight sums 6, 4, 2, 0 and their opposites four are at least as far out.
    assert sign_test([3, 2, -1]) == 0.5
    assert sign_test([0, 0, 0]) == 1
    assert sign_test([]) == 1
    assert sign_test([1, -1]) == 1


@given(st.lists(st.one_of(st.integers(-4, 4), st.floats(-1, 1)), min_size=1, max_size=10))
@settings(deadline=None, max_examples=200)
def test_few_values_are_enumerated(values: list[float]) -> None:
    given_values = [value for value in values if not 0 < abs(value) < 1e-3]
    assert sign_test(given_values) == pytest.approx(enumerated(given_values) if given_values else 1.0, rel=1e-9)


@given(st.integers(0, 400), st.integers(0, 400), st.floats(1e-4, 1))
@settings(deadline=None, max_examples=100)
def test_values_of_one_size_are_mcnemars_test(only_a: int, only_b: int, size: float) -> None:
    values = np.repeat([size, -size, 0.0], [only_a, only_b, 7])
    assert sign_test(values) == pytest.approx(mcnemar(only_a, only_b), rel=1e-9)
    assert one_size(values)


def test_whole_numbers_are_counted_exactly() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 5, 48).astype(float)
    coins = rng.integers(0, 2, (200_000, 48)) * 2 - 1
    drawn = (np.abs(coins @ np.abs(values)) >= abs(values.sum()) - 1e-9).mean()
    assert sign_test(values) == pytest.approx(drawn, abs=4 * np.sqrt(drawn / 200_000))
    # In other units, and with a common measure that is not the smallest of them, they are the same numbers.
    assert sign_test(values / 1190) == pytest.approx(sign_test(values), rel=1e-9)
    assert sign_test([2.0] * 20 + [3.0] * 20 + [-2.0] * 9) == pytest.approx(
        sign_test([4.0] * 20 + [6.0] * 20 + [-4.0] * 9), rel=1e-9
    )
    assert not one_size(values)


@pytest.mark.parametrize("count", [17, 40, 200])
@pytest.mark.parametrize("shift", [0.1, 0.3, 0.5])
def test_saddlepoint_is_close_to_what_drawing_gives(count: int, shift: float) -> None:
    rng = np.random.default_rng(count)
    values = rng.normal(shift * 3 / np.sqrt(count), 1, count)
    coins = rng.integers(0, 2, (200_000, count), dtype=np.int8) * 2 - 1
    drawn = float((np.abs(coins @ np.abs(values)) >= abs(values.sum())).mean())
    assert sign_test(values) == pytest.approx(drawn, rel=0.06, abs=4 * np.sqrt(drawn / 200_000) + 1e-5)


def test_nearly_whole_numbers_have_a_stepped_sum() -> None:
    nearly = np.repeat([1.0, -1.0], [13, 4])
    exact = sign_test(nearly)
    nearly[-1] *= 1.00003
    assert exact == pytest.approx(0.049, abs=1e-3)
    assert sign_test(nearly) == pytest.approx(exact, rel=0.02)
    # Beyond what is written out: 40 answers of which some are half right.
    rng = np.random.default_rng(0)
    values = rng.choice([1.0, -1.0, 0.53, -0.47], 60, p=[0.55, 0.3, 0.1, 0.05])
    coins = rng.integers(0, 2, (400_000, 60), dtype=np.int8) * 2 - 1
    drawn = float((np.abs(coins @ np.abs(values)) >= abs(values.sum()) - 1e-9).mean())
    assert sign_test(values) == pytest.approx(drawn, rel=0.03, abs=4 * np.sqrt(drawn / 400_000))


def test_few_large_values_decide() -> None:
    values = [3.3, 1.01, 1.01, 1.01, *np.linspace(0.005, 0.015, 14)]
    assert sign_test(values) == pytest.approx(2 * 0.5**4, rel=1e-9) or sign_test(values) < 0.126


def test_scale_does_not_matter() -> None:
    values = np.random.default_rng(0).normal(0.2, 1, 25)
    for scale in (1e-13, 1e-6, 1e6, 1e300):
        assert sign_test(values * scale) == pytest.approx(sign_test(values), rel=1e-6)


def test_saddlepoint_follows_the_exact_tail_to_the_end() -> None:
    # Enumerated up to 16 values, approximated beyond: where both can be had they agree far out as well.
    rng = np.random.default_rng(0)
    for wrong in range(4):
        values = rng.uniform(0.5, 1.5, 26)
        values[:wrong] *= -1
        sizes = np.sort(np.abs(values)) / np.abs(values).max()
        approximate = 2 * significance._saddlepoint_tail(sizes, abs(values.sum()) / np.abs(values).max())
        assert approximate == pytest.approx(sign_test(values), rel=0.25)


def test_small_p_values_have_digits_and_a_floor() -> None:
    assert sign_test(np.ones(100)) == pytest.approx(2 * 0.5**100, rel=1e-9)
    assert sign_test(np.random.default_rng(0).uniform(0.9, 1.1, 500)) == pytest.approx(2 * 0.5**500, rel=0.01)
    assert sign_test(np.ones(5000)) == SMALLEST_P > 0


@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=40), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=100)
def test_neither_order_nor_side_matters(values: list[float], random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    p = sign_test(values)
    assert 0 < p <= 1
    assert sign_test(shuffled) == p
    assert sign_test([-value for value in shuffled]) == p


def test_non_numbers_are_reported() -> None:
    with pytest.raises(ValueError, match="not finite"):
        sign_test([0.1, float("nan")])


# families of tests


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; the last may not fall to 0.04.
    assert holm([0.02, 0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.06, 0.04, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([0.03]) == pytest.approx([0.03])
    assert holm([]).shape == (0,)


@given(st.lists(st.floats(0, 1), max_size=20), st.randoms(use_true_random=False))
def test_holm_keeps_order_and_only_raises(p_values: list[float], random: object) -> None:
    adjusted = holm(p_values)
    given_p = np.array(p_values)
    assert ((adjusted >= given_p) & (adjusted <= 1)).all()
    assert (adjusted <= np.minimum(1, given_p * len(p_values))).all()
    assert (np.diff(adjusted[np.argsort(given_p, kind="stable")]) >= 0).all()
    order = np.arange(len(p_values))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert np.array_equal(holm(given_p[order]), adjusted[order])


@pytest.mark.parametrize("p_values", [[0.5, 1.5], [-0.1], [float("nan")], [[0.1]]])
def test_holm_refuses_invalid_p_values(p_values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"within 0\.\.1"):
        holm(p_values)
