"""From a folder of predictions to the result record."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isogloss.metrics.intervals import interval
from isogloss.metrics.statistics import FloatArray, Statistics, merge
from isogloss.predictions.memory import Predictions, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.averages import scaled, suite_averages, task_averages
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.draws import Draws, draw, shared_units, unit_codes
from isogloss.scoring.results import CellScore, Number, PairScores, Results
from isogloss.tasks.kinds import LanguagePairs
from isogloss.version import __version__


def score(  # noqa: PLR0913 - what the verb can be told
    predictions: Predictions,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    *,
    allow_partial: bool = False,
    strict: bool = False,
) -> Results:
    """Score predictions.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings; or the answers
            themselves, as {task: {language: {id: answer}}}.
        suite: a suite such as "xtreme-r", or a TOML file; decides languages, averages and the rule of the overall.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also score cells whose gold is incomplete; no average includes them.
        strict: refuse answers that would be left out, for want of gold or of a right name.

    Returns:
        Every cell, task average, category and the overall figure, with 95 % intervals and signatures; and what was
        left out, with the reason.

    Raises:
        PredictionError: there are no predictions, some that cannot be scored, or gold for none of them; all problems
            are listed.
        UnknownNameError: no such suite, task, language or split.
    """
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=data,
        gold=gold,
        allow_partial=allow_partial,
        strict=strict,
    )
    return score_request(predictions, request)


def score_request(predictions: Predictions, request: Request, progress: Callable[[str], None] | None = None) -> Results:
    """Score predictions as a request says; `progress` is called with each cell before it is judged."""
    system = open_predictions(predictions).system
    left_out: list[LeftOut] = []
    cells = list(judged_cells(predictions, request, progress, left_out))
    return score_cells(cells, request, system, left_out)


def score_cells(
    cells: Sequence[Cell], request: Request, system: dict[str, Any], left_out: Sequence[LeftOut] = ()
) -> Results:
    """The result record of judged cells, in the order of the request's tasks and languages.

    `system` is what is known of the system, as `system.toml` has it.
    """
    [draws] = draw([cells])
    averages = task_averages(cells, draws, request)
    categories, overall = suite_averages(averages, request)
    return Results(
        request.suite.id,
        system,
        request.split,
        [_cell_score(cell, draws) for cell in cells],
        [average for _, average in averages.values()],
        categories,
        overall,
        _all_pair_scores(cells, request),
        __version__,
        left_out=list(left_out),
    )


def score_cell(cell: Cell) -> CellScore:
    """The scores of one cell by itself."""
    [draws] = draw([[cell]])
    return _cell_score(cell, draws)


def _cell_score(cell: Cell, draws: Draws) -> CellScore:
    numbers = {
        metric: _number(statistics, draws[cell.task, cell.language, metric])
        for metric, statistics in cell.metrics.items()
    }
    return CellScore(
        cell.task, cell.language, cell.split, numbers, cell.signature, partial=cell.partial, notes=cell.notes
    )


def _number(statistics: Statistics, draws: FloatArray | None = None) -> Number:
    return scaled(statistics.score, interval(statistics, draws=draws), len(statistics))


def _all_pair_scores(cells: Sequence[Cell], request: Request) -> list[PairScores]:
    """The scores by language pair of every task whose kind has them."""
    judged = [(cell, cell.judgement.pairs) for cell in cells if not cell.partial]
    by_task = {
        name: [(cell, pairs) for cell, pairs in judged if pairs is not None and cell.task == name]
        for name in request.tasks
    }
    return [_pair_scores(name, members) for name, members in by_task.items() if members]


def _pair_scores(name: str, members: Sequence[tuple[Cell, LanguagePairs]]) -> PairScores:
    """Pooled subsets and the query-by-target matrix of a retrieval task."""
    codes = unit_codes(cell for cell, _ in members)
    rows = {cell.language: shared_units(pairs.statistics, cell, codes) for cell, pairs in members}
    targets = {cell.language: pairs.target_languages for cell, pairs in members}
    together = merge(list(rows.values()))
    same = np.concatenate([of_targets == query for query, of_targets in targets.items()])
    subsets = {
        "all": together,
        "same language": together.select(same),
        "different languages": together.select(~same),
    }
    matrix = {
        query: {str(target): _number(rows[query].select(of_targets == target)) for target in np.unique(of_targets)}
        for query, of_targets in targets.items()
    }
    numbers = {subset: _number(part) for subset, part in subsets.items() if len(part)}
    return PairScores(name, members[-1][1].metric, numbers, matrix)
