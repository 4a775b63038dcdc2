"""The judged cells of many runs, by one process or by many: a task of a run after the other, put together in order."""

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
        progress: called with each cell before it is judged; with workers, with each task that they have judged.
        workers: who judges; None for this process. The result is the same.

    Yields:
        The cells of a run.

    Raises:
        PredictionError: as `answered_cells`, for the first run that there is anything wrong with.
    """
    folders = [open_predictions(predictions) for predictions, _ in runs]
    tasks = [list(dict.fromkeys(name for name, _ in asked_cells([folder], request))) for folder in folders]
    items = [(folder, name) for folder, names in zip(folders, tasks, strict=True) for name in names]
    judge = partial(_judged_task, request=request, progress=progress if workers is None else None)
    judged = in_parallel(workers, judge, items)
    for folder, names, (_, left_out) in zip(folders, tasks, runs, strict=True):
        cells: list[Cell] = []
        found = Shortcomings.none(1)
        for name in names:
            further, shortcomings = next(judged)
            if progress is not None and workers is not None:
                progress(f"{folder.root.name} {name}")
            cells += further
            found.add(shortcomings)
        found.settle([folder], request, left_out)
        yield cells


def _judged_task(
    item: tuple[PredictionSource, str], request: Request, progress: Callable[[str], None] | None
) -> tuple[list[Cell], Shortcomings]:
    """The cells of one task of a run."""
    folder, wanted = item
    cells, found = [], Shortcomings.none(1)
    for name, language in asked_cells([folder], request):
        if name == wanted:
            if progress is not None:
                progress(f"{name}/{language}")
            # The texts of a cell are let go before the next one is read.
            cells += [one.cell for one in answered_row([folder], name, language, request, found) if one is not None]
    return cells, found
