"""Samples depend on the seed and the things drawn, not on their order; strata get equal shares where they can."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isogloss.building.sampling import proportional_quotas, random_keys, stratified_sample, uniform_quotas

SIZES = st.lists(st.integers(0, 50), min_size=1, max_size=8)


def test_quotas_by_hand() -> None:
    assert uniform_quotas([10, 2, 10], 12) == [5, 2, 5]
    assert uniform_quotas([10, 2, 10], 13) == [6, 2, 5]
    assert uniform_quotas([1, 1], 10) == [1, 1]
    assert proportional_quotas([60, 30, 10], 10) == [6, 3, 1]
    assert proportional_quotas([1, 1, 1], 2) == [1, 1, 0]


@given(SIZES, st.integers(0, 300))
def test_uniform_quotas(sizes: list[int], total: int) -> None:
    quotas = uniform_quotas(sizes, total)
    assert sum(quotas) == min(total, sum(sizes))
    assert all(quota <= size for quota, size in zip(quotas, sizes, strict=True))
    # A stratum that could give more never gives less than another, except for the last unit.
    open_quotas = [quota for quota, size in zip(quotas, sizes, strict=True) if quota < size]
    assert not open_quotas or max(quotas) <= min(open_quotas) + 1


@given(SIZES, st.integers(0, 300))
def test_proportional_quotas(sizes: list[int], total: int) -> None:
    quotas = proportional_quotas(sizes, total)
    drawn = min(total, sum(sizes))
    assert sum(quotas) == drawn
    for quota, size in zip(quotas, sizes, strict=True):
        assert abs(quota - size * drawn / max(1, sum(sizes))) < 1
        assert quota <= size


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 40))
def test_sample_does_not_depend_on_order(strata: list[int], total: int) -> None:
    keys = random_keys(np.arange(len(strata)), 5, "test")
    sample = {int(place) for place in stratified_sample(np.array(strata), keys, total)}
    order = np.random.default_rng(len(strata)).permutation(len(strata))
    shuffled = stratified_sample(np.array(strata)[order], keys[order], total)
    assert {int(order[place]) for place in shuffled} == sample


def test_keys_are_uniform_and_differ_by_seed_and_purpose() -> None:
    keys = random_keys(np.arange(100_000), 0, "a")
    assert len(np.unique(keys)) == 100_000
    counts = np.bincount((keys >> np.uint64(60)).astype(int), minlength=16)
    # Chi-squared with 15 degrees of freedom: above 44 with a probability of 1 in 10,000.
    assert ((counts - 6250) ** 2 / 6250).sum() < 44
    for other in (random_keys(np.arange(100_000), 1, "a"), random_keys(np.arange(100_000), 0, "b")):
        assert (keys == other).sum() == 0
        assert abs(np.corrcoef(keys / 2**64, other / 2**64)[0, 1]) < 0.02
