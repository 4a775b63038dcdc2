"""Judge the answers of systems cell by cell, in this process or in several."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Cell, Shortcomings, answered_row, asked_cells
from isogloss.scoring.request import Request
from isogloss.scoring.seeds import seed_folders
from isogloss.workers import Workers, in_parallel


class JudgedSystem(NamedTuple):
    """The judged cells of a system.

    Attributes:
        about: metadata from `system.toml` of its first run.
        seeds: names of its runs, "" for the single run of a folder without seeds.
        runs: cells of each run that have answers and gold.
        left_out: answers that cannot be scored, with reasons.
    """

    about: dict[str, Any]
    seeds: list[str]
    runs: list[list[Cell]]
    left_out: list[LeftOut]


def judged_systems(
    systems: Sequence[Predictions],
    request: Request,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> Iterator[JudgedSystem]:
    """Judge the answers of systems, one after the other.

    Args:
        systems: prediction folders, or folders of seeds.
        request: selection of cells.
        progress: called with each cell before it is judged.
        workers: worker pool, or None to run in this process; results are identical.

    Yields:
        The judged cells of each system.

    Raises:
        PredictionError: as in `answered_cells`, for the first run with problems.
    """
    folders = [{seed: open_predictions(run) for seed, run in seed_folders(system).items()} for system in systems]
    runs = _judged_runs([run for seeds in folders for run in seeds.values()], request, progress, workers)
    for seeds in folders:
        left_out: list[LeftOut] = []
        judged = []
        for run in seeds.values():
            cells, shortcomings = next(runs)
            shortcomings.settle([run], request, left_out)
            judged.append(cells)
        yield JudgedSystem(next(iter(seeds.values())).system, list(seeds), judged, left_out)


def _judged_runs(
    runs: Sequence[PredictionSource], request: Request, progress: Callable[[str], None] | None, workers: Workers | None
) -> Iterator[tuple[list[Cell], Shortcomings]]:
    """Yield the cells of every run that have answers and gold, and the shortcomings of the others."""
    requested = [list(asked_cells([run], request)) for run in runs]
    items = [(run, *cell) for run, cells in zip(runs, requested, strict=True) for cell in cells]
    judged = in_parallel(workers, partial(_judged_cell, request), items)
    for names in requested:
        cells: list[Cell] = []
        total = Shortcomings.none(1)
        for name, language in names:
            if progress is not None:
                progress(f"{name}/{language}")
            further, shortcomings = next(judged)
            cells += further
            total.add(shortcomings)
        yield cells, total


def _judged_cell(request: Request, item: tuple[PredictionSource, str, str]) -> tuple[list[Cell], Shortcomings]:
    """Judge a cell of a run, and drop its texts; the list is empty without answers or gold."""
    run, name, language = item
    shortcomings = Shortcomings.none(1)
    row = answered_row([run], name, language, request, shortcomings)
    return [answered.cell for answered in row if answered is not None], shortcomings
