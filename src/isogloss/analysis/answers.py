"""Predictions of named systems, cell by cell, and their scores as values of tables."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from isogloss.analysis.finding import AnalysisError, Column, TidyTable, Value
from isogloss.grouping import group_by
from isogloss.metrics.estimate import Estimate, difference
from isogloss.predictions.memory import Predictions, open_predictions
from isogloss.predictions.problems import LeftOut, Problem, number_of
from isogloss.scoring.cells import Answered, Shortcomings, answered_row, asked_cells
from isogloss.scoring.contrast import scaled
from isogloss.scoring.names import shortest_distinct, system_words
from isogloss.scoring.request import Request
from isogloss.scoring.results import PARTIAL_GOLD
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


def score_values(estimate: Estimate | None) -> list[Value]:
    """Return a score and the bounds of its interval, 0..100."""
    return [None, None, None] if estimate is None else [100 * estimate.value, *scaled(estimate.score_interval())]


def difference_values(estimate: Estimate | None) -> list[Value]:
    """Return a difference of scores and the bounds of its interval, -100..100."""
    if estimate is None:
        return [None, None, None]
    interval = estimate.difference_interval()
    # Intervals of weighted differences are not bounded.
    return [100 * estimate.value, *scaled(interval and (max(-1.0, interval[0]), min(1.0, interval[1])))]


def known_difference(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    """Return the first minus the second, paired by source, or None if one is unknown."""
    return None if first is None or second is None else difference(first, second)


def compared_values(first: Estimate | None, second: Estimate | None) -> list[Value]:
    """Return two scores and their difference, each with the bounds of its interval."""
    return [*score_values(first), *score_values(second), *difference_values(known_difference(first, second))]


def answers_of(
    systems: Sequence[Predictions], request: Request, wanted: Callable[[Task], bool], notes: list[str], needs: str
) -> Iterator[tuple[str, Answered]]:
    """Yield the cells of the wanted tasks with their system's name.

    Cells with incomplete gold, and cells that cannot be analysed, are noted with the reason; in a strict request, or if
    a system has no other cell, they are errors. `needs` describes the wanted tasks in the error raised if none of the
    requested tasks is suitable.
    """
    if not systems:
        raise AnalysisError("no predictions to analyse", fix="Pass a prediction folder")
    tasks = tuple(name for name in request.tasks if wanted(find_task(name)))
    if not tasks:
        what = f"{', '.join(request.tasks)} cannot be analysed this way"
        raise AnalysisError(what, fix=f"Choose {needs} with --tasks")
    request = replace(request, tasks=tasks)
    folders = [open_predictions(system) for system in systems]
    names = shortest_distinct([system_words(folder.system) for folder in folders])
    shortcomings = Shortcomings.none(len(folders))
    for task, language in asked_cells(folders, request):
        for name, answered in zip(names, answered_row(folders, task, language, request, shortcomings), strict=True):
            if answered is not None:
                cell = answered.cell
                if cell.partial:
                    expected = answered.task.expected(cell.language, cell.split)
                    count = f"{cell.n} of {expected}" if expected else str(cell.n)
                    where = f"{name} on {cell.task}/{cell.language} {cell.split}"
                    notes.append(f"{where}: {PARTIAL_GOLD}, {count} examples; excluded from means")
                yield name, answered
    if all(shortcomings.seen) and not request.strict:
        notes += _damaged(shortcomings.problems)
        shortcomings.problems.clear()
    left_out: list[LeftOut] = []
    shortcomings.settle(folders, request, left_out)
    notes += [str(item) for item in left_out if item.task]


def _damaged(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield one note per cell with unusable answers: its first problem and the number of further ones."""
    errors = (problem for problem in problems if not problem.warning)
    for first, *others in group_by(errors, lambda problem: (problem.file, problem.task, problem.language)).values():
        more = f" (and {number_of(len(others), 'more problem')})" if others else ""
        yield f"left out: {first}{more}"


def mark_partial(tables: Iterable[TidyTable], partial: Container[tuple[Value, ...]]) -> list[TidyTable]:
    """Return the tables with a note column that marks the system, task and language of cells with incomplete gold."""
    marked = []
    for table in tables:
        names = [column.name for column in table.columns]
        keys = [names.index(name) for name in ("system", "task", "language", "query") if name in names]
        notes = [PARTIAL_GOLD if tuple(row[key] for key in keys) in partial else None for row in table.rows]
        rows = [[*row, note] for row, note in zip(table.rows, notes, strict=True)]
        whole = msgspec.structs.replace(table, columns=[*table.columns, Column("note")], rows=rows)
        marked.append(whole if any(notes) else table)
    return marked
