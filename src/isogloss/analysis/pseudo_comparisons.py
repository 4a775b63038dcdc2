"""A system's scores on pseudo and human test sets, from its answers or from result records."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from isogloss.analysis.answers import difference_values, score_values
from isogloss.analysis.finding import Value
from isogloss.metrics.estimate import difference
from isogloss.results.readers import read_record
from isogloss.scoring.cells import Cell
from isogloss.scoring.names import shortest_distinct, system_words
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore
from isogloss.scoring.sources import Sources
from isogloss.tasks.registry import task as find_task


@dataclass(frozen=True, kw_only=True)
class PseudoComparison:
    """A system's scores on the human and the pseudo test set of one language, in one metric, 0..100.

    Attributes:
        human: score on the human set, and the bounds of its interval.
        pseudo: the same for the pseudo set.
        difference: pseudo minus human; the interval is known if predictions are given.
        n: number of examples that both have, or of the pseudo set if they are not parallel.
        human_n: number of examples of the whole human set.
    """

    system: str
    task: str
    metric: str
    language: str
    human: list[Value]
    pseudo: list[Value]
    difference: list[Value]
    n: int
    human_n: int

    def score(self, side: Literal["human", "pseudo"]) -> float:
        """Return the score on one of the sets."""
        value = getattr(self, side)[0]
        return float(value)


def comparisons(system: str, human: Cell, machine: Cell, request: Request) -> list[PseudoComparison]:
    """Return the scores of a cell on both sets, by main metric."""
    whole = human.n
    if shared := {*(human.units or ())} & {*(machine.units or ())}:
        human, machine = restricted(human, shared), restricted(machine, shared)
    # Both sets are translations of the same English examples: one space of sources.
    machine = replace(machine, split=human.split)
    sources = Sources([human, machine], request.resample)
    comparisons = []
    for metric in find_task(human.task).main:
        if metric in human.metrics and metric in machine.metrics:
            scores = [sources.estimate(cell, cell.metrics[metric]) for cell in (human, machine)]
            comparison = PseudoComparison(
                system=system,
                task=human.task,
                metric=metric,
                language=human.language,
                human=score_values(scores[0]),
                pseudo=score_values(scores[1]),
                difference=difference_values(difference(scores[1], scores[0])),
                n=machine.n,
                human_n=whole,
            )
            comparisons.append(comparison)
    return comparisons


def restricted(cell: Cell, units: Set[str]) -> Cell:
    """Return a cell with the examples of some units only."""
    rows = [row for row, unit in enumerate(cell.units or ()) if unit in units]
    place = np.full(cell.n, -1)
    place[rows] = np.arange(len(rows))
    metrics = {}
    for name, statistics in cell.metrics.items():
        example = np.arange(len(statistics)) if statistics.units is None else statistics.units
        inside = place[example] >= 0
        part = statistics.select(inside)
        metrics[name] = part if statistics.units is None else replace(part, units=place[example[inside]])
    return replace(
        cell,
        n=len(rows),
        judgement=replace(cell.judgement, metrics=metrics),
        units=[(cell.units or ())[row] for row in rows],
        clusters=None if cell.clusters is None else [cell.clusters[row] for row in rows],
    )


def recorded_comparisons(records: Sequence[Path], request: Request, split: str) -> list[PseudoComparison]:
    """Return the scores in result records: one per split of a system, with the same name, regime and seed."""
    cells: dict[tuple[str, ...], dict[tuple[str, str, str], CellScore]] = {}
    for path in records:
        record = read_record(path)
        of_system = cells.setdefault(system_words(record.system), {})
        of_system |= {(cell.task, cell.language, cell.split): cell for cell in record.cells if not cell.partial}
    names = shortest_distinct(list(cells))
    compared = []
    for name, of_system in zip(names, cells.values(), strict=True):
        for (task, code, own), human in of_system.items():
            machine = of_system.get((task, code, split))
            wanted = task in request.tasks and (request.languages is None or code in request.languages)
            if own != request.split or machine is None or not wanted:
                continue
            for metric in find_task(task).main:
                if metric in human.metrics and metric in machine.metrics:
                    first, second = human.metrics[metric], machine.metrics[metric]
                    comparison = PseudoComparison(
                        system=name,
                        task=task,
                        metric=metric,
                        language=code,
                        human=[first.value, first.low, first.high],
                        pseudo=[second.value, second.low, second.high],
                        difference=[second.value - first.value, None, None],
                        n=second.n,
                        human_n=first.n,
                    )
                    compared.append(comparison)
    return compared
