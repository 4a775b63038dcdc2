"""The report in a sentence: the best system, what a test says about its lead, and the weakest languages."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from isogloss.analysis.example_order import example_order
from isogloss.analysis.ranking_views import panel_of_cells, ranked_view, views
from isogloss.errors import UnknownNameError
from isogloss.figures import interval_text, rounded, score_text
from isogloss.grouping import group_by
from isogloss.metrics.language_tests import LEAST_LANGUAGES
from isogloss.metrics.ordering import Ordering
from isogloss.results.averages import Systems
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.designs import counted_levels
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.scoring.results import Number, Results
from isogloss.scoring.tested_on import EXAMPLES, LANGUAGES, first_place
from isogloss.tables.coverage import SharedScores, coverage, same_cells, shared_scores

# Formats a name from a record; pages escape it.
Shown = Callable[[str], str]
# Maximum number of weakest languages, and minimum number of their tasks: one hard task does not make a language weak.
MOST_LANGUAGES, LEAST_TASKS = 3, 3
MOST_LISTED = 8
UNTESTED = (
    f"not tested, as this needs {LEAST_LANGUAGES} languages; with predictions, isogloss compare tests the difference "
    "on examples"
)


def headline(systems: Systems, shown: Shown = str, data: Path | None = None) -> list[str]:
    """Return the first sentence of a report, and a line on incomplete systems if there are any.

    Incomplete systems are never ranked; several are compared on the cells they share. Complete ones are tested on
    examples if the folders of all records have predictions and the data folder has gold, otherwise over languages.
    """
    if not systems:
        return []
    ranked = {name: each for name, each in systems.items() if each.record.overall.complete_value is not None}
    if len(systems) == 1:
        ((name, system),) = systems.items()
        first, compared = _alone(name, system.record, shown), systems
    elif len(ranked) > 1 and same_cells(ranked):
        first, compared = _leader(ranked, shown, data), ranked
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
    if results.is_one_cell():
        ((task, code),) = covered.scored
        where = f"{shown(task)} in {shown(language_name(code))}, one of the {len(covered.expected)} cells of {suite}"
        return f"{who} {verb} {_figure(top, results)} on {where}"
    if covered.complete:
        sizes = {what: len({cell[part] for cell in covered.expected}) for part, what in enumerate(("task", "language"))}
        parts = (f"the only {what}" if size == 1 else f"all {size} {what}s" for what, size in sizes.items())
        return f"{who} {verb} {_figure(top, results)} over {' and '.join(parts)} of {suite}"
    return f"{who} {verb} {_figure(top, results, '*')} over {covered.tasks} tasks of {suite} ({covered.cells} cells)"


def _figure(number: Number, results: Results, star: str = "") -> str:
    """Return an overall figure, with its interval and its runs in brackets."""
    facts = [f"95 % interval {interval_text(number.low, number.high)}"] * (number.low is not None)
    facts += [f"mean of {counted_levels(results.runs)}"] if len(results.runs) > 1 else []
    facts += ["lower is better"] * _errors(results)
    return f"{score_text(number.value)}{star}" + (f" ({', '.join(facts)})" if facts else "")


def _errors(results: Results) -> bool:
    return all(lower_is_better(average.name) for average in results.tasks)


def _leader(systems: Systems, shown: Shown, data: Path | None) -> str:
    """Return the best of complete systems, the second, and what a test says about the first place."""
    records = {name: system.record for name, system in systems.items()}
    tops = {name: record.overall.score for name, record in records.items() if record.overall.score is not None}
    errors = _errors(next(iter(records.values())))
    one, two, *_ = sorted(tops, key=lambda name: tops[name].value if errors else -tops[name].value)
    order, test = _tested_order(systems, {name: top.value for name, top in tops.items()}, data)
    first = [] if order is None else [list(tops)[index] for index in order.order if order.low[index] == 1]
    among = f"{len(systems)} systems on {shown(records[one].suite)}"
    who = f"has the {'lowest error rate' if errors else 'best score'} of {among}, "
    if first == [one]:
        who = f"leads {among} with {'an error rate of ' * errors}"
    verdict = first_place(_listed([shown(name) for name in first]), len(first), test) if first else UNTESTED
    ahead = abs(rounded(tops[one].value) - rounded(tops[two].value))
    interval = f", {interval_text(tops[two].low, tops[two].high)}" if tops[two].low is not None else ""
    theirs = f"{shown(two)} ({score_text(tops[two].value)}{interval})"
    by = f"{score_text(ahead)} points ahead of {theirs}" if ahead else f"level with {theirs}"
    return f"{shown(one)} {who}{_figure(tops[one], records[one])}, {by}: {verdict}"


def _tested_order(systems: Systems, tops: Mapping[str, float], data: Path | None) -> tuple[Ordering | None, str]:
    """Return the order of systems by overall score with its test; None if untested."""
    on_examples = example_order(systems, data)
    if on_examples is not None:
        return on_examples, EXAMPLES
    shared = shared_scores(systems)
    rule = next(iter(systems.values())).record.overall.rule
    panel = panel_of_cells("", list(tops), shared.places, lambda name, *cell: shared.scores[name][cell])
    lower = all(map(lower_is_better, shared.tasks))
    try:
        view = views(panel, {})[rule]
    except (KeyError, UnknownNameError):  # a rule or task of another version
        return None, LANGUAGES
    ranked = ranked_view(panel, view, np.array([100 - top if lower else top for top in tops.values()]))
    return ranked.order if ranked.tested else None, LANGUAGES


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
