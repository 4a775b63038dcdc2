"""Several runs of one system that differ in their seed alone: one estimate of what they have in common."""

import os
import re
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from isogloss.errors import PredictionError
from isogloss.metrics.estimate import Estimate, over_seeds
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Cell
from isogloss.scoring.main_score import main_score
from isogloss.scoring.results import CellScore, SeedSpread
from isogloss.scoring.sources import Sources

# (task, language, metric) -> the score with its errors
Estimates = dict[tuple[str, str, str], Estimate]

# The seeds of a system are a space of sources of their own, under this and its name.
_SEEDS = "seeds of "


def seed_folders(predictions: Predictions) -> dict[str, Predictions]:
    """The runs in a folder of seeds (`seed-0`, `seed-1`, …) by name; anything else is a single run without a name."""
    if isinstance(predictions, (str, os.PathLike)):
        root = Path(predictions)
        found = [each for each in root.glob("seed-*") if re.fullmatch(r"seed-\d+", each.name) and each.is_dir()]
        if found:
            return {each.name: each for each in sorted(found, key=lambda each: int(each.name[5:]))}
    return {"": predictions}


def common_cells(runs: Sequence[Sequence[Cell]], where: str = "") -> tuple[list[list[Cell]], list[LeftOut]]:
    """The cells that every run has, run by run, and those that are left out because only some have them.

    Raises:
        PredictionError: the runs have no cell in common.
    """
    by_name = [{(cell.task, cell.language): cell for cell in run} for run in runs]
    every = dict.fromkeys(name for cells in by_name for name in cells)
    shared = [name for name in every if all(name in cells for cells in by_name)]
    if not shared:
        raise PredictionError("the seeds have no cell in common", where=where, fix="Finish the run of every seed")
    fix = "Finish the run of every seed"
    in_some = [
        LeftOut("only some of the seeds have it", fix, *name, split=runs[0][0].split)
        for name in every
        if name not in shared
    ]
    return [[cells[name] for name in shared] for cells in by_name], in_some


def cell_estimates(runs: Sequence[Sequence[Cell]], sources: Sources, system: str = "") -> Estimates:
    """The estimate of every metric of every cell, over the runs of one system, which all have the same cells."""
    space = f"{_SEEDS}{system}"
    return {
        (cells[0].task, cells[0].language, metric): over_seeds(
            [sources.estimate(cell, cell.metrics[metric]) for cell in cells], space
        )
        for cells in zip(*runs, strict=True)
        for metric in cells[0].metrics
    }


def seed_spread(estimate: Estimate) -> SeedSpread | None:
    """How the seeds differ; None where there is but one."""
    parts = [part for space, part in estimate.errors.items() if space.startswith(_SEEDS)]
    if len(parts) != 1:
        return None
    [part] = parts
    apart = part.values * sqrt(part.count * (part.count - 1))
    share = part.variance / estimate.variance if estimate.variance else 0.0
    return SeedSpread((100 * (estimate.value + apart)).tolist(), 100 * sqrt(part.variance * part.count), share)


def seed_share(difference: Estimate) -> float | None:
    """The part of the variance of a difference that is due to seeds; None where each system has but one."""
    parts = [part.variance for space, part in difference.errors.items() if space.startswith(_SEEDS)]
    return sum(parts) / difference.variance if parts and difference.variance else None


def seed_scores(cell: CellScore) -> list[float]:
    """The one figure of a cell in each of its seeds; empty where there is but one."""
    spreads = {name: number.seeds.values for name, number in cell.metrics.items() if number.seeds is not None}
    if len(spreads) < len(cell.metrics):
        return []
    values = zip(*spreads.values(), strict=True)
    return [main_score(cell.task, dict(zip(spreads, each, strict=True))) for each in values]
