"""The nouns of an explanation: attributes, rows that carry them, buckets, and findings per bucket."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import Statistics
from isogloss.tasks.examples import Examples

# One value an example (or entity): numbers for continuous attributes, strings for discrete ones.
Column = npt.NDArray[np.float64] | npt.NDArray[np.str_]


@dataclass(frozen=True)
class Attribute:
    """Something that can be said of every example (or entity) of some kinds of tasks.

    Attributes:
        name: as printed, e.g. "aLen".
        title: in words, e.g. "answer length in tokens".
        kinds: the kinds of tasks it is for ("qa", "tagging", "classification", "choice", "bitext", "pool", …).
        level: "example", or "entity" for spans within a tagged sentence.
        discrete: one bucket a value, instead of equal-count buckets.
        values: the column, aligned with the examples (level "example"); entity attributes are computed by the tagging
            module, which knows gold and predicted spans.
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    discrete: bool
    values: Callable[[Examples], Column] | None = None
    level: Literal["example", "entity"] = "example"


@dataclass(frozen=True)
class Rows:
    """Statistics rows of one cell with their attributes; `example` is the example each row belongs to.

    For QA, classification, choice and retrieval there is one row an example; for tagging one row an entity (gold
    rows count recall, predicted rows count precision), so that bucket sums give the bucket's F1.
    """

    metric: str
    statistics: Statistics
    example: npt.NDArray[np.int64]
    columns: Mapping[str, Column]


class Bucket(msgspec.Struct, frozen=True):
    """A bucket: its name (XS, S, L, XL, or the value), its edges where it has any, and how many rows it holds."""

    name: str
    low: float | None
    high: float | None
    n: int


class BucketScore(msgspec.Struct, frozen=True):
    """A bucket with a system's score in it (0..100) and the 95 % interval."""

    bucket: Bucket
    value: float
    low: float
    high: float
    ids: list[str] = []


class Facet(msgspec.Struct, frozen=True):
    """One attribute of one cell: the buckets with scores, and one true sentence about them, or none."""

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    discrete: bool
    buckets: list[BucketScore]
    insight: str = ""


class Explanation(msgspec.Struct, frozen=True):
    """Everything that was found out about one system (single analysis)."""

    system: dict[str, Any]
    suite: str
    split: str
    facets: list[Facet]
    # "task/language" -> gold label -> predicted label -> how often
    confusion: dict[str, dict[str, dict[str, int]]] = {}
