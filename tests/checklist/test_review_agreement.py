"""Agreement of speakers, compared with hand-computed and published values."""

import pytest

from isogloss.checklist.review_merge import agreement, cohen_kappa, fleiss_kappa


def test_cohen_by_hand() -> None:
    """20 both right, 15 both wrong, 5 and 10 otherwise: observed 0.7, by chance (25·30 + 25·20) / 2500 = 0.5."""
    pairs = [("right", "right")] * 20 + [("right", "wrong")] * 5 + [("wrong", "right")] * 10 + [("wrong", "wrong")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_cohen_with_three_verdicts_by_hand() -> None:
    """Observed 3/5; the first says right 3, odd 1, wrong 1, the second 2, 2, 1: (6 + 2 + 1) / 25 by chance."""
    pairs = [("right", "right"), ("right", "right"), ("right", "odd"), ("odd", "wrong"), ("wrong", "odd")]
    assert cohen_kappa(pairs) == pytest.approx((2 / 5 - 9 / 25) / (1 - 9 / 25))


def test_fleiss_as_published() -> None:
    """The example of Fleiss (1971), as commonly reprinted: 10 subjects, 14 raters, 5 categories, κ = 0.210."""
    rows = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    counts = [{str(place): count for place, count in enumerate(row) if count} for row in rows]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=0.0005)


def test_fleiss_by_hand_with_missing_verdicts() -> None:
    """Three agree, two do not: (1 + 0) / 2 observed; right 4 of 5, wrong 1 of 5 by chance 17/25."""
    assert fleiss_kappa([{"right": 3}, {"right": 1, "wrong": 1}]) == pytest.approx((0.5 - 0.68) / 0.32)


def test_kappa_is_undefined_if_all_agree() -> None:
    assert cohen_kappa([("right", "right")] * 3) is None
    assert fleiss_kappa([{"right": 3}] * 3) is None
    assert cohen_kappa([("right", "odd")] * 3) == 0


def test_only_items_with_two_judges_count() -> None:
    nothing = agreement({"x": {"a": "right"}, "y": {}})
    assert (nothing.items, nothing.percent, nothing.kappa, nothing.statistic) == (0, None, None, "")
    two = agreement({"x": {"a": "right", "b": "right"}, "y": {"a": "right", "b": "wrong"}, "z": {"a": "odd"}})
    assert (two.items, two.speakers, two.percent, two.kappa, two.statistic) == (2, 2, 50, 0, "Cohen")
    three = agreement({"x": dict.fromkeys("abc", "right"), "y": {"a": "right", "b": "wrong"}})
    assert (three.items, three.speakers, three.percent, three.statistic) == (2, 3, 50, "Fleiss")
    assert three.kappa == pytest.approx(-0.5625)
    pairs = agreement({"x": {"a": "right", "b": "right", "c": "odd"}})
    assert pairs.percent == pytest.approx(100 / 3)
