"""Views of systems: scores in one metric per task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from isogloss.errors import unknown
from isogloss.languages import language
from isogloss.notebooks import short_repr
from isogloss.results.system import CellResult, SystemResult, by_shown_name, mean_of_metrics
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.results import Number
from isogloss.tasks.registry import given_task_id

# Width of a 95 % interval in standard errors.
_INTERVAL_ERRORS = 2 * 1.96


def standard_error(low: float | None, high: float | None) -> float | None:
    """Return the standard error behind a 95 % interval, or None without one."""
    return None if low is None or high is None else (high - low) / _INTERVAL_ERRORS


@dataclass(frozen=True, kw_only=True)
class ViewedScore:
    """Score of one cell in the metric of a view, 0..100; only scores of one regime may be ranked.

    Attributes:
        n: number of test examples, 0 if unknown.
        error: standard error in points, or None without an interval.
    """

    system: str
    regime: str
    task: str
    language: str
    cell: CellResult
    value: float
    n: int
    error: float | None

    __repr__ = short_repr


@dataclass(frozen=True, kw_only=True)
class ScoreView:
    """Scores of systems in one metric per task.

    Attributes:
        results: systems by the name they are shown under, with the selected cells.
        metrics: metric by task; "score" is the mean of the main metrics.
        scores: scores by system, task and language.
        gaps: recorded transfer gap by system and task, for tasks viewed in their main metrics.
        notes: metrics chosen among several, and systems left out.
    """

    results: Mapping[str, SystemResult]
    metrics: Mapping[str, str]
    scores: Mapping[str, Mapping[str, Mapping[str, ViewedScore]]]
    gaps: Mapping[tuple[str, str], Number]
    notes: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def systems(self) -> list[str]:
        """Systems that have a score."""
        return list(self.scores)

    @property
    def tasks(self) -> list[str]:
        """Tasks of any system."""
        return list(self.metrics)

    def all_scores(self) -> Iterator[ViewedScore]:
        """Yield every score, by task, system and language."""
        for name in self.metrics:
            for shown in self.results:
                yield from self.scores.get(shown, {}).get(name, {}).values()

    def values(self, system: str, task: str) -> dict[str, float]:
        """Return the scores of a system on a task by language; empty without any."""
        return {code: score.value for code, score in self.scores[system].get(task, {}).items()}

    def metric_values(self, system: str, task: str, metric: str) -> dict[str, float] | None:
        """Return any metric of a system on a task by language, or None if a cell lacks it."""
        cells = [cell for (name, _), cell in self.results[system].cells.items() if name == task]
        if not cells or not all(metric in cell.metrics for cell in cells):
            return None
        return {cell.code: cell.metrics[metric].value for cell in cells}


def score_view(
    systems: Sequence[SystemResult],
    *,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    metric: str = "",
) -> ScoreView:
    """Return the scores of systems in one metric per task, of all tasks and languages by default.

    `metric` applies to the tasks that have it. By default, a task uses its main metrics if all systems have them, else
    the most common metric. Unknown tasks, languages and metrics raise UnknownNameError.
    """
    names = None if tasks is None else {given_task_id(word) for name in tasks for word in name.split(",")}
    # A task may have languages that the registry does not know.
    scored = {code for system in systems for _, code in system.cells}
    words = None if languages is None else [word for name in languages for word in name.split(",")]
    codes = None if words is None else {word if word in scored else language(word).code for word in words}
    selected = {}
    for shown, system in by_shown_name(systems).items():
        cells = {
            (name, code): cell
            for (name, code), cell in system.cells.items()
            if (names is None or name in names) and (codes is None or code in codes)
        }
        if cells:
            # A recorded transfer gap is over all languages.
            selected[shown] = replace(system, cells=cells, gaps=system.gaps if codes is None else {})
    return _in_one_metric(selected, metric)


class _TaskMetric:
    def __init__(self, cells: Mapping[str, Sequence[CellResult]], preferred: str) -> None:
        self.cells = {shown: of_task for shown, of_task in cells.items() if of_task}
        self.task = next(cell.task for of_task in self.cells.values() for cell in of_task)
        main = self.task.main
        if preferred and len(self._lacking([preferred])) < len(self.cells):
            self.metric = preferred
        elif len(main) > 1 and not self._lacking(main):
            self.metric = SCORE
        else:
            metrics = [metric for of_task in self.cells.values() for cell in of_task for metric in cell.metrics]
            candidates = list(dict.fromkeys((*main, *metrics)))
            self.metric = min(candidates, key=lambda metric: len(self._lacking([metric])))
        self.left_out = [] if self.metric == SCORE else self._lacking([self.metric])

    def _lacking(self, metrics: Sequence[str]) -> list[str]:
        return [
            shown
            for shown, cells in self.cells.items()
            if not all(metric in cell.metrics for cell in cells for metric in metrics)
        ]

    def score(self, cell: CellResult, **system: str) -> ViewedScore:
        """Return the score of a cell in the metric."""
        names = self.task.main if self.metric == SCORE else (self.metric,)
        number = mean_of_metrics([cell.metrics[name] for name in names])
        error = standard_error(number.low, number.high)
        where = {"task": cell.task.id, "language": cell.code}
        return ViewedScore(**system, **where, cell=cell, value=number.value, n=number.n, error=error)


def _in_one_metric(systems: Mapping[str, SystemResult], preferred: str) -> ScoreView:
    """Choose the preferred metric, else the main metrics if all systems have them, else the most common metric."""
    scores: dict[str, dict[str, dict[str, ViewedScore]]] = {}
    notes: list[str] = []
    single: dict[tuple[str, str], list[str]] = {}
    chosen: dict[str, _TaskMetric] = {}
    for name in dict.fromkeys(name for system in systems.values() for name, _ in system.cells):
        cells = {
            shown: [cell for (task, _), cell in system.cells.items() if task == name]
            for shown, system in systems.items()
        }
        choice = chosen[name] = _TaskMetric(cells, preferred)
        main = choice.task.main
        if choice.left_out:
            notes.append(f"{name} is compared in {choice.metric}; systems without it: {', '.join(choice.left_out)}")
        elif choice.metric not in (SCORE, preferred) and len(main) > 1:
            single.setdefault((choice.metric, " and ".join(main)), []).append(name)
        for shown, of_system in choice.cells.items():
            if shown not in choice.left_out:
                regime = systems[shown].regime
                scores.setdefault(shown, {})[name] = {
                    cell.code: choice.score(cell, system=shown, regime=regime) for cell in of_system
                }
    metrics = {name: choice.metric for name, choice in chosen.items()}
    if preferred and metrics and preferred not in metrics.values():
        every = {metric for system in systems.values() for cell in system.cells.values() for metric in cell.metrics}
        raise unknown("metric of these scores", preferred, every)
    if others := [name for name, metric in metrics.items() if preferred and metric != preferred]:
        notes.append(f"without {preferred}, compared in their own metric: {', '.join(others)}")
    notes += [
        f"{', '.join(names)}: compared in {metric} because not every system has {main}"
        for (metric, main), names in single.items()
    ]
    whole = {name for name, choice in chosen.items() if choice.metric == SCORE or choice.task.main == (choice.metric,)}
    gaps = {
        (shown, name): gap for shown, system in systems.items() for name, gap in system.gaps.items() if name in whole
    }
    return ScoreView(results=systems, metrics=metrics, scores=scores, gaps=gaps, notes=tuple(notes))
