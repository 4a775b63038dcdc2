"""Scores and differences with their intervals, as the values that `interval_columns` of a table have."""

from isogloss.analysis.finding import Value
from isogloss.metrics.estimate import Estimate, difference
from isogloss.scoring.contrast import scaled


def score_values(estimate: Estimate | None) -> list[Value]:
    """A score and the ends of its interval, 0..100."""
    return [None, None, None] if estimate is None else [100 * estimate.value, *scaled(estimate.score_interval())]


def difference_values(estimate: Estimate | None) -> list[Value]:
    """A difference of scores and the ends of its interval, -100..100."""
    if estimate is None:
        return [None, None, None]
    interval = estimate.difference_interval()
    # What is no share itself, such as a weighted difference, has an interval that knows no ends.
    return [100 * estimate.value, *scaled(interval and (max(-1.0, interval[0]), min(1.0, interval[1])))]


def known_difference(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    """The first minus the second, source by source; None where one of them is not known."""
    return None if first is None or second is None else difference(first, second)


def compared_values(first: Estimate | None, second: Estimate | None) -> list[Value]:
    """Two scores and the first minus the second, each with the ends of its interval."""
    return [*score_values(first), *score_values(second), *difference_values(known_difference(first, second))]
