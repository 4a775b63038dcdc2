"""What the pages of a board are made from: `data.js` for all of them, and a file for each system.

Fields of a system that are not there were not disclosed. Scores are packed as `encoding.packed` has them.
"""

from typing import Any

import msgspec

SCHEMA = 2
OVERALL = "overall"
KINDS = ("encoder", "llm", "retrieval", "floor", "other")


class BoardRule(msgspec.Struct, frozen=True):
    """How the overall figure is made."""

    name: str
    text: str


class BoardTask(msgspec.Struct, frozen=True):
    """A task of the suite.

    Attributes:
        metric: of its one figure; "score" is the mean of `metrics`.
        metrics: the metrics that its figure is the mean of.
        n: examples of the test in each language, 0 where that is not known.
        human: the published estimate of human performance.
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
    """Tasks that are averaged together."""

    name: str
    tasks: list[str]


class BoardLanguage(msgspec.Struct, frozen=True):
    """A language of any task.

    Attributes:
        articles: of its Wikipedia, in millions.
        speakers: how many, roughly.
        near: the languages on the board that are most like it, the nearest first.
        place: latitude and longitude of a point where it is spoken, roughly; None where the map has none.
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


class BoardSystem(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """A system, and what is known of it: a list in `data.js`, whose `system_fields` name its places.

    Attributes:
        id: letters, digits and hyphens alone; the name of its file.
        kind: one of `KINDS`.
        reported: whether its figures are copied from a paper or a table, not scored here.
        complete: whether it has all tasks in all languages, and so a rank.
        parameters: how many; `parameters_active` those that one token uses.
        unparsed: the share of answers that could not be read, 0..1.
        provenance: the place of what its figures were scored with, in the list of these.
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


class PackedAverages(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column's average of each system; `low` and `high` where any has an interval."""

    value: str
    low: str = ""
    high: str = ""


class BoardRanks(msgspec.Struct, frozen=True):
    """The rank of each system in one view, and the ranks it may have with other languages; None if it has none."""

    title: str
    rank: list[int | None]
    low: list[int | None]
    high: list[int | None]


class Footnote(msgspec.Struct, frozen=True):
    """Something to know of a system's figures; of all of them if no task is named."""

    system: str
    task: str
    text: str


class BoardProvenance(msgspec.Struct, frozen=True):
    """What figures were scored with: the version, and the checksum of the gold of each task and language."""

    scorer: str
    split: str
    resample: str
    checksums: dict[str, dict[str, str]]


class BoardData(msgspec.Struct, frozen=True):
    """All that the pages share.

    Attributes:
        system_fields: what stands at each place of a system; what is left out at its end has no value.
        cells: by task, systems by its languages, packed. Where a task's figure is the mean of several metrics,
            `task:metric` has all of them but the last.
        averages: by column: "overall", a category, a task.
        ranks: by view, over complete systems.
        ties: by column, places of systems that cannot be told apart from the first of their group, best first.
        tied_by: how each group was found: by "paired" tests, by "intervals" that overlap, or by "both".
        tie_test: the same in words.
        has_bias: whether the site has `bias.js`, which tells what the examples are like.
        examples: by task the languages whose single examples are in `examples/`.
        no_examples: why there are none, where one expects them.
        submit: the page on which one submits, where the board is served by one that takes submissions.
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
    ties: dict[str, list[list[int]]]
    tied_by: dict[str, list[str]]
    tie_test: str
    footnotes: list[Footnote]
    provenance: list[BoardProvenance]
    has_bias: bool = False
    examples: dict[str, list[str]] = {}
    no_examples: str = ""
    submit: str = ""
    schema: int = SCHEMA


class SystemCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task in one language: metric to value, low, high; and what tells exactly what the numbers are.

    `unparsed` is the share of answers that are missing or could not be read, 0..1.
    """

    task: str
    language: str
    n: int
    metrics: dict[str, tuple[float, float | None, float | None]]
    signature: str = ""
    notes: list[str] = []
    unparsed: float = 0


class SystemGap(msgspec.Struct, frozen=True):
    """The transfer gap of a task: English minus the mean of the other languages."""

    task: str
    value: float
    low: float | None
    high: float | None


class SystemErrorRate(msgspec.Struct, frozen=True):
    """The error rate on one test of the checklist in one language, 0..100."""

    test: str
    language: str
    value: float
    low: float | None = None
    high: float | None = None


class PairedTest(msgspec.Struct, frozen=True):
    """A column of two systems that were scored on the same examples; the difference is this system minus the other."""

    column: str
    difference: float
    low: float | None
    high: float | None
    p: float


class SingleBar(msgspec.Struct, frozen=True, array_like=True):
    """The score in one bucket, and the ids of examples in it, the worst first."""

    name: str
    edges: str
    n: int
    value: float
    low: float | None
    high: float | None
    ids: list[str]


class PairBar(msgspec.Struct, frozen=True, array_like=True):
    """Two systems in one bucket; `flips` where their order is surely not that of the whole cell."""

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


class BarChart(msgspec.Struct, frozen=True):
    """The bars of one attribute of one cell under one metric, and a true sentence about them, or none.

    `edges` are those between the bars, None where these are of values, not of numbers.
    """

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    bars: list[SingleBar] | list[PairBar]
    insight: str = ""
    edges: list[float] | None = None


class BoardExample(msgspec.Struct, frozen=True):
    """One example: what was asked, what is right, what this system said, and its score."""

    inputs: dict[str, str]
    gold: str
    answer: str
    score: float | None


class SystemAnalyses(msgspec.Struct, frozen=True):
    """All analyses of a system; `pairwise` by the id of the other system, `examples` by `task/language` and id."""

    single: list[BarChart]
    pairwise: dict[str, list[BarChart]]
    examples: dict[str, dict[str, BoardExample]]


class SystemDetail(msgspec.Struct, frozen=True):
    """All that only a system's own page needs.

    Attributes:
        metadata: all that is known of it, in full.
        paired: by the id of another system.
        analyses: what `isogloss explain` found out about it.
        examples: the cells, `task/language`, in which it is known how it did on each example.
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
