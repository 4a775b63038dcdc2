"""Scores by language family, branch, script and resource class (XTREME-R, Figure 1; XTREME, Figures 1 and 3)."""

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean
from typing import Literal

from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value
from isogloss.analysis.language_bootstrap import interval_over_languages
from isogloss.analysis.published_scores import human_score
from isogloss.analysis.score_table import ScoreTable
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.errors import unknown
from isogloss.figures import score_text
from isogloss.languages import Language
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import known_language, language_name

Grouping = Literal["family", "branch", "script", "resources"]

# Articles of a Wikipedia in millions, from which on a language is of a class; XTREME-R's Table 7 has them.
RESOURCE_CLASSES = ((1.0, "1M articles or more"), (0.1, "100k to 1M"), (0.01, "10k to 100k"), (0.0, "below 10k"))
# What a chart can still show.
MOST_SYSTEMS = 4
MOST_FAMILIES = 4


def resource_class(articles: float | None) -> str:
    """The class of a language by the size of its Wikipedia, "" where that is not known."""
    return "" if articles is None else next(name for least, name in RESOURCE_CLASSES if articles >= least)


GROUPINGS: Mapping[Grouping, Callable[[Language], str]] = {
    "family": lambda entry: entry.family,
    # "isolate" is no branch of anything.
    "branch": lambda entry: entry.family if entry.branch == "isolate" else f"{entry.family}: {entry.branch}",
    "script": lambda entry: entry.script,
    "resources": lambda entry: resource_class(entry.wikipedia_articles),
}


def families(scores: ScoreTable, *, group: str = "family") -> Finding:
    """How scores spread over groups of languages: counts, means, extremes, and every language as a point.

    Args:
        scores: what was scored.
        group: what the charts are by: family, branch, script or resources. The tables have all four.
    """
    chosen = next((name for name in GROUPINGS if name == group), None)
    if chosen is None:
        raise unknown("group", group, GROUPINGS)
    scores.need(languages=2, what="a distribution")
    points = _language_rows(scores)
    if not points:
        raise AnalysisError("none of the languages is in the registry", fix="isogloss list languages")
    tables = [
        _standing_table(scores, chosen),
        _group_table(points, chosen),
        _language_table(points),
        _overview_table(scores),
    ]
    unknown_codes = sorted({score.language for score in scores.scores if known_language(score.language) is None})
    notes = [
        "95 %: languages of the group drawn with replacement, where there are five or more; it speaks of languages "
        "like these, not of test examples",
        "families as in the registry (Haitian under Creole, as the papers have it); resource classes by Wikipedia "
        "articles, XTREME-R's Table 7",
        *([f"in no group, since the registry does not have them: {', '.join(unknown_codes)}"] if unknown_codes else []),
        *scores.notes,
    ]
    return Finding(
        "families",
        "Families, branches, scripts, resources",
        _reading(scores, points),
        tables,
        _figures(scores, chosen),
        notes,
    )


def _language_rows(scores: ScoreTable) -> list[dict[str, Value]]:
    """One row for each system, task and language, with the groups it is in."""
    rows: list[dict[str, Value]] = []
    for score in sorted(scores.scores, key=lambda score: (scores.tasks.index(score.task), -score.value)):
        entry = known_language(score.language)
        if entry is not None:
            place: dict[str, Value] = {"task": score.task, "system": score.system, "language": score.language}
            of: dict[str, Value] = {name: find(entry) for name, find in GROUPINGS.items()}
            rows.append({**place, "name": entry.name, **of, "score": score.value})
    return rows


def _language_table(rows: list[dict[str, Value]]) -> TidyTable:
    columns = [*text_columns("task", "system"), Column("language", label="code"), Column("name", label="language")]
    columns += [Column(name) for name in GROUPINGS]
    columns.append(Column("score", "score"))
    values = [[row[column.name] for column in columns] for row in rows]
    return TidyTable("languages", "Languages", columns, values, shown=20)


def standings(scores: ScoreTable, system: str, grouping: Grouping) -> dict[str, list[float]]:
    """For each group how far its mean is above that of all languages but English, in every task that has both."""
    found: dict[str, list[float]] = {}
    for task in scores.tasks:
        others = {code: value for code, value in scores.values(system, task).items() if code != PIVOT}
        groups: dict[str, list[float]] = {}
        for code, value in others.items():
            entry = known_language(code)
            if entry is not None and GROUPINGS[grouping](entry):
                groups.setdefault(GROUPINGS[grouping](entry), []).append(value)
        for group, values in groups.items():
            above = fmean(values) - fmean(others.values())
            found.setdefault(group, []).append(-above if lower_is_better(task) else above)
    return found


def _standing_table(scores: ScoreTable, first: Grouping) -> TidyTable:
    columns = [
        *text_columns("grouping", "system", "group"),
        Column("tasks", "count"),
        Column("above", "difference", "above the mean"),
        Column("ahead", "count", "tasks above it"),
    ]
    rows: list[list[Value]] = []
    for grouping in (first, *(name for name in GROUPINGS if name != first)):
        for system in scores.systems:
            found = standings(scores, system, grouping)
            for group in sorted(found, key=lambda group: -fmean(found[group])):
                tasks = found[group]
                ahead = sum(above > 0 for above in tasks)
                rows.append([grouping, system, group, len(tasks), fmean(tasks), ahead])
    notes = ["a group's mean minus that of all languages but English, averaged over the tasks that have the group"]
    return TidyTable("standing", "Where groups stand", columns, rows, notes=notes)


def _group_table(rows: list[dict[str, Value]], first: Grouping) -> TidyTable:
    """Counts, means and extremes of every group of every grouping, the chosen one first."""
    columns = [
        *text_columns("grouping", "task", "system", "group"),
        Column("languages", "count"),
        *interval_columns("mean", "score", low="low", high="high"),
        Column("lowest", "score"),
        Column("lowest_language", label="in"),
        Column("highest", "score"),
        Column("highest_language", label="in"),
    ]
    values: list[list[Value]] = []
    for grouping in (first, *(name for name in GROUPINGS if name != first)):
        groups: dict[tuple[Value, Value, Value], list[tuple[float, str]]] = {}
        for row in rows:
            if row[grouping]:
                key = row["task"], row["system"], row[grouping]
                groups.setdefault(key, []).append((float(row["score"] or 0), str(row["name"])))
        for (task, system, group), members in groups.items():
            scores, (lowest, low_name), (highest, high_name) = [s for s, _ in members], min(members), max(members)
            mean = fmean(scores)
            extremes: list[Value] = [lowest, low_name, highest, high_name]
            values.append(
                [grouping, task, system, group, len(members), mean, *interval_over_languages(scores), *extremes]
            )
    return TidyTable("groups", "By group", columns, values)


def _overview_table(scores: ScoreTable) -> TidyTable:
    """Every language as a point of its family, with human performance, English and the mean of the others."""
    columns = [
        *text_columns("system", "task", "what"),
        Column("language", label="code"),
        Column("score", "score"),
    ]
    large = _largest_families(scores)
    rows: list[list[Value]] = []
    for system in scores.systems[:MOST_SYSTEMS]:
        for task in scores.tasks:
            values = scores.values(system, task)
            marks = {"human": human_score(task, scores.metrics[task]) if values else None}
            marks["English"] = values.get(PIVOT)
            others = [value for code, value in values.items() if code != PIVOT]
            marks["mean without English"] = fmean(others) if others else None
            rows += [[system, task, name, "", value] for name, value in marks.items() if value is not None]
            for code, value in sorted(values.items(), key=lambda item: item[1]):
                entry = known_language(code)
                family = "other" if entry is None or entry.family not in large else entry.family
                if code != PIVOT:
                    rows.append([system, task, family, code, value])
    order = ["human", "English", "mean without English", *large, "other"]
    rows.sort(key=lambda row: order.index(str(row[2])))
    return TidyTable("overview", "Every language and the marks", columns, rows, shown=0)


def _largest_families(scores: ScoreTable) -> list[str]:
    entries = {score.language: known_language(score.language) for score in scores.scores}
    counts: dict[str, int] = {}
    for entry in entries.values():
        if entry is not None:
            counts[entry.family] = counts.get(entry.family, 0) + 1
    return sorted(counts, key=lambda family: (-counts[family], family))[:MOST_FAMILIES]


def _figures(scores: ScoreTable, chosen: Grouping) -> list[Figure]:
    systems = scores.systems[:MOST_SYSTEMS]
    overview = Figure(
        "overview",
        "strip",
        "Tasks by language family",
        f"Every language of {', '.join(systems)} as a point, by task and family, with human, English and mean marks.",
        x="score",
        y="task",
        colour="what",
        panel="system" if len(systems) > 1 else "",
    )
    if len(scores.systems) > MOST_SYSTEMS:
        return [overview]
    return [overview, *_task_figures(scores, chosen)]


def _task_figures(scores: ScoreTable, chosen: Grouping) -> Iterator[Figure]:
    """For one task, the points of each group, and its marks."""
    if len(scores.tasks) > 1:
        return
    [task] = scores.tasks
    human = human_score(task, scores.metrics[task])
    marks = [("human", human)] if human is not None else []
    if len(scores.systems) == 1:
        values = scores.values(scores.systems[0], task)
        others = [value for code, value in values.items() if code != PIVOT]
        marks += [("English", values[PIVOT])] if PIVOT in values else []
        marks += [("mean without English", fmean(others))] if others else []
    yield Figure(
        "languages",
        "strip",
        f"{task} by {chosen}",
        f"The score of each language on {task}, a row of points for each {chosen}.",
        x="score",
        y=chosen,
        colour="system",
        label="language" if len(scores.systems) == 1 else "",
        marks=marks,
    )


def _reading(scores: ScoreTable, rows: list[dict[str, Value]]) -> str:
    """Where Indo-European stands against the rest, task by task, and the extremes that most tasks share."""
    sentences = [_spread(scores, system) for system in scores.systems[:MOST_SYSTEMS]]
    members: dict[Value, set[Value]] = {}
    for row in rows:
        members.setdefault(row["family"], set()).add(row["language"])
    alone = sum(len(codes) == 1 for codes in members.values())
    sentences.append(
        f"Of {len(members)} families {alone} have one language here; what looks like a family may be a script, the "
        "size of a Wikipedia or the test set, and nothing here tells these apart."
    )
    return " ".join(sentences)


def _spread(scores: ScoreTable, system: str) -> str:
    lowest: dict[str, int] = {}
    ahead = tasks = 0
    for task in scores.tasks:
        values = scores.values(system, task)
        inside = [v for code, v in values.items() if _family(code) == "Indo-European" and code != PIVOT]
        outside = [v for code, v in values.items() if _family(code) not in ("Indo-European", "")]
        if len(values) > 1:
            worst = (max if lower_is_better(task) else min)(values, key=lambda code: values[code])
            lowest[worst] = lowest.get(worst, 0) + 1
        if inside and outside:
            tasks += 1
            ahead += (fmean(inside) > fmean(outside)) != lower_is_better(task)
    if not lowest:
        return f"{system} has one language a task."
    often = max(lowest, key=lambda code: lowest[code])
    if sum(lowest.values()) == 1:
        [task] = [task for task in scores.tasks if len(scores.values(system, task)) > 1]
        found = scores.values(system, task).values()
        ends = f"{score_text(min(found))} to {score_text(max(found))}"
        return f"{system}: {task} goes from {ends}, {language_name(often)} last."
    last = f"; {language_name(often)} is last most often ({lowest[often]} of {sum(lowest.values())})"
    return (
        f"{system}: Indo-European languages other than English are ahead of the rest in {ahead} of {tasks} tasks"
        f"{last if lowest[often] > 1 else ''}."
    )


def _family(code: str) -> str:
    entry = known_language(code)
    return "" if entry is None else entry.family
