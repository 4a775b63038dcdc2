"""Compare systems with paired tests per cell, per task and overall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from numbers import Real
from typing import Any, Unpack, overload

import msgspec
import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.crossed import Design, MethodDifference, RunEstimates, variance_shares
from isogloss.metrics.exchange import Exchange
from isogloss.metrics.statistics import Statistics
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.reply_outcomes import ReplyCounts
from isogloss.scoring.averages import MIXED, averaged
from isogloss.scoring.cells import Cell, Progress
from isogloss.scoring.comparison import Comparison, ScoreContrast, SystemsComparison, system_orders
from isogloss.scoring.contrast import SystemDifference, contrast_fields, corrected
from isogloss.scoring.designs import Estimates, cell_estimates, check_same_examples, common_cells, design_of
from isogloss.scoring.main_score import SCORE, lower_is_better, main_statistics, mixed_directions
from isogloss.scoring.request import Request, ScoreOptions, lists_options
from isogloss.scoring.score import clustered_tasks, judge_systems
from isogloss.scoring.shared_levels import with_shared_levels
from isogloss.scoring.sources import Sources
from isogloss.tasks.registry import category_of
from isogloss.tasks.registry import task as find_task
from isogloss.workers import Workers, in_parallel, local_workers

# (task, language) -> the cells of both systems, one per run
CellPairs = Mapping[tuple[str, str], tuple[list[Cell], list[Cell]]]
# cells -> their sources, and the estimates of each system, by the identity of its first cells
EstimateMemo = dict[tuple[tuple[str, str], ...], tuple[Sources, dict[int, Estimates]]]


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
        **options: the cells and how to score them.
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
    restricted = [replace(system, cells={key: system.cells[key] for key in shared}) for system in systems]
    pairs = list(combinations(restricted, 2))
    # The statistics of a system take many megabytes, so a single pair stays in this process.
    workers = workers if len(pairs) > 1 else None
    memo: EstimateMemo | None = {} if workers is None else None
    compare_pair = partial(_compare_pair, request=request, pairs=len(pairs), margin=margin, power=power, memo=memo)
    compared = list(in_parallel(workers, compare_pair, pairs))
    names = [system.name for system in systems]
    joint = [msgspec.structs.replace(one, skipped=["/".join(key) for key in skipped]) for one in _corrected(compared)]
    return SystemsComparison(systems=names, pairs=joint, orders=system_orders(names, joint) if len(names) > 2 else [])


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
    pairs: int,
    margin: float | None,
    power: bool,
    memo: EstimateMemo | None,
) -> Comparison:
    """Compare two systems that have the same cells, with uncorrected p-values; `pairs` is the number of pairs."""
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
            pairs * len(both),
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
        contrast("task", name, average, pairs * len(averages), of_task=name, partial=lacking[name])
        for name, average in averages.items()
    ]
    in_suite = {name: average for name, average in averages.items() if name in suite.tasks}
    has_overall = len(in_suite) > 1 and request.split != "best"
    mixed = has_overall and mixed_directions(in_suite)
    overall = None
    if has_overall and not mixed:
        rule, weights, is_partial = suite.rule, suite.weights, any(lacking[name] for name in suite.tasks)
        pair = aggregate.combined(in_suite, rule, category_of, PairedEstimates.mean, weights)
        overall = contrast("overall", rule, pair, pairs, of_task=next(iter(in_suite)), partial=is_partial)
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
    averages = {}
    for name in dict.fromkeys(name for name, _ in pairs):
        inside = averaged([cells[0][0] for cells in pairs.values()], name, request)
        if inside:
            averages[name] = PairedEstimates.mean([estimates[name, cell.language] for cell in inside])
    return averages


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
