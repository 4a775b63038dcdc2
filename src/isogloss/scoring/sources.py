"""Group examples by source, because examples of one source are correlated.

A source is the unit of resampling: an article with all its questions, or a sentence with all its translations.
Languages and tasks that share sources form a space; every other cell is its own space.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

import numpy as np

from isogloss.metrics.estimate import ROUNDING, Estimate, estimate
from isogloss.metrics.exchange import Exchange, exchange
from isogloss.metrics.statistics import IntArray, Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.request import Resample
from isogloss.tasks.registry import task


class Sources:
    """The sources of the cells of one or more systems."""

    def __init__(self, cells: Iterable[Cell], resample: Resample = "source") -> None:
        self.resample = resample
        by_space: dict[str, list[Cell]] = {}
        unnamed: dict[tuple[str, str], int] = {}
        for cell in cells:
            if self._names(cell) is not None:
                by_space.setdefault(_space(cell), []).append(cell)
            else:
                unnamed[cell.task, cell.language] = cell.n
        self._codes = {space: self._numbered(members) for space, members in by_space.items()}
        self._size = {space: max(codes.values(), default=-1) + 1 for space, codes in self._codes.items()}
        # Unnamed examples are never shared: in merged cells they follow all named sources.
        starts = accumulate(unnamed.values(), initial=max(self._size.values(), default=0))
        self._start = dict(zip(unnamed, starts, strict=False))

    def _names(self, cell: Cell) -> list[str] | None:
        by_source = self.resample == "source" and cell.clusters is not None
        return cell.clusters if by_source else cell.units

    def _numbered(self, cells: list[Cell]) -> dict[str, int]:
        """Number the sources; sources with translations of the same example are merged."""
        parents: dict[str, str] = {}  # of a union-find: the first of merged names is its own parent
        source_of: dict[str, str] = {}
        for cell in cells:
            names = self._names(cell) or []
            for name in names:
                parents.setdefault(name, name)
            if cell.units is not None and names is not cell.units:
                for unit, name in zip(cell.units, names, strict=True):
                    if (known := source_of.setdefault(unit, name)) != name:
                        low, high = sorted((_first(parents, known), _first(parents, name)))
                        parents[high] = low
        first = {name: _first(parents, name) for name in sorted(parents)}
        numbers = {name: number for number, name in enumerate(dict.fromkeys(first.values()))}
        return {name: numbers[representative] for name, representative in first.items()}

    def of_examples(self, cell: Cell) -> tuple[IntArray | None, int, str]:
        """Return the source of every example of a cell, and the size and name of its space.

        Unnamed examples are their own sources: they keep their numbers, so that parts of a cell can be subtracted.
        """
        names = self._names(cell)
        if names is None:
            return None, cell.n, f"{cell.task}/{cell.language}"
        space = _space(cell)
        codes = self._codes[space]
        return np.fromiter(map(codes.__getitem__, names), np.int64, len(names)), self._size[space], space

    def by_source(self, cell: Cell, statistics: Statistics) -> Statistics:
        """Return the statistics of a cell with sources as units, so that cells can be merged."""
        codes, _, _ = self.of_examples(cell)
        if codes is None:
            codes = np.arange(cell.n) + self._start[cell.task, cell.language]
        units = np.arange(len(statistics)) if statistics.units is None else statistics.units
        return replace(statistics, units=codes[units])

    def estimate(self, cell: Cell, statistics: Statistics) -> Estimate:
        """Estimate a metric of a cell; the result can be averaged with others."""
        return estimate(statistics, *self.of_examples(cell))

    def exchange(self, cell: Cell, first: Statistics, second: Statistics) -> Exchange:
        """Return the difference of two systems on a cell by source; the result can be averaged with others."""
        return exchange(first, second, *self.of_examples(cell))


def _first(parents: dict[str, str], name: str) -> str:
    root = name
    while parents[root] != root:
        root = parents[root]
    while parents[name] != root:
        parents[name], name = root, parents[name]
    return root


def _space(cell: Cell) -> str:
    return f"{task(cell.task).source_space}|{cell.split}"


def design_effect(by_source: Estimate, by_example: Estimate) -> float | None:
    """Return the variance for new sources divided by that for new examples; None without variance."""
    single = by_example.example_variance
    return by_source.example_variance / single if single > ROUNDING**2 else None
