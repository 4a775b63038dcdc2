"""Split the examples of a board into a public and a private part, by a secret draw of sources.

A source falls into the same part in every language, task and submission, so scores on one part tell nothing about the
labels of the other.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from isogloss.board.server.board import OpenBoard
from isogloss.metrics.statistics import Statistics
from isogloss.scoring.cells import Cell
from isogloss.tasks.registry import task

Cells = Mapping[tuple[str, str], Cell]


def split_cells(board: OpenBoard, cells: Cells) -> tuple[dict[tuple[str, str], Cell], dict[tuple[str, str], Cell]]:
    """Return the public and the private part of some cells; cells without examples in a part are left out of it."""
    public: dict[tuple[str, str], Cell] = {}
    private: dict[tuple[str, str], Cell] = {}
    for name, cell in cells.items():
        hidden = private_examples(board, cell)
        for part, chosen in ((public, ~hidden), (private, hidden)):
            if chosen.any():
                part[name] = part_of_cell(cell, chosen)
    return public, private


def private_examples(board: OpenBoard, cell: Cell) -> npt.NDArray[np.bool_]:
    """Return True for each example in the private part; unnamed examples are drawn by their row."""
    names = cell.clusters or cell.units or [f"{cell.language}/{row}" for row in range(cell.n)]
    space = task(cell.task).source_space
    below = board.settings.private_share * 2**64
    drawn = {
        name: int.from_bytes(board.keyed_digest("private part", space, name)[:8], "big") < below for name in set(names)
    }
    return np.array([drawn[name] for name in names], dtype=np.bool_)


def part_of_cell(cell: Cell, chosen: npt.NDArray[np.bool_]) -> Cell:
    """Return a cell with some of its examples."""
    number_of = np.cumsum(chosen) - 1  # position of each chosen example in the part
    metrics = {name: _part(statistics, chosen, number_of) for name, statistics in cell.metrics.items()}
    judgement = replace(cell.judgement, metrics=metrics, pairs=None, row_example=None)
    rows = np.flatnonzero(chosen)
    return replace(
        cell,
        n=len(rows),
        judgement=judgement,
        units=None if cell.units is None else [cell.units[row] for row in rows],
        clusters=None if cell.clusters is None else [cell.clusters[row] for row in rows],
    )


def _part(statistics: Statistics, chosen: npt.NDArray[np.bool_], number_of: npt.NDArray[np.int64]) -> Statistics:
    if statistics.units is None:
        return statistics.select(chosen)
    part = statistics.select(chosen[statistics.units])
    return Statistics(part.rows, part.value, number_of[statistics.units[chosen[statistics.units]]])
