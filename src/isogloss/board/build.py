"""Build the data of a board from its systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from isogloss.board import model, system_model
from isogloss.board.example_tables import ExampleTables, system_analyses
from isogloss.board.facts import board_languages, language_facts, shown_names, system_facts, unique_ids
from isogloss.board.history import suite_history
from isogloss.board.packing import packed
from isogloss.board.ranking import TESTS, Columns, PairedTests, TestsOfPairs, board_ranks, example_tests
from isogloss.escaping import NAME_LENGTH, printable, printable_values
from isogloss.explain.bias import DatasetBias
from isogloss.results.averages import completed_averages, missing_cells, transfer_gaps
from isogloss.results.published_scores import human_score
from isogloss.results.system import OVERALL, CellResult, SystemResult
from isogloss.scoring.main_score import SCORE, lower_is_better
from isogloss.scoring.names import language_name
from isogloss.scoring.results import Number, signature_parts
from isogloss.scoring.tested_on import LANGUAGES
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tasks.suites import Suite
from isogloss.version import __version__

RULES = {
    "category": "mean over categories of the mean over each category's tasks; a task is the mean over its languages",
    "flat": "mean over tasks; a task is the mean over its languages",
}


@dataclass(frozen=True)
class Board:
    """Data shared by all pages, details of each system, dataset bias and examples."""

    data: model.BoardData
    details: list[system_model.SystemDetail]
    bias: DatasetBias | None = None
    examples: ExampleTables = field(default_factory=ExampleTables)


class Hosting(NamedTuple):
    """Additions of a server to its board: the address of the submission page, and a note on rounded scores."""

    submit: str = ""
    precision: str = ""


def make_board(
    entries: Sequence[SystemResult],
    suite: Suite,
    *,
    title: str = "",
    data: Path | None = None,
    paired: PairedTests | None = None,
    explained: ExplainRecords | None = None,
    examples: ExampleTables | None = None,
    hosting: Hosting | None = None,
) -> Board:
    """Return the board of some systems.

    The data folder provides URIEL's features of languages; `explained` is the output of `isogloss explain` on the
    systems and the data.
    """
    ids = unique_ids(entries)
    columns = [completed_averages(entry, suite) for entry in entries]
    paired, tables = paired or PairedTests(), examples or ExampleTables()
    bias = None if explained is None else explained.bias
    systems, provenance = _systems(entries, ids, columns)
    ranked = board_ranks(entries, columns, suite, paired.tests)
    shared = model.BoardData(
        made=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        isogloss=__version__,
        title=printable(title or suite.title, NAME_LENGTH),
        suite=suite.id,
        suite_title=suite.title,
        rule=model.BoardRule(suite.rule, RULES[suite.rule]),
        tasks=[_task(name, suite) for name in suite.tasks],
        categories=[model.BoardCategory(name, list(names)) for name, names in suite.categories.items()],
        languages=board_languages(_codes(suite), data),
        system_fields=list(model.BoardSystem.__struct_fields__),
        systems=systems,
        cells=_cells(entries, suite),
        averages=_averages(columns, suite),
        ranks=ranked.ranks,
        own_rule=ranked.own_rule,
        example_tests={
            column: [(one, other, p) for (one, other), p in pairs.items()]
            for column, pairs in example_tests(paired.tests, suite).items()
        },
        tests=_tests(paired.why_none),
        footnotes=[
            model.Footnote(name, task, text)
            for entry, name in zip(entries, ids, strict=True)
            for task, text in entry.footnotes
        ],
        provenance=provenance,
        has_bias=bias is not None,
        examples=tables.languages(),
        no_examples=printable(tables.why_none),
        pseudo=_pseudo(entries, suite),
        history=suite_history(suite),
        submit=hosting.submit if hosting else "",
        precision=hosting.precision if hosting else "",
    )
    details = _details(entries, ids, suite, paired.tests, explained, tables)
    shared = msgspec.structs.replace(shared, data_hash=data_hash(shared, details))
    return Board(shared, details, bias, tables)


def data_hash(data: model.BoardData, details: Iterable[system_model.SystemDetail]) -> str:
    """Return the SHA-256 of a board's data, in hexadecimal digits.

    It covers systems, scores, intervals, ranks, tests and metadata, on all pages, but not the time of the build, the
    version of Isogloss, the heading and the address of the submission page: the same inputs have the same hash.
    """
    encoder = msgspec.json.Encoder(order="deterministic")
    digest = sha256(
        encoder.encode(msgspec.structs.replace(data, made="", isogloss="", title="", submit="", data_hash=""))
    )
    for detail in details:
        digest.update(encoder.encode(detail))
    return digest.hexdigest()


def _tests(why_no_paired: str) -> dict[str, str]:
    """Return descriptions of the tests, with the reason for missing paired tests."""
    if not why_no_paired:
        return TESTS
    return {**TESTS, LANGUAGES: f"{TESTS[LANGUAGES]} Paired tests are missing: {printable(why_no_paired)}"}


def _systems(
    entries: Sequence[SystemResult], ids: Sequence[str], columns: Sequence[Columns]
) -> tuple[list[model.BoardSystem], list[model.BoardProvenance]]:
    systems: list[model.BoardSystem] = []
    distinct: list[model.BoardProvenance] = []
    for entry, identifier, name, averages in zip(entries, ids, shown_names(entries), columns, strict=True):
        made = _provenance(entry)
        if made is not None and made not in distinct:
            distinct.append(made)
        index = None if made is None else distinct.index(made)
        systems.append(system_facts(entry, identifier, name, complete=OVERALL in averages, provenance=index))
    return systems, distinct


def _task(name: str, suite: Suite) -> model.BoardTask:
    task, codes = suite.members[name], suite.languages_of(name)
    metric = task.main[0] if len(task.main) == 1 else SCORE
    return model.BoardTask(
        id=name,
        name=task.title,
        category=task.category,
        kind=task.kind,
        metric=metric,
        metrics=list(task.main),
        lower_is_better=lower_is_better(name),
        languages=list(codes),
        n=[task.expected(code, "test") or 0 for code in codes],
        human=human_score(name, metric),
    )


def _cells(entries: Sequence[SystemResult], suite: Suite) -> dict[str, str]:
    """Return the scores of each task, and all but the last metric of tasks with several (the last follows)."""
    packed_cells: dict[str, str] = {}
    for name in suite.tasks:
        codes = suite.languages_of(name)
        numbers = {name: [entry.score(name, code) for entry in entries for code in codes]}
        for metric in suite.members[name].main[:-1]:
            numbers[f"{name}:{metric}"] = [entry.metric(name, code, metric) for entry in entries for code in codes]
        packed_cells |= {key: packed(getattr(one, "value", None) for one in each) for key, each in numbers.items()}
    return packed_cells


def _pseudo(entries: Sequence[SystemResult], suite: Suite) -> list[model.PseudoScores]:
    """Return the scores on pseudo test sets, which no column, rank or test includes."""
    keys = sorted({key for entry in entries for key in entry.pseudo if key[0] in suite.tasks})
    sets = []
    for name, code in keys:
        cells = [(index, entry.pseudo.get((name, code))) for index, entry in enumerate(entries)]
        scores = [(index, round(cell.score.value, 4)) for index, cell in cells if cell and cell.score]
        sets += [model.PseudoScores(name, code, language_name(code), scores)] if scores else []
    return sets


def _short(number: Number, decimals: int = 4) -> tuple[float, float | None, float | None]:
    low, high = (None if end is None else round(end, decimals) for end in (number.low, number.high))
    return round(number.value, decimals), low, high


def _averages(columns: Sequence[Columns], suite: Suite) -> dict[str, model.PackedAverages]:
    averages = {}
    for column in (OVERALL, *suite.categories, *suite.tasks):
        numbers = [system_averages.get(column) for system_averages in columns]
        has_interval = any(number is not None and number.low is not None for number in numbers)
        ends = ("value", "low", "high") if has_interval else ("value",)
        averages[column] = model.PackedAverages(*(packed(getattr(one, end, None) for one in numbers) for end in ends))
    return averages


def _provenance(entry: SystemResult) -> model.BoardProvenance | None:
    if entry.reported:
        return None
    checksums: dict[str, dict[str, str]] = {}
    for (name, code), cell in entry.cells.items():
        parts = signature_parts(cell.signature)
        if "data" in parts:
            checksums.setdefault(name, {})[code] = printable(parts["data"], 64)
    scorer = entry.scorer
    return model.BoardProvenance(scorer.version, scorer.split, scorer.resample, checksums)


def _details(
    entries: Sequence[SystemResult],
    ids: Sequence[str],
    suite: Suite,
    tests: TestsOfPairs,
    explained: ExplainRecords | None,
    tables: ExampleTables,
) -> list[system_model.SystemDetail]:
    analyses = {} if explained is None else system_analyses(entries, ids, explained)
    return [
        system_model.SystemDetail(
            id=ids[index],
            metadata=printable_values(dict(entry.metadata), 2000),
            cells=[_system_cell(*key, cell) for key, cell in entry.cells.items()],
            gaps=[system_model.SystemGap(name, *_short(gap)) for name, gap in transfer_gaps(entry, suite).items()],
            checklist=list(entry.checklist),
            checklist_languages=language_facts({rate.language for rate in entry.checklist} - _codes(suite)),
            paired={ids[second]: list(pair) for (first, second), pair in tests.items() if first == index},
            missing=missing_cells(entry, suite),
            analyses=analyses.get(ids[index]),
            examples=[f"{name}/{code}" for name, code in tables.systems.get(index, {})],
            pseudo=[_system_cell(*key, cell) for key, cell in entry.pseudo.items()],
        )
        for index, entry in enumerate(entries)
    ]


def _codes(suite: Suite) -> set[str]:
    return {code for name in suite.tasks for code in suite.languages_of(name)}


def _system_cell(name: str, code: str, cell: CellResult) -> system_model.SystemCell:
    metrics = {metric: _short(number) for metric, number in cell.metrics.items()}
    # The mean of several metrics, of which pages draw the interval: in hundredths, as the scores of all cells.
    if len(cell.task.main) > 1 and cell.score is not None and cell.score.low is not None:
        metrics[SCORE] = _short(cell.score, decimals=2)
    return system_model.SystemCell(
        task=name,
        language=code,
        n=next((number.n for number in cell.metrics.values()), 0),
        metrics=metrics,
        signature=printable(cell.signature),
        notes=[printable(note) for note in cell.notes],
        unparsed=round(cell.unanswered or 0, 5),
        replies=cell.replies.replies if cell.replies else 0,
        failures={reason.value: count for reason, count in cell.replies.failures.items()} if cell.replies else {},
    )
