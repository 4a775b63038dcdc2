"""Numbers are formatted consistently everywhere."""

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


def test_rounding_is_independent_of_summation_order() -> None:
    # The mean of F1 37.3 and EM 20.2 is 28.75, however it is computed.
    cell = CellScore(
        task="xquad",
        language="en",
        split="test",
        metrics={"f1": Number(37.3, 0, 0, 9), "em": Number(20.2, 0, 0, 9)},
        signature="",
    )
    average = 100 * ((0.373 + 0.202) / 2)
    assert cell.score != average
    assert score_text(cell.score) == score_text(average)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_equal_means_are_printed_alike(first: int, second: int) -> None:
    points = (first / 10 + second / 10) / 2
    shares = 100 * ((first / 1000 + second / 1000) / 2)
    assert score_text(points) == score_text(shares)
    assert difference_text(points - 50) == difference_text(shares - 50)
    assert f"{rounded(shares):.1f}" == score_text(points)


@pytest.mark.parametrize("bounds", [(None, None), (None, 3.0), (1.0, None)])
def test_missing_interval_is_a_dash(bounds: tuple[float | None, float | None]) -> None:
    assert interval_text(*bounds) == difference_interval_text(*bounds) == "—"


def test_intervals_are_printed() -> None:
    assert score_text(None) == "·"
    assert score_text(28.449, 0) == "28"
    assert interval_text(1.04, 2.96) == "1.0–3.0"
    assert difference_interval_text(-1.0, 2.0) == "-1.0 to +2.0"
    # The sign of zero would claim a direction; the pages print it alike (`signedText`).
    assert [difference_text(value) for value in (-0.04, -0.0, 0.04, -0.06)] == ["0.0", "0.0", "0.0", "-0.1"]
    assert score_text(-0.04) == score_text(-0.0) == "0.0"
    assert (p_text(0.0124), p_text(0.0004), p_text(0.0)) == ("0.012", "4e-04", "≤1e-300")


def test_the_report_formats_scores_nowhere_else() -> None:
    for path in REPORT.glob("*.py"):
        assert ":.1f}" not in path.read_text(encoding="utf-8"), path.name


def test_counts_agree_with_their_nouns() -> None:
    assert [figures.counted(number, "task") for number in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]
    assert figures.counted(2, "family", "families") == "2 families"
