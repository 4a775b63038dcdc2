"""Buckets: equal counts with ties kept together, fixed edges, values, and no lost rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.explain.buckets import NONE, REST, Binning, bucket_text, fixed_binning, interval_text, learn_binning
from isogloss.explain.selection import choose_attributes

numbers = st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), min_size=1, max_size=60)


def cut(values: list[float], **options: int) -> list[tuple[str, float | None, float | None, int]]:
    column = np.array(values, dtype=float)
    buckets, _ = learn_binning(column, False, **options).apply(column)
    return [(b.name, b.low, b.high, b.n) for b in buckets]


def test_equal_counts_without_ties() -> None:
    assert cut(list(range(1, 9))) == [("XS", 1, 2, 2), ("S", 2, 4, 2), ("L", 4, 6, 2), ("XL", 6, 8, 2)]


def test_ties_stay_together_and_edges_move_to_the_nearest_boundary() -> None:
    # 5 ones, 1 two, 3 threes, 3 fours: boundaries after 5, 6 and 9 rows; wanted are 3, 6 and 9.
    assert cut([1] * 5 + [2] + [3] * 3 + [4] * 3) == [
        ("XS", 1, 1, 5),
        ("S", 1, 2, 1),
        ("L", 2, 3, 3),
        ("XL", 3, 4, 3),
    ]


def test_coinciding_edges_leave_fewer_buckets_named_in_order() -> None:
    assert cut([0] * 9 + [1, 2, 3]) == [("XS", 0, 0, 9), ("S", 0, 3, 3)]
    assert cut([7, 7, 7]) == [("XS", 7, 7, 3)]


def test_rows_without_a_value_have_their_own_bucket() -> None:
    column = np.array([1.0, np.nan, 2.0, np.nan])
    buckets, codes = learn_binning(column, False, buckets=2).apply(column)
    assert [(b.name, b.low, b.high, b.n) for b in buckets] == [("XS", 1, 1, 1), ("S", 1, 2, 1), (NONE, None, None, 2)]
    assert codes.tolist() == [0, 2, 1, 2]


def test_fixed_edges_are_named_by_their_intervals() -> None:
    column = np.array([1.0, 2, 3, 10, 11])
    buckets, codes = fixed_binning([10, 2]).apply(column)
    assert [(b.name, b.n) for b in buckets] == [("[1, 2]", 2), ("(2, 10]", 2), ("(10, 11]", 1)]
    assert codes.tolist() == [0, 0, 1, 1, 2]


def test_a_bucket_is_shown_with_its_edges_once() -> None:
    column = np.array([1.0, 1, 2, 3, 9])
    for named, texts in (
        (False, ["1", "(1, 2]", "(2, 4]", "(4, 9]"]),
        (True, ["XS 1", "S (1, 2]", "L (2, 4]", "XL (4, 9]"]),
    ):
        buckets, _ = fixed_binning([1, 2, 4], named=named).apply(column)
        assert [bucket_text(bucket) for bucket in buckets] == texts


def test_edges_of_the_paper_are_sizes_and_those_of_users_are_not() -> None:
    column = np.array([1.0, 2, 3, 9])
    names = {}
    for words, convention in ((None, "paper"), (["eLen=1:2:4"], "ours")):
        selection = choose_attributes(words, ["tagging"], convention)
        [attribute] = [each for each in selection.of("tagging") if each.name == "eLen"]
        names[convention] = [bucket.name for bucket in selection.binning(attribute, column).apply(column)[0]]
    assert names == {"paper": ["XS", "S", "L", "XL"], "ours": ["1", "(1, 2]", "(2, 4]", "(4, 9]"]}


@pytest.mark.parametrize(
    ("edge", "text"),
    [(3.39e-08, "3e-8"), (5.2e-12, "5e-12"), (0.00052, "5e-4"), (0.0123, "0.0123"), (1 / 3, "0.333"), (0.0, "0")],
)
def test_edges_are_rounded(edge: float, text: str) -> None:
    assert interval_text(edge, 13, first=False) == f"({text}, 13]"


def test_values_have_buckets_most_frequent_first_and_the_rest_share_one() -> None:
    column = np.array(list("aabbbcde"))
    buckets, codes = learn_binning(column, True, top=2).apply(column)
    assert [(b.name, b.n) for b in buckets] == [("b", 3), ("a", 2), (REST, 3)]
    assert codes.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]
    # A single value beyond the limit keeps its name, which is more informative than "rest".
    assert [b.name for b in learn_binning(column[:6], True, top=2).apply(column[:6])[0]] == ["b", "a", "c"]


def test_values_outside_a_learnt_cut_go_to_the_outer_buckets() -> None:
    learnt = learn_binning(np.arange(1.0, 9.0), False)
    buckets, codes = learnt.apply(np.array([-3.0, 100.0]))
    assert [(b.name, b.low, b.high) for b in buckets] == [("XS", -3, 2), ("XL", 6, 100)]
    assert codes.tolist() == [0, 1]
    assert Binning(values=("x",)).apply(np.array(["y", "x"]))[1].tolist() == [1, 0]


def test_only_counted_rows_make_the_size() -> None:
    column = np.array([1.0, 1, 2, 2])
    buckets, _ = learn_binning(column, False).apply(column, np.array([True, False, False, False]))
    assert [b.n for b in buckets] == [1, 0]


@pytest.mark.parametrize(
    ("low", "high", "first", "text"),
    [(1, 2, True, "[1, 2]"), (2, 5.5, False, "(2, 5.5]"), (1, 1, True, "1"), (None, None, True, "")],
)
def test_intervals_as_the_paper_prints_them(low: float | None, high: float | None, first: bool, text: str) -> None:
    assert interval_text(low, high, first=first) == text


@given(numbers, st.integers(1, 6))
def test_every_row_is_in_one_bucket_and_within_its_edges(values: list[float], buckets: int) -> None:
    column = np.array(values, dtype=float)
    found, codes = learn_binning(column, False, buckets=buckets).apply(column)
    assert len(found) <= buckets
    assert sum(bucket.n for bucket in found) == len(values)
    for place, bucket in enumerate(found):
        inside = column[codes == place]
        assert bucket.n == len(inside) > 0
        assert bucket.low is not None and bucket.high is not None
        assert inside.max() <= bucket.high
        assert inside.min() == bucket.low if place == 0 else inside.min() > bucket.low


def test_quarter_exactly_is_not_more_than_a_quarter() -> None:
    # As in ExplainaBoard: the value 1 holds exactly a quarter of the rows, which does not close a bucket.
    assert learn_binning(np.array([1.0, 2, 3, 4]), False, greedy=True).edges == (2,)


def test_greedy_buckets_close_once_they_hold_a_quarter() -> None:
    column = np.array([1, 2, 2, 2, 3, 4, 5, 5, 5, 5, 6, 7], dtype=float)
    # A quarter is 3 rows: 1 and 2 hold 4; 3 and 4 hold only 2, with 5 they hold 6; 6 and 7 remain.
    cut = learn_binning(column, False, greedy=True)
    assert cut.edges == (2, 5)
    assert [(bucket.name, bucket.n) for bucket in cut.apply(column)[0]] == [("XS", 4), ("S", 6), ("L", 2)]
    # Equal counts come nearer to a quarter each.
    assert [bucket.n for bucket in learn_binning(column, False).apply(column)[0]] == [4, 2, 4, 2]
    assert learn_binning(np.array([3.0, 3.0]), False, greedy=True).edges == ()


@given(numbers, st.integers(1, 6))
def test_every_greedy_bucket_except_the_last_has_its_share(values: list[float], buckets: int) -> None:
    column = np.array(values, dtype=float)
    found, _ = learn_binning(column, False, buckets=buckets, greedy=True).apply(column)
    assert len(found) <= buckets
    for bucket in found[:-1]:
        assert bucket.n > len(values) / buckets
        highest = int((column == bucket.high).sum())
        assert bucket.n - highest <= len(values) / buckets


@given(numbers, st.randoms())
def test_order_of_rows_does_not_matter(values: list[float], random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    column = np.array(values, dtype=float)
    assert learn_binning(column, False) == learn_binning(np.array(shuffled, dtype=float), False)
    words = column.astype(str)
    assert learn_binning(words, True) == learn_binning(np.array(shuffled, dtype=float).astype(str), True)
