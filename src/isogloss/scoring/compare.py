"""Compare systems with paired tests per cell, per task and overall."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple, Unpack, overload

import msgspec

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.crossed import Design, MethodDifference, variance_shares
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.reply_outcomes import ReplyCounts
from isogloss.scoring.averages import MIXED, averaged
from isogloss.scoring.cells import Cell, Progress
from isogloss.scoring.comparison import Comparison, ScoreContrast, SystemsComparison, system_orders
from isogloss.scoring.contrast import contrast_fields, corrected
from isogloss.scoring.designs import check_same_examples, common_cells, design_of
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions
from isogloss.scoring.paired_estimates import CellPairs, EstimateMemo, PairedEstimates, paired_estimates
from isogloss.scoring.request import Request, ScoreOptions, lists_options
from isogloss.scoring.score import clustered_tasks, judge_systems
from isogloss.scoring.shared_levels import with_shared_levels
from isogloss.tasks.registry import category_of
from isogloss.tasks.registry import task as find_task
from isogloss.workers import Workers, in_parallel, local_workers


@overload
def compare(
    first: "Predictions",
    second: "Predictions",
    /,
    *,
    margin: float | None = None,
    jobs: int = 1,
    **options: "Unpack[ScoreOptions]",
) -> Comparison: ...


@overload
def compare(
    *predictions: "Predictions", margin: float | None = None, jobs: int = 1, **options: "Unpack[ScoreOptions]"
) -> Comparison | SystemsComparison: ...


@lists_options(ScoreOptions)
def compare(
    *predictions: "Predictions", margin: float | None = None, jobs: int = 1, **options: "Unpack[ScoreOptions]"
) -> Comparison | SystemsComparison:
    """Compare systems on the cells they share: differences with intervals and corrected p-values.

    Args:
        *predictions: two or more prediction folders, folders of runs (`seed-0`, `seed-1`, …; `prompt-short`, …), or
            predictions in memory, as `score` takes them.
        margin: differences below this many points count as equivalent; verdicts are then better, worse, equivalent
            (two one-sided tests) or cannot tell.
        jobs: number of processes; more than one requires `if __name__ == "__main__":` in a script.
        suite: suite, which sets tasks, languages and averages.
        data: data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: label folder in XTREME's layout, used instead of the data folder.
        split: "test", "dev", "best" (test if it has gold, else dev), "pseudo" or "pseudo-dev".
        tasks: tasks to include; default all tasks of the suite.
        languages: languages to include; default all languages of the suite.
        allow_partial: True to also score cells with incomplete gold; no average includes them.
        resample: "source" for new articles, premises …, "example" for new examples from the same sources.
        strict: True to raise an error for answers without gold or with unknown names instead of skipping them.
        subset: subset file of `export`, or its folder, if only the drawn examples are answered.
        guide: predictions of a cheap system for all examples, as control variate for the subset.

    Returns:
        The comparison of two systems. For more systems, that of every pair on the cells that all systems have, with
        simultaneous verdicts, ranks and letters.

    Raises:
        PredictionError: fewer than two systems, no common cell, invalid answers, or no gold.
        UnknownNameError: unknown suite, task, language or split.

    Example:
        comparison = isogloss.compare("mine", "theirs", data="data", tasks=["xquad"])
        comparison.verdict()
        isogloss.compare("mine", "theirs", margin=0.5, data="data").to_pandas()
    """
    with local_workers(jobs) as workers:
        comparison = compare_request(predictions, Request.of(**options), workers=workers, margin=margin)
    return comparison.pairs[0] if len(predictions) == 2 else comparison


def compare_request(
    systems: Sequence[Predictions],
    request: Request,
    progress: Progress = None,
    workers: Workers | None = None,
    margin: float | None = None,
) -> SystemsComparison:
    """Compare every pair of systems on the requested cells; `workers`, if given, share cells and pairs."""
    if len(systems) < 2:
        raise PredictionError("a comparison needs at least two prediction folders")
    results = judge_systems(systems, request, progress, workers)
    judged = [SystemRuns.of(name, one.runs, one.left_out, names=one.names) for name, one in results.items()]
    return compare_systems(judged, request, workers, margin)


def compare_systems(
    systems: "Sequence[SystemRuns]",
    request: Request,
    workers: Workers | None = None,
    margin: float | None = None,
    *,
    power: bool = True,
) -> SystemsComparison:
    """Compare every pair of judged systems on the cells that all have, with verdicts that hold simultaneously.

    Without `power`, minimum detectable differences are left out: they take a third of the time.
    """
    if margin is not None and not (isinstance(margin, Real) and 0 < margin <= 100):
        raise PredictionError(f"the margin must be a number above 0 and at most 100 points, got {margin!r}")
    systems = with_shared_levels(systems)
    shared = [key for key in systems[0].cells if all(key in system.cells for system in systems)]
    if not shared:
        fix = "Compare fewer systems" if len(systems) > 2 else "Score both on the same tasks and languages"
        raise PredictionError("the systems share no cell", where=", ".join(one.name for one in systems), fix=fix)
    skipped = [key for key in dict.fromkeys(key for one in systems for key in one.cells) if key not in set(shared)]
    restricted = [system.on(shared) for system in systems]
    compared = _compare_pairs(list(combinations(restricted, 2)), request, workers, margin, power=power)
    names = [system.name for system in systems]
    joint = [msgspec.structs.replace(one, skipped=["/".join(key) for key in skipped]) for one in compared]
    return SystemsComparison(systems=names, pairs=joint, orders=system_orders(names, joint) if len(names) > 2 else [])


def compare_each_pair(systems: "Sequence[SystemRuns]", request: Request) -> dict[tuple[int, int], Comparison]:
    """Compare every pair of systems on the cells that these two have, with verdicts that hold simultaneously.

    Returns:
        Comparisons without minimum detectable differences, by indices; systems that share no cell are left out.
    """
    pairs = {}
    for one, other in combinations(range(len(systems)), 2):
        first, second = with_shared_levels([systems[one], systems[other]])
        if shared := [key for key in first.cells if key in second.cells]:
            pairs[one, other] = first.on(shared), second.on(shared)
    return dict(zip(pairs, _compare_pairs(list(pairs.values()), request, power=False), strict=True))


class _Families(NamedTuple):
    """Numbers of tests that are corrected together."""

    cells: int
    tasks: int
    overall: int


def _compare_pairs(
    pairs: "Sequence[tuple[SystemRuns, SystemRuns]]",
    request: Request,
    workers: Workers | None = None,
    margin: float | None = None,
    *,
    power: bool,
) -> list[Comparison]:
    """Compare pairs of systems that have the same cells, corrected over all pairs."""
    tasks = [_averaged_tasks([runs[0] for runs in first.cells.values()], request) for first, _ in pairs]
    families = _Families(sum(len(first.cells) for first, _ in pairs), sum(map(len, tasks)), len(pairs))
    # The statistics of a system take many megabytes, so a single pair stays in this process.
    workers = workers if len(pairs) > 1 else None
    memo: EstimateMemo | None = {} if workers is None else None
    compare_pair = partial(_compare_pair, request=request, families=families, margin=margin, power=power, memo=memo)
    return _corrected(list(in_parallel(workers, compare_pair, pairs)))


def _corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with p-values corrected over all pairs, separately for cells, tasks and overall."""
    cells = iter(corrected([row for one in comparisons for row in one.cells]))
    tasks = iter(corrected([row for one in comparisons for row in one.tasks]))
    overall = iter(corrected([one.overall for one in comparisons if one.overall is not None]))
    return [
        msgspec.structs.replace(
            one,
            cells=[next(cells) for _ in one.cells],
            tasks=[next(tasks) for _ in one.tasks],
            overall=None if one.overall is None else next(overall),
        )
        for one in comparisons
    ]


def _compare_pair(pair: "tuple[SystemRuns, SystemRuns]", **options: Any) -> Comparison:
    return _compared(*pair, **options)


@dataclass(frozen=True)
class SystemRuns:
    """The judged cells of one system by (task, language), one per run, and what is left out."""

    name: str
    cells: dict[tuple[str, str], list[Cell]]
    left_out: list[LeftOut]
    design: Design = field(default_factory=Design)

    @classmethod
    def of(
        cls,
        name: str,
        runs: Sequence[Sequence[Cell]],
        left_out: Sequence[LeftOut],
        metric: str = SCORE,
        names: Sequence[str] = (),
    ) -> "SystemRuns":
        """Return the cells that all runs of a system share, reduced to each task's main score or one metric."""
        shared, in_some = common_cells(runs, names, where=name)
        cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in (cell for row in zip(*shared, strict=True) for cell in row):
            if metric not in (SCORE, *cell.metrics):
                continue
            statistics = main_statistics(cell.task, cell.metrics) if metric == SCORE else cell.metrics[metric]
            judgement = replace(cell.judgement, metrics={SCORE: statistics})
            cells.setdefault((cell.task, cell.language), []).append(replace(cell, judgement=judgement))
        return cls(name, cells, [*left_out, *in_some], design_of(names or [""] * len(runs), name))

    def on(self, keys: Sequence[tuple[str, str]]) -> "SystemRuns":
        """Return the system with some of its cells."""
        return replace(self, cells={key: self.cells[key] for key in keys})

    @property
    def levels(self) -> dict[str, int]:
        """Number of levels of each factor that varies: seeds, prompts, translators."""
        return {factor: len(set(levels)) for factor, levels in self.design.factors.items()}


def compare_runs(first: SystemRuns, second: SystemRuns, request: Request) -> Comparison:
    """Compare two systems on the cells they share."""
    return compare_systems([first, second], request).pairs[0]


def _compared(
    first: SystemRuns,
    second: SystemRuns,
    *,
    request: Request,
    families: _Families,
    margin: float | None,
    power: bool,
    memo: EstimateMemo | None,
) -> Comparison:
    """Compare two systems that have the same cells, with uncorrected p-values."""
    both = {key: (cells, second.cells[key]) for key, cells in first.cells.items()}
    names, suite = (first.name, second.name), request.suite
    for first_cells, second_cells in both.values():
        check_same_examples((*first_cells, *second_cells), " and ".join(names))
    designs = first.design, second.design
    contrast = partial(_contrast, margin=None if margin is None else margin / 100, power=power)
    contrasts = [
        contrast(
            "cell",
            "/".join(key),
            paired_estimates({key: cells}, designs, request, memo)[key],
            families.cells,
            of_task=key[0],
        )
        for key, cells in both.items()
    ]
    averages = _task_averages(both, designs, request, memo)
    lacking = {
        name: any((name, code) not in both for code in request.averaged_languages(find_task(name)))
        for name in {*averages, *suite.tasks}
    }
    tasks = [
        contrast("task", name, average, families.tasks, of_task=name, partial=lacking[name])
        for name, average in averages.items()
    ]
    in_suite = {name: average for name, average in averages.items() if name in suite.tasks}
    has_overall = len(in_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(in_suite)
    overall = None
    if has_overall and not mixed:
        rule, weights, is_partial = suite.rule, suite.weights, any(lacking[name] for name in suite.tasks)
        pair = aggregate.combined(in_suite, rule, category_of, PairedEstimates.mean, weights)
        overall = contrast("overall", rule, pair, families.overall, of_task=next(iter(in_suite)), partial=is_partial)
    sides = zip(*both.values(), strict=True)
    replies = [ReplyCounts.total(cell.replies for runs in side for cell in runs) for side in sides]
    return Comparison(
        first=first.name,
        second=second.name,
        cells=contrasts,
        tasks=tasks,
        overall=overall,
        rule=suite.rule,
        skipped=[],
        note=MIXED if mixed else "",
        runs=[first.levels, second.levels] if first.levels or second.levels else [],
        resample=request.resample,
        left_out=list(dict.fromkeys([*first.left_out, *second.left_out])),
        clustered=clustered_tasks(cells[0] for cells, _ in both.values()) if request.resample == "source" else [],
        margin=margin,
        estimated=list(dict.fromkeys(name for (name, _), (cells, _) in both.items() if cells[0].drawn)),
        replies=replies if any(replies) else [],
    )


def _task_averages(
    pairs: CellPairs, designs: tuple[Design, Design], request: Request, memo: EstimateMemo | None
) -> "dict[str, PairedEstimates]":
    """Return both systems' averages over the languages of each task's average."""
    estimates = paired_estimates(pairs, designs, request, memo)
    tasks = _averaged_tasks([cells[0][0] for cells in pairs.values()], request)
    return {
        name: PairedEstimates.mean([estimates[name, cell.language] for cell in inside])
        for name, inside in tasks.items()
    }


def _averaged_tasks(cells: Sequence[Cell], request: Request) -> dict[str, list[Cell]]:
    """Return the cells that enter each task's average, by task."""
    inside = {name: averaged(cells, name, request) for name in dict.fromkeys(cell.task for cell in cells)}
    return {name: those for name, those in inside.items() if those}


def _contrast(
    level: str,
    name: str,
    pair: PairedEstimates,
    family: int,
    *,
    of_task: str,
    partial: bool = False,
    margin: float | None = None,
    power: bool = True,
) -> ScoreContrast:
    """Return the contrast of a cell, a task or the overall score; `of_task` is a task that sets the direction."""
    delta = pair.difference
    scores = pair.first.combined.value, pair.second.combined.value
    return ScoreContrast(
        **contrast_fields(scores, delta, family, margin, power=power),
        level=level,
        name=name,
        test=delta.test,
        n=pair.exchange.n,
        lower_is_better=lower_is_better(of_task),
        partial=partial,
        shares=variance_shares(delta.estimate) if isinstance(delta, MethodDifference) else {},
    )
