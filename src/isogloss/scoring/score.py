"""Score a folder of predictions: judge its cells, in this process or in several, and compile the result record."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Unpack

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from isogloss.errors import DataError, PredictionError
from isogloss.metrics.crossed import Design, RunEstimates
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import merge
from isogloss.predictions.check import CheckedAnswers
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.guide import Guides
from isogloss.predictions.memory import Predictions, PredictionSource, open_system
from isogloss.predictions.problems import LeftOut, ProblemCode
from isogloss.predictions.subset import own_subset
from isogloss.predictions.validate import ValidationReport, check_folder
from isogloss.reply_outcomes import ReplyCounts
from isogloss.scoring.averages import number, suite_averages, task_averages
from isogloss.scoring.cells import Answered, Cell, Progress, Shortcomings, answered_row, asked_cells, judge_checked
from isogloss.scoring.designs import Estimates, cell_estimates, common_cells, design_of
from isogloss.scoring.names import distinct_names
from isogloss.scoring.request import Request, Resample, SelectionOptions, lists_options
from isogloss.scoring.results import AverageScore, CellScore, PairScores, Results, SubsetUse
from isogloss.scoring.sources import Sources, design_effect
from isogloss.scoring.subset import DrawErrors, stated, stated_average, subset_use, whole_cell
from isogloss.tasks.kinds import LanguagePairs
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.version import __version__
from isogloss.workers import Workers, in_parallel, local_workers

_MISNAMED = (ProblemCode.UNKNOWN_TASK, ProblemCode.UNKNOWN_LANGUAGE, ProblemCode.FILE_INSTEAD_OF_FOLDER)


@lists_options(SelectionOptions)
def score(
    predictions: "Predictions",
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    *,
    jobs: int = 1,
    subset: str | os.PathLike[str] | None = None,
    guide: "Guides" = None,
    pseudo: bool = False,
    **options: "Unpack[SelectionOptions]",
) -> Results:
    """Score predictions.

    Args:
        predictions: folder with `<task>/<language>.jsonl`, XTREME's own layout, or embeddings; a folder of runs
            (`seed-0`, `seed-1`, …; `prompt-short/seed-0`, …), which scores their means; or, in memory, a mapping
            {task: {language: {id: answer}}}, with `Embeddings` in place of the answers of a retrieval cell; a table
            with the columns task, language, id and prediction (pandas, polars, Arrow, `datasets`, or a dict of
            lists); or a function that takes `Examples` and returns one answer each or `Embeddings`; or a fitted system.
        suite: name such as "xtreme-r", or a TOML file; sets languages, averages and the rule of the overall score.
        data: data folder with gold; default ISOGLOSS_DATA or the user's cache.
        jobs: number of processes; more than one requires `if __name__ == "__main__":` in a script.
        subset: subset file of `export`, or its folder: only the drawn examples are answered, and the scores on all of
            them are estimated. Other cells need all answers.
        guide: predictions of a cheap system for all examples, or of several, as control variate for the subset; need
            not be the guide of the draw.
        pseudo: True to also score languages that a task does not have on their pseudo test sets (English test sets,
            machine-translated by `isogloss.translate`), as marked cells outside of every average.
        gold: label folder in XTREME's layout, used instead of the data folder.
        split: "test", "dev", "best" (test if it has gold, else dev; no overall score), or "pseudo" or
            "pseudo-dev" for pseudo test sets only, in all languages that have one.
        tasks: tasks to score; default all tasks of the suite.
        languages: languages to score; default all languages of the suite.
        allow_partial: also score cells with incomplete gold; no average includes them.
        resample: population of the intervals: "source" for new articles, premises …, "example" for new
            examples from the same sources.
        strict: raise an error instead of leaving out answers without gold or with a wrong file name.

    Returns:
        Every cell, task average, category and the overall score, with 95 % intervals and signatures; and what was
        left out, with the reason.

    Raises:
        PredictionError: the predictions are missing, invalid, or all without gold; lists all problems.
        UnknownNameError: unknown suite, task, language or split.

    Example:
        results = isogloss.score("my-predictions", data="data")
        results["xquad"].score.value, results["xquad", "sw"].score
        isogloss.score({"xnli": {"sw": answers_by_id}}, data="data", languages=["sw"])
    """
    request = Request.of(suite, data=data, subset=subset, guide=guide, pseudo=pseudo, **options)
    with local_workers(jobs) as workers:
        return score_request(predictions, request, workers=workers)


def score_request(
    predictions: Predictions, request: Request, progress: Progress = None, workers: Workers | None = None
) -> Results:
    """Score the requested cells; `workers`, if given, share them."""
    [system] = judged_systems([predictions], request, progress, workers)
    return system.score(request)


def score_systems(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, workers: Workers | None = None
) -> dict[str, Results]:
    """Score several systems and return their results by distinct names; see `score_request`.

    With at least as many systems as workers, each worker takes whole systems; otherwise they share the cells of each.
    """
    if workers is None or len(systems) < workers.slots:
        records = [score_request(system, request, progress, workers) for system in systems]
    else:
        records = []
        for results in in_parallel(workers, partial(score_request, request=request), systems):
            records.append(results)
            if progress is not None:
                progress(f"{len(records)} of {len(systems)}")
    return dict(zip(distinct_names([str(results.system["name"]) for results in records]), records, strict=True))


class JudgedSystem(NamedTuple):
    """The judged cells of a system."""

    about: dict[str, Any]  # metadata from `system.toml`
    names: list[str]  # of its runs, such as `seed-0`; "" for the only run of a plain prediction folder
    runs: list[list[Cell]]  # cells of each run that have answers and gold
    left_out: list[LeftOut]  # answers that cannot be scored, with reasons

    def score(self, request: Request) -> Results:
        """Return the result record."""
        return score_runs(self.runs, request, self.about, self.left_out, self.names)


def judge_systems(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, workers: Workers | None = None
) -> dict[str, JudgedSystem]:
    """Return the judged cells of several systems by distinct names; see `judged_systems`."""
    judged = list(judged_systems(systems, request, progress, workers))
    return dict(zip(distinct_names([str(system.about["name"]) for system in judged]), judged, strict=True))


def judged_systems(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, workers: Workers | None = None
) -> Iterator[JudgedSystem]:
    """Yield the judged cells of each system, a prediction folder or a folder of runs; `workers` may share the cells.

    Problems are errors as in `answered_cells`, for the first run that has any.
    """
    opened = [open_system(system, pseudo=bool(request.pseudo_split)) for system in systems]
    every_run = [run for system in opened for run in system.runs.values()]
    if request.subset is None:  # runs of subsets have their drawn examples beside the predictions
        folders = [run.root for run in every_run if isinstance(run, PredictionFolder)]
        request = replace_fields(request, subset=own_subset(folders))
    requested = [[(run, *cell) for cell in asked_cells([run], request)] for run in every_run]
    judged = in_parallel(workers, partial(_judged_cell, request), list(chain.from_iterable(requested)))
    cells_of_runs = iter(requested)
    for system in opened:
        left_out: list[LeftOut] = []
        runs: list[list[Cell]] = []
        for run in system.runs.values():
            cells: list[Cell] = []
            total = Shortcomings.none(1)
            for _, name, language in next(cells_of_runs):
                if progress is not None:
                    progress(f"{name}/{language}")
                further, shortcomings = next(judged)
                cells += further
                total.add(shortcomings)
            total.settle([run], request, left_out)
            runs.append(cells)
        yield JudgedSystem(system.system, list(system.runs), runs, left_out)


def _judged_cell(request: Request, item: tuple[PredictionSource, str, str]) -> tuple[list[Cell], Shortcomings]:
    """Judge a cell of a run, and drop its texts; the list is empty without answers or gold."""
    run, name, language = item
    shortcomings = Shortcomings.none(1)
    row = answered_row([run], name, language, request, shortcomings)
    return [whole_cell(answered, request) for answered in row if answered is not None], shortcomings


def score_cells(
    cells: Sequence[Cell], request: Request, system: dict[str, Any], left_out: Sequence[LeftOut] = ()
) -> Results:
    """Return the result record of one run from its judged cells, in the request's order; see `score_runs`."""
    return score_runs([cells], request, system, left_out)


def score_runs(
    runs: Sequence[Sequence[Cell]],
    request: Request,
    system: dict[str, Any],
    left_out: Sequence[LeftOut] = (),
    names: Sequence[str] = (),
) -> Results:
    """Return the result record of one run, or of several: the means over the cells they share.

    `system` is the system's metadata, as in `system.toml`; `names` are those of the runs, by default seeds.
    """
    design = design_of(names or [""] * len(runs))
    runs, in_some = common_cells(runs, names)
    cells = runs[0]
    sources = Sources((cell for run in runs for cell in run), request.resample)
    averages = task_averages(cells, cell_estimates(runs, sources, design), request)
    effects = _design_effects(runs, design, averages, request)
    categories, overall = suite_averages(averages, request)
    tasks = {name: replace(average, design_effect=effects.get(name)) for name, (_, average) in averages.items()}
    if any(cell.drawn for cell in cells):
        on_all = task_averages(cells, cell_estimates(runs, DrawErrors(()), design), request)
        tasks = {name: stated_average(average, on_all[name][1]) for name, average in tasks.items()}
        categories_on_all, top = suite_averages(on_all, request)
        categories = list(map(stated_average, categories, categories_on_all))
        overall = replace(overall, score=overall.score and stated(overall.score, top.score))
    return Results(
        suite=request.suite.id,
        system=system,
        split=request.split,
        cells=[_cell_score(same, design, request.resample) for same in zip(*runs, strict=True)],
        tasks=list(tasks.values()),
        categories=categories,
        overall=overall,
        pairs=_all_pair_scores(cells, sources, request) if len(runs) == 1 else [],
        isogloss=__version__,
        resample=request.resample,
        runs=[name for name in names if name],
        left_out=[*left_out, *in_some],
        clustered=clustered_tasks(cells) if request.resample == "source" else [],
    )


def _design_effects(
    runs: Sequence[Sequence[Cell]],
    design: Design,
    averages: Mapping[str, tuple[RunEstimates, AverageScore]],
    request: Request,
) -> dict[str, float | None]:
    """Return the design effect of each task average: its variance for new sources over that for new examples."""
    clustered = clustered_tasks(runs[0]) if request.resample == "source" else []
    if not clustered:
        return {}
    by_example = cell_estimates(runs, Sources((cell for run in runs for cell in run), "example"), design)
    effects = {}
    for name in clustered:
        if name in averages:
            estimate, average = averages[name]
            parts = [by_example[name, code, metric] for code in average.members for metric in find_task(name).main]
            effects[name] = design_effect(estimate.combined, RunEstimates.mean(parts).combined)
    return effects


def clustered_tasks(cells: Iterable[Cell]) -> list[str]:
    """Return the tasks with examples that share sources."""
    return list(dict.fromkeys(cell.task for cell in cells if cell.clusters is not None))


def score_cell(cell: Cell) -> CellScore:
    """Return the scores of one cell."""
    return _cell_score([cell], Design(), "source")


def _cell_score(cells: Sequence[Cell], design: Design, resample: Resample) -> CellScore:
    """Return the scores of one cell over all runs; its interval does not depend on other cells."""
    cell = cells[0]
    runs = [[one] for one in cells]
    estimates = cell_estimates(runs, Sources(cells, resample), design)
    numbers = {metric: number(estimate.combined) for (_, _, metric), estimate in estimates.items()}
    by_example, effect = estimates, None
    use: SubsetUse | UnsetType = UNSET
    if resample == "source" and cell.clusters is not None:
        by_example = cell_estimates(runs, Sources(cells, "example"), design)
        effect = design_effect(_main_score(cell, estimates), _main_score(cell, by_example))
    if cell.drawn is not None:
        by_draw = cell_estimates(runs, DrawErrors(()), design)
        use = subset_use(cell, _main_score(cell, by_example), _main_score(cell, by_draw))
        on_all = {metric: number(estimate.combined) for (_, _, metric), estimate in by_draw.items()}
        numbers = {metric: stated(each, on_all[metric]) for metric, each in numbers.items()}
    return CellScore(
        task=cell.task,
        language=cell.language,
        split=cell.split,
        metrics=numbers,
        signature=cell.signature,
        partial=cell.partial,
        notes=list(dict.fromkeys(note for one in cells for note in one.notes)),
        design_effect=effect,
        unanswered=max(one.unanswered for one in cells) or UNSET,
        subset=use,
        replies=ReplyCounts.total(one.replies for one in cells) or UNSET,
    )


def _main_score(cell: Cell, estimates: Estimates) -> Estimate:
    """Return the mean of a cell's main metrics."""
    main = [estimates[cell.task, cell.language, metric] for metric in find_task(cell.task).main]
    return RunEstimates.mean(main).combined


def _all_pair_scores(cells: Sequence[Cell], sources: Sources, request: Request) -> list[PairScores]:
    judged = [(cell, cell.judgement.pairs) for cell in cells if not cell.partial]
    by_task = {
        name: [(cell, pairs) for cell, pairs in judged if pairs is not None and cell.task == name]
        for name in request.tasks
    }
    return [_pair_scores(name, members, sources) for name, members in by_task.items() if members]


def _pair_scores(name: str, members: Sequence[tuple[Cell, LanguagePairs]], sources: Sources) -> PairScores:
    """Return the pooled subsets and the query-by-target matrix of a retrieval task."""
    rows = {cell.language: sources.by_source(cell, pairs.statistics) for cell, pairs in members}
    targets = {cell.language: pairs.target_languages for cell, pairs in members}
    together = merge(list(rows.values()))
    same = np.concatenate([codes == query for query, codes in targets.items()])
    subsets = {"all": together, "same language": together.select(same), "different languages": together.select(~same)}
    matrix = {
        query: {str(target): number(estimate(rows[query].select(codes == target))) for target in np.unique(codes)}
        for query, codes in targets.items()
    }
    numbers = {subset: number(estimate(part)) for subset, part in subsets.items() if len(part)}
    return PairScores(name, members[-1][1].metric, numbers, matrix)


@dataclass(frozen=True, kw_only=True)
class ValidatedPredictions:
    """A prediction folder after one reading; cells are by task and language."""

    request: Request
    system: dict[str, Any]
    report: ValidationReport  # of all files, including those outside of the request
    cells: dict[tuple[str, str], Cell]
    without_gold: dict[tuple[str, str], LeftOut]  # requested cells without usable gold

    def score(self) -> Results:
        """Return the result record of the judged cells; nothing is read again."""
        if self.report.errors or not self.cells:
            raise PredictionError("no cell can be scored")
        names = [
            (task.id, language)
            for task in map(self.request.task, self.request.tasks)
            for language in self.request.languages_of(task)
        ]
        misnamed = [LeftOut.misnamed(problem) for problem in self.report.problems if problem.code in _MISNAMED]
        without_gold = [self.without_gold[name] for name in names if name in self.without_gold]
        cells = [self.cells[name] for name in names if name in self.cells]
        return score_cells(cells, self.request, self.system, [*misnamed, *without_gold])


def validate_and_judge(
    folder: PredictionFolder, request: Request, observe: Callable[[Answered], None] | None = None
) -> ValidatedPredictions:
    """Validate a prediction folder and judge its valid cells of the request.

    Every file is read and aligned once. Folders of runs and the split "best" are not supported. `observe` gets each
    judged cell with its answers, which are not kept.
    """
    cells: dict[tuple[str, str], Cell] = {}
    without_gold: dict[tuple[str, str], LeftOut] = {}

    def judge(task: Task, language: str, checked: CheckedAnswers) -> None:
        if checked.split != request.split or language not in request.languages_of(task):
            return
        name = task.id, language
        if checked.left_out is not None:
            without_gold[name] = checked.left_out
        elif checked.can_be_judged:
            try:
                answered = judge_checked(task, checked)
            except DataError as error:
                without_gold[name] = LeftOut.of_error(error, *name, checked.split)
            else:
                cells[name] = answered.cell
                if observe is not None:
                    observe(answered)

    tasks = [request.task(name) for name in request.tasks]
    # Beside a submission lie those of other teams.
    gold = replace_fields(request.gold_source, seek_subset=False)
    report = check_folder(folder, tasks, gold, receive=judge)
    system = {} if report.errors else folder.system
    return ValidatedPredictions(request=request, system=system, report=report, cells=cells, without_gold=without_gold)
