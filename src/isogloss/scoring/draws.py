"""Bootstrap replicates of every score of a grid, drawn so that what moves together is drawn together.

Examples that are translations of each other share an id space and one set of weights, across languages and across
tasks over the same questions (XQuAD and LAReQA); all other cells are drawn apart. The replicate of an average is then
the average of replicates.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from isogloss.metrics.resampling import joint_replicates, resampled_sums, stream, unit_table
from isogloss.metrics.statistics import FloatArray, Statistics
from isogloss.scoring.cells import Cell
from isogloss.tasks.registry import task

RESAMPLES = 1000

# (task, language, metric) -> replicates of that score, (resamples,)
Draws = dict[tuple[str, str, str], FloatArray]


def draw(systems: Sequence[Sequence[Cell]], resamples: int = RESAMPLES, seed: int = 0) -> list[Draws]:
    """Replicates of every metric of every cell, for each system; cells that systems share are drawn alike.

    Systems drawn together are paired: their replicates can be subtracted draw by draw.
    """
    draws: list[Draws] = [{} for _ in systems]
    parallel: dict[str, list[tuple[int, Cell]]] = defaultdict(list)
    alone: dict[tuple[str, str], list[tuple[int, Cell]]] = defaultdict(list)
    for system, cells in enumerate(systems):
        for cell in cells:
            if cell.units is not None:
                parallel[f"{task(cell.task).parallel}|{cell.split}"].append((system, cell))
            else:
                alone[cell.task, cell.language].append((system, cell))
    for (name, language), members in alone.items():
        _draw_alone(members, resamples, stream(seed, name, language), draws)
    for space, members in parallel.items():
        _draw_together(members, resamples, stream(seed, space), draws)
    return draws


def _draw_alone(members: Sequence[tuple[int, Cell]], resamples: int, seed: tuple[int, ...], draws: list[Draws]) -> None:
    """One cell of every system; only metrics that are averaged with each other need one set of weights."""
    names = list(dict.fromkeys(name for _, cell in members for name in cell.metrics))
    main = [name for name in task(members[0][1].task).main if name in names]
    for group in filter(None, [main, *([name] for name in names if name not in main)]):
        columns = [(system, cell, name) for system, cell in members for name in group if name in cell.metrics]
        tables = [unit_table(cell.metrics[name]) for _, cell, name in columns]
        sums = resampled_sums(np.concatenate(tables, axis=1), resamples, seed)
        parts = np.split(sums, np.cumsum([table.shape[1] for table in tables])[:-1], axis=1)
        for (system, cell, name), part in zip(columns, parts, strict=True):
            draws[system][cell.task, cell.language, name] = cell.metrics[name].value(part[:, :-1], part[:, -1])


def _draw_together(
    members: Sequence[tuple[int, Cell]], resamples: int, seed: tuple[int, ...], draws: list[Draws]
) -> None:
    """All cells of an id space, under one set of weights of the shared ids."""
    codes = unit_codes(cell for _, cell in members)
    columns = [(system, cell, name) for system, cell in members for name in cell.metrics]
    statistics = [shared_units(cell.metrics[name], cell, codes) for _, cell, name in columns]
    for (system, cell, name), column in zip(columns, joint_replicates(statistics, resamples, seed).T, strict=True):
        draws[system][cell.task, cell.language, name] = column


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
