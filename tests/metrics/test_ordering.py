"""Simultaneous order of systems: letters and rank sets by hand, and properties that hold for any verdicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.ordering import Ordering, letter, ordering
from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import FloatArray


def matrix(count: int, p_values: dict[tuple[int, int], float], others: float = 1.0) -> FloatArray:
    """Return a symmetric matrix of p-values from those of some pairs."""
    p = np.full((count, count), others)
    for (one, other), value in p_values.items():
        p[one, other] = p[other, one] = value
    return p


def test_a_clear_order() -> None:
    # Six pairs with p = 0.001: Holm multiplies by at most 6.
    found = ordering([70, 90, 80, 60], matrix(4, {}, 0.001))
    assert found.letters == ["c", "a", "b", "d"]
    assert found.low.tolist() == found.high.tolist() == [3, 1, 2, 4]
    assert found.order == [1, 2, 0, 3]


def test_all_equal() -> None:
    found = ordering([50, 50, 50], matrix(3, {}))
    assert found.letters == ["a", "a", "a"]
    assert found.low.tolist() == [1, 1, 1]
    assert found.high.tolist() == [3, 3, 3]
    # Equal scores are never in order, whatever the p-value.
    assert ordering([50, 50], matrix(2, {}, 0.0)).letters == ["a", "a"]


def test_overlapping_letters() -> None:
    # The first and the last differ, and both resemble the one between.
    found = ordering([3, 2, 1], matrix(3, {(0, 2): 0.01}))
    assert found.letters == ["a", "ab", "b"]
    assert found.low.tolist() == [1, 1, 2]
    assert found.high.tolist() == [2, 3, 3]
    assert found.p[0, 2] == pytest.approx(0.03)


def test_a_noisy_system_resembles_systems_that_differ() -> None:
    # The second of four has a large error and resembles all; the others differ from each other.
    found = ordering([4, 3, 2, 1], matrix(4, {(0, 2): 0.001, (0, 3): 0.001, (2, 3): 0.001}))
    assert found.letters == ["a", "abc", "b", "c"]
    assert found.low.tolist() == [1, 1, 2, 3]
    assert found.high.tolist() == [2, 4, 3, 4]


def test_a_chain_of_groups() -> None:
    pairs = [(0, 6), (0, 7), (1, 6), (1, 7), (2, 6), (2, 7), (3, 7), (4, 7)]
    found = ordering(np.arange(8, 0, -1), matrix(8, dict.fromkeys(pairs, 1e-4)))
    # The maximal sets of systems without a difference are 0-5, 3-6 and 5-7.
    assert found.letters == ["a", "a", "a", "ab", "ab", "abc", "bc", "c"]


def test_lower_is_better() -> None:
    found = ordering([1, 2], matrix(2, {}, 0.01), lower_is_better=True)
    assert found.letters == ["a", "b"]
    assert found.better.tolist() == [[False, True], [False, False]]
    assert ordering([1, 2], matrix(2, {}, 0.01)).letters == ["b", "a"]


def test_one_system_and_none() -> None:
    found = ordering([5], [[float("nan")]])
    assert (found.letters, found.low.tolist(), found.high.tolist()) == (["a"], [1], [1])
    assert found.p.tolist() == [[1]]
    assert ordering([], np.zeros((0, 0))).letters == []


def test_two_systems() -> None:
    assert ordering([1, 2], matrix(2, {}, 0.049)).letters == ["b", "a"]
    assert ordering([1, 2], matrix(2, {}, 0.05)).letters == ["a", "a"]


def test_pairs_that_cannot_be_tested_are_not_different_but_count() -> None:
    # 0.02 is multiplied by 3, the number of pairs with the untested ones.
    nan = float("nan")
    found = ordering([3, 2, 1], matrix(3, {(0, 1): nan, (0, 2): 0.02, (1, 2): nan}))
    assert found.p[0, 2] == pytest.approx(0.06)
    assert np.isnan(found.p[0, 1])
    assert found.letters == ["a", "a", "a"]
    assert ordering([3, 2, 1], matrix(3, {(0, 1): nan, (0, 2): 0.01})).letters == ["a", "ab", "b"]


def test_corrected_for_all_pairs() -> None:
    p = matrix(3, {(0, 1): 0.03, (0, 2): 0.01, (1, 2): 0.02})
    assert ordering([3, 2, 1], p).p[np.triu_indices(3, 1)].tolist() == holm([0.03, 0.01, 0.02]).tolist()


def test_more_groups_than_letters() -> None:
    assert [letter(index) for index in (0, 25, 26, 27, 51, 52, 701, 702)] == "a z aa ab az ba zz aaa".split()
    count = 28
    found = ordering(np.arange(count, 0, -1), matrix(count, {(0, 1): 1.0}, 0.0))
    assert found.letters[:3] == ["a", "a", "b"]
    assert found.letters[-2:] == ["z", "aa"]
    # A system of several groups has its letters apart: "z aa" is not "zaa".
    chain = matrix(count, {(place, place + 1): 1.0 for place in range(count - 1)}, 0.0)
    assert ordering(np.arange(count, 0, -1), chain).letters[-3:] == ["y z", "z aa", "aa"]


@pytest.mark.parametrize(
    ("scores", "p"),
    [
        ([1, float("nan")], np.ones((2, 2))),
        ([1, 2], np.ones((3, 3))),
        ([1, 2], [[1, 0.5], [0.4, 1]]),
        ([1, 2], [[1, 2], [2, 1]]),
    ],
)
def test_invalid_input(scores: list[float], p: FloatArray) -> None:
    with pytest.raises(ValueError, match="must be"):
        ordering(scores, p)


@st.composite
def verdicts(draw: st.DrawFn) -> Ordering:
    """Return an order of up to nine systems with any verdicts, transitive or not, and with equal scores."""
    count = draw(st.integers(1, 9))
    scores = draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))
    pairs = [(one, other) for one in range(count) for other in range(one)]
    values = st.sampled_from([0.0, 1e-4, 0.01, 0.5, float("nan")])
    p = dict(zip(pairs, draw(st.lists(values, min_size=len(pairs), max_size=len(pairs))), strict=True))
    return ordering(scores, matrix(count, p), lower_is_better=draw(st.booleans()))


@given(verdicts())
def test_two_systems_share_a_letter_if_and_only_if_they_are_not_different(found: Ordering) -> None:
    for one, letters in enumerate(found.letters):
        assert letters
        for other, others in enumerate(found.letters):
            assert bool(set(letters) & set(others)) == (not found.better[one, other] and not found.better[other, one])


@given(verdicts())
def test_every_letter_is_needed_and_holds_all_that_fit(found: Ordering) -> None:
    different = found.better | found.better.T
    for index, group in enumerate(found.groups):
        outside = set(range(len(different))) - set(group)
        assert all(different[system, group].any() for system in outside)
        others = [set(each) for place, each in enumerate(found.groups) if place != index]
        assert any(not any({one, other} <= each for each in others) for one in group for other in group)
    assert not found.letters or "a" in found.letters[found.order[0]]


@given(verdicts())
def test_rank_sets_agree_with_the_verdicts(found: Ordering) -> None:
    count = len(found.scores)
    assert (found.low >= 1).all()
    assert (found.high <= count).all()
    signed = -found.scores if found.lower_is_better else found.scores
    # The set holds all ranks that the scores themselves allow.
    assert (found.low <= 1 + (signed[None] > signed[:, None]).sum(axis=1)).all()
    assert (found.high >= count - (signed[None] < signed[:, None]).sum(axis=1)).all()
    # A system that differs from no other can have any rank, and one that differs from all has one.
    compared = (found.better | found.better.T).sum(axis=1)
    assert (found.high - found.low == count - 1 - compared).all()
