"""The data of a board, from the systems that are given to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from isogloss.analysis.published_scores import human_score, speakers
from isogloss.board.analyses import system_analyses
from isogloss.board.encoding import packed
from isogloss.board.entries import BoardEntry, completed_averages, transfer_gaps
from isogloss.board.example_tables import ExampleTables
from isogloss.board.facts import shown_names, system_facts, unique_ids
from isogloss.board.model import (
    OVERALL,
    BoardCategory,
    BoardData,
    BoardLanguage,
    BoardProvenance,
    BoardRule,
    BoardSystem,
    BoardTask,
    Footnote,
    PackedAverages,
    SystemCell,
    SystemDetail,
    SystemGap,
)
from isogloss.board.neighbours import nearest_languages
from isogloss.board.paired import PairedTests, TestsOfPairs
from isogloss.board.places import PLACES
from isogloss.board.ranking import Columns, board_ranks, intervals_overlap, tie_groups
from isogloss.escaping import NAME_LENGTH, printable, printable_values
from isogloss.explain.bias import DatasetBias
from isogloss.metrics.student import ALPHA
from isogloss.report.explain_io import ExplainRecords
from isogloss.scoring.main_score import SCORE, lower_is_better
from isogloss.scoring.names import known_language
from isogloss.scoring.results import Number, signature_parts
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite
from isogloss.version import __version__

RULES = {
    "category": "mean over categories of the mean over each category's tasks; a task is the mean over its languages",
    "flat": "mean over tasks; a task is the mean over its languages",
}


@dataclass(frozen=True)
class Board:
    """The data that all pages share, those of each system, and what the examples are like, as far as it is told."""

    data: BoardData
    details: list[SystemDetail]
    bias: DatasetBias | None = None
    examples: ExampleTables = field(default_factory=ExampleTables)


def make_board(
    entries: Sequence[BoardEntry],
    suite: Suite,
    *,
    title: str = "",
    data: Path | None = None,
    paired: PairedTests | None = None,
    explained: ExplainRecords | None = None,
    examples: ExampleTables | None = None,
    submit: str = "",
) -> Board:
    """The board of some systems.

    Args:
        entries: the systems.
        suite: its tasks, languages and rule.
        title: the heading.
        data: the data folder, for URIEL's features of languages.
        paired: tests of pairs of entries, by their places.
        explained: what `isogloss explain` found out about the systems and the data.
        examples: the single examples, and how the systems did on them.
        submit: the page on which one submits, where there is one.
    """
    ids = unique_ids(entries)
    columns = [completed_averages(entry, suite) for entry in entries]
    paired, told = paired or PairedTests(), examples or ExampleTables()
    bias = None if explained is None else explained.bias
    systems, provenance = _systems(entries, ids, columns)
    ties = _ties(columns, paired.tests, suite)
    shared = BoardData(
        made=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        isogloss=__version__,
        title=printable(title or suite.title, NAME_LENGTH),
        suite=suite.id,
        suite_title=suite.title,
        rule=BoardRule(suite.rule, RULES[suite.rule]),
        tasks=[_task(name, suite) for name in suite.tasks],
        categories=[BoardCategory(name, list(names)) for name, names in suite.categories.items()],
        languages=_languages(suite, data),
        system_fields=list(BoardSystem.__struct_fields__),
        systems=systems,
        cells=_cells(entries, suite),
        averages=_averages(columns, suite),
        ranks=board_ranks(entries, columns, suite),
        ties={OVERALL: [group for group, _ in ties]},
        tied_by={OVERALL: [kind for _, kind in ties]},
        tie_test=_tie_test(paired),
        footnotes=_footnotes(entries, ids),
        provenance=provenance,
        has_bias=bias is not None,
        examples=told.languages(),
        no_examples=printable(told.why_none),
        submit=submit,
    )
    return Board(shared, _details(entries, ids, suite, paired.tests, explained, told), bias, told)


def _systems(
    entries: Sequence[BoardEntry], ids: Sequence[str], columns: Sequence[Columns]
) -> tuple[list[BoardSystem], list[BoardProvenance]]:
    """The rows of all systems, and what they were scored with, each kept once."""
    systems: list[BoardSystem] = []
    distinct: list[BoardProvenance] = []
    for entry, identifier, name, of in zip(entries, ids, shown_names(entries), columns, strict=True):
        made = _provenance(entry)
        if made is not None and made not in distinct:
            distinct.append(made)
        place = None if made is None else distinct.index(made)
        systems.append(system_facts(entry, identifier, name, complete=OVERALL in of, provenance=place))
    return systems, distinct


TIE_TEST = (
    "Systems of a group cannot be told apart from its first: by a paired test of their overall scores (p ≥ 0.05) where "
    "both were scored here from their answers, else because their 95 % intervals overlap. Systems without an interval "
    "are in no group."
)


def _tie_test(paired: PairedTests) -> str:
    """How ties are told, in words."""
    return f"{TIE_TEST} There are no paired tests here: {printable(paired.why_none)}" if paired.why_none else TIE_TEST


def _footnotes(entries: Sequence[BoardEntry], ids: Sequence[str]) -> list[Footnote]:
    return [Footnote(name, of, text) for entry, name in zip(entries, ids, strict=True) for of, text in entry.footnotes]


def _task(name: str, suite: Suite) -> BoardTask:
    of, codes = task(name), suite.languages_of(name)
    metric = of.main[0] if len(of.main) == 1 else SCORE
    return BoardTask(
        name,
        of.title,
        of.category,
        of.kind,
        metric,
        list(of.main),
        lower_is_better(name),
        list(codes),
        [of.expected(code, "test") or 0 for code in codes],
        human_score(name, metric),
    )


def _languages(suite: Suite, data: Path | None) -> list[BoardLanguage]:
    codes = list(dict.fromkeys(code for name in suite.tasks for code in suite.languages_of(name)))
    near = nearest_languages(codes, data)
    found = []
    for code in sorted(codes):
        entry = known_language(code)
        if entry is None:
            found.append(BoardLanguage(code, code, "", "", "", "", False, None, None, [], None))
            continue
        facts = entry.name, entry.autonym, entry.family, entry.branch, entry.script, entry.rtl
        millions = speakers().get(code)
        people = None if millions is None else round(1e6 * millions)
        found.append(BoardLanguage(code, *facts, entry.wikipedia_articles, people, near[code], PLACES.get(code)))
    return found


def _cells(entries: Sequence[BoardEntry], suite: Suite) -> dict[str, str]:
    """The scores of each task; of one whose figure is a mean, all its metrics but the last, which follows from them."""
    found = {}
    for name in suite.tasks:
        codes = suite.languages_of(name)
        found[name] = packed(_value(entry.scores.get((name, code))) for entry in entries for code in codes)
        for metric in task(name).main[:-1]:
            key = f"{name}:{metric}"
            found[key] = packed(_value(entry.metric(name, code, metric)) for entry in entries for code in codes)
    return found


def _value(number: Number | None) -> float | None:
    return None if number is None else number.value


def _short(number: Number) -> tuple[float, float | None, float | None]:
    """A figure with more digits than anyone prints, and fewer than a computer has."""
    low, high = (None if end is None else round(end, 4) for end in (number.low, number.high))
    return round(number.value, 4), low, high


def _averages(columns: Sequence[Columns], suite: Suite) -> dict[str, PackedAverages]:
    found = {}
    for column in (OVERALL, *suite.categories, *suite.tasks):
        numbers = [of.get(column) for of in columns]
        value = packed(_value(number) for number in numbers)
        if any(number is not None and number.low is not None for number in numbers):
            ends = [
                packed(None if number is None else getattr(number, end) for number in numbers)
                for end in ("low", "high")
            ]
            found[column] = PackedAverages(value, *ends)
        else:
            found[column] = PackedAverages(value)
    return found


def _ties(columns: Sequence[Columns], tests: TestsOfPairs, suite: Suite) -> list[tuple[list[int], str]]:
    """Groups of systems by their overall figures, and by what each was found: "paired", "intervals" or "both"."""
    p_values = {pair: test.p for pair, of in tests.items() for test in of if test.column == OVERALL}

    def tied(one: int, other: int) -> bool | None:
        if (one, other) in p_values:
            return p_values[one, other] >= ALPHA
        return intervals_overlap(columns[one][OVERALL], columns[other][OVERALL])

    groups = tie_groups(columns, OVERALL, tied, lower=lower_is_better(suite.tasks[0]))
    found = []
    for first, *others in groups:
        is_paired = {(first, other) in p_values for other in others}
        found.append(
            ([first, *others], "both" if len(is_paired) > 1 else "paired" if True in is_paired else "intervals")
        )
    return found


def _provenance(entry: BoardEntry) -> BoardProvenance | None:
    if entry.reported:
        return None
    checksums: dict[str, dict[str, str]] = {}
    for (name, code), cell in entry.cells.items():
        parts = signature_parts(cell.signature)
        if "data" in parts:
            checksums.setdefault(name, {})[code] = printable(parts["data"], 64)
    return BoardProvenance(*entry.scorer, checksums)


def _details(
    entries: Sequence[BoardEntry],
    ids: Sequence[str],
    suite: Suite,
    tests: TestsOfPairs,
    explained: ExplainRecords | None,
    told: ExampleTables,
) -> list[SystemDetail]:
    analyses = {} if explained is None else system_analyses(entries, ids, explained)
    return [
        msgspec.structs.replace(
            _detail(entry, place, ids, suite, tests),
            analyses=analyses.get(ids[place]),
            examples=[f"{name}/{code}" for name, code in told.systems.get(place, {})],
        )
        for place, entry in enumerate(entries)
    ]


def _detail(
    entry: BoardEntry,
    place: int,
    ids: Sequence[str],
    suite: Suite,
    tests: TestsOfPairs,
) -> SystemDetail:
    cells = [
        SystemCell(
            name,
            code,
            next((number.n for number in cell.metrics.values()), 0),
            {metric: _short(number) for metric, number in cell.metrics.items()},
            printable(cell.signature),
            [printable(note) for note in cell.notes],
            round(cell.unparsed or 0, 5),
        )
        for (name, code), cell in entry.cells.items()
    ]
    gaps = [SystemGap(name, *_short(gap)) for name, gap in transfer_gaps(entry, suite).items()]
    paired = {ids[second]: list(of) for (first, second), of in tests.items() if first == place}
    metadata = printable_values(entry.metadata, 2000)
    return SystemDetail(ids[place], metadata, cells, gaps, entry.checklist, paired, entry.missing(suite))
