"""Scores by language family, branch, script and resource class (XTREME-R, Figure 1; XTREME, Figures 1 and 3)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import Literal

from isogloss.analysis.finding import (
    AnalysisError,
    Figure,
    Finding,
    TidyTable,
    Value,
    columns,
    difference_words,
    figure,
    require,
)
from isogloss.analysis.language_columns import later_sizes_notes
from isogloss.analysis.language_means import mean_score
from isogloss.errors import unknown
from isogloss.figures import counted, rounded, score_text
from isogloss.grouping import group_by
from isogloss.languages import UNKNOWN, Language, known_language, language
from isogloss.metrics.language_sample import FEWEST_FAMILIES, LanguageFigure, difference_over_languages
from isogloss.results.published_scores import human_score
from isogloss.results.views import ScoreView
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import family_of, language_name

Grouping = Literal["family", "branch", "script", "resources"]

# Lower bounds of the resource classes, in millions of Wikipedia articles (XTREME-R, Table 7).
RESOURCE_CLASSES = ((1.0, "1M articles or more"), (0.1, "100k to 1M"), (0.01, "10k to 100k"), (0.0, "below 10k"))
# Millions of Wikipedia articles of a language with large resources.
LARGE = 0.1
# Limits for legible charts.
MOST_SYSTEMS = 4
MOST_FAMILIES = 4
# Maximum number of tied languages to name in a sentence.
MOST_NAMED = 3


def _resource_class(articles: float | None) -> str:
    return UNKNOWN if articles is None else next(name for least, name in RESOURCE_CLASSES if articles >= least)


# Group of a language by grouping; "unknown" is a group of its own.
GROUPINGS: Mapping[Grouping, Callable[[Language], str]] = {
    "family": lambda entry: entry.family,
    # "isolate" is not a branch.
    "branch": lambda entry: entry.family if entry.branch in ("isolate", UNKNOWN) else f"{entry.family}: {entry.branch}",
    "script": lambda entry: entry.script,
    "resources": lambda entry: _resource_class(entry.wikipedia_articles),
}
# Relatives of a language within its group, the units of intervals. The registry has nothing finer than branches.
_RELATIVES: Mapping[Grouping, Callable[[str], str] | None] = {
    "family": lambda code: language(code).branch,
    "branch": None,
    "script": family_of,
    "resources": family_of,
}


def _is_large(entry: Language) -> bool | None:
    return None if entry.wikipedia_articles is None else entry.wikipedia_articles >= LARGE


def _is_latin(entry: Language) -> bool | None:
    return None if entry.script == UNKNOWN else entry.script == "Latn"


# Two groups of languages, and a function that returns True for the first, False for the second, None for neither.
CONTRASTS: Mapping[str, Callable[[Language], bool | None]] = {
    "100k articles or more - fewer": _is_large,
    "Latin script - other scripts": _is_latin,
    "the same, 100k articles or more": lambda entry: _is_latin(entry) if _is_large(entry) else None,
}


def families(scores: ScoreView, *, group: str = "family") -> Finding:
    """Describe scores by groups of languages: counts, means, extremes and single languages.

    Args:
        scores: scores to describe.
        group: grouping of the charts: family, branch, script or resources. The tables have all four.
    """
    chosen = next((name for name in GROUPINGS if name == group), None)
    if chosen is None:
        raise unknown("group", group, GROUPINGS)
    require(scores, languages=2, what="a distribution")
    heads = columns("task system; language = code; name = language; family branch script resources; score:score")
    languages = TidyTable("languages", "Languages", heads, shown=20)
    for score in sorted(scores.all_scores(), key=lambda score: (scores.tasks.index(score.task), -score.value)):
        if (entry := score.cell.language) is not None:
            groups = (find(entry) for find in GROUPINGS.values())
            languages.add(score.task, score.system, score.language, entry.name, *groups, score.value)
    if not languages.rows:
        raise AnalysisError("none of the languages is in the registry", fix="See isogloss list languages")
    points, contrasts = languages.records(), _contrast_table(scores)
    order = [chosen, *(name for name in GROUPINGS if name != chosen)]
    unknown_codes = sorted({score.language for score in scores.all_scores() if score.cell.language is None})
    notes = [
        "95 % intervals are for other languages like these, not for new test examples: over the families of a group, "
        f"or over the branches of a family, if there are {FEWEST_FAMILIES} or more and none carries nearly all the "
        "weight. Languages of one branch have no interval, since the registry does not have their subgroups",
        "families from the registry (Haitian under Creole, as in the papers); resource classes by Wikipedia articles "
        "(XTREME-R, Table 7)",
        *later_sizes_notes({score.language for score in scores.all_scores()}),
        *([f"in no group, missing from the registry: {', '.join(unknown_codes)}"] if unknown_codes else []),
        *scores.notes,
    ]
    return Finding(
        analysis="families",
        title="Families, branches, scripts, resources",
        reading=_reading(scores, points, contrasts),
        tables=[
            contrasts,
            _standing_table(scores, order),
            _group_table(points, order),
            languages,
            _overview_table(scores),
        ],
        figures=_figures(scores, chosen),
        notes=notes,
    )


def _standings(scores: ScoreView, system: str, grouping: Grouping) -> dict[str, list[float]]:
    """Return, per group and task, the group's mean minus that of all languages except English, above 0 if better."""
    differences: dict[str, list[float]] = {}
    for task in scores.tasks:
        others = {code: value for code, value in scores.values(system, task).items() if code != PIVOT}
        groups = {code: GROUPINGS[grouping](entry) for code in others if (entry := known_language(code)) is not None}
        for group, codes in group_by(groups, groups.__getitem__).items():
            above = fmean(others[code] for code in codes) - fmean(others.values())
            differences.setdefault(group, []).append(-above if lower_is_better(task) else above)
    return differences


def _language_effects(scores: ScoreView, system: str) -> dict[str, float]:
    """Return, per language except English, its scores minus the mean of each task, averaged; above 0 if better."""
    effects: dict[str, list[float]] = {}
    for task in scores.tasks:
        others = {code: value for code, value in scores.values(system, task).items() if code != PIVOT}
        for code, value in others.items():
            above = value - fmean(others.values())
            effects.setdefault(code, []).append(-above if lower_is_better(task) else above)
    return {code: fmean(values) for code, values in effects.items()}


def _contrast_table(scores: ScoreView) -> TidyTable:
    heads = columns(
        "contrast system; first:count = languages; second:count = others; difference±:difference = first - second"
    )
    notes = [
        "a language counts once, with its scores minus the mean of all languages except English in each task, averaged"
        " over tasks; error rates with the opposite sign, so that above 0 the first group is better",
        f"95 % intervals over families, if both groups have {FEWEST_FAMILIES} or more and none carries nearly all the "
        "weight",
    ]
    table = TidyTable("contrasts", "Scripts and resources", heads, notes=notes)
    for contrast, is_first in CONTRASTS.items():
        for system in scores.systems:
            effects = _language_effects(scores, system)
            known = {code: entry for code in effects if (entry := known_language(code)) is not None}
            sides = {code: side for code, entry in known.items() if (side := is_first(entry)) is not None}
            counts = Counter(sides.values())
            row: list[Value] = [contrast, system, counts[True], counts[False]]
            if len(counts) == 2:
                values, families = [effects[code] for code in sides], [known[code].family for code in sides]
                table.add(*row, *difference_over_languages(values, list(sides.values()), families))
            else:
                table.add(*row, None, None, None)
    return table


def _standing_table(scores: ScoreView, groupings: Sequence[Grouping]) -> TidyTable:
    heads = "grouping system group; tasks:count; above:difference = above the mean; ahead:count = tasks above it"
    notes = [
        "a group's mean minus the mean of all languages except English, averaged over the tasks with the group; error"
        " rates with the opposite sign, so that above 0 is better"
    ]
    table = TidyTable("standing", "Groups compared with the mean", columns(heads), notes=notes)
    for grouping in groupings:
        for system in scores.systems:
            differences = _standings(scores, system, grouping)
            for group, tasks in sorted(differences.items(), key=lambda item: -fmean(item[1])):
                table.add(grouping, system, group, len(tasks), fmean(tasks), sum(above > 0 for above in tasks))
    return table


def _group_table(rows: list[dict[str, Value]], groupings: Sequence[Grouping]) -> TidyTable:
    """Return counts, means and extremes of every group of every grouping."""
    heads = columns(
        "grouping task system group; languages:count; mean(low high):score; lowest:score; lowest_language = in; "
        "highest:score; highest_language = in"
    )
    table = TidyTable("groups", "By group", heads)
    for grouping in groupings:
        for key, inside in group_by(rows, itemgetter("task", "system", grouping)).items():
            scores = {str(row["language"]): float(row["score"] or 0) for row in inside}
            ends = [(score, language(code).name) for code, score in scores.items()]
            relatives = _RELATIVES[grouping]
            mean = LanguageFigure(fmean(scores.values())) if relatives is None else mean_score(scores, relatives)
            table.add(grouping, *key, len(scores), *mean, *min(ends), *max(ends))
    return table


def _overview_table(scores: ScoreView) -> TidyTable:
    """Return every language by family, with human performance, English and the mean of the others."""
    entries = {score.language: known_language(score.language) for score in scores.all_scores()}
    counts = Counter(entry.family for entry in entries.values() if entry is not None)
    large = sorted(counts, key=lambda family: (-counts[family], family))[:MOST_FAMILIES]
    rows: list[list[Value]] = []
    for system in scores.systems[:MOST_SYSTEMS]:
        for task in scores.tasks:
            values = scores.values(system, task)
            rows += [[system, task, name, "", value] for name, value in _reference_scores(scores, system, task)]
            for code, value in sorted(values.items(), key=lambda item: item[1]):
                entry = known_language(code)
                family = "other" if entry is None or entry.family not in large else entry.family
                if code != PIVOT:
                    rows.append([system, task, family, code, value])
    order = ["human", "English", "mean without English", *large, "other"]
    rows.sort(key=lambda row: order.index(str(row[2])))
    heads = columns("system task what; language = code; score:score")
    return TidyTable("overview", "Languages and reference scores", heads, rows, shown=0)


def _reference_scores(scores: ScoreView, system: str, task: str) -> list[tuple[str, float]]:
    """Return human performance, English and the mean of the others, as far as known."""
    values = scores.values(system, task)
    others = [value for code, value in values.items() if code != PIVOT]
    human = human_score(task, scores.metrics[task]) if values else None
    marks = {"human": human, "English": values.get(PIVOT), "mean without English": fmean(others) if others else None}
    return [(name, value) for name, value in marks.items() if value is not None]


def _figures(scores: ScoreView, chosen: Grouping) -> list[Figure]:
    """Return the overview and, for one task, the points of each group with reference lines."""
    systems = scores.systems[:MOST_SYSTEMS]
    about = f"Languages of {', '.join(systems)} by task and family; marks: human, English, mean."
    panel = "system" if len(systems) > 1 else ""
    overview = figure("strip", "overview: score, task, what", "Tasks by language family", about, panel=panel)
    if len(scores.systems) > MOST_SYSTEMS or len(scores.tasks) > 1:
        return [overview]
    [task] = scores.tasks
    is_single = len(scores.systems) == 1
    marks = [mark for mark in _reference_scores(scores, scores.systems[0], task) if is_single or mark[0] == "human"]
    label = "language" if is_single else ""
    about = f"Score of each language on {task}, one row of points per {chosen}."
    axes = f"languages: score, {chosen}, system"
    return [overview, figure("strip", axes, f"{task} by {chosen}", about, label=label, marks=marks)]


def _reading(scores: ScoreView, rows: list[dict[str, Value]], contrasts: TidyTable) -> str:
    """Compare Indo-European with other languages by task, name the language that is worst most often, and contrasts."""
    sizes = Counter(family for family, _ in {(row["family"], row["language"]) for row in rows})
    single = sum(count == 1 for count in sizes.values())
    limits = (
        f"{single} of {len(sizes)} families {'has' if single == 1 else 'have'} only one language here. Family is "
        "confounded with script, Wikipedia size and test set; this analysis does not separate them. One family cannot "
        "be tested against the others, and the worst score may be worst by chance."
    )
    shown = scores.systems[:MOST_SYSTEMS]
    return " ".join([*(_spread(scores, system) for system in shown), *_contrasts(contrasts, shown), limits])


def _contrasts(contrasts: TidyTable, systems: Sequence[str]) -> Iterator[str]:
    """Yield one sentence per contrast with an interval."""
    for contrast, rows in group_by(contrasts.records(), itemgetter("contrast")).items():
        parts = []
        for row in rows:
            if row["system"] in systems and row["difference_low"] is not None:
                ends = row["difference_low"], row["difference_high"]
                parts.append(f"{difference_words(row['difference'], *ends)} for {row['system']}")
        if parts:
            yield f"{contrast[0].upper()}{contrast[1:]}: {', '.join(parts)}."


def _spread(scores: ScoreView, system: str) -> str:
    """Describe where Indo-European languages are ahead, which is not tested, and the lowest languages."""
    lowest: Counter[str] = Counter()
    ahead = tasks = compared = 0
    for task in scores.tasks:
        values = scores.values(system, task)
        families = {code: entry.family for code in values if (entry := known_language(code)) is not None}
        inside = [values[code] for code, family in families.items() if family == "Indo-European" and code != PIVOT]
        outside = [values[code] for code, family in families.items() if family != "Indo-European"]
        if len(values) > 1:
            worst = (max if lower_is_better(task) else min)(values.values())
            lowest.update(code for code, value in values.items() if value == worst)
            compared += 1
        if inside and outside:
            tasks += 1
            ahead += (fmean(inside) > fmean(outside)) != lower_is_better(task)
    if not lowest:
        return f"{system} has only one language per task."
    times = max(lowest.values())
    codes = [code for code, count in lowest.items() if count == times]
    names = " and ".join(map(language_name, codes)) if len(codes) <= MOST_NAMED else f"{len(codes)} languages"
    if compared == 1:
        [task] = [task for task in scores.tasks if len(scores.values(system, task)) > 1]
        by_language = scores.values(system, task).values()
        if rounded(min(by_language)) == rounded(max(by_language)):
            return f"{system}: all {task} scores are {score_text(min(by_language))}."
        ends = f"{score_text(min(by_language))} to {score_text(max(by_language))}"
        return f"{system}: {task} scores range from {ends}, with {names} worst."
    have = "has" if len(codes) == 1 else "have"
    last = f"; {names} most often {have} the worst score ({times} of {compared})" if times > 1 else ""
    return (
        f"{system}: the mean of Indo-European languages other than English is above that of the rest in {ahead} of "
        f"{counted(tasks, 'task')}{last}."
    )
