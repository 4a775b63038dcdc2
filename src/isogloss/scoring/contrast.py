"""Contrast of two systems on the same examples: difference of scores and its significance."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from isogloss.figures import difference_interval_text, difference_text, p_text, score_text
from isogloss.metrics.estimate import Estimate, Interval
from isogloss.metrics.significance import holm, one_size, sign_test
from isogloss.metrics.student import ALPHA


class _AdjustedNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """Further numbers of a contrast; absent in records of earlier versions."""

    adjusted_low: float | None = None  # simultaneous interval (Bonferroni)
    adjusted_high: float | None = None
    detectable: float | None = None  # minimum detectable difference (80 % power), without correction


class SystemContrast(_AdjustedNumbers, frozen=True):
    """Contrast of two systems: scores and difference, first minus second, on the 0..100 scale."""

    first: float
    second: float
    difference: float
    low: float | None  # 95 % interval of the difference; None for fewer than 20 independent examples
    high: float | None
    p: float  # two-sided, Holm-corrected within its family of tests

    @property
    def interval_for_all(self) -> tuple[float | None, float | None]:
        """Interval that matches the corrected p; the plain one in records of earlier versions."""
        return (self.low, self.high) if self.adjusted_low is None else (self.adjusted_low, self.adjusted_high)

    def texts(self) -> tuple[str, ...]:
        """Return both scores, the difference, its simultaneous interval and the corrected p, for any table."""
        scores = score_text(self.first), score_text(self.second)
        interval = difference_interval_text(*self.interval_for_all)
        return *scores, difference_text(self.difference), interval, p_text(self.p)

    @property
    def significant(self) -> bool:
        """True if the difference is significant at the 5 % level."""
        return self.p < ALPHA

    def favours(self, lower_is_better: bool) -> Literal["first", "second", ""]:
        """Return the significantly better system, or ""."""
        if not self.significant or not self.difference:
            return ""
        return "first" if (self.difference > 0) != lower_is_better else "second"


C = TypeVar("C", bound=SystemContrast)


def contrast_fields(scores: tuple[float, float], difference: Estimate, p: float, family: int) -> dict[str, Any]:
    """Return the fields of a contrast from two scores, 0..1, and their difference; `family` is the number of tests."""
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
    """Return the p-value of a difference from the contributions of sources, and the name of the test."""
    values = np.concatenate([part.values for part in swapped.errors.values()])
    return sign_test(values), "McNemar" if one_size(values) else "randomisation"


def corrected(contrasts: Sequence[C]) -> list[C]:
    """Return a family of contrasts with corrected p-values."""
    adjusted = holm([contrast.p for contrast in contrasts]).tolist()
    return [msgspec.structs.replace(contrast, p=p) for contrast, p in zip(contrasts, adjusted, strict=True)]


def scaled(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return an interval on the 0..100 scale, or (None, None)."""
    return (None, None) if interval is None else (100 * interval[0], 100 * interval[1])
