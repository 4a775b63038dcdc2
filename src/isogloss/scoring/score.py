"""From a folder of predictions to the result record."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from isogloss.metrics.estimate import Estimate, estimate, mean
from isogloss.metrics.statistics import merge
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.averages import number, suite_averages, task_averages
from isogloss.scoring.cells import Cell, Request, Resample
from isogloss.scoring.judged_systems import judged_systems
from isogloss.scoring.names import distinct_names
from isogloss.scoring.results import AverageScore, CellScore, PairScores, Results
from isogloss.scoring.seeds import cell_estimates, common_cells
from isogloss.scoring.sources import Sources, design_effect
from isogloss.tasks.kinds import LanguagePairs
from isogloss.tasks.registry import task
from isogloss.version import __version__
from isogloss.workers import Workers, in_parallel, local_workers


def score(  # noqa: PLR0913 - what the verb can be told
    predictions: Predictions,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    *,
    allow_partial: bool = False,
    resample: Resample = "source",
    strict: bool = False,
    jobs: int = 1,
) -> Results:
    """Score predictions.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings; a folder of several such
            (`seed-0`, `seed-1`, …), of which the means are scored; or the answers themselves, as
            {task: {language: {id: answer}}}.
        suite: a suite such as "xtreme-r", or a TOML file; decides languages, averages and the rule of the overall.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also score cells whose gold is incomplete; no average includes them.
        resample: of what the intervals speak: "source" of new articles, premises …, "example" of new examples from the
            same ones.
        strict: refuse answers that would be left out, for want of gold or of a right name.
        jobs: processes that share the work; more than one need `if __name__ == "__main__":` in a script.

    Returns:
        Every cell, task average, category and the overall figure, with 95 % intervals and signatures; and what was
        left out, with the reason.

    Raises:
        PredictionError: there are no predictions, some that cannot be scored, or gold for none of them; all problems
            are listed.
        UnknownNameError: no such suite, task, language or split.
    """
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=data,
        gold=gold,
        allow_partial=allow_partial,
        resample=resample,
        strict=strict,
    )
    with local_workers(jobs) as workers:
        return score_request(predictions, request, workers=workers)


def score_request(
    predictions: Predictions,
    request: Request,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> Results:
    """Score predictions as a request says.

    `progress` is called with each cell before it is judged, and `workers` share the cells if there are any.
    """
    [found] = judged_systems([predictions], request, progress, workers)
    return score_runs(found.runs, request, found.about, found.left_out, found.seeds)


def score_systems(
    systems: Sequence[Predictions],
    request: Request,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> dict[str, Results]:
    """Score several systems as a request says, by names that tell them apart; see `score_request`.

    Where there are as many systems as workers, each worker takes whole ones; else they share the cells of each.
    """
    if workers is None or len(systems) < workers.slots:
        found = [score_request(each, request, progress, workers) for each in systems]
    else:
        found = []
        for results in in_parallel(workers, partial(score_request, request=request), systems):
            found.append(results)
            if progress is not None:
                progress(f"{len(found)} of {len(systems)}")
    return dict(zip(distinct_names([str(each.system["name"]) for each in found]), found, strict=True))


def score_cells(
    cells: Sequence[Cell], request: Request, system: dict[str, Any], left_out: Sequence[LeftOut] = ()
) -> Results:
    """The result record of the judged cells of one run, in the order of the request's tasks and languages.

    `system` is what is known of the system, as `system.toml` has it.
    """
    return score_runs([cells], request, system, left_out)


def score_runs(
    runs: Sequence[Sequence[Cell]],
    request: Request,
    system: dict[str, Any],
    left_out: Sequence[LeftOut] = (),
    seeds: Sequence[str] = (),
) -> Results:
    """The result record of one run, or of the cells that several seeds have in common: scores are then their means."""
    runs, in_some = common_cells(runs)
    cells = runs[0]
    sources = Sources((cell for run in runs for cell in run), request.resample)
    averages = task_averages(cells, cell_estimates(runs, sources), request)
    effects = _design_effects(runs, averages, request)
    categories, overall = suite_averages(averages, request)
    return Results(
        request.suite.id,
        system,
        request.split,
        [_cell_score(of_seeds, request.resample) for of_seeds in zip(*runs, strict=True)],
        [replace(average, design_effect=effects.get(name)) for name, (_, average) in averages.items()],
        categories,
        overall,
        _all_pair_scores(cells, sources, request) if len(runs) == 1 else [],
        __version__,
        resample=request.resample,
        seeds=[name for name in seeds if name],
        left_out=[*left_out, *in_some],
        clustered=clustered_tasks(cells) if request.resample == "source" else [],
    )


def _design_effects(
    runs: Sequence[Sequence[Cell]], averages: Mapping[str, tuple[Estimate, AverageScore]], request: Request
) -> dict[str, float | None]:
    """By task how many times larger the variance of its average is for new sources than for new examples."""
    clustered = clustered_tasks(runs[0]) if request.resample == "source" else []
    if not clustered:
        return {}
    singly = cell_estimates(runs, Sources((cell for run in runs for cell in run), "example"))
    found = {}
    for name in clustered:
        if name in averages:
            estimate, average = averages[name]
            parts = [singly[name, code, metric] for code in average.members for metric in task(name).main]
            found[name] = design_effect(estimate, mean(parts))
    return found


def clustered_tasks(cells: Iterable[Cell]) -> list[str]:
    """The tasks whose examples are known to share sources."""
    return list(dict.fromkeys(cell.task for cell in cells if cell.clusters is not None))


def score_cell(cell: Cell) -> CellScore:
    """The scores of one cell by itself."""
    return _cell_score([cell], "source")


def _cell_score(seeds: Sequence[Cell], resample: Resample) -> CellScore:
    """One cell of every seed. It is looked at alone: what its interval is must not depend on what else is scored."""
    cell = seeds[0]
    runs = [[each] for each in seeds]
    found = cell_estimates(runs, Sources(seeds, resample))
    notes = list(dict.fromkeys(note for each in seeds for note in each.notes))
    effect = None
    if resample == "source" and cell.clusters is not None:
        main = [(cell.task, cell.language, metric) for metric in task(cell.task).main]
        singly = cell_estimates(runs, Sources(seeds, "example"))
        effect = design_effect(mean([found[key] for key in main]), mean([singly[key] for key in main]))
    numbers = {metric: number(estimate) for (_, _, metric), estimate in found.items()}
    return CellScore(
        cell.task, cell.language, cell.split, numbers, cell.signature, cell.partial, notes, design_effect=effect
    )


def _all_pair_scores(cells: Sequence[Cell], sources: Sources, request: Request) -> list[PairScores]:
    """The scores by language pair of every task whose kind has them."""
    judged = [(cell, cell.judgement.pairs) for cell in cells if not cell.partial]
    by_task = {
        name: [(cell, pairs) for cell, pairs in judged if pairs is not None and cell.task == name]
        for name in request.tasks
    }
    return [_pair_scores(name, members, sources) for name, members in by_task.items() if members]


def _pair_scores(name: str, members: Sequence[tuple[Cell, LanguagePairs]], sources: Sources) -> PairScores:
    """Pooled subsets and the query-by-target matrix of a retrieval task."""
    rows = {cell.language: sources.by_source(cell, pairs.statistics) for cell, pairs in members}
    targets = {cell.language: pairs.target_languages for cell, pairs in members}
    together = merge(list(rows.values()))
    same = np.concatenate([of_targets == query for query, of_targets in targets.items()])
    subsets = {
        "all": together,
        "same language": together.select(same),
        "different languages": together.select(~same),
    }
    matrix = {
        query: {
            str(target): number(estimate(rows[query].select(of_targets == target))) for target in np.unique(of_targets)
        }
        for query, of_targets in targets.items()
    }
    numbers = {subset: number(estimate(part)) for subset, part in subsets.items() if len(part)}
    return PairScores(name, members[-1][1].metric, numbers, matrix)
