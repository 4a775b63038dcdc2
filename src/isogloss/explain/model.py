"""What an explanation is made of: attributes, buckets, and a system's score in each bucket."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray
from isogloss.scoring.main_score import lower_is_better

StrArray = npt.NDArray[np.str_]
# One value an example (or entity): numbers for continuous attributes, strings for discrete ones.
Column = FloatArray | StrArray


@dataclass(frozen=True)
class Attribute:
    """Something that can be said of every example (or entity) that has what it is made from.

    Attributes:
        name: as printed, e.g. "aLen". Two attributes may share a name if no examples have what both need.
        title: in words, e.g. "answer length in tokens".
        needs: what it is made from: names of columns, and the words of `attributes.needs` for what is no column. It
            is offered for kinds of tasks that provide all of them, and computed where the examples really have them.
        discrete: one bucket a value, instead of equal-count buckets.
        values: makes the column, aligned with the examples (or None, where it cannot be made); None for what examples
            alone do not tell (see `level`).
        level: "example"; "entity" for spans within a tagged sentence, which the tagging module computes; "answer" for
            what depends on what a system said.
        counts_tokens: whether `values` takes a `convention`, by which tokens are counted.
        conventions: those that `values` takes although it counts no tokens: other definitions of the same thing.
    """

    name: str
    title: str
    needs: tuple[str, ...] = ()
    discrete: bool = False
    values: Callable[..., Column | None] | None = None
    level: Literal["example", "entity", "answer"] = "example"
    counts_tokens: bool = False
    conventions: tuple[str, ...] = ()

    def takes(self, convention: str) -> bool:
        """Whether the attribute is another one under a convention than under ours."""
        return self.values is not None and (self.counts_tokens or convention in self.conventions)


class Bucket(msgspec.Struct, frozen=True):
    """A bucket: its name (XS, S, L, XL, or the value), its edges where it has any, and how many rows it holds."""

    name: str
    low: float | None
    high: float | None
    n: int


class BucketScore(msgspec.Struct, frozen=True):
    """A bucket with a system's score in it (0..100) and the 95 % interval, if it has enough independent examples."""

    bucket: Bucket
    value: float
    low: float | None
    high: float | None
    ids: list[str] = []


class BucketedAttribute(msgspec.Struct, frozen=True):
    """One attribute of one cell under one metric; the buckets are what subclasses add."""

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    discrete: bool

    @property
    def lower_is_better(self) -> bool:
        """Whether the lowest score is the best one."""
        return lower_is_better(self.task, self.metric)


class AttributeScores(BucketedAttribute, frozen=True):
    """The buckets of an attribute with scores, and one true sentence about them, or none."""

    buckets: list[BucketScore]
    insight: str = ""


class CalibrationBin(msgspec.Struct, frozen=True):
    """The answers with a confidence from `low` on and below `high`; mean confidence and mean score are 0..100."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


class Calibration(msgspec.Struct, frozen=True):
    """How far a system's confidences are from its scores in one cell, on the 0..100 scale.

    Attributes:
        n: the answers that have a confidence.
        confidence: their mean confidence.
        score: their mean score, 100 for all right; where less is better it is turned round.
        gap: confidence minus score: above 0 the system is too sure of itself.
        gap_low: the lower end of the 95 % interval of the gap; None from fewer than 20 sources.
        gap_high: its upper end.
        ece: expected calibration error: the distance between confidence and score, bin by bin, weighted by size.
        bins: ten bins of equal width, without those that hold nothing.
    """

    n: int
    confidence: float
    score: float
    gap: float
    gap_low: float | None
    gap_high: float | None
    ece: float
    bins: list[CalibrationBin]


class Explanation(msgspec.Struct, frozen=True):
    """Everything that was found out about one system (single analysis)."""

    system: dict[str, Any]
    suite: str
    split: str
    facets: list[AttributeScores]
    # "task/language" -> gold label -> predicted label -> how often
    confusion: dict[str, dict[str, dict[str, int]]] = {}
    # "task/language" -> how far its confidences are from its scores, where it gives any
    calibration: dict[str, Calibration] = {}

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """What is surely true, as (task/language, sentence), in the order it was found."""
        return [(f"{facet.task}/{facet.language}", facet.insight) for facet in self.facets if facet.insight]

    def __repr__(self) -> str:
        counts = f"{len(self.facets)} attributes of cells, {len(self.sentences)} sentences"
        return f"<Explanation of {self.system.get('name', 'a system')} on {self.suite} ({self.split}): {counts}>"
