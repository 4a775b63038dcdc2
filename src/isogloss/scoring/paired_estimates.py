"""Estimates of two systems on the same examples, and their difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isogloss.metrics.crossed import Design, MethodDifference, RunEstimates
from isogloss.metrics.exchange import Exchange
from isogloss.metrics.statistics import Statistics
from isogloss.scoring.cells import Cell
from isogloss.scoring.contrast import SystemDifference
from isogloss.scoring.designs import Estimates, cell_estimates
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources

# (task, language) -> the cells of both systems, one per run
CellPairs = Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]
# cells -> their sources, and the estimates of each system, by the identity of its first cells
EstimateMemo = dict[tuple[tuple[str, str], ...], tuple[Sources, dict[int, Estimates]]]


@dataclass(frozen=True)
class PairedEstimates:
    """The scores of two systems in each run, and the difference of their means by source."""

    first: RunEstimates
    second: RunEstimates
    exchange: Exchange

    @staticmethod
    def mean(parts: Sequence["PairedEstimates"], weights: Sequence[float] | None = None) -> "PairedEstimates":
        """Return the mean of both systems over some cells or tasks."""
        return PairedEstimates(
            RunEstimates.mean([part.first for part in parts], weights),
            RunEstimates.mean([part.second for part in parts], weights),
            Exchange.mean([part.exchange for part in parts], weights),
        )

    @property
    def difference(self) -> SystemDifference:
        """Difference of the systems.

        Single runs are compared by exchanging the systems' answers source by source. Several runs add an error that
        such an exchange does not measure, and answers estimated from a subset cannot be exchanged.
        """
        single = len(self.first.runs) == len(self.second.runs) == 1
        if single and not self.first.runs[0].from_subset:
            return self.exchange
        return MethodDifference.of(self.first, self.second, self.exchange.further)


def paired_estimates(
    pairs: CellPairs, designs: tuple[Design, Design], request: Request, memo: EstimateMemo | None = None
) -> dict[tuple[str, str], PairedEstimates]:
    """Return the estimates of both systems on some cells, over the sources of these cells.

    Systems that are part of several pairs share a `memo`: they have the same examples, hence the same sources.
    """
    memo = {} if memo is None else memo
    cells = tuple(pairs)
    if cells not in memo:
        every = (cell for both in pairs.values() for runs in both for cell in runs)
        memo[cells] = Sources(every, request.resample), {}
    sources, known = memo[cells]
    sides = []
    for side in (0, 1):
        runs = [both[side] for both in pairs.values()]
        system = id(runs[0])  # a list of cells that lives as long as the memo
        if system not in known:
            known[system] = cell_estimates(list(zip(*runs, strict=True)), sources, designs[side])
        sides.append(known[system])
    return {
        key: PairedEstimates(
            sides[0][*key, SCORE], sides[1][*key, SCORE], sources.exchange(both[0][0], *map(_mean_statistics, both))
        )
        for key, both in pairs.items()
    }


def _mean_statistics(runs: Sequence[Cell]) -> Statistics:
    """Return the statistics of a cell, averaged over runs example by example."""
    statistics = [cell.metrics[SCORE] for cell in runs]
    if len(statistics) == 1:
        return statistics[0]
    return replace(statistics[0], rows=np.mean([one.rows for one in statistics], axis=0))
