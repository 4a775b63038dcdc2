"""Runs of one system with different seeds, prompts or translators: their cells and estimates."""

from collections.abc import Mapping, Sequence

from isogloss.errors import PredictionError
from isogloss.figures import counted
from isogloss.metrics.crossed import Design, RunEstimates, variance_shares
from isogloss.metrics.estimate import Estimate
from isogloss.predictions.problems import LeftOut
from isogloss.predictions.run_folders import COMPLETE_RUNS, FINISH_RUNS, NOTHING_SHARED, in_some_runs, run_levels
from isogloss.scoring.cells import Cell
from isogloss.scoring.main_score import main_score
from isogloss.scoring.results import CellScore, FactorSpread
from isogloss.scoring.sources import Sources

# Estimates by task, language and metric.
Estimates = dict[tuple[str, str, str], RunEstimates]


def counted_levels(runs: Sequence[str]) -> str:
    """Return the numbers of levels of runs, given their names, in words: "3 seeds", "4 prompts × 3 seeds"."""
    return levels_text({factor: len(set(levels)) for factor, levels in design_of(runs).factors.items()})


def levels_text(levels: Mapping[str, int]) -> str:
    """Return numbers of levels by factor in words."""
    return " × ".join(counted(count, factor) for factor, count in levels.items())


def design_of(runs: Sequence[str], system: str = "") -> Design:
    """Return the design of a system's runs, given their names.

    Raises:
        PredictionError: some combination of seeds, prompts and translators is missing.
    """
    # Runs in memory have no names: they are seeds.
    names = runs if any(runs) else [f"seed-{number}" for number in range(len(runs))]
    try:
        return Design.of([run_levels(run) for run in names])
    except ValueError as error:
        raise PredictionError(f"incomplete runs: {error}", where=system, fix=COMPLETE_RUNS) from None


def common_cells(
    runs: Sequence[Sequence[Cell]], names: Sequence[str] = (), where: str = ""
) -> tuple[list[list[Cell]], list[LeftOut]]:
    """Return the cells that every run has, by run, and those left out because only some have them.

    `names` are those of the runs, by default numbers.
    """
    labels = names if any(names) else [f"run {number}" for number in range(1, len(runs) + 1)]
    by_name = [{(cell.task, cell.language): cell for cell in run} for run in runs]
    reasons = in_some_runs(dict(zip(labels, by_name, strict=True)))
    shared = [name for name in by_name[0] if name not in reasons]
    if not shared:
        raise PredictionError(NOTHING_SHARED, where=where, fix=FINISH_RUNS)
    in_some = [
        LeftOut(reason=reason, fix=FINISH_RUNS, task=task, language=code, split=runs[0][0].split)
        for (task, code), reason in reasons.items()
    ]
    for name in shared:
        check_same_examples([cells[name] for cells in by_name], "its runs")
    return [[cells[name] for name in shared] for cells in by_name], in_some


def check_same_examples(cells: Sequence[Cell], who: str) -> None:
    """Refuse cells that cannot be compared per example: other examples, or another kind of predictions."""
    first = cells[0]
    for cell in cells:
        same = cell.n == first.n and cell.split == first.split
        if not same or cell.judgement.dialect != first.judgement.dialect:
            what = f"{who} were scored on different examples of {cell.task}/{cell.language}"
            raise PredictionError(what, fix="Score all on the same split, with the same kind of answers")


def cell_estimates(runs: Sequence[Sequence[Cell]], sources: Sources, design: Design) -> Estimates:
    """Estimate every metric of every cell in each run of one system; all runs have the same cells."""
    estimates: Estimates = {}
    for cells in zip(*runs, strict=True):
        first = cells[0]
        for metric in first.metrics:
            # Skip metrics that some runs lack or that have no rows.
            if all(metric in cell.metrics and len(cell.metrics[metric]) for cell in cells):
                by_run = tuple(sources.estimate(cell, cell.metrics[metric]) for cell in cells)
                estimates[first.task, first.language, metric] = RunEstimates(by_run, design)
    return estimates


def factor_spreads(estimate: Estimate) -> dict[str, FactorSpread]:
    """Return the spread of a score over the levels of each factor; empty for one run."""
    shares = variance_shares(estimate)
    return {
        factor: FactorSpread.of({level: 100 * value for level, value in levels.items()}, shares.get(factor, 0.0))
        for factor, levels in estimate.levels.items()
    }


def seed_scores(cell: CellScore) -> list[float]:
    """Return the score of a cell in each seed; empty for one seed."""
    spreads = {name: number.spread["seed"].values for name, number in cell.metrics.items() if "seed" in number.spread}
    if len(spreads) < len(cell.metrics):
        return []
    values = zip(*spreads.values(), strict=True)
    return [main_score(cell.task, dict(zip(spreads, seed, strict=True))) for seed in values]
