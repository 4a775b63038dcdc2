"""The report in a sentence: who leads and by how much, whether that may be chance, and where systems stop working."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from isogloss.figures import interval_text, rounded, score_text
from isogloss.report.coverage import Place, coverage
from isogloss.report.flat_rows import Systems, is_overall_of_one_cell
from isogloss.report.shared_cells import SharedScores, same_cells, shared_scores
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.scoring.results import Number, Results

# How a name out of a record is written; pages escape it.
Shown = Callable[[str], str]
# Languages that are named as the weakest, and the tasks that one is in at least: one hard task makes no weak language.
MOST_LANGUAGES, LEAST_TASKS = 3, 3
MOST_LISTED = 8


def headline(systems: Systems, shown: Shown = str) -> list[str]:
    """What a report says first.

    Systems that lack cells are never ranked; side by side they stand with what all of them share.

    Args:
        systems: result records by the names of their systems.
        shown: how a name out of a record is written.

    Returns:
        The sentence, and below it a line on what is not ranked, if anything; nothing of no systems.
    """
    if not systems:
        return []
    ranked = {name: each for name, each in systems.items() if each.overall.complete_value is not None}
    if len(systems) == 1:
        ((name, results),) = systems.items()
        first, compared = _alone(name, results, shown), systems
    elif len(ranked) > 1 and same_cells(ranked):
        first, compared = _leader(ranked, shown), ranked
    else:
        first, compared = _side_by_side(shared_scores(systems), shown), systems
    weak = _where_it_stops(shared_scores(compared), shown)
    return [f"{first}; {weak}." if weak else f"{first}.", *_not_ranked(systems, shown)]


def _alone(name: str, results: Results, shown: Shown) -> str:
    found, top = coverage(results), results.overall.score
    who, suite = shown(name), shown(results.suite)
    if not found.scored:
        return f"{who} was scored in full on no cell of {suite}"
    if top is None:
        note = f": {shown(results.overall.note)}" if results.overall.note else ""
        return f"{who} was scored on {found.cells} cells of {suite} ({found.tasks} tasks){note}"
    verb = "has an error rate of" if _errors(results) else "scores"
    if is_overall_of_one_cell(results):
        ((task, code),) = found.scored
        place = f"{shown(task)} in {shown(language_name(code))}, one of the {len(found.asked)} cells of {suite}"
        return f"{who} {verb} {_figure(top, results)} on {place}"
    if found.complete:
        tasks, languages = ({place[part] for place in found.asked} for part in (0, 1))
        whole = f"{_counted(len(tasks), 'task')} and {_counted(len(languages), 'language')} of {suite}"
        return f"{who} {verb} {_figure(top, results)} over {whole}"
    return f"{who} {verb} {_figure(top, results, '*')} over {found.tasks} tasks of {suite} ({found.cells} cells)"


def _figure(number: Number, results: Results, star: str = "") -> str:
    """An overall figure, and in brackets what has to be known of it."""
    facts = [f"95 % interval {interval_text(number.low, number.high)}"] * (number.low is not None)
    facts += [f"mean of {len(results.seeds)} seeds"] * (len(results.seeds) > 1)
    facts += ["lower is better"] * _errors(results)
    return f"{score_text(number.value)}{star}" + (f" ({', '.join(facts)})" if facts else "")


def _counted(number: int, what: str) -> str:
    return f"the one {what}" if number == 1 else f"all {number} {what}s"


def _errors(results: Results) -> bool:
    return all(lower_is_better(average.name) for average in results.tasks)


def _leader(systems: Systems, shown: Shown) -> str:
    """Systems that have everything: the first, the second, and whether others may as well be first."""
    tops = {name: each.overall.score for name, each in systems.items() if each.overall.score is not None}
    errors = _errors(next(iter(systems.values())))
    one, two, *_ = order = sorted(tops, key=lambda name: tops[name].value if errors else -tops[name].value)
    rate = "an error rate of " if errors else ""
    lead = f"{shown(one)} leads {len(systems)} systems on {shown(systems[one].suite)} with {rate}"
    lead += _figure(tops[one], systems[one])
    ahead = abs(rounded(tops[one].value) - rounded(tops[two].value))
    interval = f", {interval_text(tops[two].low, tops[two].high)}" if tops[two].low is not None else ""
    theirs = f"{shown(two)} ({score_text(tops[two].value)}{interval})"
    by = f"{score_text(ahead)} points ahead of {theirs}" if ahead else f"level with {theirs}"
    return f"{lead}, {by}: {_chance({name: tops[name] for name in order}, shown)}"


def _chance(tops: Mapping[str, Number], shown: Shown) -> str:
    """Which of the others may as well be first: those whose 95 % interval has something of the leader's."""
    (_, first), *others = tops.items()
    bounds = [(name, top.low, top.high) for name, top in others]
    if first.low is None or first.high is None or any(low is None for _, low, _ in bounds):
        return "not all have an interval, so that may be chance"
    rivals = [
        shown(name)
        for name, low, high in bounds
        if low is not None and high is not None and low <= first.high and first.low <= high
    ]
    if rivals:
        return f"that may be chance, as its 95 % interval overlaps with that of {_listed(rivals)}"
    return "more than chance, as its 95 % interval overlaps with no other"


def _listed(words: Sequence[str]) -> str:
    """A list in words, cut where it is long."""
    if len(words) > MOST_LISTED:
        words = [*words[: MOST_LISTED - 1], f"{len(words) - MOST_LISTED + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _side_by_side(shared: SharedScores, shown: Shown) -> str:
    """Systems of which some lack cells: what they have in the cells that all share, in the order they were given."""
    count = len(shared.scores)
    if not shared.places:
        return f"The {count} systems share no cell, so that nothing can be compared"
    where = f"On the {shared.words} that {'both' if count == 2 else f'all {count}'} systems share"
    means = {name: mean for name in shared.scores if (mean := shared.mean(name)) is not None}
    if not means:
        return f"{where}, some tasks are better with more and others with less, so that there is no mean"
    what = "error rates (lower is better)" if all(map(lower_is_better, shared.tasks)) else "means over tasks"
    return f"{where}, the {what} are {_listed([f'{score_text(mean)} ({shown(name)})' for name, mean in means.items()])}"


def _where_it_stops(shared: SharedScores, shown: Shown) -> str:
    """The weakest languages, and what English has over the others."""
    return "; ".join(filter(None, (_weakest(shared, shown), _english(shared))))


def _weakest(shared: SharedScores, shown: Shown) -> str:
    behind = _behind_average(shared)
    least = min(LEAST_TASKS, len(shared.tasks))
    means = {code: fmean(points) for code, points in behind.items() if len(points) >= least * len(shared.scores)}
    worst = sorted(means, key=lambda code: -means[code])[: min(MOST_LANGUAGES, len(means) // 2)]
    points = [score_text(means[code]) for code in worst if rounded(means[code]) > 0]
    if not points:
        return ""
    points[0] += " points behind the average of its tasks"
    named = [f"{shown(language_name(code))} ({text})" for code, text in zip(worst, points, strict=False)]
    among = f"of the languages in {least} tasks or more " if len(means) < len(behind) else ""
    return f"{among}the weakest {'are' if len(named) > 1 else 'is'} {_listed(named)}"


def _behind_average(shared: SharedScores) -> dict[str, list[float]]:
    """By language, how far it is behind the average of each of its tasks, for every system."""
    behind: dict[str, list[float]] = defaultdict(list)
    for name, scores in shared.scores.items():
        means = shared.task_means(name)
        for (task, code), score in scores.items():
            behind[code].append(score - means[task] if lower_is_better(task) else means[task] - score)
    return behind


def _english(shared: SharedScores) -> str:
    gaps = [[*_gaps(scores)] for scores in shared.scores.values()]
    if not any(gaps):
        return ""
    means = [rounded(fmean(points)) for points in gaps]
    low, high = min(means), max(means)
    over = f" (mean over {len(gaps[0])} tasks)" if len(gaps[0]) > 1 else ""
    points = f"{score_text(low)} to {score_text(high)} points better"
    if low == high:
        points = f"{score_text(abs(low))} points {'worse' if low < 0 else 'better'}"
    return f"English is {points} than the mean of the other languages{over}"


def _gaps(scores: Mapping[Place, float]) -> Iterator[float]:
    """By how much English is better than the mean of the other languages, in every task that has both."""
    for task in dict.fromkeys(of for of, _ in scores):
        others = [score for (of, code), score in scores.items() if of == task and code != PIVOT]
        if others and (task, PIVOT) in scores:
            gap = scores[task, PIVOT] - fmean(others)
            yield -gap if lower_is_better(task) else gap


def _not_ranked(systems: Systems, shown: Shown) -> list[str]:
    lacking = {name: found for name, each in systems.items() if not (found := coverage(each)).complete}
    if len(systems) == 1 or not lacking:
        return []
    named = [f"{shown(name)} ({found.cells} cells, {found.tasks} tasks)" for name, found in lacking.items()]
    return [f"Not ranked, since incomplete: {_listed(named)}."]
