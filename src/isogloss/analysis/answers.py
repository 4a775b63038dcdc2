"""What named systems answered, cell by cell, for the analyses that look at single examples."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from isogloss.analysis.finding import AnalysisError, Column, TidyTable, Value
from isogloss.predictions.memory import Predictions, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Answered, Request, answered_cells
from isogloss.scoring.names import distinct_names
from isogloss.scoring.results import PARTIAL_GOLD
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


def answers_of(
    systems: Sequence[Predictions], request: Request, wanted: Callable[[Task], bool], notes: list[str], needs: str
) -> Iterator[tuple[str, Answered]]:
    """Every cell of the wanted tasks, with the name of the system; cells without gold, or with a part, join the notes.

    Args:
        systems: prediction folders, or mappings {task: {language: {id: answer}}}.
        request: what is looked at.
        wanted: which tasks the analysis is about.
        notes: grows by what was left out.
        needs: those tasks in words, for the message.

    Raises:
        AnalysisError: no system, or no task of the request is wanted.
        PredictionError: a system has no answers that can be judged.
    """
    if not systems:
        raise AnalysisError("there are no answers to analyse", fix="Give a prediction folder")
    tasks = tuple(name for name in request.tasks if wanted(find_task(name)))
    if not tasks:
        what = f"{', '.join(request.tasks)} cannot be analysed so"
        raise AnalysisError(what, fix=f"It takes {needs}: name one with --tasks")
    names = distinct_names([str(open_predictions(each).system["name"]) for each in systems])
    left_out: list[LeftOut] = []
    for row in answered_cells(systems, replace(request, tasks=tasks), left_out=left_out):
        for name, answered in zip(names, row, strict=True):
            if answered is not None:
                notes += [_partial_note(name, answered)] if answered.cell.partial else []
                yield name, answered
    notes += [str(each) for each in left_out if each.task]


def _partial_note(system: str, answered: Answered) -> str:
    cell = answered.cell
    expected = answered.task.expected(cell.language, cell.split)
    of = f" of {expected}" if expected else ""
    return (
        f"{system} on {cell.task}/{cell.language} {cell.split}: {PARTIAL_GOLD}, {cell.n}{of} examples; it is in no mean"
    )


def mark_partial(tables: Iterable[TidyTable], partial: Container[tuple[Value, ...]]) -> list[TidyTable]:
    """The tables, with a note on the rows of cells whose gold is a part of the test set, where there are any.

    Args:
        tables: those with a system, a task and a language (or a language of queries) are marked.
        partial: the systems, tasks and languages of those cells.
    """
    return [_marked(table, partial) for table in tables]


def _marked(table: TidyTable, partial: Container[tuple[Value, ...]]) -> TidyTable:
    names = [column.name for column in table.columns]
    places = [names.index(name) for name in ("system", "task", "language", "query") if name in names]
    notes = [PARTIAL_GOLD if tuple(row[place] for place in places) in partial else None for row in table.rows]
    if not any(notes):
        return table
    rows = [[*row, note] for row, note in zip(table.rows, notes, strict=True)]
    return msgspec.structs.replace(table, columns=[*table.columns, Column("note")], rows=rows)
