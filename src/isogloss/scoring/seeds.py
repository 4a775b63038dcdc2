"""Runs of one system with different seeds: estimates over seeds."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from isogloss.errors import PredictionError
from isogloss.metrics.estimate import Estimate, over_seeds
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Cell
from isogloss.scoring.main_score import main_score
from isogloss.scoring.results import CellScore, SeedSpread
from isogloss.scoring.sources import Sources

# Estimates by task, language and metric.
Estimates = dict[tuple[str, str, str], Estimate]


def seed_folders(predictions: Predictions) -> dict[str, Predictions]:
    """Return the runs in a folder of seeds (`seed-0`, `seed-1`, …) by name; anything else is one unnamed run."""
    if isinstance(predictions, (str, os.PathLike)):
        root = Path(predictions)
        folders = [path for path in root.glob("seed-*") if re.fullmatch(r"seed-\d+", path.name) and path.is_dir()]
        if folders:
            return {path.name: path for path in sorted(folders, key=lambda path: int(path.name[5:]))}
    return {"": predictions}


def common_cells(runs: Sequence[Sequence[Cell]], where: str = "") -> tuple[list[list[Cell]], list[LeftOut]]:
    """Return the cells that every run has, by run, and those left out because only some have them."""
    by_name = [{(cell.task, cell.language): cell for cell in run} for run in runs]
    every = dict.fromkeys(name for cells in by_name for name in cells)
    shared = [name for name in every if all(name in cells for cells in by_name)]
    fix = "Finish the run of every seed"
    if not shared:
        raise PredictionError("the seeds have no cell in common", where=where, fix=fix)
    in_some = [
        LeftOut(reason="only some of the seeds have it", fix=fix, task=task, language=code, split=runs[0][0].split)
        for task, code in every
        if (task, code) not in shared
    ]
    for name in shared:
        check_same_examples([cells[name] for cells in by_name], "its seeds")
    return [[cells[name] for name in shared] for cells in by_name], in_some


def check_same_examples(cells: Sequence[Cell], who: str) -> None:
    """Refuse cells that cannot be compared per example: other examples, or another kind of predictions."""
    first = cells[0]
    for cell in cells:
        same = cell.n == first.n and cell.split == first.split
        if not same or cell.judgement.dialect != first.judgement.dialect:
            what = f"{who} were scored on different examples of {cell.task}/{cell.language}"
            raise PredictionError(what, fix="Score all on the same split, with the same kind of answers")


def cell_estimates(runs: Sequence[Sequence[Cell]], sources: Sources, system: str = "") -> Estimates:
    """Estimate every metric of every cell over the runs of one system, which have the same cells."""
    estimates: Estimates = {}
    for cells in zip(*runs, strict=True):
        first = cells[0]
        for metric in first.metrics:
            # Skip metrics that some runs lack or that have no rows.
            if all(metric in cell.metrics and len(cell.metrics[metric]) for cell in cells):
                by_run = [sources.estimate(cell, cell.metrics[metric]) for cell in cells]
                estimates[first.task, first.language, metric] = over_seeds(by_run, f"seeds of {system}")
    return estimates


def seed_spread(estimate: Estimate) -> SeedSpread | None:
    """Return the spread over seeds, or None for one seed."""
    if estimate.seeds is None:
        return None
    share = estimate.seed_variance / estimate.variance if estimate.variance else 0.0
    return SeedSpread((100 * estimate.seeds).tolist(), 100 * float(estimate.seeds.std(ddof=1)), share)


def seed_share(difference: Estimate) -> float | None:
    """Return the share of a difference's variance due to seeds, or None if each system has one seed."""
    has_seeds = any(part.are_seeds for part in difference.errors.values())
    return difference.seed_variance / difference.variance if has_seeds and difference.variance else None


def seed_scores(cell: CellScore) -> list[float]:
    """Return the score of a cell in each seed; empty for one seed."""
    spreads = {name: number.seeds.values for name, number in cell.metrics.items() if number.seeds is not None}
    if len(spreads) < len(cell.metrics):
        return []
    values = zip(*spreads.values(), strict=True)
    return [main_score(cell.task, dict(zip(spreads, seed, strict=True))) for seed in values]
