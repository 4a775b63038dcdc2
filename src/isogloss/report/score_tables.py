"""Tables of results, for one system or several: averages, languages, families, language pairs, provenance."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from isogloss.figures import (
    MISSING,
    NO_INTERVAL,
    difference_interval_text,
    difference_text,
    interval_text,
    score_text,
)
from isogloss.languages.published import overall
from isogloss.report.flat_rows import (
    CellRow,
    LanguageGroup,
    Systems,
    average_rows,
    cell_rows,
    gap_rows,
    group_rows,
    is_overall_of_one_cell,
    tasks_of,
)
from isogloss.report.formatting import interval_notes
from isogloss.report.left_out import left_out_notes
from isogloss.report.tables import Table
from isogloss.report.uncertainty_notes import population_notes
from isogloss.scoring.main_score import lower_is_better, main_score
from isogloss.scoring.names import language_name
from isogloss.scoring.results import CellScore, Number, PairScores, Results
from isogloss.tasks.registry import task

CELL_MARKS = {"†": "† partial gold, in no average", "‡": "‡ dev, the others test"}
# A figure with marks, and perhaps with how many languages are in it.
_MARKED = re.compile(r"[+-]?\d+\.\d([*†‡]+)(?: \(\d+\))?")
PARTIAL = "* over a part of the languages or tasks that it is named after"
PAIR_SUBSETS = ("all", "same language", "different languages")


def score_tables(systems: Systems) -> list[Table]:
    """What `isogloss score` prints, the most important first."""
    tables = [overview_table(systems)]
    if any(results.pairs for results in systems.values()):
        tables.append(pair_table(systems))
    cells = [cell for results in systems.values() for cell in results.cells]
    if len(cells) > 1 or any(cell.partial for cell in cells):
        tables += [group_table(systems, "family"), language_table(systems)]
    return tables


def only_if_several(shown: Mapping[str, Any], *cells: str) -> tuple[str, ...]:
    """Cells that tell systems apart, where there are several."""
    return cells if len(shown) > 1 else ()


def overview_table(systems: Systems) -> Table:
    """Task averages, categories and the overall score, with intervals and n; what is missing stands below."""
    words = ("task", *only_if_several(systems, "system"), "metrics")
    table = Table(_overview_title(systems), (*words, "score", "95 %", "n", "languages"), words=len(words))
    for row in average_rows(systems):
        number, is_task = row.score, row.level == "task"
        table.add(
            row.name,
            *only_if_several(systems, row.system),
            row.detail,
            score_text(number.value) + "*" * row.partial,
            interval_text(number.low, number.high),
            f"{number.n:,}" if is_task else "",
            row.coverage,
            strong=not is_task,
        )
    table.notes = [*_overview_notes(systems), *interval_notes(table)]
    return table


def _overview_title(systems: Systems) -> str:
    suites = dict.fromkeys(f"{results.suite}, {results.split}" for results in systems.values())
    who = next(iter(systems)) if len(systems) == 1 else f"{len(systems)} systems"
    return f"{who} on {'; '.join(suites)}"


def _overview_notes(systems: Systems) -> list[str]:
    """What is missing and what was noted."""
    return [*_by_holders(systems, _notes_of), *direction_notes(tasks_of(systems))]


def _by_holders(systems: Systems, notes_of: Callable[[Results], list[str]]) -> list[str]:
    """The notes of all systems; one that does not hold for all of them names those it holds for."""
    holders: dict[str, list[str]] = defaultdict(list)
    for name, results in systems.items():
        for note in notes_of(results):
            holders[note].append(name)
    return [note if len(names) == len(systems) else f"{', '.join(names)}: {note}" for note, names in holders.items()]


def direction_notes(tasks: Iterable[str]) -> list[str]:
    """Which of the tasks are scored by how much goes wrong."""
    lower = [name for name in tasks if lower_is_better(name)]
    return [f"lower is better: {', '.join(lower)}"] if lower else []


def _notes_of(results: Results) -> list[str]:
    notes: list[str] = []
    if results.overall.note:
        notes.append(results.overall.note)
    elif results.overall.score is not None and is_overall_of_one_cell(results):
        notes.append(f"no overall: one cell of {results.suite} was scored")
    notes += population_notes(results)
    notes += missing_note(results)
    notes += left_out_notes(results.left_out)
    partial = [f"{cell.task}/{cell.language} (n={_n(cell)})" for cell in results.cells if cell.partial]
    if partial:
        notes.append(f"partial gold, in no average: {', '.join(partial)}")
    noted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in results.cells:
        for note in cell.notes:
            noted[cell.task, note].append(cell.language)
    return [*notes, *(f"{name}/{','.join(codes)}: {note}" for (name, note), codes in noted.items())]


def missing_note(results: Results) -> list[str]:
    """What a star beside a figure of one system means, where there is one."""
    missing = results.overall.missing
    return [f"* partial, missing: {names_by_task(missing)}"] if missing else []


def partial_notes(systems: Systems) -> list[str]:
    """What a star beside a figure means, for each system that lacks anything."""
    return _by_holders(systems, missing_note)


def partial_summary(systems: Systems) -> list[str]:
    """The same in short, a line a system, for below a chart."""
    return [
        f"* {name}: partial, without {_counted_missing(results.overall.missing)}"
        for name, results in systems.items()
        if results.overall.missing
    ]


def _counted_missing(missing: Sequence[str]) -> str:
    tasks = sum("/" not in name for name in missing)
    cells = len(missing) - tasks
    parts = [f"{tasks} task{'s' * (tasks > 1)}"] * bool(tasks) + [f"{cells} cell{'s' * (cells > 1)} of others"] * bool(
        cells
    )
    return " and ".join(parts)


def _n(cell: CellScore) -> int:
    return max((number.n for number in cell.metrics.values()), default=0)


def names_by_task(missing: Iterable[str]) -> str:
    """Tasks and cells that are missing; the languages of a task stand together."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for name in missing:
        of, _, code = name.partition("/")
        by_task[of] += [code] if code else []
    return "  ".join(f"{of}/{','.join(codes)}" if codes else of for of, codes in by_task.items())


def language_table(systems: Systems) -> Table:
    """One row a language and system, one column a task; cells of another split than asked are marked."""
    tasks, cells = tasks_of(systems), cell_rows(systems)
    by_place = {(cell.language, cell.system, cell.task): cell for cell in cells}
    words = ("code", "language", *only_if_several(systems, "system"))
    table = Table("By language", (*words, *tasks), words=len(words))
    places = dict.fromkeys((cell.language, cell.system) for cell in cells)
    for code, name in sorted(places, key=lambda place: place[0]):
        found = [by_place.get((code, name, task)) for task in tasks]
        scores = [score_text(cell.score) + cell_marks(cell) if cell else MISSING for cell in found]
        table.add(code, language_name(code), *only_if_several(systems, name), *scores)
    table.notes = mark_notes("".join(map(cell_marks, cells)))
    return table


def cell_marks(cell: CellRow) -> str:
    """The marks beside a cell's score: its gold is not complete, or not of the split that others are of."""
    of_dev = cell.split_asked == "best" and cell.record.split == "dev"
    return "†" * cell.record.partial + "‡" * of_dev


def mark_notes(marked: str) -> list[str]:
    """What the marks beside cells mean, of those that occur in a text."""
    return [note for mark, note in CELL_MARKS.items() if mark in marked]


def mark_legend(figures: Iterable[str]) -> str:
    """What the marks beside figures mean, of those that occur, in a line."""
    marks = {found[1] for figure in figures if (found := _MARKED.fullmatch(figure))}
    return "; ".join(note for mark, note in {"*": PARTIAL, **CELL_MARKS}.items() if mark in "".join(marks))


def group_table(systems: Systems, by: LanguageGroup) -> Table:
    """One row a family (or script) and system: the mean over its languages, which may be fewer in some tasks."""
    tasks, rows = tasks_of(systems), group_rows(systems, by)
    by_place = {(row.group, row.system, row.task): row for row in rows}
    words = (by, *only_if_several(systems, "system"))
    table = Table(f"By {by} (mean over its languages)", (*words, "languages", *tasks), words=len(words))
    for group, size in dict.fromkeys((row.group, row.size) for row in rows):
        for name in systems:
            found = [by_place.get((group, name, task)) for task in tasks]
            if any(found):
                fewer = [f" ({row.languages})" if row and row.languages < size else "" for row in found]
                scores = [score_text(row.score) + "*" * row.partial if row else MISSING for row in found]
                means = map("".join, zip(scores, fewer, strict=True))
                table.add(group, *only_if_several(systems, name), str(size), *means)
    if any("(" in cell for row in table.rows for cell in row[len(words) :]):
        table.notes = ["in brackets: the mean of so many of the languages"]
    table.notes += partial_notes(systems) if any(row.partial for row in rows) else []
    return table


def gap_table(systems: Systems) -> Table:
    """English against the mean of the other languages, task by task."""
    words = ("task", *only_if_several(systems, "system"))
    table = Table("Transfer gap", (*words, "English", "others", "gap", "95 %", "languages"), words=len(words))
    rows = gap_rows(systems)
    for row in rows:
        star = "*" * row.partial
        scores = score_text(row.english), score_text(row.others) + star, difference_text(row.gap) + star
        interval = difference_interval_text(row.low, row.high)
        table.add(row.task, *only_if_several(systems, row.system), *scores, interval, row.coverage)
    table.notes = ["languages: how many others; tasks without English have no gap"]
    table.notes += partial_notes(systems) if any(row.partial for row in rows) else []
    lower = direction_notes(dict.fromkeys(row.task for row in rows))
    table.notes += [f"{note}; there a gap below zero is what is lost" for note in lower]
    if any(row.low is None for row in rows):
        why = "too few examples, no resample that differs, or a record of an earlier version"
        table.notes.append(f"{NO_INTERVAL} no interval: {why}")
    return table


def pair_table(systems: Systems) -> Table:
    """Retrieval within and across languages, pooled over all queries."""
    words = ("task", *only_if_several(systems, "system"), "metric")
    table = Table("Retrieval by language of query and target (pooled)", (*words, *PAIR_SUBSETS), words=len(words))
    for name, results in systems.items():
        for scores in results.pairs:
            numbers = [_with_interval(scores.subsets.get(subset)) for subset in PAIR_SUBSETS]
            table.add(scores.task, *only_if_several(systems, name), scores.metric, *numbers)
    return table


def _with_interval(number: Number | None) -> str:
    return MISSING if number is None else f"{score_text(number.value)} [{interval_text(number.low, number.high)}]"


def pair_matrix_table(task: str, by_system: Mapping[str, PairScores]) -> Table:
    """One task's scores by language of the query (rows) and of the target (columns)."""
    targets = sorted({target for scores in by_system.values() for row in scores.matrix.values() for target in row})
    words = ("code", "language", *only_if_several(by_system, "system"))
    table = Table(f"{task}: query by target", (*words, *targets), words=len(words))
    for query in sorted({query for scores in by_system.values() for query in scores.matrix}):
        for name, scores in by_system.items():
            numbers = [scores.matrix.get(query, {}).get(target) for target in targets]
            shown = [score_text(number.value if number else None) for number in numbers]
            table.add(query, language_name(query), *only_if_several(by_system, name), *shown)
    if any(scores.metric == "one-target" for scores in by_system.values()):
        table.notes.append("one-target: MRR@20 of one right answer at a time, the others taken out")
    return table


def provenance_tables(systems: Systems) -> dict[str, Table]:
    """How every number was made: metadata, what is missing, the signature of every cell."""
    about = Table("Systems", ("system", "what", "value"), words=3)
    missing = Table("What is missing", ("system", "average", "missing"), words=3)
    left_out = Table("What was left out", ("system", "answers", "reason", "what to do"), words=4)
    signatures = Table("Signatures", ("system", "task", "code", "language", "signature"), words=5)
    for name, results in systems.items():
        facts = {**results.system, "suite": results.suite, "split": results.split, "isogloss": results.isogloss}
        for key, value in {**facts, "schema version": results.schema_version}.items():
            about.add(name, key, str(value))
        averages = [(average.name, average.missing) for average in (*results.tasks, *results.categories)]
        for average, parts in (*averages, ("overall", results.overall.missing)):
            if parts:
                missing.add(name, average, " ".join(parts))
        for each in results.left_out:
            where = f"{each.task}/{each.language} {each.split}" if each.task else each.path
            left_out.add(name, where, each.reason, each.fix)
        for cell in results.cells:
            signatures.add(name, cell.task, cell.language, language_name(cell.language), cell.signature)
    tables = {"systems": about, "missing": missing, "left-out": left_out, "signatures": signatures}
    return {name: table for name, table in tables.items() if table.rows or name in ("systems", "signatures")}


def published_table(results: Results) -> Table:
    """Task averages of the suite `mini` beside the papers' systems on the real tasks: a look, not a comparison."""
    published = [row for row in overall("xtreme-r") if row.regime == "zero-shot" and row.average is not None]
    name = str(results.system.get("name", ""))
    table = Table("Beside the published baselines", ("task", f"{name} on mini", *(row.system for row in published)))
    for average in results.tasks:
        real = task(average.name).base_id
        theirs = [score_text(main_score(real, row.metrics[real])) for row in published]
        table.add(real, score_text(average.score.value) + "*" * bool(average.missing), *theirs)
    if results.overall.score is not None:
        theirs = [score_text(row.average) for row in published]
        table.add(
            "overall", score_text(results.overall.score.value) + "*" * results.overall.partial, *theirs, strong=True
        )
    about = "published figures are reported by the XTREME-R paper on the real tasks: not comparable with mini"
    table.notes = [*missing_note(results), about]
    return table
