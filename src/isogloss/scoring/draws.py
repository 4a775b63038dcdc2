"""Bootstrap replicates of every score of a grid, drawn so that what moves together is drawn together.

Examples that are translations of each other share an id space and one set of weights, across languages and across
tasks over the same questions (XQuAD and LAReQA); all other cells are drawn apart. The replicate of an average is then
the average of replicates.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from isogloss.metrics.resampling import joint_replicates, replicates, resampled_sums, stream, unit_table
from isogloss.metrics.statistics import FloatArray, Statistics
from isogloss.scoring.cells import Cell
from isogloss.tasks.registry import task

__all__ = ["RESAMPLES", "Draws", "draw", "shared_units"]

RESAMPLES = 1000

# (task, language, metric) -> replicates of that score, (resamples,)
Draws = dict[tuple[str, str, str], FloatArray]


def draw(cells: Iterable[Cell], resamples: int = RESAMPLES, seed: int = 0) -> Draws:
    """Replicates of every metric of every cell."""
    draws: Draws = {}
    parallel: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.units is not None:
            parallel[f"{task(cell.task).parallel}|{cell.split}"].append(cell)
        else:
            draws.update(_alone(cell, resamples, seed))
    for space, members in parallel.items():
        draws.update(_together(members, resamples, stream(seed, space)))
    return draws


def _alone(cell: Cell, resamples: int, seed: int) -> Draws:
    """A cell with no parallel ones; only metrics that are averaged with each other need one set of weights."""
    main = [name for name in task(cell.task).main if name in cell.metrics]
    draws: Draws = {}
    if len(main) > 1:
        tables = [unit_table(cell.metrics[name]) for name in main]
        seeds = stream(seed, cell.task, cell.language)
        sums = resampled_sums(np.concatenate(tables, axis=1), resamples, seeds)
        parts = np.split(sums, np.cumsum([table.shape[1] for table in tables])[:-1], axis=1)
        for name, part in zip(main, parts, strict=True):
            draws[cell.task, cell.language, name] = cell.metrics[name].value(part[:, :-1], part[:, -1])
    for name, statistics in cell.metrics.items():
        if name not in main or len(main) == 1:
            seeds = stream(seed, cell.task, cell.language, name)
            draws[cell.task, cell.language, name] = replicates(statistics, resamples, seeds)
    return draws


def _together(cells: Sequence[Cell], resamples: int, seed: tuple[int, ...]) -> Draws:
    codes = unit_codes(cells)
    keys = [(cell.task, cell.language, name) for cell in cells for name in cell.metrics]
    columns = [
        shared_units(statistics, cell, codes) for cell in cells for statistics in cell.metrics.values()
    ]
    return dict(zip(keys, joint_replicates(columns, resamples, seed).T, strict=True))


def unit_codes(cells: Iterable[Cell]) -> dict[str, int]:
    """A number for every shared id, the same whatever order the cells come in."""
    names = sorted({name for cell in cells for name in cell.units or ()})
    return {name: code for code, name in enumerate(names)}


def shared_units(statistics: Statistics, cell: Cell, codes: dict[str, int]) -> Statistics:
    """The statistics with units numbered over the whole id space instead of within the cell."""
    if cell.units is None:
        return statistics
    of_example = np.fromiter((codes[name] for name in cell.units), dtype=np.int64, count=len(cell.units))
    return replace(statistics, units=of_example if statistics.units is None else of_example[statistics.units])
