"""Consistency: whether what is right in English is right in other languages, and answers are the same in all of them.

XTREME (section 5, "Errors across languages") gives, for translated test sets, how often what is right or wrong in
English is right in another language, and how often the two answers are the same. Beside them stands what chance alone
would give, since two languages at 70 % agree on 58 % of questions without anything in common.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isogloss.analysis.agreement import (
    agreement_shares,
    cohen_statistics,
    counts_if_independent,
    fleiss_statistics,
    kappa_interval,
    right_counts,
)
from isogloss.analysis.answers import answers_of, mark_partial
from isogloss.analysis.finding import MEAN_ROW, AnalysisError, Column, Figure, Finding, TidyTable, Value, first_few
from isogloss.analysis.interval_values import compared_values, score_values
from isogloss.analysis.parallel_answers import SHARED_FORMS, ParallelAnswers, ParallelCell, is_parallel, parallel_cell
from isogloss.analysis.suspects import failed_everywhere, failed_in_one, one_language_counts
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.metrics.estimate import Estimate, mean
from isogloss.metrics.statistics import MEAN, IntArray, Statistics
from isogloss.predictions.memory import Predictions
from isogloss.scoring.cells import Request
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task as find_task

NEEDS = "tasks whose test sets are translations of each other: xnli, xquad, mlqa, xcopa, pawsx, checklist-…"
NOTES = [
    "Right is full marks by the task's score, in question answering an exact match (XTREME does not say); failed is no"
    " marks at all, no word in common with the gold.",
    "Intervals are of new sources: examples that share an article, premise or sentence, and all translations of one"
    " example, are left out together.",
    "In print (XTREME, section 5), mBERT is right on 71.8 % of XNLI's dev examples that it has right in English, about"
    " as a guess on the others, and gives the same answer on 68.3 %; on XQuAD it is around 60 % and 20 %.",
    "Kappa is Cohen's for two languages, Fleiss' for all of them: 0 is what chance gives, 1 is full agreement.",
]


def consistency(folders: Sequence[Predictions], request: Request, *, pivot: str = "en") -> Finding:
    """How far languages agree on parallel test sets, example by example, and which examples look broken.

    Args:
        folders: prediction folders, one a system.
        request: tasks, languages, split and data.
        pivot: the language the others are compared with.

    Returns:
        What is right given the pivot is right or wrong, agreement against chance, in how many languages each
        example is right, and the examples to look at.

    Raises:
        AnalysisError: no task has two languages, or none has the pivot.
    """
    notes: list[str] = []
    grids = _grids(folders, request, notes)
    given, agreed = _beside_pivot(grids, pivot, notes)
    broken = [row for grid in grids for row in failed_everywhere(grid, pivot)]
    lonely = [row for grid in grids for row in failed_in_one(grid, pivot)]
    tables = [
        TidyTable("given-pivot", f"Right in a language, given {pivot} is right or wrong", _GIVEN_COLUMNS, given),
        TidyTable("agreement", f"Agreement with {pivot}, against chance", _AGREEMENT_COLUMNS, agreed),
        _spread_table(grids),
        TidyTable("one-language", "Right everywhere but in one language", _ONE_COLUMNS, _one_rows(grids)),
        _candidates("failed-everywhere", "All fail in all languages: broken gold?", _EVERYWHERE_COLUMNS, broken),
        _candidates("failed-in-one", "All fail in one language alone: bad translation?", _LONELY_COLUMNS, lonely),
    ]
    if len({system for grid in grids for system in grid.systems}) == 1:
        notes.append("One system alone: what it fails everywhere may be its own weakness, not the gold's.")
    reading, marked = _reading(tables, pivot), mark_partial(tables, _partial_cells(grids, pivot))
    return Finding("consistency", "Consistency across languages", reading, marked, _figures(pivot), [*NOTES, *notes])


def _beside_pivot(
    grids: Sequence[ParallelAnswers], pivot: str, notes: list[str]
) -> tuple[list[list[Value]], list[list[Value]]]:
    """What is right given the pivot is, and how far the two agree; a task without the pivot is noted."""
    given: list[list[Value]] = []
    agreed: list[list[Value]] = []
    for grid in grids:
        if pivot not in grid.languages:
            notes.append(f"{grid.task.id}: no answers in {pivot}, so nothing is compared with it")
        for system in grid.systems:
            given += _given_pivot(grid, system, pivot)
            agreed += _agreement(grid, system, pivot)
    if not given:
        tasks = ", ".join(grid.task.id for grid in grids)
        what = f"{tasks}: no system has answers in {pivot} and in another language"
        raise AnalysisError(what, fix=f"Add {pivot}, or name another language with pivot=")
    return given, agreed


def _partial_cells(grids: Sequence[ParallelAnswers], pivot: str) -> set[tuple[str, str, str]]:
    """System, task and language of the comparisons whose gold is a part of the test set."""
    return {
        (system, grid.task.id, each.cell.language)
        for grid in grids
        for system in grid.systems
        for each in _compared(grid, system, pivot)
        if each.partial
    }


def _grids(folders: Sequence[Predictions], request: Request, notes: list[str]) -> list[ParallelAnswers]:
    """The parallel tasks that have two languages or more."""
    by_split: dict[tuple[str, str], list[ParallelCell]] = {}
    for system, answered in answers_of(folders, request, is_parallel, notes, NEEDS):
        found = parallel_cell(system, answered)
        if found is not None:
            by_split.setdefault((answered.task.id, found.cell.split), []).append(found)
    grids = []
    for (name, split), cells in by_split.items():
        grid = ParallelAnswers(find_task(name), cells, request.resample)
        if len(grid.languages) > 1:
            grids.append(grid)
            sets = {frozenset(each.language for each in cells if each.system == system) for system in grid.systems}
            if len(sets) > 1:
                notes.append(f"{name}: not all systems have the same languages: their means are not to be compared")
        else:
            notes.append(f"{name} {split}: left out, answers in {grid.languages[0]} alone")
    if not grids:
        what = "no task has answers in two languages"
        raise AnalysisError(what, where=", ".join(map(str, folders)), fix="Answer the same test set in more languages")
    return grids


_GIVEN_COLUMNS = [
    *text_columns("system", "task", "language"),
    Column("n", "count"),
    Column("pivot_right", "score", "pivot right"),
    Column("right", "score"),
    *interval_columns("if_right", "score", "right if pivot right"),
    *interval_columns("if_wrong", "score", "right if pivot wrong"),
    *interval_columns("gain", "difference", "difference"),
]


class _Compared(NamedTuple):
    """A language beside the pivot: the rows of the items that both have, in the pivot's cell and in its own."""

    pivot: ParallelCell
    cell: ParallelCell
    pivot_rows: IntArray
    rows: IntArray

    @property
    def partial(self) -> bool:
        """Whether the gold of one of them is a part of the test set; no mean has these."""
        return self.pivot.cell.partial or self.cell.cell.partial


def _compared(grid: ParallelAnswers, system: str, pivot: str) -> list[_Compared]:
    """All languages of a system beside the pivot, where they have items in common."""
    reference = grid.of(system, pivot)
    if reference is None:
        return []
    found = []
    for cell in grid.cells:
        if cell.system == system and cell is not reference and (units := grid.common_units([reference, cell])):
            found.append(_Compared(reference, cell, grid.rows(reference, units), grid.rows(cell, units)))
    return found


def _given_pivot(grid: ParallelAnswers, system: str, pivot: str) -> list[list[Value]]:
    rows: list[list[Value]] = []
    sides: tuple[list[Estimate], list[Estimate]] = ([], [])
    levels: list[tuple[int, float, float]] = []
    for each in _compared(grid, system, pivot):
        first, second = each.pivot.right[each.pivot_rows], each.cell.right[each.rows]
        found: list[Estimate | None] = []
        for side, chosen in zip(sides, (first, ~first), strict=True):
            statistics = Statistics(second[chosen, None].astype(np.float64), MEAN)
            known = grid.estimate(each.pivot, each.pivot_rows[chosen], statistics) if chosen.any() else None
            side.extend([] if known is None or each.partial else [known])
            found.append(known)
        level = len(first), 100 * float(first.mean()), 100 * float(second.mean())
        levels += [] if each.partial else [level]
        rows.append([system, grid.task.id, each.cell.language, *level, *compared_values(*found)])
    if len(levels) > 1:
        count, *shares = np.mean(levels, axis=0).tolist()
        whole = [mean(side) if side else None for side in sides]
        rows.append([system, grid.task.id, MEAN_ROW, round(count), *shares, *compared_values(*whole)])
    return rows


_AGREEMENT_COLUMNS = [
    *text_columns("system", "task", "language"),
    Column("n", "count"),
    Column("same_outcome", "score", "both right or both wrong"),
    Column("outcome_chance", "score", "by chance"),
    *interval_columns("outcome_kappa", "correlation", "kappa"),
    Column("same_answer", "score", "same answer"),
    Column("answer_chance", "score", "by chance"),
    *interval_columns("answer_kappa", "correlation", "kappa of answers"),
]


def _agreement(grid: ParallelAnswers, system: str, pivot: str) -> list[list[Value]]:
    comparable = kind_of(grid.task).form in SHARED_FORMS
    rows: list[list[Value]] = []
    whole: list[list[Value]] = []
    kappas: list[list[Estimate]] = []
    for each in _compared(grid, system, pivot):
        found = [cohen_statistics(each.pivot.right[each.pivot_rows], each.cell.right[each.rows])]
        if comparable:
            answers = np.array(each.pivot.answers)[each.pivot_rows], np.array(each.cell.answers)[each.rows]
            found.append(cohen_statistics(*answers))
        estimates = [grid.estimate(each.pivot, each.pivot_rows, statistics) for statistics in found]
        row: list[Value] = [system, grid.task.id, each.cell.language, len(each.rows)]
        for statistics, kappa in zip(found, estimates, strict=True):
            row += [*(100 * share for share in agreement_shares(statistics)), *_kappa_values(kappa)]
        rows.append(_padded(row))
        if not each.partial:
            whole.append(rows[-1])
            kappas.append(estimates)
    if len(whole) > 1:
        rows.append(_padded(_mean_agreement(whole, kappas)))
    return rows


def _mean_agreement(rows: list[list[Value]], kappas: list[list[Estimate]]) -> list[Value]:
    columns = list(zip(*rows, strict=True))

    def average(column: int) -> float | None:
        values = [value for value in columns[column] if isinstance(value, float | int)]
        return float(np.mean(values)) if values else None

    whole: list[Value] = [rows[0][0], rows[0][1], MEAN_ROW, round(average(3) or 0)]
    for start, estimates in zip((4, 9), zip(*kappas, strict=True), strict=False):
        known = [each for each in estimates if np.isfinite(each.value)]
        whole += [average(start), average(start + 1), *(_kappa_values(mean(known)) if known else [None] * 3)]
    return whole


def _kappa_values(estimate: Estimate) -> list[Value]:
    if not np.isfinite(estimate.value):
        return [None, None, None]
    return [estimate.value, *(kappa_interval(estimate) or (None, None))]


def _padded(row: list[Value]) -> list[Value]:
    """With nothing in the columns of what a task does not have."""
    return row + [None] * (len(_AGREEMENT_COLUMNS) - len(row))


_ONE_COLUMNS = [
    *text_columns("task", "language"),
    Column("n", "count"),
    Column("count", "count", "failed here alone"),
    *interval_columns("share", "score", "% of all"),
    Column("of_failed", "score", "% of those failed here"),
]
_EVERYWHERE_COLUMNS = [
    *text_columns("task", "id"),
    Column("cells", "count"),
    Column("gold"),
    Column("answer", label="commonest answer"),
    Column("times", "count", "said in"),
    Column("text"),
]
_LONELY_COLUMNS = [
    *text_columns("task", "language", "id"),
    Column("systems", "count"),
    *text_columns("gold", "answer", "text"),
    Column("elsewhere", label="text elsewhere"),
]


def _candidates(name: str, title: str, columns: list[Column], rows: list[list[Value]]) -> TidyTable:
    """A list to be read in its file: long, with texts."""
    return TidyTable(name, title, columns, rows, shown=10)


def _one_rows(grids: Sequence[ParallelAnswers]) -> list[list[Value]]:
    return [
        [each.task, each.language, each.n, each.count, *score_values(each.share), each.of_failed]
        for grid in grids
        for each in one_language_counts(grid)
    ]


def _spread_table(grids: Sequence[ParallelAnswers]) -> TidyTable:
    """In how many languages each item is right, beside what independent languages would give."""
    rows: list[list[Value]] = []
    notes: list[str] = []
    for grid in grids:
        for system in grid.systems:
            cells = [cell for cell in grid.cells if cell.system == system]
            units = grid.common_units(cells)
            if len(cells) < 2 or not units:
                continue
            right = grid.right(cells, units)
            places = grid.rows(cells[0], units)
            kappa = grid.estimate(cells[0], places, fleiss_statistics(right))
            alone = counts_if_independent(right.mean(axis=0).tolist())
            for count, (observed, expected) in enumerate(
                zip(right_counts(right).tolist(), alone.tolist(), strict=True)
            ):
                inside = (right.sum(axis=1) == count).astype(float)[:, None]
                share = grid.estimate(cells[0], places, Statistics(inside, MEAN))
                whole = [system, grid.task.id, len(cells), count, observed, *score_values(share), 100 * expected]
                rows.append([*whole, *_kappa_values(kappa)])
            languages = ", ".join(cell.language for cell in cells)
            notes.append(f"{system} on {grid.task.id}: {len(units)} items in {languages}")
    columns = [
        *text_columns("system", "task"),
        Column("languages", "count"),
        Column("right_in", "count", "right in"),
        Column("n", "count"),
        *interval_columns("share", "score", "% of items"),
        Column("independent", "score", "if languages were independent"),
        *interval_columns("kappa", "correlation", "Fleiss' kappa"),
    ]
    return TidyTable("right-in", "The same question in all languages: in how many it is right", columns, rows, notes)


def _figures(pivot: str) -> list[Figure]:
    return [
        Figure(
            "given-pivot",
            "bars",
            f"Right in a language, given {pivot} is right",
            "A bar for each language with its interval, in a panel for each task.",
            "if_right",
            "language",
            colour="system",
            panel="task",
        ),
        Figure(
            "right-in",
            "lines",
            "In how many languages the same question is right",
            "The share of questions by the number of languages they are right in, in a panel for each task.",
            "right_in",
            "share",
            colour="system",
            panel="task",
        ),
    ]


def _reading(tables: Sequence[TidyTable], pivot: str) -> str:
    given, agreed, spread = (table.records() for table in tables[:3])
    # The mean over languages comes last, where there are several.
    last = {(row["system"], row["task"]): (row, beside) for row, beside in zip(given, agreed, strict=True)}
    nowhere = {(row["system"], row["task"]): row for row in spread if row["right_in"] == 0}
    sentences = []
    for (system, task), (row, beside) in last.items():
        where = "the other languages" if row["language"] == MEAN_ROW else str(row["language"])
        parts = [
            f"{row[name]:.1f} % of what it has {word} in {pivot}"
            for name, word in (("if_right", "right"), ("if_wrong", "wrong"))
            if row[name] is not None
        ]
        kappa = "" if beside["outcome_kappa"] is None else f" (kappa of outcomes {beside['outcome_kappa']:.2f})"
        none = nowhere.get((system, task))
        everywhere = none and (
            f"; {none['share']:.1f} % are wrong in all {none['languages']} languages, where languages without anything"
            f" in common would have {none['independent']:.1f} %"
        )
        sentences.append(f"On {task}, {system} is right in {where} on {' and '.join(parts)}{kappa}{everywhere or ''}.")
    return (
        f"{first_few(sentences)} {len(tables[4].rows)} items fail everywhere and {len(tables[5].rows)} in one"
        " language alone: these are candidates to be read, not proof of broken gold or bad translations, since hard"
        " questions fail together too."
    )
