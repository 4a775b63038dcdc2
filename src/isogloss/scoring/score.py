"""From a folder of predictions to the result record."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import Statistics, merge
from isogloss.predictions.folder import PredictionFolder
from isogloss.scoring.averages import cell_numbers, pooled, summary, task_figures
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.draws import Draws, draw, shared_units, unit_codes
from isogloss.scoring.results import CellScore, PairScores, Results
from isogloss.version import __version__


def score(
    predictions: str | os.PathLike[str],
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    *,
    allow_partial: bool = False,
) -> Results:
    """Score a folder of predictions.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings.
        suite: "xtreme-r" or "xtreme"; decides languages, averages and the rule of the overall figure.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also score cells whose gold is incomplete; no average includes them.
    """
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=None if data is None else Path(data),
        gold=None if gold is None else Path(gold),
        allow_partial=allow_partial,
    )
    return score_request(Path(predictions), request)


def score_request(predictions: Path, request: Request, progress: Callable[[str], None] | None = None) -> Results:
    """Score a folder as a request says; `progress` is told each cell before it is judged."""
    return score_cells(
        list(judged_cells(predictions, request, progress)), request, PredictionFolder(predictions).system
    )


def score_cells(cells: Sequence[Cell], request: Request, system: dict[str, Any]) -> Results:
    """The result record of judged cells, which stand in the order of the request's tasks and languages.

    Args:
        cells: the statistics of every cell.
        request: suite, tasks and split that were asked for.
        system: what is known of the system, as `system.toml` has it.
    """
    [draws] = draw([cells])
    figures = task_figures(cells, draws, request)
    categories, overall = summary(figures, request)
    return Results(
        request.suite.id,
        system,
        request.split,
        [_cell_score(cell, draws) for cell in cells],
        [average for _, average in figures.values()],
        categories,
        overall,
        [_pair_scores(name, cells) for name in request.tasks if _pair_cells(name, cells)],
        __version__,
    )


def score_cell(cell: Cell) -> CellScore:
    """The scores of one cell by itself."""
    [draws] = draw([[cell]])
    return _cell_score(cell, draws)


def _cell_score(cell: Cell, draws: Draws) -> CellScore:
    numbers = cell_numbers(cell, draws)
    return CellScore(
        cell.task, cell.language, cell.split, numbers, cell.signature, partial=cell.partial, notes=cell.notes
    )


def _pair_cells(name: str, cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.task == name and not cell.partial and cell.judgement.pairs is not None]


def _pair_scores(name: str, cells: Sequence[Cell]) -> PairScores:
    """Pooled subsets and the query-by-target matrix of a retrieval task."""
    inside = _pair_cells(name, cells)
    codes = unit_codes(inside)
    asked: dict[str, Statistics] = {}
    found: dict[str, npt.NDArray[np.str_]] = {}
    metric = ""
    for cell in inside:
        pairs = cell.judgement.pairs
        if pairs is not None:
            metric = pairs.metric
            asked[cell.language] = shared_units(pairs.statistics, cell, codes)
            found[cell.language] = pairs.target_languages
    together = merge(list(asked.values()))
    same = np.concatenate([targets == query for query, targets in found.items()])
    subsets = {
        "all": together,
        "same language": together.select(same),
        "different languages": together.select(~same),
    }
    matrix = {
        query: {str(target): pooled(rows.select(found[query] == target)) for target in np.unique(found[query])}
        for query, rows in asked.items()
    }
    return PairScores(name, metric, {key: pooled(part) for key, part in subsets.items() if len(part)}, matrix)
