"""Strata and drawing order: more of what tells more, nested, and never an empty stratum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.statistics import F1, MEAN, Statistics
from isogloss.metrics.strata import LEAST_DRAWN, drawing_order, expected_movements, movements, rates_of, strata_of


def marks(right: int, wrong: int) -> Statistics:
    return Statistics(np.repeat([1.0, 0.0], [right, wrong])[:, None], MEAN)


def nothing(of: Statistics) -> Statistics:
    return Statistics(np.zeros_like(of.rows), MEAN)


def test_movements_by_hand() -> None:
    guide = marks(8, 2)
    # One right answer more: 9/11; one less: 7/9. One wrong answer more: 8/11; one less: 8/9.
    moved = movements(np.array([[1.0], [0.0]]), guide)
    assert moved == pytest.approx([(9 / 11 - 7 / 9) / 2, (8 / 11 - 8 / 9) / 2])


@pytest.mark.parametrize(("right", "wrong", "which"), [(80, 20, "wrong"), (20, 80, "right")])
def test_the_rarer_outcome_is_drawn_more(right: int, wrong: int, which: str) -> None:
    guide = marks(right, wrong)
    rates = rates_of(expected_movements(guide, nothing(guide), 100))
    assert (rates[-1] > rates[0]) == (which == "wrong")
    assert strata_of(rates)[[0, -1]].tolist() in ([0, 1], [1, 0])


def test_sentences_without_entities_are_drawn_least() -> None:
    rows = np.array([[0, 0, 0], [1, 1, 1], [3, 3, 3], [1, 3, 3]] * 10, dtype=float)
    guide = Statistics(rows, F1)
    skipped = Statistics(rows * [0, 0, 1], F1)
    rates = rates_of(expected_movements(guide, skipped, 40))
    assert rates[0] < rates[1] < rates[2] < rates[3]


def test_equal_examples_stay_in_one_stratum_and_undefined_scores_in_one() -> None:
    assert strata_of(np.ones(50)).tolist() == [0] * 50
    assert rates_of(np.zeros(5)).tolist() == [1] * 5
    assert movements(np.zeros((3, 1)), Statistics(np.zeros((1, 1)), MEAN)).tolist() == [0, 0, 0]


def test_rates_are_bounded() -> None:
    rates = rates_of(np.array([0.0, *[1.0] * 98, 1e6]))
    assert rates.max() / rates.min() == pytest.approx(9)


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    seed=st.integers(0, 1000),
)
def test_strata_fill_in_turns_then_by_rate(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    strata = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    rates = np.array([0.5, 1, 2, 1.5, 3])[strata]
    order = drawing_order(strata, rates, rng.random(len(strata)))
    assert sorted(order.tolist()) == list(range(len(strata)))
    first = np.bincount(strata[order[: sum(min(size, LEAST_DRAWN) for size in sizes)]], minlength=len(sizes))
    assert first.tolist() == [min(size, LEAST_DRAWN) for size in sizes]
    # Within a stratum, the order is that of the random numbers: every unit is equally likely to be early.
    half = np.bincount(strata[order[: len(order) // 2]], minlength=len(sizes))
    share = np.array(sizes) * np.array([0.5, 1, 2, 1.5, 3])[: len(sizes)]
    expected = len(order) // 2 * share / share.sum()
    assert (half <= np.maximum(np.ceil(expected) + len(sizes) * LEAST_DRAWN, LEAST_DRAWN)).all()


def test_units_of_a_stratum_are_equally_likely() -> None:
    rng = np.random.default_rng(0)
    strata = np.repeat([0, 1], [30, 10])
    counts = np.zeros(40)
    for _ in range(2000):
        counts[drawing_order(strata, np.repeat([1.0, 2.0], [30, 10]), rng.random(40))[:16]] += 1
    assert counts[:30].std() < 3 * np.sqrt(2000 * 0.33 * 0.67)
    assert counts[30:].mean() > 1.4 * counts[:30].mean()
