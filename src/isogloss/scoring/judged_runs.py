"""The judged cells of many runs, by one process or by many: one cell after the other, put together in order."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Cell, Request, Shortcomings, answered_row, asked_cells
from isogloss.workers import Workers, in_parallel


def judged_runs(
    runs: Sequence[tuple[Predictions, list[LeftOut]]],
    request: Request,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> Iterator[list[Cell]]:
    """The cells of every run that have answers and gold.

    Args:
        runs: prediction folders, and lists that answers join which cannot be scored.
        request: what is to be judged, and how.
        progress: called with each cell before it is judged.
        workers: who judges; None for this process. The result is the same.

    Yields:
        The cells of a run.

    Raises:
        PredictionError: as `answered_cells`, for the first run that there is anything wrong with.
    """
    folders = [open_predictions(predictions) for predictions, _ in runs]
    asked = [list(asked_cells([folder], request)) for folder in folders]
    items = [(folder, *cell) for folder, cells in zip(folders, asked, strict=True) for cell in cells]
    judged = in_parallel(workers, partial(_judged_cell, request), items)
    for folder, names, (_, left_out) in zip(folders, asked, runs, strict=True):
        cells: list[Cell] = []
        found = Shortcomings.none(1)
        for name, language in names:
            if progress is not None:
                progress(f"{name}/{language}")
            further, shortcomings = next(judged)
            cells += further
            found.add(shortcomings)
        found.settle([folder], request, left_out)
        yield cells


def _judged_cell(request: Request, item: tuple[PredictionSource, str, str]) -> tuple[list[Cell], Shortcomings]:
    """A cell of a run, if it has answers and gold; its texts are let go before there is another."""
    folder, name, language = item
    found = Shortcomings.none(1)
    row = answered_row([folder], name, language, request, found)
    return [answered.cell for answered in row if answered is not None], found
