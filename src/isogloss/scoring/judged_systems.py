"""The judged answers of many systems, by one process or by many: one cell after the other, put together in order."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Cell, Request, Shortcomings, answered_row, asked_cells
from isogloss.scoring.names import distinct_names
from isogloss.scoring.seeds import seed_folders
from isogloss.workers import Workers, in_parallel


class JudgedSystem(NamedTuple):
    """What there is to score of a system.

    Attributes:
        about: what is known of the system, as `system.toml` of its first run has it.
        seeds: the names of its runs, "" for the single run of a folder without seeds.
        runs: the cells of each run that have answers and gold.
        left_out: answers that cannot be scored, and why.
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
        request: what is to be judged, and how.
        progress: called with each cell before it is judged.
        workers: who judges; None for this process. The result is the same.

    Yields:
        The judged cells of each system.

    Raises:
        PredictionError: as `answered_cells`, for the first run that there is anything wrong with.
    """
    folders = [_open_seeds(each) for each in systems]
    runs = _judged_runs([run for seeds in folders for run in seeds.values()], request, progress, workers)
    for seeds in folders:
        left_out: list[LeftOut] = []
        judged = []
        for run in seeds.values():
            cells, shortcomings = next(runs)
            shortcomings.settle([run], request, left_out)
            judged.append(cells)
        yield JudgedSystem(next(iter(seeds.values())).system, list(seeds), judged, left_out)


def system_names(systems: Sequence[Predictions]) -> list[str]:
    """Names that tell systems apart, each as the first run of the system has it."""
    firsts = (next(iter(_open_seeds(each).values())) for each in systems)
    return distinct_names([str(first.system["name"]) for first in firsts])


def _open_seeds(system: Predictions) -> dict[str, PredictionSource]:
    return {seed: open_predictions(run) for seed, run in seed_folders(system).items()}


def _judged_runs(
    runs: Sequence[PredictionSource],
    request: Request,
    progress: Callable[[str], None] | None,
    workers: Workers | None,
) -> Iterator[tuple[list[Cell], Shortcomings]]:
    """The cells of every run that have answers and gold, and what keeps other answers out."""
    asked = [list(asked_cells([run], request)) for run in runs]
    items = [(run, *cell) for run, cells in zip(runs, asked, strict=True) for cell in cells]
    judged = in_parallel(workers, partial(_judged_cell, request), items)
    for names in asked:
        cells: list[Cell] = []
        found = Shortcomings.none(1)
        for name, language in names:
            if progress is not None:
                progress(f"{name}/{language}")
            further, shortcomings = next(judged)
            cells += further
            found.add(shortcomings)
        yield cells, found


def _judged_cell(request: Request, item: tuple[PredictionSource, str, str]) -> tuple[list[Cell], Shortcomings]:
    """A cell of a run, if it has answers and gold; its texts are let go before there is another."""
    run, name, language = item
    found = Shortcomings.none(1)
    row = answered_row([run], name, language, request, found)
    return [answered.cell for answered in row if answered is not None], found
