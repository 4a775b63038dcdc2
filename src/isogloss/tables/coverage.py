"""Coverage of systems, the cells that they share, and the report in a sentence."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from isogloss.errors import UnknownNameError
from isogloss.figures import interval_text, rounded, score_text
from isogloss.grouping import group_by
from isogloss.results.averages import Systems, is_overall_of_one_cell, tasks_of
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better, mixed_directions
from isogloss.scoring.names import language_name
from isogloss.scoring.results import CellScore, Number, Results, signature_parts
from isogloss.tables import charts
from isogloss.tables.charts import Chart
from isogloss.tables.table import Table
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import SUITES

# A task in a language.
Place = tuple[str, str]
MEAN = "mean over tasks"
# Formats a name from a record; pages escape it.
Shown = Callable[[str], str]
# Maximum number of weakest languages, and minimum number of their tasks: one hard task does not make a language weak.
MOST_LANGUAGES, LEAST_TASKS = 3, 3
MOST_LISTED = 8


@dataclass(frozen=True)
class Coverage:
    """The cells of a suite, and those with a full score of a system."""

    scored: frozenset[Place]
    expected: frozenset[Place]

    @property
    def complete(self) -> bool:
        """Return True if no cell is missing."""
        return self.scored == self.expected

    @property
    def cells(self) -> str:
        """Return the number of cells, such as "18 of 367"."""
        return f"{len(self.scored)} of {len(self.expected)}"

    @property
    def tasks(self) -> str:
        """Return the number of tasks with any score."""
        return f"{len({name for name, _ in self.scored})} of {len({name for name, _ in self.expected})}"

    @property
    def languages(self) -> str:
        """Return the number of languages with any score."""
        return f"{len({code for _, code in self.scored})} of {len({code for _, code in self.expected if code})}"


def coverage(results: Results) -> Coverage:
    """Return the coverage of a result record."""
    scored = {(average.name, code) for average in results.tasks for code in average.members}
    missing: set[Place] = set()
    for name in results.overall.missing:
        task_name, _, code = name.partition("/")
        missing |= {(task_name, own) for own in ([code] if code else _languages_of(results.suite, task_name))}
    return Coverage(frozenset(scored), frozenset(scored | missing))


def _languages_of(suite_name: str, task_name: str) -> Iterable[str]:
    """Return a task's languages in its suite; the task's own if the suite is unknown, or a blank if both are."""
    try:
        return SUITES[suite_name.lower()].languages_of(task_name)
    except UnknownNameError:
        pass
    try:
        return find_task(task_name).languages
    except UnknownNameError:
        return ("",)


def coverage_table(systems: Systems) -> Table:
    """Return the number of cells, tasks and languages of each system."""
    table = Table("Coverage", ("system", "cells", "tasks", "languages", "overall"))
    for name, system in systems.items():
        covered = coverage(system.record)
        overall = "complete" if covered.complete else "not ranked"
        table.add(name, covered.cells, covered.tasks, covered.languages, overall)
    table.notes = ["a cell is a task in a language of the suite; cells with partial gold are not counted"]
    return table


@dataclass(frozen=True)
class SharedScores:
    """Scores of every system in shared cells, their tasks in table order, and all cells of the systems' suites."""

    scores: dict[str, dict[Place, float]]
    tasks: tuple[str, ...]
    expected: frozenset[Place]

    @property
    def places(self) -> list[Place]:
        """Return the shared cells."""
        return list(next(iter(self.scores.values()), {}))

    def task_means(self, system: str) -> dict[str, float]:
        """Return a system's mean over the shared languages of each task."""
        scores = self.scores[system]
        return {name: fmean(score for (own, _), score in scores.items() if own == name) for name in self.tasks}

    def mean(self, system: str) -> float | None:
        """Return a system's mean over tasks, or None without tasks or if directions differ."""
        means = self.task_means(system)
        return fmean(means.values()) if means and not mixed_directions(means) else None

    @property
    def words(self) -> str:
        """Extent of the overlap, such as "18 of 367 cells (3 of 10 tasks)"."""
        tasks = len({name for name, _ in self.expected})
        return f"{len(self.places)} of {len(self.expected)} cells ({len(self.tasks)} of {tasks} tasks)"


def shared_scores(systems: Systems) -> SharedScores:
    """Return the cells that all systems have in their averages, from the same split and data."""
    cells = {name: _averaged_cells(system.record) for name, system in systems.items()}
    shared = set.intersection(*map(set, cells.values())) if cells else set()
    scores = {
        name: {(cell.task, cell.language): cell.score for key, cell in system_cells.items() if key in shared}
        for name, system_cells in cells.items()
    }
    tasks = tuple(name for name in tasks_of(systems) if any(name == task for task, *_ in shared))
    expected = (coverage(system.record).expected for system in systems.values())
    return SharedScores(scores, tasks, frozenset().union(*expected))


def _averaged_cells(results: Results) -> dict[tuple[str, ...], CellScore]:
    """Return the cells in the averages by the key that must match for two scores of a cell to be comparable."""
    return {
        (cell.task, cell.language, cell.split, signature_parts(cell.signature).get("data", "")): cell
        for cell in results.cells
        if results.in_average(cell)
    }


def same_cells(systems: Systems) -> bool:
    """Return True if all systems have the same cells."""
    return len({frozenset(_averaged_cells(system.record)) for system in systems.values()}) <= 1


def shared_title(shared: SharedScores) -> str:
    """Return the title of a table or chart of shared cells."""
    return f"Shared by all systems: {shared.words}"


def shared_table(shared: SharedScores) -> Table:
    """Return means over the shared cells by task, one column per system."""
    table = Table(shared_title(shared), ("task", "languages", *shared.scores))
    by_system = [shared.task_means(name) for name in shared.scores]
    for name in shared.tasks:
        count = sum(own == name for own, _ in shared.places)
        table.add(name, str(count), *(score_text(means[name]) for means in by_system))
    table.add(MEAN, "", *(score_text(shared.mean(system)) for system in shared.scores), strong=True)
    table.notes = ["languages: number that all systems have; shared cells have the same split and data"]
    return table


def shared_chart(shared: SharedScores) -> Chart:
    """Return the same means as a dot chart."""
    rest: dict[str, Any] = {**charts.interval_fields(None, None), "partial": False}
    records = [
        {"system": name, "name": label, "score": rounded(mean), **rest}
        for name in shared.scores
        for label, mean in {MEAN: shared.mean(name), **shared.task_means(name)}.items()
        if mean is not None
    ]
    names = [MEAN, *shared.tasks]
    errors = all(map(lower_is_better, shared.tasks))
    what = "error rate, 0–100, lower is better" if errors else "score, 0–100"
    return charts.average_dots("shared", shared_title(shared), records, names, strong=1, what=what)


def headline(systems: Systems, shown: Shown = str) -> list[str]:
    """Return the first sentence of a report, and a line on incomplete systems if there are any.

    Incomplete systems are never ranked; several are compared on the cells they share.
    """
    if not systems:
        return []
    ranked = {name: each for name, each in systems.items() if each.record.overall.complete_value is not None}
    if len(systems) == 1:
        ((name, system),) = systems.items()
        first, compared = _alone(name, system.record, shown), systems
    elif len(ranked) > 1 and same_cells(ranked):
        first, compared = _leader(ranked, shown), ranked
    else:
        first, compared = _side_by_side(shared_scores(systems), shown), systems
    shared = shared_scores(compared)
    sentence = "; ".join(filter(None, (first, _weakest(shared, shown), _english(shared))))
    lacking = {name: covered for name, each in systems.items() if not (covered := coverage(each.record)).complete}
    if len(systems) == 1 or not lacking:
        return [f"{sentence}."]
    named = [f"{shown(name)} ({covered.cells} cells, {covered.tasks} tasks)" for name, covered in lacking.items()]
    return [f"{sentence}.", f"Not ranked because incomplete: {_listed(named)}."]


def _alone(name: str, results: Results, shown: Shown) -> str:
    covered, top = coverage(results), results.overall.score
    who, suite = shown(name), shown(results.suite)
    if not covered.scored:
        return f"{who} has no fully scored cell of {suite}"
    if top is None:
        note = f": {shown(results.overall.note)}" if results.overall.note else ""
        return f"{who} was scored on {covered.cells} cells of {suite} ({covered.tasks} tasks){note}"
    verb = "has an error rate of" if _errors(results) else "scores"
    if is_overall_of_one_cell(results):
        ((task, code),) = covered.scored
        where = f"{shown(task)} in {shown(language_name(code))}, one of the {len(covered.expected)} cells of {suite}"
        return f"{who} {verb} {_figure(top, results)} on {where}"
    if covered.complete:
        sizes = {what: len({cell[part] for cell in covered.expected}) for part, what in enumerate(("task", "language"))}
        parts = (f"the only {what}" if size == 1 else f"all {size} {what}s" for what, size in sizes.items())
        return f"{who} {verb} {_figure(top, results)} over {' and '.join(parts)} of {suite}"
    return f"{who} {verb} {_figure(top, results, '*')} over {covered.tasks} tasks of {suite} ({covered.cells} cells)"


def _figure(number: Number, results: Results, star: str = "") -> str:
    """Return an overall figure, with its interval and seeds in brackets."""
    facts = [f"95 % interval {interval_text(number.low, number.high)}"] * (number.low is not None)
    facts += [f"mean of {len(results.seeds)} seeds"] * (len(results.seeds) > 1)
    facts += ["lower is better"] * _errors(results)
    return f"{score_text(number.value)}{star}" + (f" ({', '.join(facts)})" if facts else "")


def _errors(results: Results) -> bool:
    return all(lower_is_better(average.name) for average in results.tasks)


def _leader(systems: Systems, shown: Shown) -> str:
    """Return the leader of complete systems, the second, and systems statistically tied with the first."""
    records = {name: system.record for name, system in systems.items()}
    tops = {name: record.overall.score for name, record in records.items() if record.overall.score is not None}
    errors = _errors(next(iter(records.values())))
    one, two, *_ = order = sorted(tops, key=lambda name: tops[name].value if errors else -tops[name].value)
    rate = "an error rate of " if errors else ""
    lead = f"{shown(one)} leads {len(systems)} systems on {shown(records[one].suite)} with {rate}"
    lead += _figure(tops[one], records[one])
    ahead = abs(rounded(tops[one].value) - rounded(tops[two].value))
    interval = f", {interval_text(tops[two].low, tops[two].high)}" if tops[two].low is not None else ""
    theirs = f"{shown(two)} ({score_text(tops[two].value)}{interval})"
    by = f"{score_text(ahead)} points ahead of {theirs}" if ahead else f"level with {theirs}"
    return f"{lead}, {by}: {_chance({name: tops[name] for name in order}, shown)}"


def _chance(tops: Mapping[str, Number], shown: Shown) -> str:
    """Name the systems with a 95 % interval that overlaps the leader's."""
    bounds = {name: (top.low, top.high) for name, top in tops.items() if top.low is not None and top.high is not None}
    if len(bounds) < len(tops):
        return "this may be due to chance, as some systems have no interval"
    (first_low, first_high), *_ = bounds.values()
    _, *rivals = [shown(name) for name, (low, high) in bounds.items() if low <= first_high and first_low <= high]
    if rivals:
        return f"this may be due to chance, as its 95 % interval overlaps that of {_listed(rivals)}"
    return "more than chance, as its 95 % interval overlaps no other"


def _listed(words: Sequence[str]) -> str:
    """Return a list in words, cut if it is long."""
    if len(words) > MOST_LISTED:
        words = [*words[: MOST_LISTED - 1], f"{len(words) - MOST_LISTED + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _side_by_side(shared: SharedScores, shown: Shown) -> str:
    """Return the scores of incomplete systems on the cells that all share, in input order."""
    count = len(shared.scores)
    if not shared.places:
        return f"The {count} systems share no cell and cannot be compared"
    where = f"On the {shared.words} that {'both' if count == 2 else f'all {count}'} systems share"
    means = {name: mean for name in shared.scores if (mean := shared.mean(name)) is not None}
    if not means:
        return f"{where}, higher is better in some tasks and lower in others, so there is no mean"
    what = "error rates (lower is better)" if all(map(lower_is_better, shared.tasks)) else "means over tasks"
    return f"{where}, the {what} are {_listed([f'{score_text(mean)} ({shown(name)})' for name, mean in means.items()])}"


def _weakest(shared: SharedScores, shown: Shown) -> str:
    # Distances of each language from the average of each of its tasks, for every system.
    behind: dict[str, list[float]] = defaultdict(list)
    for name, scores in shared.scores.items():
        averages = shared.task_means(name)
        for (task, code), score in scores.items():
            behind[code].append(score - averages[task] if lower_is_better(task) else averages[task] - score)
    least = min(LEAST_TASKS, len(shared.tasks))
    means = {code: fmean(points) for code, points in behind.items() if len(points) >= least * len(shared.scores)}
    worst = sorted(means, key=lambda code: -means[code])[: min(MOST_LANGUAGES, len(means) // 2)]
    points = [score_text(means[code]) for code in worst if rounded(means[code]) > 0]
    if not points:
        return ""
    points[0] += " points behind the average of its tasks"
    named = [f"{shown(language_name(code))} ({text})" for code, text in zip(worst, points, strict=False)]
    among = f"among languages in {least} or more tasks, " if len(means) < len(behind) else ""
    return f"{among}the weakest {'are' if len(named) > 1 else 'is'} {_listed(named)}"


def _english(shared: SharedScores) -> str:
    """Return the advantage of English over the mean of the other languages, over the tasks that have both."""
    gaps: list[list[float]] = []
    for scores in shared.scores.values():
        gaps.append([])
        for task, cells in group_by(scores.items(), lambda item: item[0][0]).items():
            others = [score for (_, code), score in cells if code != PIVOT]
            if others and (task, PIVOT) in scores:
                gap = scores[task, PIVOT] - fmean(others)
                gaps[-1].append(-gap if lower_is_better(task) else gap)
    if not any(gaps):
        return ""
    means = [rounded(fmean(points)) for points in gaps]
    low, high = min(means), max(means)
    over = f" (mean over {len(gaps[0])} tasks)" if len(gaps[0]) > 1 else ""
    points = f"{score_text(low)} to {score_text(high)} points better"
    if low == high:
        points = f"{score_text(abs(low))} points {'worse' if low < 0 else 'better'}"
    return f"English is {points} than the mean of the other languages{over}"
