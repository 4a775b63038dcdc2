"""Several runs of one system that differ in their seed alone: one estimate of what they have in common."""

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

# (task, language, metric) -> the score with its errors
Estimates = dict[tuple[str, str, str], Estimate]


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
        PredictionError: the runs have no cell in common, or were scored on different examples of one.
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
    for name in shared:
        check_same_examples([cells[name] for cells in by_name], "its seeds")
    return [[cells[name] for name in shared] for cells in by_name], in_some


def check_same_examples(cells: Sequence[Cell], who: str) -> None:
    """Refuse cells that cannot be compared example by example.

    Raises:
        PredictionError: they were scored on different examples, or with different kinds of answers.
    """
    first = cells[0]
    for cell in cells:
        same = cell.n == first.n and cell.split == first.split
        if not same or cell.judgement.dialect != first.judgement.dialect:
            what = f"{who} were scored on different examples of {cell.task}/{cell.language}"
            raise PredictionError(what, fix="Score all on the same split, with the same kind of answers")


def cell_estimates(runs: Sequence[Sequence[Cell]], sources: Sources, system: str = "") -> Estimates:
    """The estimate of every metric of every cell, over the runs of one system, which all have the same cells."""
    found: Estimates = {}
    for cells in zip(*runs, strict=True):
        first = cells[0]
        for metric in first.metrics:
            # A metric that some answers do not allow has no mean; one without rows has no score.
            if all(metric in cell.metrics and len(cell.metrics[metric]) for cell in cells):
                each = [sources.estimate(cell, cell.metrics[metric]) for cell in cells]
                found[first.task, first.language, metric] = over_seeds(each, f"seeds of {system}")
    return found


def seed_spread(estimate: Estimate) -> SeedSpread | None:
    """How the seeds differ; None where there is but one."""
    if estimate.seeds is None:
        return None
    share = estimate.seed_variance / estimate.variance if estimate.variance else 0.0
    return SeedSpread((100 * estimate.seeds).tolist(), 100 * float(estimate.seeds.std(ddof=1)), share)


def seed_share(difference: Estimate) -> float | None:
    """The part of the variance of a difference that is due to seeds; None where each system has but one."""
    has_seeds = any(part.are_seeds for part in difference.errors.values())
    return difference.seed_variance / difference.variance if has_seeds and difference.variance else None


def seed_scores(cell: CellScore) -> list[float]:
    """The one figure of a cell in each of its seeds; empty where there is but one."""
    spreads = {name: number.seeds.values for name, number in cell.metrics.items() if number.seeds is not None}
    if len(spreads) < len(cell.metrics):
        return []
    values = zip(*spreads.values(), strict=True)
    return [main_score(cell.task, dict(zip(spreads, each, strict=True))) for each in values]
