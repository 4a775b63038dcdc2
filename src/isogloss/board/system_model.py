"""Data of a system's own page, one file per system."""

from typing import Any

import msgspec

from isogloss.board.model import BoardLanguage
from isogloss.results.system import SystemErrorRate


class SystemCell(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Metrics of a cell: value, low, high; `unparsed` is the share of missing or unreadable predictions, 0..1.

    `replies` is the number of a language model's replies, `failures` that of the replies without an answer, by reason.
    """

    task: str
    language: str
    n: int
    metrics: dict[str, tuple[float, float | None, float | None]]
    signature: str = ""
    notes: list[str] = []
    unparsed: float = 0
    replies: int = 0
    failures: dict[str, int] = {}


class SystemGap(msgspec.Struct, frozen=True):
    """Transfer gap of a task: English minus the mean of the other languages."""

    task: str
    value: float
    low: float | None
    high: float | None


class PairedTest(msgspec.Struct, frozen=True, kw_only=True):
    """Paired test of one column: this system minus the other; p and the interval are corrected over all pairs."""

    column: str
    difference: float
    low: float | None
    high: float | None
    p: float


class SingleBar(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """Score in one bucket, with ids of its examples, worst first."""

    name: str
    edges: str
    n: int
    value: float
    low: float | None
    high: float | None
    ids: list[str]


class PairBar(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """Two systems in one bucket; `flips` if their order is significantly reversed from the whole cell."""

    name: str
    edges: str
    n: int
    own: float
    other: float
    difference: float
    low: float | None
    high: float | None
    p: float
    flips: bool
    ids: list[str]


class BarChart(msgspec.Struct, frozen=True, kw_only=True):
    """Bars of one attribute of a cell under a metric.

    Attributes:
        edges: boundaries of numeric bars, None for categories.
        best: index of the bar that is significantly better than every other.
        worst: index of the bar that is significantly worse than every other.
    """

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    bars: list[SingleBar] | list[PairBar]
    insight: str = ""
    edges: list[float] | None = None
    best: int | None = None
    worst: int | None = None


class BoardExample(msgspec.Struct, frozen=True):
    """One example: inputs, gold, this system's prediction and its score."""

    inputs: dict[str, str]
    gold: str
    answer: str
    score: float | None


class SystemAnalyses(msgspec.Struct, frozen=True):
    """Analyses of a system; `pairwise` by id of the other system, `examples` by `task/language` and id."""

    single: list[BarChart]
    pairwise: dict[str, list[BarChart]]
    examples: dict[str, dict[str, BoardExample]]


class SystemDetail(msgspec.Struct, frozen=True, kw_only=True):
    """Data of a system's own page.

    Attributes:
        metadata: complete metadata.
        checklist_languages: languages of the checklist that no task has.
        paired: paired tests by id of the other system.
        analyses: output of `isogloss explain`.
        examples: cells, `task/language`, with results per example.
        pseudo: cells on pseudo test sets.
    """

    id: str
    metadata: dict[str, Any]
    cells: list[SystemCell]
    gaps: list[SystemGap]
    checklist: list[SystemErrorRate]
    checklist_languages: list[BoardLanguage]
    paired: dict[str, list[PairedTest]]
    missing: list[str]
    analyses: SystemAnalyses | None = None
    examples: list[str] = []
    pseudo: list[SystemCell] = []
