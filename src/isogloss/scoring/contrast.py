"""Contrast of two systems on the same examples: difference of scores, its significance and its equivalence."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from isogloss.figures import difference_interval_text, difference_text, p_text, score_text
from isogloss.metrics.estimate import ROUNDING, Interval
from isogloss.metrics.significance import holm
from isogloss.metrics.student import ALPHA

# Better and worse are those of the first system; equivalent is closer than the margin, either way.
Verdict = Literal["better", "worse", "equivalent", "cannot tell"]


class SystemDifference(Protocol):
    """Difference of two systems, 0..1, with its uncertainty: an `Exchange` or a `MethodDifference`."""

    @property
    def value(self) -> float:
        """First score minus second."""
        ...

    @property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        ...

    @property
    def test(self) -> str:
        """Name of the test."""
        ...

    @property
    def detectable(self) -> float | None:
        """Minimum detectable difference."""
        ...

    def interval(self, level: float = ...) -> Interval | None:
        """Return the confidence interval."""
        ...

    def equivalence(self, margin: float) -> float:
        """Return the p-value of a difference of at least the margin."""
        ...


class _AdjustedNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """Further numbers of a contrast; absent in records of earlier versions."""

    adjusted_low: float | None = None  # simultaneous interval (Bonferroni), without 0 if the corrected p is significant
    adjusted_high: float | None = None
    detectable: float | None = None  # minimum detectable difference (80 % power), without correction
    p_equivalent: float | None = None  # of two one-sided tests, corrected like p; None without a margin


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

    def judged(self, lower_is_better: bool) -> Verdict:
        """Return the verdict on the first system; a significant difference within the margin is equivalent, too."""
        if self.p_equivalent is not None and self.p_equivalent < ALPHA:
            return "equivalent"
        favoured = self.favours(lower_is_better)
        return "better" if favoured == "first" else "worse" if favoured == "second" else "cannot tell"


C = TypeVar("C", bound=SystemContrast)


def contrast_fields(
    scores: tuple[float, float],
    difference: SystemDifference,
    family: int,
    margin: float | None = None,
    *,
    power: bool = True,
) -> dict[str, Any]:
    """Return the fields of a contrast from two scores, 0..1, and their difference, with uncorrected p-values.

    `family` is the number of tests that are corrected together; `margin` that of equivalence, 0..1. Without `power`,
    the minimum detectable difference is left out.
    """
    detectable = difference.detectable if power else None
    low, high = scaled(difference.interval())
    adjusted_low, adjusted_high = scaled(difference.interval(1 - ALPHA / family))
    return {
        "first": 100 * scores[0],
        "second": 100 * scores[1],
        "difference": 100 * difference.value,
        "low": low,
        "high": high,
        "p": difference.p,
        "adjusted_low": adjusted_low,
        "adjusted_high": adjusted_high,
        "detectable": None if detectable is None else 100 * detectable,
        "p_equivalent": None if margin is None else difference.equivalence(margin),
    }


def corrected(contrasts: Sequence[C]) -> list[C]:
    """Return a family of contrasts with corrected p-values and simultaneous intervals that agree with them."""
    adjusted = holm([contrast.p for contrast in contrasts]).tolist()
    result = [_agreeing(contrast, p) for contrast, p in zip(contrasts, adjusted, strict=True)]
    equivalent = [contrast.p_equivalent for contrast in contrasts if contrast.p_equivalent is not None]
    if len(equivalent) < len(result):
        return result
    pairs = zip(result, holm(equivalent).tolist(), strict=True)
    return [msgspec.structs.replace(contrast, p_equivalent=p) for contrast, p in pairs]


def _agreeing(contrast: C, p: float) -> C:
    """Return a contrast with its corrected p; a significant one has an interval that ends at 0 at the latest.

    Holm's procedure rejects more than the Bonferroni intervals do. Cutting the intervals of the differences that it
    rejects at 0 keeps their joint coverage (Guilbaud 2008).
    """
    low, high = contrast.adjusted_low, contrast.adjusted_high
    if p < ALPHA and low is not None and high is not None and low <= 0 <= high:
        low, high = (100 * ROUNDING, high) if contrast.difference > 0 else (low, -100 * ROUNDING)
    return msgspec.structs.replace(contrast, p=p, adjusted_low=low, adjusted_high=high)


def scaled(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return an interval on the 0..100 scale, or (None, None)."""
    return (None, None) if interval is None else (100 * interval[0], 100 * interval[1])
