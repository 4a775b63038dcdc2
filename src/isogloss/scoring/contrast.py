"""Two systems on the same examples: the difference of their scores, and whether it is real."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import msgspec

from isogloss.metrics.significance import ALPHA, Difference, approximate_randomisation, holm, mcnemar, paired
from isogloss.metrics.statistics import FloatArray, Statistics


class SystemContrast(msgspec.Struct, frozen=True):
    """Two systems on something: scores and difference, first minus second, on the 0..100 scale.

    `low` and `high` are the 95 % interval of the difference; `p` is corrected (Holm) over what is tested together.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float

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
# The fields of a contrast, in order.
ContrastNumbers = tuple[float, float, float, float, float, float]


def contrast_numbers(scores: tuple[float, float], difference: Difference) -> ContrastNumbers:
    """Two scores, 0..1, and their difference as the fields of a contrast."""
    first, second = scores
    low, high = difference.low, difference.high
    return 100 * first, 100 * second, 100 * difference.difference, 100 * low, 100 * high, difference.p


def tested(
    a: Statistics, b: Statistics, draws: tuple[FloatArray, FloatArray], family: int
) -> tuple[ContrastNumbers, str]:
    """The contrast of two systems on the same rows, and the name of the test.

    McNemar's exact test for accuracies, else approximate randomisation; `draws` are replicates of both scores, drawn
    together, and `family` is how many such tests are corrected together.
    """
    difference = paired(*draws, a.score - b.score, units=a.unit_count)
    if a.is_binary and b.is_binary:
        p, test = mcnemar(a, b), "McNemar"
    else:
        # Holm's correction over m tests needs p-values as small as 0.05 / m, so more than 20 m trials.
        p, test = approximate_randomisation(a, b, trials=max(1000, 40 * family)), "approximate randomisation"
    return contrast_numbers((a.score, b.score), replace(difference, p=p)), test


def corrected(contrasts: Sequence[C]) -> list[C]:
    """Contrasts that are tested together, with corrected p-values."""
    adjusted = holm([contrast.p for contrast in contrasts]).tolist()
    return [msgspec.structs.replace(contrast, p=p) for contrast, p in zip(contrasts, adjusted, strict=True)]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names that can be told apart."""
    return [name if names.count(name) == 1 else f"{name} ({place + 1})" for place, name in enumerate(names)]
