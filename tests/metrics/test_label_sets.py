"""Sets of labels compared with hand-computed values and with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.label_sets import statistics
from isogloss.metrics.statistics import merge

LABELS = ("a", "b", "c", "d")
SETS = st.lists(st.sampled_from(LABELS), max_size=4, unique=True)
ROWS = st.lists(st.tuples(SETS, SETS), min_size=1, max_size=12)


def scores(gold: list[list[str]], given: list[list[str] | None]) -> dict[str, float]:
    return {name: one.score for name, one in statistics(gold, given, LABELS).items()}


def test_by_hand() -> None:
    # a: 1 of 1 and 2; b: 1 of 2 and 1; c: 0 of 0 and 1; d does not occur. The third is right about nothing.
    found = scores([["a", "b"], ["a", "c"], []], [["a", "b"], ["b"], []])
    assert found["micro-f1"] == pytest.approx(2 * 2 / (3 + 4))
    assert found["macro-f1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found["samples-f1"] == pytest.approx((1 + 0 + 1) / 3)
    assert found["em"] == pytest.approx(2 / 3)


def test_missing_answers_are_wrong() -> None:
    assert scores([["a"], []], [None, None]) == {"micro-f1": 0, "macro-f1": 0, "samples-f1": 0, "em": 0}


def test_numbers_of_rows_differ() -> None:
    with pytest.raises(ValueError, match="1 gold sets but 2 predictions"):
        statistics([["a"]], [["a"], []], LABELS)


@given(ROWS)
def test_equals_scikit_learn(rows: list[tuple[list[str], list[str]]]) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    gold, given_sets = ([row[side] for row in rows] for side in (0, 1))
    truth, ours = (np.array([[label in row for label in LABELS] for row in side]) for side in (gold, given_sets))
    found = scores(gold, list(given_sets))
    occur = truth.any(axis=0) | ours.any(axis=0)
    assert found["em"] == pytest.approx(sklearn.accuracy_score(truth, ours))
    assert found["micro-f1"] == pytest.approx(sklearn.f1_score(truth, ours, average="micro", zero_division=0))
    assert found["samples-f1"] == pytest.approx(sklearn.f1_score(truth, ours, average="samples", zero_division=1))
    if occur.sum() > 1:
        macro = sklearn.f1_score(truth[:, occur], ours[:, occur], average="macro", zero_division=0)
        assert found["macro-f1"] == pytest.approx(macro)


@given(ROWS, ROWS)
def test_shards_add_up(first: list[tuple[list[str], list[str]]], second: list[tuple[list[str], list[str]]]) -> None:
    parts = [statistics([gold for gold, _ in rows], [own for _, own in rows], LABELS) for rows in (first, second)]
    rows = [*first, *second]
    whole = statistics([gold for gold, _ in rows], [own for _, own in rows], LABELS)
    for name, one in whole.items():
        assert merge([part[name] for part in parts]).score == pytest.approx(one.score)
