"""False discovery rates: hand-computed values, an independent implementation, and the rate itself in a simulation."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.discovery import false_discovery_rates

P = st.floats(0, 1)
FAMILIES = st.lists(st.lists(P, min_size=1, max_size=4), max_size=12)


def listed(families: list[list[float]], level: float) -> list[list[bool]]:
    """Return what is listed by definition: the largest R with R families whose smallest p is at most R level / m."""
    m = len(families)
    smallest = [min(family) for family in families]
    passing = [r for r in range(1, m + 1) if sum(p <= r * level / m for p in smallest) >= r]
    threshold = max(passing) * level / m if passing else -1
    return [[p <= threshold for p in family] for family in families]


def test_values_by_hand() -> None:
    # 4 tests: 4 * 0.01 / 1, 4 * 0.02 / 2, 4 * 0.03 / 3 and 0.5; larger ones bound smaller ones.
    assert false_discovery_rates([[0.02], [0.5], [0.01], [0.03]]) == [[0.04], [0.5], [0.04], [0.04]]
    # The second p of the first family passes two of two families: 2 * 0.2 / 2; it does not count as a family.
    assert false_discovery_rates([[0.01, 0.2], [0.04]]) == [[pytest.approx(0.02), 0.2], [0.04]]
    assert false_discovery_rates([]) == []
    assert false_discovery_rates([[1.0, 0.0]]) == [[1.0, 0.0]]


@pytest.mark.parametrize("wrong", [[[]], [[0.5], []], [[1.1]], [[-0.1]], [[float("nan")]]])
def test_invalid_values(wrong: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"within 0\.\.1"):
        false_discovery_rates(wrong)


@given(st.lists(P, min_size=1, max_size=30))
def test_single_tests_match_scipy(p: list[float]) -> None:
    expected = pytest.importorskip("scipy.stats").false_discovery_control(p).tolist()
    assert [q for [q] in false_discovery_rates([[one] for one in p])] == pytest.approx(expected, abs=1e-12)


@given(FAMILIES, st.floats(0.001, 0.5))
def test_rates_list_what_the_definition_lists(families: list[list[float]], level: float) -> None:
    rates = false_discovery_rates(families)
    flat = list(zip(chain.from_iterable(families), chain.from_iterable(rates), strict=True))
    assert all(q > p - 1e-12 for p, q in flat)
    assert [q for _, q in sorted(flat)] == sorted(q for _, q in flat)
    # At the rate of any p-value, that one is listed; slightly below it is not.
    assert all(
        q > level - 1e-9 or is_listed
        for of_family, in_family in zip(rates, listed(families, level), strict=True)
        for q, is_listed in zip(of_family, in_family, strict=True)
    )
    assert all(
        q < level + 1e-9 or not is_listed
        for of_family, in_family in zip(rates, listed(families, level), strict=True)
        for q, is_listed in zip(of_family, in_family, strict=True)
    )


def test_share_of_false_families_is_below_the_level() -> None:
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        # Families of two: 40 without and 10 with one true effect; the second test of all of them is null.
        p = rng.random((50, 2))
        p[:10, 0] = rng.random(10) * 1e-4
        rates = np.array(false_discovery_rates(np.minimum(1, 2 * p).tolist())) < 0.05
        false = rates[10:].any(axis=1).sum() + rates[:10, 1].sum()
        shares.append(false / max(1, rates.any(axis=1).sum()))
    assert np.mean(shares) < 0.055
