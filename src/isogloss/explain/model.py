"""Records of an explanation: attributes, buckets, and a system's score in each bucket."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import ALPHA
from isogloss.notebooks import short_repr
from isogloss.scoring.main_score import lower_is_better

StrArray = npt.NDArray[np.str_]
# One value per example (or entity): numbers for continuous attributes, strings for discrete ones.
Column = FloatArray | StrArray
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]


@dataclass(frozen=True)
class Attribute:
    """A property of every example (or entity) that has the needed inputs.

    Attributes:
        name: as printed, e.g. "aLen". Two attributes may share a name if no examples support both.
        title: description, e.g. "answer length in tokens".
        needs: inputs: column names, or words of `attributes.needs`. The attribute is offered for kinds of tasks that
            provide all of them, and computed if the examples have them.
        discrete: True for one bucket per value instead of equal-count buckets.
        values: function that returns the column, aligned with the examples (or None if it cannot be computed);
            None for attributes of answers (see `level`).
        level: "example"; "entity" for spans within a tagged sentence, which the tagging module computes; "answer" for
            attributes of a system's answers.
        counts_tokens: True if `values` takes a `convention` for counting tokens.
        conventions: conventions with other definitions, for attributes that do not count tokens.
    """

    name: str
    title: str
    needs: tuple[str, ...] = ()
    _: KW_ONLY
    discrete: bool = False
    values: Callable[..., Column | None] | None = None
    level: Literal["example", "entity", "answer"] = "example"
    counts_tokens: bool = False
    conventions: tuple[str, ...] = ()

    def takes(self, convention: str) -> bool:
        """Return True if a convention defines the attribute differently from ours."""
        return self.values is not None and (self.counts_tokens or convention in self.conventions)


class Bucket(msgspec.Struct, frozen=True):
    """A bucket: name (XS, S, L, XL, or the value), edges if any, and number of rows."""

    name: str
    low: float | None
    high: float | None
    n: int


class CalibrationBin(msgspec.Struct, frozen=True, kw_only=True):
    """Answers with a confidence in [low, high); mean confidence and mean score are 0..100."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Calibration of a system in one cell, on the 0..100 scale.

    `ece` is the expected calibration error as usually reported: the distance between confidence and score, bin by bin,
    weighted by size. Chance alone makes it positive; `ece_debiased` is near 0 if the system is calibrated.
    """

    n: int  # answers with a confidence
    confidence: float  # their mean confidence
    score: float  # their mean score, 100 if all are correct; inverted if lower is better
    gap: float  # confidence minus score: above 0 the system is overconfident
    gap_low: float | None  # 95 % interval of the gap; None with fewer than 20 sources
    gap_high: float | None
    ece: float
    bins: list[CalibrationBin]  # the non-empty ones of ten bins of equal width
    ece_debiased: float | None = None  # None in records of earlier versions, and with fewer than 20 sources
    ece_low: float | None = None  # 95 % interval of the true error
    ece_high: float | None = None


class BucketScore(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket with a system's score (0..100) and its 95 % interval, given enough independent examples."""

    bucket: Bucket
    value: float
    low: float | None
    high: float | None
    ids: list[str] = []


class BucketedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute of one cell under one metric; subclasses add the buckets."""

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    discrete: bool

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better."""
        return lower_is_better(self.task, self.metric)


ClaimKind = Literal["trend", "spread", "best", "worst"]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A tested statement about the buckets of an attribute.

    Attributes:
        kind: "trend", the score rises or falls along ordered buckets; "spread", one bucket scores higher than another;
            "best" and "worst", one bucket is better or worse than every other.
        p: p-value, corrected over all claims about the attribute.
        q: false discovery rate over everything that is shown together; claims below 0.05 are stated.
        points: trend in points per bucket, or difference of the two buckets of a spread.
        buckets: indices of the higher and the lower bucket of a spread; of the best or worst bucket, followed by those
            that cannot be told from it.
    """

    kind: ClaimKind
    p: Probability
    q: Probability = 1.0
    points: float = 0.0
    buckets: list[int] = []

    @property
    def holds(self) -> bool:
        """True if the claim is significant."""
        return self.q < ALPHA


class AttributeScores(BucketedAttribute, frozen=True, kw_only=True):
    """Buckets of an attribute with scores, the claims tested on them, and a significant finding or ""."""

    buckets: list[BucketScore]
    insight: str = ""
    claims: list[Claim] = []

    __repr__ = short_repr

    def claim(self, kind: ClaimKind) -> Claim | None:
        """Return the claim of a kind if it is significant, else None."""
        return next((claim for claim in self.claims if claim.kind == kind and claim.holds), None)

    def named(self, kind: Literal["best", "worst"]) -> BucketScore | None:
        """Return the bucket that is significantly better or worse than every other, or None."""
        claim = self.claim(kind)
        return None if claim is None else self.buckets[claim.buckets[0]]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Single analysis of one system."""

    system: dict[str, Any]
    suite: str
    split: str
    facets: list[AttributeScores]
    # "task/language" -> gold label -> predicted label -> count
    confusion: dict[str, dict[str, dict[str, int]]] = {}
    # "task/language" -> calibration, if the system has confidences
    calibration: dict[str, Calibration] = {}
    # "task/language" -> remarks of the scorer, if any
    notes: dict[str, list[str]] = {}

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """Significant findings as (task/language, sentence)."""
        return [(f"{facet.task}/{facet.language}", facet.insight) for facet in self.facets if facet.insight]

    def __repr__(self) -> str:
        counts = f"{len(self.facets)} attributes of cells, {len(self.sentences)} sentences"
        return f"<Explanation of {self.system.get('name', 'a system')} on {self.suite} ({self.split}): {counts}>"
