"""From a folder of predictions to the result record."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from isogloss.metrics import aggregate
from isogloss.metrics.intervals import interval, percentile_interval
from isogloss.metrics.statistics import FloatArray, Statistics, merge
from isogloss.predictions.folder import Folder
from isogloss.scoring.cells import Cell, Request, judged_cells
from isogloss.scoring.draws import RESAMPLES, Draws, draw, shared_units, unit_codes
from isogloss.scoring.results import Average, CellScore, Number, Overall, PairScores, Results
from isogloss.tasks.registry import task
from isogloss.version import __version__

__all__ = ["score", "score_request"]


def score(
    predictions: str | os.PathLike[str],
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    gold: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    *,
    allow_partial: bool = False,
) -> Results:
    """Score a folder of predictions.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings.
        suite: "xtreme-r" or "xtreme"; decides languages, averages and the rule of the overall figure.
        data: the data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: a folder of labels in XTREME's layout, instead of the data folder.
        split: "test", "dev", or "best" (test where it has gold, else dev; no overall).
        tasks: only these tasks.
        languages: only these languages.
        allow_partial: also score cells whose gold is incomplete; no average includes them.
    """
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=None if data is None else Path(data),
        gold=None if gold is None else Path(gold),
        allow_partial=allow_partial,
    )
    return score_request(Path(predictions), request)


def score_request(
    predictions: Path, request: Request, progress: Callable[[str], None] | None = None, seed: int = 0
) -> Results:
    """Score a folder as a request says; `progress` is told each cell before it is judged."""
    cells = list(judged_cells(predictions, request, progress))
    [draws] = draw([cells], RESAMPLES, seed)
    averages = task_averages(cells, draws, request)
    replicates = {average.name: _score_draws(average.name, cells, draws) for average in averages}
    return Results(
        request.suite.id,
        Folder(predictions).system,
        request.split,
        [_cell_score(cell, draws) for cell in cells],
        averages,
        _categories(averages, replicates, request),
        _overall(averages, replicates, request),
        [_pair_scores(name, cells) for name in request.tasks if _pair_cells(name, cells)],
        __version__,
    )


def number(value: float, bounds: tuple[float, float], n: int) -> Number:
    """A figure on the 0..100 scale."""
    return Number(100 * value, 100 * bounds[0], 100 * bounds[1], n)


def _cell_score(cell: Cell, draws: Draws) -> CellScore:
    metrics: dict[str, Number] = {}
    for name, statistics in cell.metrics.items():
        bounds = (
            interval(statistics)
            if statistics.is_binary
            else percentile_interval(
                draws[cell.task, cell.language, name], units=statistics.unit_count, score=statistics.score
            )
        )
        metrics[name] = number(statistics.score, bounds, len(statistics))
    return CellScore(
        cell.task, cell.language, cell.split, metrics, cell.signature, partial=cell.partial, notes=cell.notes
    )


def averaged(cells: Iterable[Cell], name: str) -> list[Cell]:
    """The cells that enter a task's average: those with the task's full gold."""
    return [cell for cell in cells if cell.task == name and not cell.partial]


def task_averages(cells: Sequence[Cell], draws: Draws, request: Request) -> list[Average]:
    """The average over languages of every task that has any, with the languages it lacks."""
    averages: list[Average] = []
    for name in request.tasks:
        inside = [cell for cell in averaged(cells, name) if cell.language in request.suite.languages_of(name)]
        if not inside:
            continue
        metrics: dict[str, Number] = {}
        for metric in inside[0].metrics:
            having = [cell for cell in inside if metric in cell.metrics]
            if len(having) == len(inside):
                metrics[metric] = _mean_number(
                    [cell.metrics[metric] for cell in having],
                    np.mean([draws[name, cell.language, metric] for cell in having], axis=0),
                )
        members = [cell.language for cell in inside]
        missing = [code for code in request.suite.languages_of(name) if code not in members]
        main = [metric for metric in task(name).main if metric in metrics]
        statistics = [cell.metrics[metric] for cell in inside for metric in main]
        replicates = np.mean([draws[name, cell.language, m] for cell in inside for m in main], axis=0)
        total = sum(cell.n for cell in inside)
        averages.append(Average(name, _mean_number(statistics, replicates, total), metrics, members, missing))
    return averages


def _mean_number(statistics: list[Statistics], replicates: FloatArray, n: int | None = None) -> Number:
    value = float(np.mean([one.score for one in statistics]))
    bounds = percentile_interval(replicates, units=min(one.unit_count for one in statistics), score=value)
    return number(value, bounds, sum(map(len, statistics)) if n is None else n)


def _score_draws(name: str, cells: Sequence[Cell], draws: Draws) -> FloatArray:
    main = task(name).main
    inside = [draws[name, cell.language, metric] for cell in averaged(cells, name) for metric in main]
    return np.asarray(np.mean(inside, axis=0))


def _categories(averages: list[Average], replicates: dict[str, FloatArray], request: Request) -> list[Average]:
    found: list[Average] = []
    for category, members in aggregate.categories(request.suite.id).items():
        inside = [average for average in averages if average.name in members]
        if inside:
            missing = [f"{a.name}/{code}" for a in inside for code in a.missing]
            missing += [name for name in members if name not in {average.name for average in inside}]
            scores = {average.name: average.score.value / 100 for average in inside}
            draws = np.mean([replicates[average.name] for average in inside], axis=0)
            value = aggregate.overall(scores, "flat")
            total = sum(average.score.n for average in inside)
            summary = number(value, percentile_interval(draws, score=value), total)
            found.append(Average(category, summary, {}, [average.name for average in inside], missing))
    return found


def _overall(averages: list[Average], replicates: dict[str, FloatArray], request: Request) -> Overall:
    rule = request.suite.rule
    missing = [f"{average.name}/{code}" for average in averages for code in average.missing]
    missing += aggregate.missing([average.name for average in averages], request.suite.id)
    inside = [average for average in averages if average.name in request.suite.tasks]
    if request.split == "best":
        return Overall(rule, None, missing, "no overall: the cells are of different splits")
    if not inside:
        return Overall(rule, None, missing, f"no task of {request.suite.id} was scored in full")
    value = aggregate.overall({average.name: average.score.value / 100 for average in inside}, rule)
    draws = np.array(
        [
            aggregate.overall({average.name: replicates[average.name][i] for average in inside}, rule)
            for i in range(RESAMPLES)
        ]
    )
    summary = number(value, percentile_interval(draws, score=value), sum(a.score.n for a in inside))
    return Overall(rule, summary, missing)


def _pair_cells(name: str, cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in averaged(cells, name) if cell.judgement.pairs is not None]


def _pair_scores(name: str, cells: Sequence[Cell]) -> PairScores:
    """Pooled subsets and the query-by-target matrix of a retrieval task."""
    inside = _pair_cells(name, cells)
    codes = unit_codes(inside)
    whole: list[Statistics] = []
    query: list[str] = []
    target: list[str] = []
    metric = ""
    for cell in inside:
        pairs = cell.judgement.pairs
        if pairs is not None:
            metric = pairs.metric
            whole.append(shared_units(pairs.statistics, cell, codes))
            query += [cell.language] * len(pairs.statistics)
            target += pairs.target_languages.tolist()
    together = merge(whole)
    asked, found = np.array(query), np.array(target)
    same = asked == found
    subsets = {
        "all": together,
        "same language": together.select(same),
        "different languages": together.select(~same),
    }
    matrix = {
        str(q): {
            str(t): _pair_number(together.select((asked == q) & (found == t)))
            for t in sorted(set(found[asked == q].tolist()))
        }
        for q in dict.fromkeys(query)
    }
    return PairScores(name, metric, {key: _pair_number(part) for key, part in subsets.items() if len(part)}, matrix)


def _pair_number(statistics: Statistics) -> Number:
    return number(statistics.score, interval(statistics), len(statistics))
