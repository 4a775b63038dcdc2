"""Data that all pages of a board share, `data.js`: see also `system_model.py`.

Missing fields of a system were not disclosed. Scores are packed by `packing.py`.
"""

import msgspec

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
