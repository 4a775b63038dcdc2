"""Data of a board's pages: `data.js` for all pages, and one file per system.

Missing fields of a system were not disclosed. Scores are packed by `packed`.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from isogloss.figures import rounded
from isogloss.metrics.statistics import FloatArray
from isogloss.results.system import SystemErrorRate

# Bits per score, in hundredths.
BITS = 14
# Missing score.
NONE = 2**BITS - 1
SCHEMA = 3
KINDS = ("encoder", "encoder-decoder", "llm", "retrieval", "floor", "other")


class BoardRule(msgspec.Struct, frozen=True):
    """Rule of the overall score."""

    name: str
    text: str


class BoardTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the suite.

    Attributes:
        metric: metric of the task's score; "score" is the mean of `metrics`.
        metrics: main metrics.
        n: number of test examples per language, 0 if unknown.
        human: published estimate of human performance.
    """

    id: str
    name: str
    category: str
    kind: str
    metric: str
    metrics: list[str]
    lower_is_better: bool
    languages: list[str]
    n: list[int]
    human: float | None


class BoardCategory(msgspec.Struct, frozen=True):
    """A category of tasks."""

    name: str
    tasks: list[str]


class BoardLanguage(msgspec.Struct, frozen=True, kw_only=True):
    """A language of any task.

    Attributes:
        articles: Wikipedia articles, in millions.
        speakers: approximate number of speakers.
        near: most similar languages on the board, nearest first.
        place: approximate latitude and longitude; None if unknown.
    """

    code: str
    name: str
    autonym: str
    family: str
    branch: str
    script: str
    rtl: bool
    articles: float | None
    speakers: float | None
    near: list[str]
    place: tuple[float, float] | None


class BoardSystem(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True, kw_only=True):
    """A system and its metadata, encoded as a list in `data.js`; `system_fields` names its items.

    Attributes:
        id: file name, of letters, digits and hyphens.
        kind: one of `KINDS`.
        reported: True if the scores are copied from a paper or table.
        complete: True if it covers the suite and is ranked.
        parameters: number of parameters; `parameters_active`: those used per token.
        unparsed: share of unreadable predictions, 0..1.
        thousand_cost: cost of 1,000 examples in US dollars.
        prompt_sd: standard deviation of the overall score over prompts.
        provenance: index into the list of provenances.
    """

    id: str
    name: str
    kind: str
    regime: str
    reported: bool = False
    complete: bool = False
    has_predictions: bool = False
    year: int | None = None
    date: str | None = None
    paper: str | None = None
    url: str | None = None
    parameters: float | None = None
    parameters_active: float | None = None
    open_weights: bool | None = None
    pretraining_data: str | None = None
    parallel_data: str | bool | None = None
    translated_data: str | bool | None = None
    licence: str | None = None
    contamination: str = ""
    notes: list[str] = []
    source: str = ""
    unparsed: float | None = None
    tokens: float | None = None
    cost: float | None = None
    provenance: int | None = None
    thousand_cost: float | None = None
    prompt_sd: float | None = None


class PackedAverages(msgspec.Struct, frozen=True, omit_defaults=True):
    """Averages of a column; `low` and `high` are set if any system has an interval."""

    value: str
    low: str = ""
    high: str = ""


class BoardRanks(msgspec.Struct, frozen=True, kw_only=True):
    """Rank of each system in one view; None if unranked.

    Attributes:
        low: best rank that the test leaves open, None if not tested.
        high: worst rank that the test leaves open.
        groups: systems that are not significantly different, as indices, best first; they overlap, and letters name
            them on pages. Empty for more than 100 tested systems.
        test: "examples", "languages", or "" if no system is tested.
    """

    title: str
    rank: list[int | None]
    low: list[int | None]
    high: list[int | None]
    groups: list[list[int]]
    test: str


class Footnote(msgspec.Struct, frozen=True):
    """A note on a system's scores; on all tasks if `task` is empty."""

    system: str
    task: str
    text: str


class BoardProvenance(msgspec.Struct, frozen=True):
    """Provenance of scores: version, and checksums of the gold by task and language."""

    scorer: str
    split: str
    resample: str
    checksums: dict[str, dict[str, str]]


class PseudoScores(msgspec.Struct, frozen=True):
    """Scores on a pseudo test set, a machine-translated English one: pairs of a system's index and its score.

    They are shown apart, hollow, and never ranked or averaged.
    """

    task: str
    language: str
    name: str
    scores: list[tuple[int, float]]


class HistoryEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Statement of a source about XTREME's leaderboard; without a value, only the date is known."""

    date: str
    system: str
    event: str
    measure: str
    value: float | None
    source: str


class HistoryTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of a suite, with its number of languages and what its published human score is based on."""

    id: str
    name: str
    category: str
    languages: int
    human: float | None
    basis: str


class HistoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a paper's main table: its average, if printed, and its scores by task."""

    system: str
    regime: str
    average: float | None
    scores: dict[str, float]


class HistorySuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite with the month of its paper and that paper's main table."""

    id: str
    title: str
    date: str
    rule: str
    source: str
    languages: int
    tasks: list[HistoryTask]
    rows: list[HistoryRow]


class TaskChange(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a task that XTREME-R changed."""

    task: str
    change: str
    source: str


class BoardHistory(msgspec.Struct, frozen=True):
    """XTREME and XTREME-R, oldest first, and what is known of XTREME's leaderboard."""

    suites: list[HistorySuite]
    events: list[HistoryEvent]
    changes: list[TaskChange]


class BoardData(msgspec.Struct, frozen=True, kw_only=True):
    """Data shared by all pages.

    Attributes:
        system_fields: names of a system's items; trailing items without a value are omitted.
        cells: packed scores by task, systems by languages. For tasks with several main metrics,
            `task:metric` holds all but the last.
        averages: averages by column: "overall", category or task.
        ranks: ranks of complete systems, by view.
        own_rule: views with the figures of the suite's own rule; "weights" is that of equal weights of tasks.
        example_tests: paired tests by column, "overall" or a task: indices of two systems, and the p-value, corrected
            over all pairs of the column.
        tests: descriptions of the tests of rankings, by name.
        has_bias: True if the site has `bias.js`, a description of the datasets.
        examples: languages with examples in `examples/`, by task.
        no_examples: reason for missing examples.
        pseudo: scores on pseudo test sets, by task and language.
        submit: address of the submission page, if the server takes submissions.
        precision: note on scores that are rounded to protect hidden labels.
        data_hash: SHA-256 of this data and of all systems' files.
        history: history of the suite, for XTREME and XTREME-R.
    """

    made: str
    isogloss: str
    title: str
    suite: str
    suite_title: str
    rule: BoardRule
    tasks: list[BoardTask]
    categories: list[BoardCategory]
    languages: list[BoardLanguage]
    system_fields: list[str]
    systems: list[BoardSystem]
    cells: dict[str, str]
    averages: dict[str, PackedAverages]
    ranks: dict[str, BoardRanks]
    own_rule: list[str]
    example_tests: dict[str, list[tuple[int, int, float]]]
    tests: dict[str, str]
    footnotes: list[Footnote]
    provenance: list[BoardProvenance]
    has_bias: bool = False
    examples: dict[str, list[str]] = {}
    no_examples: str = ""
    pseudo: list[PseudoScores] = []
    submit: str = ""
    precision: str = ""
    data_hash: str = ""
    history: BoardHistory | None = None
    schema: int = SCHEMA


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
    paired: dict[str, list[PairedTest]]
    missing: list[str]
    analyses: SystemAnalyses | None = None
    examples: list[str] = []
    pseudo: list[SystemCell] = []


def packed(values: Iterable[float | None]) -> str:
    """Pack scores as 14-bit hundredths, lowest bit first, in base64; `NONE` marks missing scores.

    The last digit is never 5, because programs round it differently. A score with one decimal therefore reads the same
    on pages as elsewhere.
    """
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    missing = np.isnan(numbers)
    # Correlations may be negative, but packed scores cannot.
    scores = np.where(missing, 0.0, np.maximum(numbers, 0.0))
    hundredths = np.rint(100 * scores)
    for index in np.flatnonzero(hundredths % 10 == 5):
        hundredths[index] += 1 if 100 * rounded(float(scores[index])) > hundredths[index] else -1
    whole = np.where(missing, NONE, hundredths).astype(np.uint16)
    bits = (whole[:, None] >> np.arange(BITS)) & 1
    return b64encode(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()).decode()


def unpacked(text: str) -> FloatArray:
    """Return packed scores; NaN marks missing ones."""
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), bitorder="little")
    whole = bits[: len(bits) // BITS * BITS].reshape(-1, BITS) @ (1 << np.arange(BITS))
    return np.where(whole == NONE, np.nan, whole / 100)
