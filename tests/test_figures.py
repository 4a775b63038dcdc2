"""A number reads the same wherever it is printed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss import figures
from isogloss.figures import (
    difference_interval_text,
    difference_text,
    interval_text,
    p_text,
    rounded,
    score_text,
)
from isogloss.scoring.results import CellScore, Number

REPORT = Path(figures.__file__).parent / "report"


def test_the_order_of_a_sum_does_not_show() -> None:
    # F1 37.3 and EM 20.2: their mean is 28.75, whichever way it is computed.
    cell = CellScore("xquad", "en", "test", {"f1": Number(37.3, 0, 0, 9), "em": Number(20.2, 0, 0, 9)}, "")
    average = 100 * ((0.373 + 0.202) / 2)
    assert cell.score != average
    assert score_text(cell.score) == score_text(average)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_two_ways_to_the_same_mean_are_printed_alike(first: int, second: int) -> None:
    points = (first / 10 + second / 10) / 2
    shares = 100 * ((first / 1000 + second / 1000) / 2)
    assert score_text(points) == score_text(shares)
    assert difference_text(points - 50) == difference_text(shares - 50)
    assert f"{rounded(shares):.1f}" == score_text(points)


@pytest.mark.parametrize("bounds", [(None, None), (None, 3.0), (1.0, None)])
def test_no_interval_is_a_dash(bounds: tuple[float | None, float | None]) -> None:
    assert interval_text(*bounds) == difference_interval_text(*bounds) == "—"


def test_what_there_is_is_printed() -> None:
    assert score_text(None) == "·"
    assert score_text(28.449, 0) == "28"
    assert interval_text(1.04, 2.96) == "1.0–3.0"
    assert difference_interval_text(-1.0, 2.0) == "-1.0 to +2.0"
    assert difference_text(-0.04) == "-0.0"
    assert (p_text(0.0124), p_text(0.0004), p_text(0.0)) == ("0.012", "4e-04", "≤1e-300")


def test_the_report_formats_scores_nowhere_else() -> None:
    for path in REPORT.glob("*.py"):
        assert ":.1f}" not in path.read_text(encoding="utf-8"), path.name
