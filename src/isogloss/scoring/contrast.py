"""Two systems on the same examples: the difference of their scores, and whether it is real."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from isogloss.metrics.estimate import Estimate, Interval
from isogloss.metrics.significance import holm, one_size, sign_test
from isogloss.metrics.student import ALPHA


class _AdjustedNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a contrast; records that were written before have none of it."""

    adjusted_low: float | None = None
    adjusted_high: float | None = None
    detectable: float | None = None


class SystemContrast(_AdjustedNumbers, frozen=True):
    """Two systems on something: scores and difference, first minus second, on the 0..100 scale.

    Attributes:
        first: the score of one system.
        second: that of the other.
        difference: the first minus the second.
        low: the lower end of the 95 % interval of the difference; None from fewer than 20 independent examples.
        high: its upper end.
        p: the two-sided p-value, corrected (Holm) over what is tested together.
        adjusted_low: the lower end of the interval that holds for all that is tested together at once (Bonferroni).
        adjusted_high: its upper end.
        detectable: the smallest true difference that would be found here four times in five, before any correction.
    """

    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    p: float

    @property
    def interval_for_all(self) -> tuple[float | None, float | None]:
        """The interval that goes with the corrected p; that of one test where a record has no other."""
        return (self.low, self.high) if self.adjusted_low is None else (self.adjusted_low, self.adjusted_high)

    @property
    def significant(self) -> bool:
        """Whether the two can be told apart."""
        return self.p < ALPHA

    def favours(self, lower_is_better: bool) -> Literal["first", "second", ""]:
        """Which of the two is better, "" where they cannot be told apart."""
        if not self.significant or not self.difference:
            return ""
        return "first" if (self.difference > 0) != lower_is_better else "second"


C = TypeVar("C", bound=SystemContrast)


def contrast_fields(scores: tuple[float, float], difference: Estimate, p: float, family: int) -> dict[str, Any]:
    """Two scores, 0..1, and their difference as the fields of a contrast; `family` is how many are tested together."""
    low, high = scaled(difference.difference_interval())
    adjusted_low, adjusted_high = scaled(difference.difference_interval(1 - ALPHA / family))
    return {
        "first": 100 * scores[0],
        "second": 100 * scores[1],
        "difference": 100 * difference.value,
        "low": low,
        "high": high,
        "p": p,
        "adjusted_low": adjusted_low,
        "adjusted_high": adjusted_high,
        "detectable": None if difference.detectable is None else 100 * difference.detectable,
    }


def tested(swapped: Estimate) -> tuple[float, str]:
    """The p-value of a difference of two systems, from what each source adds to it, and the name of the test."""
    values = np.concatenate([part.values for part in swapped.errors.values()])
    return sign_test(values), "McNemar" if one_size(values) else "randomisation"


def corrected(contrasts: Sequence[C]) -> list[C]:
    """Contrasts that are tested together, with corrected p-values."""
    adjusted = holm([contrast.p for contrast in contrasts]).tolist()
    return [msgspec.structs.replace(contrast, p=p) for contrast, p in zip(contrasts, adjusted, strict=True)]


def scaled(interval: Interval | None) -> tuple[float | None, float | None]:
    """An interval on the 0..100 scale; two times None where there is none."""
    return (None, None) if interval is None else (100 * interval[0], 100 * interval[1])
