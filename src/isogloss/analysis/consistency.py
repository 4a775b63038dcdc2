"""Consistency of correctness and answers across languages, on translated test sets.

XTREME (section 5, "Errors across languages") reports how often examples that are right or wrong in English are right in
another language, and how often the two answers are the same. This analysis adds the agreement expected by chance: two
independent languages at 70 % accuracy agree on 58 % of questions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from isogloss.analysis import parallel_answers as parallel
from isogloss.analysis.answers import answers_of, compared_values, mark_partial, score_values
from isogloss.analysis.finding import (
    MEAN_ROW,
    AnalysisError,
    Finding,
    TidyTable,
    Value,
    columns,
    difference_words,
    figure,
    first_few,
)
from isogloss.analysis.parallel_answers import ParallelAnswers, ParallelCell
from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.metrics.estimate import Estimate, mean
from isogloss.metrics.statistics import MEAN, IntArray, Statistics
from isogloss.predictions.memory import Predictions, source_name
from isogloss.scoring.request import Request
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task as find_task

NEEDS = "tasks with translated test sets: xnli, xquad, mlqa, xcopa, pawsx, checklist-…"
NOTES = [
    "Right means full marks by the task's metric, for question answering an exact match (XTREME does not specify);"
    " failed means a score of zero, for question answering no word in common with the gold answer.",
    "Intervals are clustered: examples that share an article, premise or sentence, and all translations of an example,"
    " form one cluster.",
    "XTREME (section 5) reports that mBERT is right on 71.8 % of XNLI's dev examples that it has right in English, near"
    " chance on the others, and gives the same answer on 68.3 %; on XQuAD it reports about 60 % and 20 %.",
    "Kappa is Cohen's for two languages and Fleiss' for all: 0 is chance agreement, 1 is full agreement.",
]


def consistency(folders: Sequence[Predictions], request: Request, *, pivot: str = "en") -> Finding:
    """Measure the agreement of languages on parallel test sets, and list suspicious examples.

    Args:
        folders: prediction folders, one per system.
        request: tasks, languages, split and data.
        pivot: language to compare the others with.

    Returns:
        Accuracy given the pivot is right or wrong, agreement and its expectation by chance, the number of languages in
        which each example is right, and the examples to inspect.

    Raises:
        AnalysisError: no task has two languages, or none has the pivot.
    """
    notes: list[str] = []
    grids = _grids(folders, request, notes)
    tables = [
        TidyTable("given-pivot", f"Right in a language, given {pivot} is right or wrong", _GIVEN_COLUMNS),
        TidyTable("agreement", f"Agreement with {pivot}, against chance", _AGREEMENT_COLUMNS),
        _spread_table(grids),
        TidyTable("one-language", "Wrong in exactly one language", _ONE_COLUMNS),
        TidyTable("failed-everywhere", "All systems fail in all languages: broken gold?", _EVERYWHERE, shown=10),
        TidyTable("failed-in-one", "All systems fail in one language only: bad translation?", _LONELY, shown=10),
    ]
    given, agreed, _, one_language, everywhere, lonely = (table.rows for table in tables)
    partial: set[tuple[str, str, str]] = set()
    for grid in grids:
        if pivot not in grid.languages:
            notes.append(f"{grid.task.id}: no answers in {pivot}, so no comparison with it")
        for system in grid.systems:
            comparisons = _compared(grid, system, pivot)
            given += _given_pivot(grid, comparisons)
            agreed += _agreement(grid, comparisons)
            partial |= {(system, grid.task.id, each.cell.language) for each in comparisons if each.partial}
        one_language += parallel.one_language_counts(grid)
        everywhere += parallel.failed_everywhere(grid, pivot)
        lonely += parallel.failed_in_one(grid, pivot)
    if not given:
        tasks = ", ".join(grid.task.id for grid in grids)
        what = f"{tasks}: no system has answers in {pivot} and in another language"
        raise AnalysisError(what, fix=f"Add {pivot}, or choose another language with pivot=")
    if len({system for grid in grids for system in grid.systems}) == 1:
        notes.append("With one system, examples failed everywhere may reflect its weakness rather than broken gold.")
    bars = "One bar per language with its interval, one panel per task."
    lines = "Share of questions by the number of languages in which they are right, one panel per task."
    return Finding(
        analysis="consistency",
        title="Consistency across languages",
        reading=_reading(tables, pivot),
        tables=mark_partial(tables, partial),
        figures=[
            figure("bars", _GIVEN_CHART, f"Right in a language, given {pivot} is right", bars),
            figure("lines", _SPREAD_CHART, "Number of languages in which a question is right", lines),
        ],
        notes=[*NOTES, *notes],
    )


def _grids(folders: Sequence[Predictions], request: Request, notes: list[str]) -> list[ParallelAnswers]:
    """Return the parallel tasks with at least two languages."""
    answers = answers_of(folders, request, parallel.is_parallel, notes, NEEDS)
    judged = [cell for system, answered in answers if (cell := parallel.parallel_cell(system, answered)) is not None]
    grids = []
    for (name, split), cells in group_by(judged, lambda cell: (cell.cell.task, cell.cell.split)).items():
        grid = ParallelAnswers(find_task(name), cells, request.resample)
        sets = {frozenset(cell.language for cell in cells if cell.system == system) for system in grid.systems}
        if len(grid.languages) < 2:
            notes.append(f"{name} {split}: left out, answers in {grid.languages[0]} only")
            continue
        grids.append(grid)
        if len(sets) > 1:
            notes.append(f"{name}: systems have different languages, so their means are not comparable")
    if not grids:
        what = "no task has answers in two languages"
        raise AnalysisError(
            what, where=", ".join(map(source_name, folders)), fix="Answer the same test set in more languages"
        )
    return grids


_GIVEN_COLUMNS = columns(
    "system task language; n:count; pivot_right:score = pivot right; right:score; "
    "if_right±:score = right if pivot right; if_wrong±:score = right if pivot wrong; gain±:difference = difference"
)
_AGREEMENT_COLUMNS = columns(
    "system task language; n:count; same_outcome:score = both right or both wrong; outcome_chance:score = by chance; "
    "outcome_kappa±:correlation = kappa; same_answer:score = same answer; answer_chance:score = by chance; "
    "answer_kappa±:correlation = kappa of answers"
)
_ONE_COLUMNS = columns(
    "task language; n:count; count:count = failed only here; share±:score = % of all; "
    "of_failed:score = % of those failed here"
)
_EVERYWHERE = columns("task id; cells:count; gold; answer = most common answer; times:count = cells with it; text")
_LONELY = columns("task language id; systems:count; gold answer text; elsewhere = text elsewhere")
_GIVEN_CHART = "given-pivot: if_right, language, system, task"
_SPREAD_CHART = "right-in: right_in, share, system, task"


class _Compared(NamedTuple):
    """A language compared with the pivot: rows of their common items in both cells."""

    pivot: ParallelCell
    cell: ParallelCell
    pivot_rows: IntArray
    rows: IntArray

    @property
    def partial(self) -> bool:
        """True if one of them has incomplete gold; excluded from means."""
        return self.pivot.cell.partial or self.cell.cell.partial


def _compared(grid: ParallelAnswers, system: str, pivot: str) -> list[_Compared]:
    """Return the languages of a system that share items with the pivot."""
    reference = grid.of(system, pivot)
    others = [cell for cell in grid.cells if cell.system == system and cell is not reference]
    return [
        _Compared(reference, cell, grid.rows(reference, units), grid.rows(cell, units))
        for cell in others
        if reference is not None and (units := grid.common_units([reference, cell]))
    ]


def _given_pivot(grid: ParallelAnswers, comparisons: Sequence[_Compared]) -> list[list[Value]]:
    rows: list[list[Value]] = []
    sides: tuple[list[Estimate], list[Estimate]] = ([], [])
    levels: list[tuple[int, float, float]] = []
    for comparison in comparisons:
        system = comparison.cell.system
        first, second = comparison.pivot.right[comparison.pivot_rows], comparison.cell.right[comparison.rows]
        estimates: list[Estimate | None] = []
        for side, chosen in zip(sides, (first, ~first), strict=True):
            statistics, rows_of_side = (
                Statistics(second[chosen, None].astype(float), MEAN),
                comparison.pivot_rows[chosen],
            )
            estimates.append(grid.estimate(comparison.pivot, rows_of_side, statistics) if chosen.any() else None)
            side.extend([estimates[-1]] if estimates[-1] is not None and not comparison.partial else [])
        level = len(first), 100 * float(first.mean()), 100 * float(second.mean())
        levels += [] if comparison.partial else [level]
        rows.append([system, grid.task.id, comparison.cell.language, *level, *compared_values(*estimates)])
    if len(levels) > 1:
        count, *shares = np.mean(levels, axis=0).tolist()
        whole = [mean(side) if side else None for side in sides]
        rows.append([system, grid.task.id, MEAN_ROW, round(count), *shares, *compared_values(*whole)])
    return rows


def _agreement(grid: ParallelAnswers, comparisons: Sequence[_Compared]) -> list[list[Value]]:
    comparable = kind_of(grid.task).form in parallel.SHARED_FORMS
    rows: list[list[Value]] = []
    whole: list[list[Value]] = []
    kappas: list[list[Estimate]] = []
    for comparison in comparisons:
        pivot, cell, pivot_rows, own_rows = comparison
        cohen = [parallel.cohen_statistics(pivot.right[pivot_rows], cell.right[own_rows])]
        if comparable:
            answers = np.array(pivot.answers)[pivot_rows], np.array(cell.answers)[own_rows]
            cohen.append(parallel.cohen_statistics(*answers))
        estimates = [grid.estimate(pivot, pivot_rows, statistics) for statistics in cohen]
        row: list[Value] = [cell.system, grid.task.id, cell.language, len(own_rows)]
        for statistics, kappa in zip(cohen, estimates, strict=True):
            row += [*(100 * share for share in parallel.agreement_shares(statistics)), *_kappa_values(kappa)]
        rows.append(row)
        if not comparison.partial:
            whole.append(row)
            kappas.append(estimates)
    if len(whole) > 1:
        rows.append(_mean_agreement(whole, kappas))
    # Columns of answers do not apply to all tasks.
    return [row + [None] * (len(_AGREEMENT_COLUMNS) - len(row)) for row in rows]


def _mean_agreement(rows: list[list[Value]], kappas: list[list[Estimate]]) -> list[Value]:
    def average(column: int) -> float:
        return float(np.mean([float(row[column] or 0) for row in rows]))

    whole: list[Value] = [rows[0][0], rows[0][1], MEAN_ROW, round(average(3))]
    for start, estimates in zip((4, 9), zip(*kappas, strict=True), strict=False):
        finite = [estimate for estimate in estimates if np.isfinite(estimate.value)]
        whole += [average(start), average(start + 1), *(_kappa_values(mean(finite)) if finite else [None] * 3)]
    return whole


def _kappa_values(estimate: Estimate) -> list[Value]:
    if not np.isfinite(estimate.value):
        return [None, None, None]
    return [estimate.value, *(parallel.kappa_interval(estimate) or (None, None))]


def _spread_table(grids: Sequence[ParallelAnswers]) -> TidyTable:
    """Count items by the number of languages in which they are right, with the expectation under independence."""
    heads = columns(
        "system task; languages:count; right_in:count = right in; n:count; share±:score = % of items; "
        "independent:score = if languages were independent; kappa±:correlation = Fleiss' kappa"
    )
    table = TidyTable("right-in", "Questions by the number of languages in which they are right", heads)
    for grid in grids:
        for system in grid.systems:
            cells = [cell for cell in grid.cells if cell.system == system]
            units = grid.common_units(cells)
            if len(cells) < 2 or not units:
                continue
            right = grid.marks(lambda cell: cell.right, cells, units)
            positions = grid.rows(cells[0], units)
            kappa = grid.estimate(cells[0], positions, parallel.fleiss_statistics(right))
            independent = parallel.counts_if_independent(right.mean(axis=0).tolist())
            times = right.sum(axis=1)
            for count, expected in enumerate(independent.tolist()):
                share = grid.estimate(cells[0], positions, Statistics((times == count).astype(float)[:, None], MEAN))
                observed = [int((times == count).sum()), *score_values(share), 100 * expected]
                table.add(system, grid.task.id, len(cells), count, *observed, *_kappa_values(kappa))
            languages = ", ".join(cell.language for cell in cells)
            table.notes.append(f"{system} on {grid.task.id}: {len(units)} items in {languages}")
    return table


_GAIN = ("gain", "gain_low", "gain_high")


def _beyond_chance(row: Mapping[str, Value]) -> str:
    """Say if a share is not significantly different from that of independent languages, or not tested."""
    low, high, independent = (row[name] for name in ("share_low", "share_high", "independent"))
    if not isinstance(low, float) or not isinstance(high, float):
        return " (not tested)"
    return " (not significant)" if low <= float(independent or 0) <= high else ""


def _reading(tables: Sequence[TidyTable], pivot: str) -> str:
    conditional, agreed, spread = (table.records() for table in tables[:3])
    # The mean over several languages comes last.
    last = {(row["system"], row["task"]): (row, agreement) for row, agreement in zip(conditional, agreed, strict=True)}
    nowhere = {(row["system"], row["task"]): row for row in spread if row["right_in"] == 0}
    sentences = []
    for (system, task), (row, agreement) in last.items():
        where = "the other languages" if row["language"] == MEAN_ROW else str(row["language"])
        parts = [
            f"{row[name]:.1f} % of the items it has {word} in {pivot}"
            for name, word in (("if_right", "right"), ("if_wrong", "wrong"))
            if row[name] is not None
        ]
        kappa = "" if agreement["outcome_kappa"] is None else f" (kappa of outcomes {agreement['outcome_kappa']:.2f})"
        none = nowhere.get((system, task))
        everywhere = none and (
            f"; {none['share']:.1f} % are wrong in all {none['languages']} languages, compared with"
            f" {none['independent']:.1f} % if languages were independent{_beyond_chance(none)}"
        )
        apart = f", a difference of {difference_words(*(row[name] for name in _GAIN))}" if len(parts) > 1 else ""
        sentences.append(
            f"On {task}, {system} is right in {where} on {' and '.join(parts)}{apart}{kappa}{everywhere or ''}."
        )
    failing = counted(len(tables[4].rows), "item fails", "items fail")
    return (
        f"{first_few(sentences)} {failing} everywhere and {len(tables[5].rows)} in only one"
        " language. Inspect these candidates: hard questions fail together too, so they do not prove broken gold or"
        " bad translations."
    )
